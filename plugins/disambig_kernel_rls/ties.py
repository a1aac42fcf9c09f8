"""Who wins where scores are equal: the candidate that training saw most (Popescu 2004, section 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WITHIN = 1e-6
"""Scores that differ by less are equal. Instances with the same features and different senses score 0 for
each of these up to n lambda and up to what rounding leaves of coefficients of 1 / (n lambda)."""


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
    tied = scores >= scores.max(axis=1, keepdims=True) - WITHIN
    return np.where(tied, frequencies, -1).argmax(axis=1).astype(np.int64)


def settled(scores: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return scores of which a plain argmax decides ties as `winners` does.

    Where the best scores are equal, that of the winner is raised above them by twice `WITHIN`; all other
    scores stay as they are. Shapes as of `winners`.
    """
    best = scores.max(axis=1)
    tied = np.flatnonzero((scores >= best[:, None] - WITHIN).sum(axis=1) > 1)
    if len(tied):
        scores = scores.copy()
        scores[tied, winners(scores[tied], frequencies)] = best[tied] + 2 * WITHIN
    return scores
