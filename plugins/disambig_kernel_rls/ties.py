"""Who wins where scores are equal: the candidate that training saw most (Popescu 2004, section 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WITHIN = 1e-9
"""Scores that differ by less are equal: rounding in the solution is not smaller."""


def winners(scores: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the best candidate of each instance; of equal ones the most frequent, then the first.

    Parameters
    ----------
    scores : array of float64, shape (n, K)
    frequencies : array of int, shape (K,) or (n, K)
        How often each candidate was right in training.

    Returns
    -------
    array of int64, shape (n,)
    """
    best = scores.max(axis=1, keepdims=True)
    tied = scores >= best - WITHIN
    return np.where(tied, frequencies, -1).argmax(axis=1).astype(np.int64)


def advantage(frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return what scorers add so that a plain argmax decides ties in the same way, shape ``(K,)``."""
    return WITHIN / 2 * frequencies / max(int(frequencies.sum()), 1)
