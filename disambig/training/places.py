"""The decisions that a task takes in some texts, to be asked for by characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.fields import decides
from disambig.formats.labelled.example import Labelled
from disambig.formats.labelled.marks import at_its_mark
from disambig.tasks.contract import instances_of
from disambig.text.documents import view_of_texts
from disambig.text.view import Tokenisation, TokenView
from disambig.types import Task


@dataclass(frozen=True, slots=True, eq=False)
class Places:
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
    def of(cls, task: Task, view: TokenView) -> Places:
        """Find the decisions of a task in a view."""
        own = instances_of(task, view)
        starts = view.starts[own.positions]
        last = own.positions + np.maximum(own.lengths, 1) - 1
        ends = np.where(own.lengths > 0, view.ends[last], starts)
        text = view.document_of(own.positions)
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
            return self.own.own.of_instance(index)
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


def as_decided(task: Task, labelled: Sequence[Labelled]) -> list[Labelled]:
    """Return examples as a task decides them: whole texts of documents, else the place marked in a text.

    Raises
    ------
    UserError
        D460 for a text whose marks do not show one place, unless the task decides documents.
    """
    if decides(task).where == "documents":  # what marks their texts is their own, and a word decides nothing
        return [replace(example, word="") if example.word else example for example in labelled]
    return [at_its_mark(example) for example in labelled]


def in_one_token(labelled: Sequence[Labelled], tokenisation: Tokenisation) -> list[Labelled]:
    """Return the examples whose place, read by itself, is not cut into several tokens."""
    forms = {example.text[example.start : example.end] for example in labelled}
    doubtful = sorted(form for form in forms if form and not form.isalnum())
    if not doubtful:
        return list(labelled)
    view = view_of_texts(doubtful, tokenisation)
    tokens = np.flatnonzero(view.ends > view.starts)
    counts = np.bincount(view.document_of(tokens), minlength=len(doubtful))
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
