"""Instances of labelled examples: each labelled place meets the decision that the task takes there."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, find_instances
from disambig.errors import UserError
from disambig.formats import Labelled, place_at_mark
from disambig.text import Tokenisation, TokenView, hash_word, view_of_texts
from disambig.training.examples import TextExamples
from disambig.types import LearnsSettings, Task, decides


@dataclass(frozen=True, slots=True, eq=False)
class TaskPlaces:
    """Instances that a task finds, and those that examples name; an index stands for each.

    Attributes
    ----------
    tokens : (starts, ends, documents), lists of int
        Those of the view; empty where nothing can be named.
    own : Instances
        Those that the task finds.
    groups : list of int
        Index of the group of each instance, named ones behind the others.
    named : dict of (position, group) to (index, length)
        Instances of label tasks that an example can name.
    words : dict of str to int
        Names of the groups that an example can name.
    single : bool
        Whether the task decides at single tokens only.
    starts, ends, reach : lists of int
        Characters that each of the task's instances takes, and the furthest end so far in its text.
    bounds : list of int
        First instance of each text, and the number of instances.
    """

    tokens: tuple[list[int], list[int], list[int]]
    own: Instances
    groups: list[int]
    named: dict[tuple[int, int], tuple[int, int]]
    words: dict[str, int]
    single: bool
    starts: list[int]
    ends: list[int]
    reach: list[int]
    bounds: list[int]

    @classmethod
    def from_view(cls, task: Task, view: TokenView) -> TaskPlaces:
        """Find the decisions of a task in a view."""
        own = find_instances(task, view)
        starts = view.starts[own.positions]
        last = own.positions + np.maximum(own.lengths, 1) - 1
        ends = np.where(own.lengths > 0, view.ends[last], starts)
        text = view.document_indices(own.positions)
        bounds = np.searchsorted(text, np.arange(len(view.texts) + 1))
        reach = np.concatenate(
            [np.zeros(0, np.int64), *map(np.maximum.accumulate, np.split(ends, bounds[1:-1]))]
        )
        groups = own.groups.tolist()
        words: dict[str, int] = {}
        named: dict[tuple[int, int], tuple[int, int]] = {}
        tokens: tuple[list[int], list[int], list[int]] = [], [], []
        if decides(task).between == "labels" and decides(task).where != "documents":
            words = {group.name: g for g, group in enumerate(task.groups)}
            tokens = view.starts.tolist(), view.ends.tolist(), view.documents.tolist()
            keys = zip(own.positions.tolist(), groups, strict=True)
            named = {key: (i, n) for i, (key, n) in enumerate(zip(keys, own.lengths.tolist(), strict=True))}
        listed = (each.tolist() for each in (starts, ends, reach, bounds))
        return cls(tokens, own, groups, named, words, decides(task).where == "tokens", *listed)

    def at(self, text: int, example: Labelled) -> list[int]:
        """Return the instances at the place of an example, in order; of one that names its word that one."""
        if example.word and self.words:
            group = self.words.get(example.word)
            return [] if group is None else self._named(text, example, group)
        first, end = self.bounds[text : text + 2]
        if example.start < example.end:
            low = bisect_right(self.reach, example.start, first, end)
            high = bisect_left(self.starts, example.end, first, end)
            return [i for i in range(low, high) if max(self.starts[i], example.start) < self.ends[i]]
        left, right = _around(example.text, example.start)  # white space beside it does not matter
        low, high = bisect_left(self.reach, left, first, end), bisect_right(self.starts, right, first, end)
        return [i for i in range(low, high) if left <= self.starts[i] == self.ends[i]]

    def instances(self) -> Instances:
        """Return all instances, by their indices."""
        n = len(self.own)
        more = [(position, length, group) for (position, group), (i, length) in self.named.items() if i >= n]
        positions, lengths, groups = np.array(more, np.int64).reshape(-1, 3).T
        return Instances(
            np.concatenate([self.own.positions, positions]),
            np.concatenate([self.own.lengths, lengths.astype(np.int32)]),
            np.concatenate([self.own.groups, groups.astype(np.int32)]),
            np.concatenate([self.own.observed, np.full(len(more), -1, np.int32)]),
            self.own.own,
        )

    def candidates(self, index: int, group: Group) -> Sequence[str]:
        """Return the candidates of an instance: those of its group, or its own."""
        if self.own.own is not None and index < len(self.own):
            return self.own.own.instance_candidates(index)
        return group.candidates

    def too_long(self, text: int, example: Labelled) -> int:
        """Return how many tokens a place has that are too many for the task, 0 for none."""
        n = len(self._tokens(text, example)) if self.single else 0
        return n if n > 1 else 0

    def _tokens(self, text: int, example: Labelled) -> list[int]:
        """Return the tokens at a place."""
        starts, ends, documents = self.tokens
        if not documents:  # nothing can be named
            return []
        first, end = documents[text : text + 2]
        low = bisect_right(ends, example.start, first, end)
        high = bisect_left(starts, example.end, first, end)
        return [i for i in range(low, high) if starts[i] < ends[i]]

    def _named(self, text: int, example: Labelled, group: int) -> list[int]:
        """Return the instance of a group at the tokens of a place, a new one where there is none."""
        tokens = self._tokens(text, example)
        if not tokens:
            return []
        length = sum(token == tokens[0] + n for n, token in enumerate(tokens))  # up to a sentence's end
        key = tokens[0], group
        if key not in self.named:
            self.named[key] = len(self.groups), length
            self.groups.append(group)
        return [self.named[key][0]]


def as_task_decides(task: Task, labelled: Sequence[Labelled]) -> list[Labelled]:
    """Return examples as a task decides them: whole texts of documents, else the place marked in a text.

    Raises
    ------
    UserError
        D460 for a text whose marks do not show one place, unless the task decides documents.
    """
    if decides(task).where == "documents":  # what marks their texts is their own, and a word decides nothing
        return [replace(example, word="") if example.word else example for example in labelled]
    return [place_at_mark(example) for example in labelled]


def single_token_examples(labelled: Sequence[Labelled], tokenisation: Tokenisation) -> list[Labelled]:
    """Return the examples whose place, read by itself, is not cut into several tokens."""
    forms = {example.text[example.start : example.end] for example in labelled}
    doubtful = sorted(form for form in forms if form and not form.isalnum())
    if not doubtful:
        return list(labelled)
    view = view_of_texts(doubtful, tokenisation)
    tokens = np.flatnonzero(view.ends > view.starts)
    counts = np.bincount(view.document_indices(tokens), minlength=len(doubtful))
    cut = {form for form, n in zip(doubtful, counts.tolist(), strict=True) if n > 1}
    return [example for example in labelled if example.text[example.start : example.end] not in cut]


def _around(text: str, at: int) -> tuple[int, int]:
    """Return where the white space around an offset begins and ends."""
    left = right = at
    while left > 0 and text[left - 1].isspace():
        left -= 1
    while right < len(text) and text[right].isspace():
        right += 1
    return left, right


_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class LabelledDataset:
    """Labelled examples as instances; their ``observed`` candidates are the right ones.

    Attributes
    ----------
    examples : Examples
    labelled : list of Labelled
        The example behind each instance.
    documents : array of int64, shape (n_instances,)
        Number of the document that each instance belongs to, 0 to n_documents - 1.
    problems : list of str
        Labelled places that could not be used, and why.
    """

    examples: TextExamples
    labelled: list[Labelled]
    documents: NDArray[np.int64]
    problems: list[str]

    @property
    def n_documents(self) -> int:
        """How many documents there are."""
        return int(self.documents.max(initial=-1)) + 1

    def take(self, index: NDArray[np.generic]) -> LabelledDataset:
        """Return some of the examples; the numbers of their documents stay."""
        rows = np.arange(len(self.documents))[index]
        examples = replace(self.examples, instances=self.examples.instances.take(rows))
        return LabelledDataset(examples, [self.labelled[i] for i in rows], self.documents[rows], [])

    def compacted(self, index: NDArray[np.generic]) -> LabelledDataset:
        """Return some of the examples as if there were no others: their texts, their documents from 0."""
        part = self.take(index)
        view, instances = self.examples.view, part.examples.instances
        texts, which = np.unique(view.document_indices(instances.positions), return_inverse=True)
        own = view.take(texts)
        moved = instances.positions - view.documents[texts][which] + own.documents[which]
        _, documents = np.unique(part.documents, return_inverse=True)
        return replace(
            part,
            examples=TextExamples.from_view(own, replace(instances, positions=moved)),
            documents=documents.astype(np.int64),
        )

    def folds(self, n: int) -> NDArray[np.int64]:
        """Return the fold, 0 to n - 1, of each instance: whole documents, as equal in number as can be."""
        return self.documents % n

    def folds_apart(self, n: int) -> NDArray[np.int64]:
        """Return folds of whole domains where the examples name `n` at least; else as `folds`.

        What is fitted on such folds holds for text of another kind, too.
        """
        of_domains = whole_domains([example.domain for example in self.labelled], self.documents, n)
        return self.folds(n) if of_domains is None else of_domains


def label_instances(task: Task, tokenisation: Tokenisation, labelled: Sequence[Labelled]) -> LabelledDataset:
    """Find the instance of each labelled place.

    An example of labels that names its word is an instance of that group, whether the task finds one there
    or not: a wrong tag costs no example.

    Raises
    ------
    UserError
        D460 for a text whose marks do not show one place (see `as_task_decides`), D462 where no labelled place can
        be used.
    """
    labelled = as_task_decides(task, labelled)
    texts = list(dict.fromkeys(example.text for example in labelled))
    number = {text: i for i, text in enumerate(texts)}
    view = view_of_texts(texts, tokenisation)
    places = TaskPlaces.from_view(task, view)
    found: list[tuple[int, int, Labelled]] = []
    problems = []
    for example in labelled:
        if n := places.too_long(number[example.text], example):
            said = f"{_shown(example)} is {n} tokens: the task {task.name} decides at single ones only"
            if _is_whole(example):
                said = f"no place is marked in {_shown(example)}: put one word between [[ and ]]"
            problems.append(f"{example.where}: {said}")
            continue
        here = places.at(number[example.text], example)
        groups = [task.groups[places.groups[i]] for i in here]
        known = [places.candidates(i, group) for i, group in zip(here, groups, strict=True)]
        right = [
            (i, c)
            for i, candidates in zip(here, known, strict=True)
            if (c := _candidate(candidates, example.label)) >= 0
        ]
        problem = _place_problem(example, groups, known, right, task)
        if problem is None:
            found.append((*right[0], example))
        else:
            problems.append(f"{example.where}: {problem}")
    if not found:
        raise UserError("D462", problem=problems[0], n=len(problems))
    instances = places.instances()
    found.sort(key=lambda each: (instances.positions[each[0]], each[0]))  # equal ones stay as they came
    index = np.array([place for place, _, _ in found], np.int64)
    used = [example for _, _, example in found]
    gold = np.array([candidate for _, candidate, _ in found], np.int32)
    chosen = replace(instances.take(index), observed=gold)
    return LabelledDataset(TextExamples.from_view(view, chosen), used, document_numbers(used), problems)


def whole_domains(domains: Sequence[str], documents: NDArray[np.int64], n: int) -> NDArray[np.int64] | None:
    """Return folds of whole domains, about equally many examples each; None where there are too few domains.

    None, too, where an example names no domain, or a document is in two.
    """
    if n < 2 or not all(domains):
        return None
    names, number = np.unique(np.asarray(domains, object).astype(str), return_inverse=True)
    pairs = np.unique(np.column_stack([number, documents]), axis=0)
    if len(names) < n or len(pairs) > len(np.unique(documents)):
        return None
    sizes, loads, fold = np.bincount(number), np.zeros(n, np.int64), np.zeros(len(names), np.int64)
    for domain in np.argsort(-sizes, kind="stable").tolist():
        fold[domain] = loads.argmin()
        loads[fold[domain]] += sizes[domain]
    return fold[number]


def document_numbers(examples: Sequence[Labelled]) -> NDArray[np.int64]:
    """Return the number of each example's document, in an order that only its name decides.

    Documents that have a text in common are one: equal texts are never split.
    """
    first: dict[str, str] = {}
    one: dict[str, str] = {}

    def root(name: str) -> str:
        while one.get(name, name) != name:
            name = one[name]
        return name

    for example in examples:
        other = first.setdefault(example.text, example.document)
        if root(example.document) != root(other):
            one[root(example.document)] = root(other)
    names = [root(example.document) for example in examples]
    order = {name: i for i, name in enumerate(sorted(set(names), key=hash_word))}
    return np.array([order[name] for name in names], np.int64)


def right_candidates(marked: LabelledDataset, group: Group) -> NDArray[np.bool_]:
    """Return which candidates are right for each instance, shape ``(n_instances, most candidates)``.

    Parameters
    ----------
    marked : Marked
        Of instances that all belong to `group`.
    """
    instances = marked.examples.instances
    own = instances.own
    right = instances.observed[:, None] == np.arange(int(instances.sizes(group).max(initial=1)))
    for row, example in enumerate(marked.labelled):
        for label in example.also:
            known = group.candidates if own is None else own.instance_candidates(row)
            if (candidate := _candidate(known, label)) >= 0:
                right[row, candidate] = True
    return right


def learns_labels(task: Task) -> bool:
    """Tell whether a task may have its labels from the examples, and so from those that it is tested on."""
    return decides(task).between == "labels" and isinstance(task, LearnsSettings)


def seen_elsewhere(
    chosen: NDArray[np.int64],
    right: NDArray[np.bool_],
    folds: NDArray[np.int64],
    more: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return choices, -1 for those of which no fold but their own has an example.

    Parameters
    ----------
    chosen : array of int, shape (n,)
        Candidates; -1 stays.
    right : array of bool, shape (n, K)
        See `right_candidates`.
    folds : array of int, shape (n,)
    more : array of int, shape (K,), optional
        Examples of each candidate that are in no fold.
    """
    counts = np.zeros((int(folds.max(initial=-1)) + 1, right.shape[1]), np.int64)
    np.add.at(counts, folds, right)
    others = counts.sum(axis=0) - counts + (0 if more is None else more)
    known = (chosen >= 0) & (others[folds, chosen] > 0)
    return np.where(known, chosen, -1)


def _place_problem(
    example: Labelled,
    here: Sequence[Group],
    candidates: Sequence[Sequence[str]],
    right: Sequence[tuple[int, int]],
    task: Task,
) -> str | None:
    """Say why a label cannot be used; `here` are the groups decided there, `right` those that know it."""
    if (
        not here
        and example.word
        and decides(task).between == "labels"
        and not any(g.name == example.word for g in task.groups)
    ):
        return f"the task {task.name} knows no word {example.word!r}"
    if not here:
        return f"the task {task.name} decides nothing at {_shown(example)}"
    if not right:
        known = ", ".join(map(repr, candidates[0][:8]))
        return f"the label {example.label!r} is none of {known}"
    if _is_whole(example) and len({i for i, _ in right}) > 1:
        return f'{_shown(example)} has {len(right)} places to decide: say which by "start" and "end"'
    return None


def _is_whole(example: Labelled) -> bool:
    return (example.start, example.end) == (0, len(example.text))


def _shown(example: Labelled) -> str:
    """Return what is labelled, for a message."""
    text = example.text[example.start : example.end]
    if not text.strip() and example.start < example.end:
        return "white space"
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} ...")


def _candidate(candidates: Sequence[str], label: str) -> int:
    """Return the candidate that a label names, -1 for none: as it is, or in lower case."""
    for name in (label, label.lower()):
        if name in candidates:
            return candidates.index(name)
    return -1
