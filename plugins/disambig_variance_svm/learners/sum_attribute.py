"""The unsupervised sum as one more attribute of every class: the "+" of CS-SVM+ and K-SVM+.

A sum of attributes is linear in them, so what is learned with it folds back to weights over the given
columns; no model is ever saved with a sum attribute.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, DenseBlocks

SUM = "sum"
"""Feature group of the added columns."""

Floats = NDArray[np.float64]


def with_sum(batch: DenseBlocks, groups: Sequence[str]) -> DenseBlocks:
    """Add to every candidate the sum of its attributes in `groups`, as its last attribute.

    The new columns come after the given ones, in the feature group ``"sum"``: one a candidate, or one
    for all where the candidates share the summed columns.

    Raises
    ------
    UserError
        D451 for a name that is no feature group of the batch.
    ValueError
        Where some candidates share summed columns and others do not: no weights then say the same.
    """
    k = len(batch.column_of)
    summed = batch.columns.in_groups(groups, setting="sum")[batch.column_of]  # (K, A)
    used = [set(columns[inside].tolist()) for columns, inside in zip(batch.column_of, summed, strict=True)]
    shared = k > 1 and all(columns == used[0] for columns in used)
    if not shared and sum(map(len, used)) > len(set().union(*used)):
        raise ValueError("candidates share some of the summed columns, but not all")
    total = np.stack([batch.values[:, r, inside].sum(axis=1) for r, inside in enumerate(summed)], axis=1)
    n_columns = len(batch.columns)
    added = np.full(k, n_columns) if shared else np.arange(n_columns, n_columns + k)
    labels = np.array([-1] if shared else np.arange(k), np.int32)
    old = batch.columns
    columns = Columns(
        np.concatenate([old.labels, labels]),
        np.concatenate([old.groups, np.full(len(labels), len(old.group_names), np.int32)]),
        (*old.group_names, SUM),
        [*old.names, *[SUM] * len(labels)] if len(old.names) else (),
    )
    return DenseBlocks(
        np.concatenate([batch.values, total[:, :, None]], axis=2),
        np.column_stack([batch.column_of, added]),
        columns,
        batch.costs,
    )


def fold_sum(weights: Floats, batch: DenseBlocks, groups: Sequence[str]) -> Floats:
    """Return weights over `batch`'s columns that score as `weights` do on `with_sum(batch, groups)`.

    Parameters
    ----------
    weights : array of float64, shape (n_columns + n_sums,)
    batch : DenseBlocks
        The batch without the sum.
    """
    n_columns, k = len(batch.columns), len(batch.column_of)
    inside = batch.columns.in_groups(groups, setting="sum")
    sums = np.broadcast_to(weights[n_columns:], k)
    folded: Floats = weights[:n_columns].copy()
    for r, columns in enumerate(batch.column_of):
        own = np.unique(columns[inside[columns]])
        folded[own] = weights[own] + sums[r]
    return folded


def fold_crossed_sum(weights: Floats, batch: DenseBlocks, groups: Sequence[str]) -> Floats:
    """Return the K-SVM+'s weights without the sum, shape ``(K * K * A,)``.

    Parameters
    ----------
    weights : array of float64, shape (K * K * (A + 1),)
        Weights over the crossed rows of `with_sum(batch, groups)`.
    batch : DenseBlocks
        The batch without the sum.
    """
    k, a = batch.column_of.shape
    inside = batch.columns.in_groups(groups, setting="sum")[batch.column_of]  # (K, A)
    cube = weights.reshape(k, k, a + 1)
    folded: Floats = (cube[:, :, :a] + cube[:, :, a:] * inside).ravel()
    return folded
