"""The best of a list: the candidate with the best score, and how probable it is to be the right one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.data.groups import Group
from disambig.judges.segmented import table
from disambig.settings import no_setting
from disambig.types import Arrays, Judged, Material, Scored

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class BestOfList:
    """The judge of tasks whose instances have candidates of their own, lists of any length.

    The probability of a candidate is its share of ``exp(scale * score)`` in its list; the scale is that of
    greatest likelihood of the right candidates. Nothing is flagged.

    Parameters
    ----------
    scale : float
        What `fit` learns.
    """

    scale: float = no_setting(1.0)

    def fit(self, material: Material, *, progress: Any = None) -> BestOfList:
        """Find the scale on held-out lists that have a right candidate and a wrong one."""
        parts = [material.scored(g) for g in range(len(material.task.groups))]
        spreads = [_spread(part) for part in parts if len(part.scores)]
        unit = float(np.mean(np.concatenate(spreads))) if spreads else 0.0
        if not unit > 0.0:
            return self
        from scipy.optimize import minimize_scalar

        def loss(log_scale: float) -> float:
            return sum(_loss(part, float(np.exp(log_scale))) for part in parts if len(part.scores))

        middle = -float(np.log(unit))
        found = minimize_scalar(loss, bounds=(middle - 8.0, middle + 8.0), method="bounded")
        return replace(self, scale=float(np.exp(found.x)))

    def judge(self, scored: Scored, *, flags_per_1000: float | None = None) -> Judged:
        """Choose the candidate of the best score; of equal ones the first of the list."""
        n = len(scored.offsets) - 1
        if not n:
            none = np.empty(0)
            return Judged(np.empty(0, np.int64), none, none, np.empty(0, bool), np.empty(0, bool))
        chosen = segments.argmax(scored.scores, scored.offsets)
        ordered = np.sort(table(scored.scores, scored.offsets, -np.inf), axis=1)
        margins = ordered[:, -1] - ordered[:, -2] if ordered.shape[1] > 1 else np.full(n, np.inf)
        shares = self.probabilities(scored)
        at = scored.offsets[:-1] + chosen
        return Judged(chosen, margins, shares[at], np.zeros(n, bool), np.ones(n, bool))

    def probabilities(self, scored: Scored) -> Floats:
        """Return each candidate's share, shape ``(n_candidates,)``."""
        return segments.softmax(self.scale * scored.scores, scored.offsets)

    def state(self) -> Arrays:
        """Return the scale."""
        return {"scale": np.array([self.scale])}

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> BestOfList:
        """Return the judge of `state`; ValueError for a scale that is not above zero."""
        scale = float(arrays["scale"][0])
        if not 0 < scale < np.inf:
            raise ValueError("scale of the best of a list")
        return replace(self, scale=scale)


def _spread(scored: Scored) -> Floats:
    """Return how far the scores of each list lie apart."""
    return segments.maxima(scored.scores, scored.offsets) + segments.maxima(-scored.scores, scored.offsets)


def _loss(scored: Scored, scale: float) -> float:
    """Return the negative log-likelihood of the right candidates, all that cost nothing together."""
    scores = scale * scored.scores
    right = np.where(scored.cost == 0, scores, -np.inf)
    known = segments.maxima(right, scored.offsets) > -np.inf
    kept = np.repeat(known, np.diff(scored.offsets))
    sizes = np.diff(scored.offsets)[known]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if not len(sizes):
        return 0.0
    return float((segments.log_sums(scores[kept], offsets) - segments.log_sums(right[kept], offsets)).sum())
