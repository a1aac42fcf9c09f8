"""Synthetic instances of one word: two feature groups, some features that predict a sense, some twins."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from disambig.data import Columns, CrossedColumns, CrossedRows

GROUPS = ("local", "broad")


def make_sense_batch(values, right, n_senses=None, *, groups=None, group_names=GROUPS):
    """Return a batch; `right` has the sense of each row, or a list of its senses."""
    values = csr_array(values, dtype=np.float64)
    lists = [np.atleast_1d(item) for item in right]
    n_senses = n_senses or 1 + max(int(item.max(initial=0)) for item in lists)
    costs = np.ones((len(lists), n_senses), np.float32)
    for row, senses in zip(costs, lists, strict=True):
        row[senses] = 0.0
    width = values.shape[1]
    groups = np.arange(width, dtype=np.int32) % len(group_names) if groups is None else groups
    row_columns = Columns(
        np.full(width, -1, np.int32), groups, group_names, [f"feature {i}" for i in range(width)]
    )
    return CrossedRows(
        values, costs, CrossedColumns(row_columns, tuple(f"sense {k}" for k in range(n_senses)))
    )


def make_rows(n=40, width=60, senses=3, *, seed=0, twins=0, several=0.0):
    """Return synthetic instances, of which the share `several` has a second right sense.

    The last rows, as many as `twins`, are the first again, with senses of their own.
    """
    rng = np.random.default_rng(seed)
    right = np.minimum(rng.geometric(0.5, n) - 1, senses - 1)
    values = rng.poisson(0.15, (n, width)).astype(float)
    values[np.arange(n), right] += rng.random(n) < 0.6
    values[np.arange(n), senses + right] += rng.random(n) < 0.6
    if twins:
        values[-twins:] = values[:twins]
        right[-twins:] = (right[:twins] + 1) % senses
    second = rng.integers(senses, size=n)
    both = [[r, s] if rng.random() < several else [r] for r, s in zip(right, second, strict=True)]
    return make_sense_batch(values, both, senses)
