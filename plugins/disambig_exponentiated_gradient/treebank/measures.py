"""Bracket F1 as a measure of the core: of n-best lists whose candidates are trees on one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.measures import Outcomes

from .brackets import Brackets
from .cleaning import first_tree
from .parseval import Parseval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BracketF1:
    """Harmonic mean of precision and recall of labelled brackets, by evalb's conventions.

    Candidates and references are trees in brackets. A text without a tree is a sentence without a parse. As a
    cost, a tree counts its brackets that are missing or too many.
    """

    name = "bracket F1"
    unit = "share"
    more_is_better = True

    def value(self, outcomes: Outcomes) -> float:
        """Return the figure; NaN where there is no bracket."""
        return float(self.of_sums(self.terms(outcomes).sum(axis=0)))

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return of each twice its right brackets, and those that are there or should be."""
        if outcomes.references is None:
            raise UserError("D433", name=self.name)
        counts = _counted(outcomes.chosen_texts, outcomes.references)
        return np.stack([2.0 * counts.matched, 1.0 * (counts.gold + counts.found)], axis=1)

    def of_sums(self, sums: Floats) -> Floats:
        """Return the figure of each row of sums."""
        above, below = sums[..., 0], sums[..., 1]
        return np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)

    def costs(self, texts: Sequence[str], references: Sequence[str]) -> Floats:
        """Return the bracket errors of each tree beside its reference."""
        return _counted(texts, references).errors.astype(np.float64)


def _counted(texts: Sequence[str], references: Sequence[str]) -> Parseval:
    gold = [_brackets(text) for text in references]
    return Parseval.of(
        [Brackets((), (), (), (), ()) if each is None else each for each in gold],
        [_brackets(text) for text in texts],
    )


@lru_cache(10_000)
def _brackets(text: str) -> Brackets | None:
    """Return the brackets of the first tree of a text."""
    tree = first_tree(text)
    return None if tree is None else Brackets.of(tree)
