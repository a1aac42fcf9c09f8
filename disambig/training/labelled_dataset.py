"""Training examples: from text, from mistakes that people made, and labelled examples as instances."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, Instances, find_instances, surrounding_space
from disambig.errors import UserError
from disambig.features import transform_union
from disambig.formats import Clean, Fix, Labelled, place_at_mark
from disambig.formatting import first_names, pluralize
from disambig.rules import comparable_form
from disambig.text import Tokenisation, TokenView, check_view, hash_word, view_of_texts
from disambig.types import FeatureExtractor, Features, LearnsSettings, Task, decides

_MAX_REASONS = 5
_QUOTED = re.compile(r"""('[^']*'|"[^"]*")(, ('[^']*'|"[^"]*"))*""")
"""A quotation, or a list of them."""


def dataset_report(used: int, reasons: Sequence[str] = (), what: str = "examples") -> dict[str, Any]:
    """Count the examples that are used and left out, with reasons, as plain values.

    `reasons`: the reason for each example that was left out.
    `what`: noun for the examples, such as ``"lists"`` or ``"documents"``.
    """
    # without quotations, equal reasons are counted together
    left_out = dict(Counter(_QUOTED.sub("...", reason) for reason in reasons).most_common())
    return {"what": what, "read": used + len(reasons), "used": used, "left_out": left_out}


def report_line(report: Mapping[str, Any]) -> str:
    """Format a dataset report as one line: ``read 3,097 examples: 3,090 used, 7 left out (...)``."""
    reasons = list(report["left_out"].items())
    n = sum(count for _, count in reasons)
    shown = "; ".join(f"{count:,}: {reason}" for reason, count in reasons[:_MAX_REASONS])
    more = f"; {pluralize(len(reasons) - _MAX_REASONS, 'more reason')}" if len(reasons) > _MAX_REASONS else ""
    left = f"{n:,} left out ({shown}{more})" if n else "none left out"
    read = pluralize(report["read"], report["what"].removesuffix("s"))
    return f"read {read}: {report['used']:,} used, {left}"


HASH_FOLDS = 10
PARTS = {"train": range(6), "dev": range(6, 8), "test": range(8, 10)}
_PURPOSES = {"train": "to learn from", "dev": "to tune on", "test": "to test on"}


def document_fold(text: str) -> int:
    """Return the fold (0 to 9) of a document by its text, ignoring white space at the ends."""
    # by content, not at random or by order: equal documents are never split, and adding documents moves none
    return hash_word(text.strip()) % HASH_FOLDS


def split(texts: Iterable[str]) -> dict[str, list[str]]:
    """Split documents into train (60 %), dev (20 %) and test (20 %)."""
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    part_of_fold = {fold: parts[name] for name, folds in PARTS.items() for fold in folds}
    for text in texts:
        part_of_fold[document_fold(text)].append(text)
    return parts


def explain_empty_part(texts: Mapping[str, Sequence[str]], part: str, task: str) -> str:
    """Explain why a part of a split has no examples for a task, although another part may have some.

    `texts`: see `split`.
    `part`: one of `_PURPOSES`.
    """
    all_texts = [text.strip() for name in _PURPOSES for text in texts.get(name, ()) if text.strip()]
    n, n_different = len(all_texts), len(set(all_texts))
    problem = f"none of the documents kept {_PURPOSES[part]} contains a candidate of the task {task}"
    if n_different < n:
        verb = "is" if n_different == 1 else "are"
        different = f"only {n_different:,} of {pluralize(n, 'document')} {verb} different"
        return f"{problem}; {different}, and equal documents are never split: add more distinct documents"
    return f"{problem}; {pluralize(n, 'document')} in all: add more (with --lines, each line is one)"


@dataclass(frozen=True, slots=True, eq=False)
class TextExamples:
    """A view of some text and the instances in it."""

    view: TokenView
    instances: Instances
    n_words: int  # number of words in the text, without sentence ends

    @classmethod
    def from_view(cls, view: TokenView, instances: Instances) -> TextExamples:
        """Build examples from a view and its instances, counting the words."""
        return cls(view, instances, int(np.count_nonzero(view.ends > view.starts)))

    def rows(
        self, group: int, *, maximum: int | None = None, rng: np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        """Return the rows of a group's instances: all of them, or a random sample of `maximum`."""
        rows = np.flatnonzero(self.instances.groups == group)
        if maximum is not None and len(rows) > maximum:
            assert rng is not None
            rows = np.sort(rng.choice(rows, maximum, replace=False))
        return rows

    def features(
        self, rows: NDArray[np.int64], group: int, task: Task, extractors: Sequence[FeatureExtractor]
    ) -> Features:
        """Return the features of the instances in `rows`, all of one group."""
        return transform_union(extractors, self.view, self.instances.take(rows), task.groups[group])


_MAX_TIER = 1
"""Highest tier that is learned from: mistakes of higher tiers are a matter of wording or taste."""
UNSURE, ELSEWHERE, OTHER, SHIELDED = (
    f"tier above {_MAX_TIER}",
    "the task decides nothing there",
    "the task does not decide between these words",
    "protected text, such as code, a quotation or a name",
)
"""Reasons for leaving out a mistake."""


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCorpus:
    """Mistakes that people made, and clean text, as instances of a task."""

    wrong: TextExamples  # the places of mistakes; the observed candidate is the intended one
    written: NDArray[np.int32]  # (n,): the candidate that was written at each place
    right: TextExamples  # places without a mistake
    report: dict[str, Any]  # number of mistakes used and left out, with reasons (see `dataset_report`)
    n_mistakes: int  # number of all given mistakes, used or not

    @classmethod
    def from_texts(
        cls, task: Task, tokenisation: Tokenisation, mistakes: Sequence[Fix], clean: Sequence[Clean]
    ) -> ErrorCorpus:
        """Find the instances of a task at mistakes and in clean paragraphs.

        Raises D426 if only one of mistakes and clean paragraphs is given, D428 if the task decides no
        mistake, or nothing in the clean paragraphs.
        """
        if not (mistakes and clean):
            raise UserError("D426", problem=f"{'clean' if mistakes else 'fixes'} is missing")
        sure = [fix for fix in mistakes if fix.tier <= _MAX_TIER]
        view = view_of_texts([fix.before for fix in sure], tokenisation, protected=True)
        instances = find_instances(task, view)
        matches, intended, reasons = _match_places(task, view, instances, sure)
        left_out = [*filter(None, reasons), *[UNSURE] * (len(mistakes) - len(sure))]
        report = dataset_report(len(mistakes) - len(left_out), left_out, "mistakes")
        if not len(matches):
            raise UserError("D428", task=task.name, problem=report_line(report))
        places = instances.take(matches)
        paragraphs = view_of_texts([paragraph.text for paragraph in clean], tokenisation, protected=True)
        right = find_instances(task, paragraphs)
        right = right.take((right.observed >= 0) & ~protected_instances(paragraphs, right))
        if not len(right):
            raise UserError("D428", task=task.name, problem="it decides nothing in the clean paragraphs")
        return cls(
            TextExamples.from_view(view, replace(places, observed=intended)),
            places.observed,
            TextExamples.from_view(paragraphs, right),
            report,
            len(mistakes),
        )


def protected_instances(view: TokenView, instances: Instances) -> NDArray[np.bool_]:
    """Return which instances begin or end with a protected token."""
    protected: NDArray[np.bool_] = view.layers["protected"].astype(bool)
    return protected[instances.positions] | protected[instances.positions + instances.lengths - 1]


def _match_places(
    task: Task, view: TokenView, instances: Instances, mistakes: Sequence[Fix]
) -> tuple[NDArray[np.int64], NDArray[np.int32], list[str]]:
    """Match mistakes with instances that decide between the written and the intended word.

    Return the matching instances, the intended candidate of each, and for every mistake the reason for
    leaving it out ("" if it is used).
    """
    starts, ends = instances.spans(view)
    documents = view.document_indices(instances.positions)
    spans = np.array([(fix.start, fix.end) for fix in mistakes], np.int64).reshape(-1, 2)
    at_mistakes = np.flatnonzero((starts == spans[documents, 0]) & (ends == spans[documents, 1]))
    protected = protected_instances(view, instances)
    matches, intended = [], []
    reasons = [ELSEWHERE] * len(mistakes)
    for i in at_mistakes.tolist():
        number, observed = int(documents[i]), int(instances.observed[i])
        fix, candidates = mistakes[number], instances.candidates(i, task.groups[int(instances.groups[i])])
        old, new = comparable_form(fix.old), comparable_form(fix.new)
        if observed < 0 or candidates[observed] != old or new not in candidates or new == old:
            reasons[number] = OTHER if reasons[number] == ELSEWHERE else reasons[number]
        elif protected[i]:
            reasons[number] = SHIELDED
        else:
            reasons[number] = ""
            matches.append(i)
            intended.append(candidates.index(new))
    return np.array(matches, np.int64), np.array(intended, np.int32), reasons


@dataclass(frozen=True, slots=True, eq=False)
class TaskPlaces:
    """The instances that a task finds, and those that examples name, each identified by an index."""

    # the tokens of the view; empty if examples cannot name instances
    tokens: tuple[list[int], list[int], list[int]]
    task_instances: Instances  # the instances that the task finds
    groups: list[int]  # index of the group of each instance; named instances come after the others
    named: dict[tuple[int, int], tuple[int, int]]  # instances of tasks with labels that an example can name
    group_of_word: dict[str, int]  # index of each group that an example can name, by its name
    single_tokens: bool  # whether the task decides at single tokens only
    # character offsets of each of the task's instances, and the furthest end so far in its text
    starts: list[int]
    ends: list[int]
    running_ends: list[int]
    first_instances: list[int]  # first instance of each text and, last, the number of instances

    @classmethod
    def from_view(cls, task: Task, view: TokenView) -> TaskPlaces:
        """Find the instances of a task in a view."""
        instances = find_instances(task, view)
        starts, ends = instances.spans(view)
        text = view.document_indices(instances.positions)
        first_instances = np.searchsorted(text, np.arange(len(view.texts) + 1))
        # instances may be nested, so that ends do not ascend; their running maximum does and can be bisected
        running_ends = np.concatenate(
            [np.zeros(0, np.int64), *map(np.maximum.accumulate, np.split(ends, first_instances[1:-1]))]
        )
        groups = instances.groups.tolist()
        group_of_word: dict[str, int] = {}
        named: dict[tuple[int, int], tuple[int, int]] = {}
        tokens: tuple[list[int], list[int], list[int]] = [], [], []
        what = decides(task)
        if what.between == "labels" and what.where != "documents":
            group_of_word = {group.name: g for g, group in enumerate(task.groups)}
            tokens = view.starts.tolist(), view.ends.tolist(), view.documents.tolist()
            keys = zip(instances.positions.tolist(), groups, strict=True)
            named = {
                key: (i, n) for i, (key, n) in enumerate(zip(keys, instances.lengths.tolist(), strict=True))
            }
        listed = (values.tolist() for values in (starts, ends, running_ends, first_instances))
        return cls(tokens, instances, groups, named, group_of_word, what.where == "tokens", *listed)

    def find(self, text: int, example: Labelled) -> list[int]:
        """Return the instances at an example's place, in order; only the named one if it names its word."""
        if example.word and self.group_of_word:
            group = self.group_of_word.get(example.word)
            return [] if group is None else self._named(text, example, group)
        first, end = self.first_instances[text : text + 2]
        if example.start < example.end:
            low = bisect_right(self.running_ends, example.start, first, end)
            high = bisect_left(self.starts, example.end, first, end)
            return [i for i in range(low, high) if max(self.starts[i], example.start) < self.ends[i]]
        # white space around the place is ignored
        left, right = surrounding_space(example.text, example.start)
        low = bisect_left(self.running_ends, left, first, end)
        high = bisect_right(self.starts, right, first, end)
        return [i for i in range(low, high) if left <= self.starts[i] == self.ends[i]]

    def instances(self) -> Instances:
        """Return all instances, by their indices."""
        n = len(self.task_instances)
        created = [
            (position, length, group) for (position, group), (i, length) in self.named.items() if i >= n
        ]
        positions, lengths, groups = np.array(created, np.int64).reshape(-1, 3).T
        return Instances(
            np.concatenate([self.task_instances.positions, positions]),
            np.concatenate([self.task_instances.lengths, lengths.astype(np.int32)]),
            np.concatenate([self.task_instances.groups, groups.astype(np.int32)]),
            np.concatenate([self.task_instances.observed, np.full(len(created), -1, np.int32)]),
            self.task_instances.lists,
        )

    def candidates(self, index: int, group: Group) -> Sequence[str]:
        """Return the candidates of an instance, which are its own or those of its group."""
        is_from_task = index < len(self.task_instances)
        return self.task_instances.candidates(index, group) if is_from_task else group.candidates

    def n_tokens_if_too_many(self, text: int, example: Labelled) -> int:
        """Return the number of tokens of a place if the task does not allow that many, else 0."""
        n = len(self._tokens(text, example)) if self.single_tokens else 0
        return n if n > 1 else 0

    def _tokens(self, text: int, example: Labelled) -> list[int]:
        """Return the tokens at a place."""
        starts, ends, documents = self.tokens
        if not documents:  # examples cannot name instances of this task
            return []
        first, end = documents[text : text + 2]
        low = bisect_right(ends, example.start, first, end)
        high = bisect_left(starts, example.end, first, end)
        return [i for i in range(low, high) if starts[i] < ends[i]]

    def _named(self, text: int, example: Labelled, group: int) -> list[int]:
        """Return the instance of a group at the tokens of a place; create one if there is none."""
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
    """Return examples as the task needs them: whole texts for documents, else the marked place of each text.

    Raises D460 for a text that does not mark exactly one place, unless the task decides documents.
    """
    if decides(task).where == "documents":  # brackets are part of the text, and words play no role
        return [replace(example, word="") if example.word else example for example in labelled]
    return [place_at_mark(example) for example in labelled]


def single_token_examples(labelled: Sequence[Labelled], tokenisation: Tokenisation) -> list[Labelled]:
    """Return the examples whose place, tokenised by itself, is a single token."""
    forms = {example.text[example.start : example.end] for example in labelled}
    doubtful = sorted(form for form in forms if form and not form.isalnum())
    if not doubtful:
        return list(labelled)
    view = view_of_texts(doubtful, tokenisation)
    tokens = np.flatnonzero(view.ends > view.starts)
    counts = np.bincount(view.document_indices(tokens), minlength=len(doubtful))
    split_forms = {form for form, n in zip(doubtful, counts.tolist(), strict=True) if n > 1}
    return [example for example in labelled if example.text[example.start : example.end] not in split_forms]


_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class LabelledDataset:
    """Labelled examples as instances; their ``observed`` candidates are the right ones."""

    examples: TextExamples
    labelled: list[Labelled]  # the example behind each instance
    # int64 (n_instances,): number of the document of each instance, from 0 to n_documents - 1
    documents: NDArray[np.int64]
    written: NDArray[np.int32]  # (n_instances,): the candidate that is in the text; -1 if there is none
    # file and line of each labelled place that could not be used, and the reason
    problems: list[tuple[str, str]]
    n_unknown_labels: int = 0  # number of `problems` that are labels which the task does not have

    @property
    def reasons(self) -> list[str]:
        """The reason for each labelled place that could not be used."""
        return [reason for _, reason in self.problems]

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return int(self.documents.max(initial=-1)) + 1

    def take(self, index: NDArray[np.generic]) -> LabelledDataset:
        """Return some of the examples, keeping the numbers of their documents."""
        rows = np.arange(len(self.documents))[index]
        examples = replace(self.examples, instances=self.examples.instances.take(rows))
        labelled = [self.labelled[i] for i in rows]
        return LabelledDataset(examples, labelled, self.documents[rows], self.written[rows], [])

    def compacted(self, index: NDArray[np.generic]) -> LabelledDataset:
        """Return some of the examples with only their texts, and their documents renumbered from 0."""
        part = self.take(index)
        view, instances = self.examples.view, part.examples.instances
        texts, text_indices = np.unique(view.document_indices(instances.positions), return_inverse=True)
        part_view = view.take(texts)
        shifts = part_view.documents[:-1] - view.documents[texts]
        positions = instances.positions + shifts[text_indices]
        _, documents = np.unique(part.documents, return_inverse=True)
        return replace(
            part,
            examples=TextExamples.from_view(part_view, replace(instances, positions=positions)),
            documents=documents.astype(np.int64),
        )

    def folds(self, n: int) -> NDArray[np.int64]:
        """Return the fold (0 to n - 1) of each instance; folds are whole documents, evenly distributed."""
        return self.documents % n

    def folds_apart(self, n: int) -> NDArray[np.int64]:
        """Return folds of whole domains if the examples name at least `n`; else as `folds`.

        Settings chosen on such folds also hold for other kinds of text.
        """
        domain_folds = whole_domains([example.domain for example in self.labelled], self.documents, n)
        return self.folds(n) if domain_folds is None else domain_folds


def label_instances(task: Task, tokenisation: Tokenisation, labelled: Sequence[Labelled]) -> LabelledDataset:
    """Find the instance of each labelled place.

    In tasks with labels, an example that names its word becomes an instance of that group even if the task
    finds none there, so that a wrong part-of-speech tag loses no example.

    Raises
    ------
    UserError
        D460 for a text that does not mark exactly one place (see `as_task_decides`),
        D462 if no labelled place can be used.
    """
    labelled = as_task_decides(task, labelled)
    texts = list(dict.fromkeys(example.text for example in labelled))
    number = {text: i for i, text in enumerate(texts)}
    view = view_of_texts(texts, tokenisation)
    check_view(tokenisation, view, texts)
    places = TaskPlaces.from_view(task, view)
    matches: list[tuple[int, int, Labelled]] = []
    problems: list[tuple[str, str]] = []
    unknown_labels = 0
    for example in labelled:
        if n := places.n_tokens_if_too_many(number[example.text], example):
            reason = f"{_shown(example)} has {n} tokens: the task {task.name} decides single tokens only"
            if _is_whole(example):
                reason = f"no place is marked in {_shown(example)}: put one word between [[ and ]]"
            problems.append((example.where, reason))
            continue
        indices = places.find(number[example.text], example)
        groups = [task.groups[places.groups[i]] for i in indices]
        options = [places.candidates(i, group) for i, group in zip(indices, groups, strict=True)]
        right = [
            (i, c)
            for i, candidates in zip(indices, options, strict=True)
            if (c := _candidate(candidates, example.label)) >= 0
        ]
        problem = _place_problem(example, groups, options, right, task)
        if problem is None:
            matches.append((*right[0], example))
        else:
            problems.append((example.where, problem))
            unknown_labels += bool(indices) and not right
    if not matches:
        problem = ": ".join(filter(None, problems[0])) + _decided_words(task)
        raise UserError("D462", problem=problem, n=len(problems))
    instances = places.instances()
    matches.sort(key=lambda match: (instances.positions[match[0]], match[0]))  # stable
    index = np.array([place for place, _, _ in matches], np.int64)
    used = [example for _, _, example in matches]
    gold = np.array([candidate for _, candidate, _ in matches], np.int32)
    in_text = instances.take(index)
    chosen = replace(in_text, observed=gold)
    return LabelledDataset(
        TextExamples.from_view(view, chosen),
        used,
        document_numbers(used),
        in_text.observed,
        problems,
        unknown_labels,
    )


def whole_domains(domains: Sequence[str], documents: NDArray[np.int64], n: int) -> NDArray[np.int64] | None:
    """Return folds of whole domains with about equally many examples; None if there are too few domains.

    Also return None if an example names no domain, or a document belongs to two domains.
    """
    if n < 2 or not all(domains):
        return None
    names, number = np.unique(np.asarray(domains, object).astype(str), return_inverse=True)
    pairs = np.unique(np.column_stack([number, documents]), axis=0)
    if len(names) < n or len(pairs) > len(np.unique(documents)):
        return None
    sizes, loads, fold = np.bincount(number), np.zeros(n, np.int64), np.zeros(len(names), np.int64)
    # largest domain first, always into the smallest fold
    for domain in np.argsort(-sizes, kind="stable").tolist():
        fold[domain] = loads.argmin()
        loads[fold[domain]] += sizes[domain]
    return fold[number]


def document_numbers(examples: Sequence[Labelled]) -> NDArray[np.int64]:
    """Return the number of each example's document; the numbers depend on the names and texts only.

    A text that stands in several documents belongs to one of them, so that its copies are never split
    between folds and the documents stay apart.
    """
    owner: dict[str, tuple[int, str]] = {}  # the document of each text; the first one by the hash of its name
    for example in examples:
        name = hash_word(example.document), example.document
        owner[example.text] = min(owner.get(example.text, name), name)
    # by hash: depends only on the names, and adjacent documents, which may be alike, get into different folds
    order = {name: i for i, name in enumerate(sorted(set(owner.values())))}
    return np.array([order[owner[example.text]] for example in examples], np.int64)


def right_candidates(dataset: LabelledDataset, group: Group) -> NDArray[np.bool_]:
    """Return which candidates are right for each instance, shape ``(n_instances, max_candidates)``.

    `dataset`: all its instances belong to `group`.
    """
    instances = dataset.examples.instances
    right = instances.observed[:, None] == np.arange(int(instances.sizes(group).max(initial=1)))
    for row, example in enumerate(dataset.labelled):
        for label in example.also:
            if (candidate := _candidate(instances.candidates(row, group), label)) >= 0:
                right[row, candidate] = True
    return right


def learns_labels(task: Task) -> bool:
    """Return True if a task learns its labels from the examples, possibly from those it is tested on."""
    return decides(task).between == "labels" and isinstance(task, LearnsSettings)


def seen_elsewhere(
    chosen: NDArray[np.int64],
    right: NDArray[np.bool_],
    folds: NDArray[np.int64],
    n_outside: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Replace choices that have no example in any other fold by -1.

    `chosen` (int (n,)): chosen candidates; -1 is kept.
    `right` (bool (n, K)): see `right_candidates`.
    `folds`: int (n,).
    `n_outside` (int (K,)): number of examples of each candidate that are in no fold.
    """
    counts = np.zeros((int(folds.max(initial=-1)) + 1, right.shape[1]), np.int64)
    np.add.at(counts, folds, right)
    others = counts.sum(axis=0) - counts + (0 if n_outside is None else n_outside)
    usable = (chosen >= 0) & (others[folds, chosen] > 0)
    return np.where(usable, chosen, -1)


def _place_problem(
    example: Labelled,
    groups: Sequence[Group],
    candidates: Sequence[Sequence[str]],
    right: Sequence[tuple[int, int]],
    task: Task,
) -> str | None:
    """Return why a label cannot be used; `groups` are those decided there, `right` those that have it."""
    if not groups:
        is_known = any(group.name == example.word for group in task.groups)
        if example.word and not is_known and decides(task).between == "labels":
            return f"the task {task.name} does not know the word {example.word!r}"
        return f"the task {task.name} decides nothing at {_shown(example)}"
    if not right:
        names = ", ".join(map(repr, candidates[0][:8]))
        return f"the label {example.label!r} is not one of {names}"
    if _is_whole(example) and len({index for index, _ in right}) > 1:
        places = f"{len(right)} places to decide"
        return f"{_shown(example)} has {places}: mark one with [[ and ]], or give start and end"
    return None


def _decided_words(task: Task) -> str:
    """Return the first words that a task decides between, as the end of a message; empty for labels."""
    if decides(task).between != "words":
        return ""
    words = [repr(word) for group in task.groups for word in group.candidates if word]
    return f"; it decides between {first_names(words, 6)}" if words else ""


def _is_whole(example: Labelled) -> bool:
    return (example.start, example.end) == (0, len(example.text))


def _shown(example: Labelled) -> str:
    """Return the labelled text, quoted and shortened, for a message."""
    text = example.text[example.start : example.end]
    if not text.strip() and example.start < example.end:
        return "white space"
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} ...")


def _candidate(candidates: Sequence[str], label: str) -> int:
    """Return the index of the candidate with this label, verbatim or in lower case; -1 if there is none."""
    for name in (label, label.lower()):
        if name in candidates:
            return candidates.index(name)
    return -1
