"""The operating point: how sure a model must be to raise a flag, set as a rate of false alarms."""

from __future__ import annotations

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
        rate = checked(flags_per_1000)
        if rate == 0:
            return float("inf")
        if rate == float("inf"):
            return float("-inf")
        return float(np.interp(np.log(rate), np.log(self.rates), self.thresholds))


def checked(flags_per_1000: float) -> float:
    """Return a rate; UserError D401 for one that is negative or no number."""
    if not flags_per_1000 >= 0:
        raise UserError("D401", rate=flags_per_1000)
    return flags_per_1000


def tune(log_odds: NDArray[np.float64], n_words: int) -> OperatingPoint:
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
