"""Operating points: thresholds for rates of false flags, and one budget for several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.type_aliases import Floats

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Flags per 1,000 correct words for which thresholds are stored; others are interpolated."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """Table of thresholds by rate of false flags."""

    rates: NDArray[np.float64]  # (n,): flags per 1,000 correct words, ascending
    # float64 (n,): log-odds that a decision must exceed to be flagged at that rate, descending
    thresholds: NDArray[np.float64]

    def is_valid(self) -> bool:
        """Return True if rates ascend and thresholds descend."""
        return (
            self.rates.ndim == 1
            and self.rates.shape == self.thresholds.shape
            and len(self.rates) > 0
            and bool((np.diff(self.rates) > 0).all() and (self.rates > 0).all())
            and bool((np.diff(self.thresholds) <= 0).all())
        )

    def threshold(self, flags_per_1000: float) -> float:
        """Return the threshold on the log-odds for a rate.

        Nothing exceeds the threshold for rate zero; everything exceeds that for an infinite rate.

        Raises D401 for a rate that is negative or not a number.
        """
        rate = check_rate(flags_per_1000)
        if rate == 0:
            return float("inf")
        if rate == float("inf"):
            return float("-inf")
        return float(np.interp(np.log(rate), np.log(self.rates), self.thresholds))


def check_rate(flags_per_1000: float) -> float:
    """Return the rate; raise UserError D401 if it is negative or not a number."""
    if not flags_per_1000 >= 0:
        raise UserError("D401", rate=flags_per_1000)
    return flags_per_1000


def tune_operating_point(log_odds: NDArray[np.float64], n_words: int) -> OperatingPoint:
    """Choose the thresholds on a text whose words are all assumed to be right: every flag there is false.

    Parameters
    ----------
    log_odds : array of float64, shape (n_decisions,)
        Log-odds of the decisions that could be flagged: those with another candidate and evidence.
    n_words : int
        Words in the text.
    """
    descending = np.append(np.sort(log_odds)[::-1], -np.inf)
    n_flags = np.minimum((np.array(RATES) * n_words / 1000).astype(int), len(descending) - 1)
    lowest = float(descending[-2]) if len(descending) > 1 else 0.0
    thresholds = np.where(np.isfinite(descending[n_flags]), descending[n_flags], lowest - 1e-6)
    return OperatingPoint(np.array(RATES), thresholds)


Curve = tuple[Floats, Floats]
"""Rates of false flags, ascending, and the gain at each."""


def share_budget(curves: Sequence[Curve | None], total: float) -> list[float]:
    """Divide a budget of false flags among decision rules so that their total gain is greatest.

    Parameters
    ----------
    curves : sequence of pairs of arrays, or None
        If one is None, all are assumed to be equal, and so are the rates.
    total : float
        Flags per 1,000 correct words of all rules together. What is left after the end of all curves is
        divided equally.
    """
    n = len(curves)
    given = [curve for curve in curves if curve is not None]
    if n == 1 or len(given) < n or not np.isfinite(total):
        return [total / max(n, 1)] * n
    edges = [
        (slope, number, length)
        for number, curve in enumerate(given)
        for slope, length in zip(*_edges(*curve), strict=True)
    ]
    rates = [0.0] * n
    left = total
    for _, number, length in sorted(edges, key=lambda edge: (-edge[0], edge[1])):
        spent = min(length, left)
        rates[number] += spent
        left -= spent
    return [rate + left / n for rate in rates]


def concave_envelope(rates: Floats, gains: Floats) -> Curve:
    """Return the corners of the lowest concave curve above the points and the origin."""
    corners = [(0.0, 0.0)]
    for point in zip(rates.tolist(), gains.tolist(), strict=True):
        while len(corners) > 1 and _turns_up(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    x, y = np.array(corners).T
    return x, y


def _edges(rates: Floats, gains: Floats) -> tuple[list[float], list[float]]:
    """Return the slope and length of the envelope's edges, the steepest first."""
    x, y = concave_envelope(rates, gains)
    return (np.diff(y) / np.diff(x)).tolist(), np.diff(x).tolist()


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Return True if the path from a over b to c is straight or bends upwards at b."""
    return (b[1] - a[1]) * (c[0] - b[0]) <= (c[1] - b[1]) * (b[0] - a[0])
