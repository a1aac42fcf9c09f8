"""An explanation takes the row of a candidate out of every storage."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from disambig.data import CrossedRows, DenseBlocks, DenseLists, JoinedRows, Ragged, SparseRows, numbered
from disambig.explain.contributions import _row

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(3, 4)).astype(np.float32)
OFFSETS, COST = np.array([0, 3]), np.zeros(3, np.float32)
DENSE = DenseLists(VALUES, OFFSETS, COST, numbered(4))
SPARSE = SparseRows(csr_array(VALUES), OFFSETS, COST, numbered(4))
BATCHES = [
    DENSE,
    SPARSE,
    DenseBlocks(VALUES[None], np.arange(12).reshape(3, 4), numbered(12), COST[None]),
    CrossedRows(VALUES[:1], COST[None], numbered(12)),
    CrossedRows(csr_array(VALUES[:1]), COST[None], numbered(12)),
    CrossedRows(csr_array(VALUES[:1]), COST, numbered(20), Ragged(np.array([2, 0, 4]), OFFSETS)),
    JoinedRows.from_parts([DENSE, SPARSE]),
]


def test_the_parts_of_a_row_sum_to_its_score():
    for batch in BATCHES:
        weights = RNG.normal(size=len(batch.columns))
        for r, score in enumerate(batch.scores(weights)):
            columns, values = _row(batch, r)
            np.testing.assert_allclose(weights[columns] @ np.asarray(values), score, rtol=1e-5)
