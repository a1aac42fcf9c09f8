"""The area under the ROC curve: how well scores tell the instances of one candidate from the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.data.batches.rows import rows_of
from disambig.measures.outcomes import Outcomes
from disambig.measures.sums import ratio

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AUC:
    """The share of pairs, one where a candidate is right and one where it is not, that scores put in order.

    An instance's score is by how much the candidate's is above the best other one's; ties count half.
    Instances without that candidate, or without another one, are left out. NaN where there is no pair.

    Attributes
    ----------
    candidate : str
        Its name; if empty, the second candidate of each instance.
    """

    candidate: str = ""
    unit = "share of pairs"
    for_lists = False
    more_is_better = True

    @property
    def name(self) -> str:
        """``AUC of 'to'``, or ``AUC``."""
        return f"AUC of {self.candidate!r}" if self.candidate else "AUC"

    def value(self, outcomes: Outcomes) -> float:
        """Return the figure; NaN where it is not defined."""
        return float(self.reweighed(outcomes, np.ones((1, len(outcomes))))[0])

    def reweighed(self, outcomes: Outcomes, weights: Floats) -> Floats:
        """Return the figure for each row of weights, shape ``(m,)``."""
        used, leads, positive = self._leads(outcomes)
        if not len(used):
            return np.full(len(weights), np.nan)
        order = np.argsort(leads, kind="stable")
        begins = np.flatnonzero(np.diff(leads[order], prepend=-np.inf) != 0)  # of each run of ties
        begins = begins if len(begins) and begins[0] == 0 else np.concatenate([[0], begins])
        own = weights[:, used[order]]
        above, below = (
            np.add.reduceat(np.where(kind[order], own, 0.0), begins, axis=1) for kind in (positive, ~positive)
        )
        lower = np.cumsum(below, axis=1) - below
        won = (above * (lower + below / 2)).sum(axis=1)
        return ratio(won, above.sum(axis=1) * below.sum(axis=1))

    def _leads(self, outcomes: Outcomes) -> tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]:
        """Return the instances that count, by how much the candidate leads, and whether it is right there."""
        rows = self._rows(outcomes)
        sizes = np.diff(outcomes.offsets)
        used = np.flatnonzero((rows >= 0) & (sizes > 1))
        of_part, offsets = rows_of(outcomes.offsets, used)
        at = rows[used]
        others = outcomes.scores.copy()
        others[at] = -np.inf
        leads = outcomes.scores[at] - segments.maxima(others[of_part], offsets)
        positive = outcomes.gold_ids[used] == outcomes.ids[at]
        return used, leads, positive

    def _rows(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """Return the row of the candidate in each instance, -1 where it is none."""
        first, sizes = outcomes.offsets[:-1], np.diff(outcomes.offsets)
        if not self.candidate:
            return np.where(sizes > 1, first + 1, -1)
        named = np.fromiter((name == self.candidate for name in outcomes.names), bool, len(outcomes.names))
        hits = np.flatnonzero(named[outcomes.ids]) if len(named) else np.zeros(0, np.int64)
        found = np.full(len(outcomes), -1, np.int64)
        found[np.searchsorted(first, hits, side="right") - 1] = hits
        return found
