"""PARSEVAL by evalb's conventions: labelled brackets, scores, and the measure for n-best lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import accumulate, zip_longest

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import Floats, Ints
from disambig.api.measures import Outcomes

from .reading import single_tree
from .tree import TOP, Tree, TreeNodes

DELETED = frozenset({TOP, "-NONE-", ",", ":", "``", "''", "."})
"""Labels whose brackets are not counted, and tags whose words are not counted."""
EQUAL = {"PRT": "ADVP"}
"""Labels that count as another one."""
_TAIL = re.compile(r"[-=]")


@dataclass(frozen=True, slots=True)
class TreeBrackets:
    """Words, tags and brackets of a tree, before deletions."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]  # for each bracket whose label is not deleted, in preorder; without function tags
    # its words, from `starts` to before `ends`
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def from_tree(cls, tree: Tree) -> TreeBrackets:
        """Return the brackets of a tree."""
        nodes = TreeNodes.from_tree(tree)
        rows = [
            (label, start, end)
            for node, start, end in zip(nodes.nodes, nodes.starts, nodes.ends, strict=True)
            if node.word is None and (label := compared_label(node.label)) not in DELETED
        ]
        labels, starts, ends = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(tuple(tree.words()), tuple(tree.tags()), labels, starts, ends)

    def counted(self, is_deleted: Sequence[bool]) -> list[tuple[str, int, int]]:
        """Return label, start and end of each bracket that still contains words, renumbered."""
        place = [0, *accumulate(not deleted for deleted in is_deleted)]
        spans = zip(self.labels, self.starts, self.ends, strict=True)
        return [(label, place[start], place[end]) for label, start, end in spans if place[start] < place[end]]


def compared_label(label: str) -> str:
    """Return the form of a label for comparison: without function tags, ADVP for PRT."""
    tail = _TAIL.search(label, 1)
    plain = label[: tail.start()] if tail and label[0] not in "-=" else label
    return EQUAL.get(plain, plain)


@dataclass(frozen=True, slots=True, eq=False)
class Parseval:
    """Counts of n pairs of trees, as arrays of shape (n,); the figures are for all pairs together.

    A failed sentence (no tree, or other words) has no predicted and no matched brackets, so recall
    decreases. evalb leaves such sentences out, as does ``counts.take(~counts.failed)``.
    """

    # matched brackets, brackets in the gold tree, brackets in the predicted tree
    matched: Ints
    gold: Ints
    predicted: Ints
    # words that are not deleted, and those of them with the right tag
    words: Ints
    right_tags: Ints
    failed: NDArray[np.bool_]

    @classmethod
    def from_trees(
        cls, gold: Sequence[Tree | TreeBrackets], parsed: Sequence[Tree | TreeBrackets | None]
    ) -> Parseval:
        """Return the counts of predicted and gold trees; None is a sentence without a parse."""
        rows = [
            _counts(_as_brackets(gold_tree), None if tree is None else _as_brackets(tree))
            for gold_tree, tree in zip(gold, parsed, strict=True)
        ]
        table = np.array(rows, np.int64).reshape(len(rows), 6)
        matched, n_gold, predicted, words, right_tags, failed = table.T
        return cls(matched, n_gold, predicted, words, right_tags, failed.astype(np.bool_))

    def __len__(self) -> int:
        return len(self.matched)

    def take(self, index: NDArray[np.generic] | slice) -> Parseval:
        """Return the counts of some pairs."""
        return Parseval(*(getattr(self, field.name)[index] for field in fields(self)))

    @property
    def errors(self) -> Ints:
        """Missing and extra brackets, shape ``(n,)``: the cost of a candidate."""
        return self.gold + self.predicted - 2 * self.matched

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether the brackets are exactly those of the gold tree, shape ``(n,)``."""
        return (self.errors == 0) & ~self.failed

    @property
    def precision(self) -> float:
        """Share of predicted brackets that are right; NaN if there are none."""
        return _share(self.matched.sum(), self.predicted.sum())

    @property
    def recall(self) -> float:
        """Share of gold brackets that were predicted; NaN if there are none."""
        return _share(self.matched.sum(), self.gold.sum())

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if there are no brackets."""
        return _share(2 * self.matched.sum(), self.gold.sum() + self.predicted.sum())

    @property
    def exact(self) -> float:
        """Share of trees that are right."""
        return _share(self.is_exact.sum(), len(self))

    @property
    def tagging(self) -> float:
        """Share of the words that are not deleted with the right tag."""
        return _share(self.right_tags.sum(), self.words.sum())


def _share(part: float, whole: float) -> float:
    return float(part) / float(whole) if whole else float("nan")


def _as_brackets(tree: Tree | TreeBrackets) -> TreeBrackets:
    return TreeBrackets.from_tree(tree) if isinstance(tree, Tree) else tree


def _counts(gold: TreeBrackets, parsed: TreeBrackets | None) -> tuple[int, ...]:
    """Return the six columns for one pair."""
    if parsed is None or parsed.words != gold.words:
        is_deleted = [tag in DELETED for tag in gold.tags]
        return 0, len(gold.counted(is_deleted)), 0, is_deleted.count(False), 0, 1
    is_deleted = [a in DELETED and b in DELETED for a, b in zip(gold.tags, parsed.tags, strict=True)]
    gold_brackets, brackets = gold.counted(is_deleted), parsed.counted(is_deleted)
    missing = (Counter(gold_brackets) - Counter(brackets)).total()
    tags = zip(gold.tags, parsed.tags, is_deleted, strict=True)
    right_tags = sum(EQUAL.get(a, a) == EQUAL.get(b, b) for a, b, deleted in tags if not deleted)
    n_gold = len(gold_brackets)
    return n_gold - missing, n_gold, len(brackets), is_deleted.count(False), right_tags, 0


@dataclass(frozen=True, slots=True)
class BracketF1:
    """Harmonic mean of precision and recall of labelled brackets, by evalb's conventions.

    Candidates and references are trees in brackets. A text without a tree is a sentence without a parse. The
    cost of a tree is its number of missing and extra brackets. Trees with other words than their reference
    are an error (D636).
    """

    name = "bracket F1"
    unit = "share"
    more_is_better = True

    def value(self, outcomes: Outcomes) -> float:
        """Return the figure; NaN if there are no brackets."""
        return float(self.of_sums(self.terms(outcomes).sum(axis=0)))

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return for each tree twice its matched brackets, and the sum of predicted and gold brackets."""
        if outcomes.references is None:
            raise UserError("D433", name=self.name)
        counts = _count_brackets(outcomes.chosen_texts, outcomes.references)
        return np.stack([2.0 * counts.matched, 1.0 * (counts.gold + counts.predicted)], axis=1)

    def of_sums(self, sums: Floats) -> Floats:
        """Return the figure for each row of sums."""
        above, below = sums[..., 0], sums[..., 1]
        return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the bracket errors of each tree compared with its reference."""
        return _count_brackets(texts, references).errors.astype(np.float64)


def _count_brackets(texts: Sequence[str], references: Sequence[str]) -> Parseval:
    """Return the counts of pairs of texts; raise D636 if a tree has other words than its reference."""
    gold, parsed = (list(map(_parse_brackets, texts_of_side)) for texts_of_side in (references, texts))
    differing = [
        (row, one, other)
        for row, (one, other) in enumerate(zip(gold, parsed, strict=True))
        if one is not None and other is not None and one.words != other.words
    ]
    if differing:
        row, one, other = differing[0]
        problem = _first_difference(one, other)
        # the core finds the list of `text`
        raise UserError(
            "D636", path="a list", problem=problem, n=len(differing), of=len(texts), text=texts[row]
        )
    empty = TreeBrackets((), (), (), (), ())
    return Parseval.from_trees([brackets or empty for brackets in gold], parsed)


def _first_difference(gold: TreeBrackets, parsed: TreeBrackets) -> str:
    """Describe the first word in which a tree differs from its reference."""
    pairs = enumerate(zip_longest(parsed.words, gold.words), 1)
    number, words = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    seen, expected = ("missing" if word is None else repr(word) for word in words)
    return f"word {number:,} is {seen}, and {expected} in the reference"


@lru_cache(10_000)
def _parse_brackets(text: str) -> TreeBrackets | None:
    """Return the brackets of the tree of a text."""
    tree = single_tree(text)
    return None if tree is None else TreeBrackets.from_tree(tree)
