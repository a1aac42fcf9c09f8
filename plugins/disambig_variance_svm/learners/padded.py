"""Lists of candidates as class blocks of equal size, which the solver takes: shorter lists are filled up.

A place that is filled has the attributes of the right candidate and costs nothing: whatever the weights, its
loss is zero, so the objective is that of the lists. The same stands for further right candidates, which no
loss holds against the first.
"""

from __future__ import annotations

import numpy as np

from disambig.api import CandidateBatch, DenseBlocks, UserError
from disambig.api.batches import DenseLists, convert
from disambig.api.decoding import from_the_least

from ..svm.lists import first_right

MOST_BYTES = 1 << 32
"""The blocks are not made where they would take more."""


def padded(batch: CandidateBatch) -> DenseBlocks:
    """Return the blocks of a batch of lists, of as many candidates as the longest list has.

    Raises
    ------
    UserError
        D417 where they would take more than `MOST_BYTES`.
    """
    sizes = np.diff(batch.offsets)
    n, k, a = len(sizes), int(sizes.max(initial=1)), len(batch.columns)
    if 4 * n * k * a > MOST_BYTES:
        raise UserError("D417", n=n * k, columns=a, gigabytes=4 * n * k * a / 1e9)
    values = convert(batch, DenseLists).values
    cost = from_the_least(batch)
    gold = first_right(cost, batch.offsets)
    place = np.arange(k)
    row = np.where(place < sizes[:, None], batch.offsets[:-1, None] + place, gold[:, None])  # (n, K)
    row = np.where(cost[row] > 0, row, gold[:, None])
    columns = np.tile(np.arange(a, dtype=np.int64), (k, 1))
    return DenseBlocks(values[row], columns, batch.columns, cost[row].astype(np.float32))
