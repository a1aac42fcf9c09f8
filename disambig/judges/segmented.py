"""Scores of candidates as a table, a row an instance: judges that compare them want it so."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.types import Scored


def table(values: NDArray[Any], offsets: NDArray[np.int64], fill: float) -> NDArray[Any]:
    """Return the values of the candidates, shape ``(n, most candidates)``; `fill` where there is none.

    Nothing is copied where all instances have as many.
    """
    sizes = np.diff(offsets)
    if not len(sizes):
        return np.empty((0, 1), values.dtype)
    most = int(sizes.max())
    if len(values) == len(sizes) * most:
        return values.reshape(len(sizes), most)
    found = np.full((len(sizes), most), fill, values.dtype)
    found[np.arange(most) < sizes[:, None]] = values
    return found


def listed(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Return a table's values as those of candidates: the inverse of `table`."""
    return values[np.arange(values.shape[1]) < np.diff(offsets)[:, None]]


def alike(scored: Scored) -> NDArray[np.bool_]:
    """Return which candidates are the observed one or variants of it, shape ``(n, most candidates)``."""
    if scored.own is None:
        return same_matrix(scored.group)[scored.observed]
    most = int(np.diff(scored.offsets).max(initial=1))
    return np.arange(most) == scored.observed[:, None]


@lru_cache(maxsize=1024)
def same_matrix(group: Group) -> NDArray[np.bool_]:
    """Return which candidates are equal or variants of each other, shape ``(K, K)``."""
    k = range(len(group.candidates))
    return np.array([[group.same(i, j) for j in k] for i in k], bool)
