"""The weight of the base score: set first, where ExpLoss is least, and then fixed (figures 1 and 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 200
_LITTLE = 1e-12
"""What a further step must promise, as a share of the pairs: one that is never wrong has no best weight."""


def base_weights(differences: Floats) -> Floats:
    """Return the weights of least ExpLoss of the base columns, by Newton's method with halved steps.

    Parameters
    ----------
    differences : array of float64, shape (n_pairs, n_base)
        Reference less other candidate. Without any pair each weight is 1: the base score decides.
    """
    n, width = differences.shape
    if not n:
        return np.ones(width)
    unit = np.abs(differences).max(axis=0, initial=0.0)
    unit[unit == 0] = 1.0
    scaled = differences / unit
    weights = np.zeros(width)
    loss, each = float(n), np.ones(n)
    for _ in range(_STEPS if width else 0):
        slope = scaled.T @ each  # downhill
        curve = (scaled * each[:, None]).T @ scaled
        step = np.linalg.lstsq(curve, slope, rcond=1e-12)[0]
        if float(step @ slope) <= _LITTLE * n:
            break
        size = 1.0
        while True:
            with np.errstate(over="ignore"):
                trial = np.exp(-(scaled @ (weights + size * step)))
            if (found := float(trial.sum())) < loss or size < _LITTLE:
                break
            size /= 2
        if found >= loss:
            break
        weights, loss, each = weights + size * step, found, trial
    return weights / unit
