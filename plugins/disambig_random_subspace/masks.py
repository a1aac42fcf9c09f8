"""Masks: which dimensions a subspace keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def removed(dimensions: int, removal_rate: float) -> int:
    """Return how many dimensions a mask removes: the share asked, rounded to the nearest."""
    return round(removal_rate * dimensions)


def keep_masks(
    first: int, last: int, *, dimensions: int, removal_rate: float, seed: int
) -> NDArray[np.bool_]:
    """Return the masks of the numbers `first` to `last`, without the last.

    A mask depends on its number and the seed alone, so those of few subspaces are the first of many.

    Returns
    -------
    array of bool, shape (last - first, dimensions)
        False for exactly ``removed(dimensions, removal_rate)`` dimensions of each.
    """
    masks = np.ones((last - first, dimensions), np.bool_)
    for mask, number in zip(masks, range(first, last), strict=True):
        rng = np.random.default_rng((seed, number))
        out = rng.choice(dimensions, removed(dimensions, removal_rate), replace=False, shuffle=False)
        mask[out] = False
    return masks
