"""PARSEVAL by evalb's conventions: how many labelled brackets of a tree are right, and how many are found.

A word is left out where both trees give it a tag of punctuation. Where only one does, evalb first counted an
error of the sentence; the word is put in again here, as evalb does since 2005 for the words named to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from .brackets import DELETED, Brackets, compared_tag
from .tree import Tree

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Parseval:
    """What was counted of n pairs of trees, an array of shape (n,) each; the figures are of them all.

    A failed sentence (no tree, or one of other words) has no bracket found and none right, so that recall
    falls. evalb leaves it out: so does ``counts.take(~counts.failed)``.

    Attributes
    ----------
    matched, gold, found : arrays of int64
        Brackets that are right; that should be; that are there.
    crossing : array of int64
        Brackets there that cross one that should be.
    words, right_tags : arrays of int64
        Words that are not deleted, and those with the right tag.
    failed : array of bool
    """

    matched: Ints
    gold: Ints
    found: Ints
    crossing: Ints
    words: Ints
    right_tags: Ints
    failed: NDArray[np.bool_]

    @classmethod
    def of(cls, gold: Sequence[Tree | Brackets], found: Sequence[Tree | Brackets | None]) -> Parseval:
        """Return the counts of trees beside those that should be; None is a sentence without a parse."""
        rows = [
            _counts(_brackets(right), None if tree is None else _brackets(tree))
            for right, tree in zip(gold, found, strict=True)
        ]
        table = np.array(rows, np.int64).reshape(len(rows), 7)
        matched, due, there, crossing, words, right_tags, failed = table.T
        return cls(matched, due, there, crossing, words, right_tags, failed.astype(np.bool_))

    def __len__(self) -> int:
        return len(self.matched)

    def take(self, index: NDArray[np.generic] | slice) -> Parseval:
        """Return the counts of some pairs."""
        return Parseval(*(getattr(self, each.name)[index] for each in fields(self)))

    @property
    def errors(self) -> Ints:
        """Brackets that are missing or too many, shape ``(n,)``: what a candidate costs."""
        return self.gold + self.found - 2 * self.matched

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether all brackets are there and no other, shape ``(n,)``."""
        return (self.errors == 0) & ~self.failed

    @property
    def precision(self) -> float:
        """Share of the brackets there that are right; NaN where there is none."""
        return _share(self.matched.sum(), self.found.sum())

    @property
    def recall(self) -> float:
        """Share of the brackets that should be that are there; NaN where there is none."""
        return _share(self.matched.sum(), self.gold.sum())

    @property
    def f1(self) -> float:
        """Harmonic mean of both; NaN where there is no bracket at all."""
        return _share(2 * self.matched.sum(), self.gold.sum() + self.found.sum())

    @property
    def exact(self) -> float:
        """Share of the trees that are right."""
        return _share(self.is_exact.sum(), len(self))

    @property
    def crossing_a_tree(self) -> float:
        """Crossing brackets a tree, on average."""
        return _share(self.crossing.sum(), len(self))

    @property
    def no_crossing(self) -> float:
        """Share of the trees that have no crossing bracket."""
        return _share(((self.crossing == 0) & ~self.failed).sum(), len(self))

    @property
    def tagging(self) -> float:
        """Share of the words, those deleted left out, that have the right tag."""
        return _share(self.right_tags.sum(), self.words.sum())


def _share(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else float("nan")


def _brackets(tree: Tree | Brackets) -> Brackets:
    return Brackets.of(tree) if isinstance(tree, Tree) else tree


def _counts(gold: Brackets, found: Brackets | None) -> tuple[int, ...]:
    """Return the seven columns of one pair."""
    if found is None or found.words != gold.words:
        is_deleted = [tag in DELETED for tag in gold.tags]
        return 0, len(gold.counted(is_deleted)), 0, 0, is_deleted.count(False), 0, 1
    is_deleted = [a in DELETED and b in DELETED for a, b in zip(gold.tags, found.tags, strict=True)]
    right, there = gold.counted(is_deleted), found.counted(is_deleted)
    seen = Counter(right)
    seen.subtract(there)
    missing = sum(number for number in seen.values() if number > 0)
    tags = zip(gold.tags, found.tags, is_deleted, strict=True)
    right_tags = sum(compared_tag(a) == compared_tag(b) for a, b, gone in tags if not gone)
    crossing = _crossing(right, there)
    return len(right) - missing, len(right), len(there), crossing, is_deleted.count(False), right_tags, 0


def _crossing(right: list[tuple[str, int, int]], there: list[tuple[str, int, int]]) -> int:
    """Return how many brackets that are there cross one that should be."""
    spans = {(start, end) for _, start, end in right}
    return sum(
        any(a < start < b < end or start < a < end < b for a, b in spans)
        for _, start, end in there
        if (start, end) not in spans
    )
