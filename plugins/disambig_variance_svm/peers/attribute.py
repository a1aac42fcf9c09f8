"""One attribute a candidate, the same for all: what a peer says of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, DenseBlocks, Features


def one_attribute(
    name: str, values: NDArray[np.float64], found: NDArray[np.int32], asked: int, observed: NDArray[np.int32]
) -> Features:
    """Return one attribute as features.

    Parameters
    ----------
    name : str
        Of the feature group and its only column, which all candidates share.
    values : array of float64, shape (n, K)
    found : array of int32, shape (n, K)
        Sources that knew each candidate, of `asked`.
    observed : array of int32, shape (n,)
    """
    n, k = values.shape
    columns = Columns(np.full(1, -1, np.int32), np.zeros(1, np.int32), (name,), [name])
    costs = (np.arange(k) != observed[:, None]).astype(np.float32)
    batch = DenseBlocks(values[:, :, None].astype(np.float32), np.zeros((k, 1), np.int64), columns, costs)
    return Features(batch, found.ravel().astype(np.int32), np.full(n * k, asked, np.int32))
