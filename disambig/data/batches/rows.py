"""Rows between offsets: those of some instances, one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def rows_of(offsets: Ints, index: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return the rows of the instances in `index`, in that order, and where each one's begin.

    Parameters
    ----------
    offsets : array of int64, shape (n + 1,)
        Rows of instance i are ``offsets[i]:offsets[i + 1]``.
    index : array of int, shape (m,)

    Returns
    -------
    rows : array of int64
    offsets : array of int64, shape (m + 1,)
    """
    sizes = offsets[index + 1] - offsets[index]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.repeat(offsets[:-1][index] - begins[:-1], sizes) + np.arange(begins[-1]), begins


def index_of(index: NDArray[np.generic]) -> Ints:
    """Return the numbers of instances that are chosen by their numbers or by a mask."""
    index = np.asarray(index)
    return np.flatnonzero(index) if index.dtype == bool else index.astype(np.int64)
