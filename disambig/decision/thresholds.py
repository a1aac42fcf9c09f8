"""Operating points: the threshold for a rate of false flags, and one budget for several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError

RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
"""Flags per 1,000 correct words at which thresholds are kept; others are interpolated."""


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """The table from a rate to a threshold, and the rate used where none is asked for.

    Attributes
    ----------
    rates : array of float64, shape (n,)
        Flags per 1,000 correct words, rising.
    thresholds : array of float64, shape (n,)
        The log-odds that a decision must pass to be flagged at that rate, falling.
    """

    rates: NDArray[np.float64]
    thresholds: NDArray[np.float64]

    def is_sound(self) -> bool:
        """Tell whether rates rise and thresholds fall."""
        return (
            self.rates.ndim == 1
            and self.rates.shape == self.thresholds.shape
            and len(self.rates) > 0
            and bool((np.diff(self.rates) > 0).all() and (self.rates > 0).all())
            and bool((np.diff(self.thresholds) <= 0).all())
        )

    def threshold(self, flags_per_1000: float) -> float:
        """Return the threshold on the log-odds for a rate.

        For a rate of zero nothing passes it, for an infinite one everything.

        Raises
        ------
        UserError
            D401 for a rate that is negative or no number.
        """
        rate = check_rate(flags_per_1000)
        if rate == 0:
            return float("inf")
        if rate == float("inf"):
            return float("-inf")
        return float(np.interp(np.log(rate), np.log(self.rates), self.thresholds))


def check_rate(flags_per_1000: float) -> float:
    """Return a rate; UserError D401 for one that is negative or no number."""
    if not flags_per_1000 >= 0:
        raise UserError("D401", rate=flags_per_1000)
    return flags_per_1000


def tune_operating_point(log_odds: NDArray[np.float64], n_words: int) -> OperatingPoint:
    """Choose the thresholds on text whose words are all taken as right.

    Parameters
    ----------
    log_odds : array of float64, shape (n_decisions,)
        Of the decisions that could be flagged: another candidate, with evidence.
    n_words : int
        Words in the text.
    """
    falling = np.append(np.sort(log_odds)[::-1], -np.inf)
    allowed = np.minimum((np.array(RATES) * n_words / 1000).astype(int), len(falling) - 1)
    floor = float(falling[-2]) if len(falling) > 1 else 0.0
    thresholds = np.where(np.isfinite(falling[allowed]), falling[allowed], floor - 1e-6)
    return OperatingPoint(np.array(RATES), thresholds)


Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]
"""Rates of false flags, rising, and the gain at each."""


def share_budget(curves: Sequence[Curve | None], total: float) -> list[float]:
    """Return the rate of each judge: they add up to `total`, and what all gain together is greatest.

    Parameters
    ----------
    curves : sequence of pairs of arrays, or None
        Where one is not known, all are taken as equal, and so are the rates.
    total : float
        Flags per 1,000 correct words of all judges together. What is left at the end of all curves is
        shared equally.
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
    """Return the corners of the least concave curve above some points and the origin."""
    corners = [(0.0, 0.0)]
    for point in zip(rates.tolist(), gains.tolist(), strict=True):
        while len(corners) > 1 and _turns_up(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    x, y = np.array(corners).T
    return x, y


def _edges(rates: Floats, gains: Floats) -> tuple[list[float], list[float]]:
    """Return slope and length of the envelope's edges, the steepest first."""
    x, y = concave_envelope(rates, gains)
    return (np.diff(y) / np.diff(x)).tolist(), np.diff(x).tolist()


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Tell whether the way from a over b to c bends upwards at b, or not at all."""
    return (b[1] - a[1]) * (c[0] - b[0]) <= (c[1] - b[1]) * (b[0] - a[0])
