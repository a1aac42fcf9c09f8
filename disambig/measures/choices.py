"""Measures of what was chosen: accuracy, mean cost, F1 of one candidate and of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.measures.outcomes import Outcomes
from disambig.measures.sums import Summed, columns, ratio

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Accuracy(Summed):
    """The share of choices that are right; no answer is not."""

    name = "accuracy"
    unit = "share"
    more_is_better = True

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return whether each is right, and one."""
        return columns(outcomes.right, np.ones(len(outcomes)))


@dataclass(frozen=True, slots=True)
class MeanCost(Summed):
    """What choices cost on average; no answer costs as much as the dearest candidate."""

    name = "mean cost"
    unit = "cost"
    more_is_better = False

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return what each costs, and one."""
        return columns(outcomes.chosen_cost, np.ones(len(outcomes)))


@dataclass(frozen=True, slots=True)
class F1(Summed):
    """The harmonic mean of precision and recall of one candidate; NaN where it is nowhere chosen nor right.

    Attributes
    ----------
    candidate : str
        Its name.
    """

    candidate: str
    unit = "share"
    for_lists = False
    more_is_better = True

    @property
    def name(self) -> str:
        """``F1 of 'to'``."""
        return f"F1 of {self.candidate!r}"

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return twice whether each is both chosen and right, and in how many of both it is."""
        wanted = [i for i, name in enumerate(outcomes.names) if name == self.candidate]
        called, there = (np.isin(ids, wanted) for ids in (outcomes.chosen_ids, outcomes.gold_ids))
        return columns(2.0 * (called & there), called.astype(np.float64) + there)


@dataclass(frozen=True, slots=True)
class MacroF1(Summed):
    """The mean of the F1 of all candidates that are chosen or right somewhere; those of one name are one."""

    name = "macro F1"
    unit = "share"
    for_lists = False
    more_is_better = True

    def terms(self, outcomes: Outcomes) -> Floats:
        """Return what `F1.terms` does of each candidate: all of the first, then all of the second."""
        known: dict[str, int] = {}
        number = np.array([known.setdefault(name, len(known)) for name in outcomes.names], np.int64)
        n, k = len(outcomes), len(known)
        called, there = np.zeros((n, k)), np.zeros((n, k))
        for ids, table in ((outcomes.chosen_ids, called), (outcomes.gold_ids, there)):
            rows = np.flatnonzero(ids >= 0)
            table[rows, number[ids[rows]]] = 1.0
        return np.hstack([2.0 * called * there, called + there])

    def of_sums(self, sums: Floats) -> Floats:
        """Return the mean of the quotients that are defined."""
        k = sums.shape[-1] // 2
        each = ratio(sums[..., :k], sums[..., k:])
        known = ~np.isnan(each)
        return ratio(np.where(known, each, 0.0).sum(axis=-1), known.sum(axis=-1))
