"""The K-SVM's full weight matrix as class blocks: every class meets the attributes of all classes.

A class's own attributes keep their regulariser; a weight for another class's attribute is irrelevant in
the paper's words (section 2.3) and gets L2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.api import CrossedRows, DenseBlocks
from disambig.api.batches import convert

from ..svm.regulariser import Regulariser

Floats = NDArray[np.float64]


def crossed_blocks(batch: DenseBlocks) -> DenseBlocks:
    """Return the crossed batch as class blocks of K * A attributes; the values are not copied."""
    n, k, a = batch.values.shape
    crossed = convert(batch, CrossedRows)
    values = np.broadcast_to(crossed.rows[:, None, :], (n, k, k * a))
    column_of = np.arange(k * k * a, dtype=np.int64).reshape(k, k * a)
    return DenseBlocks(values, column_of, crossed.columns, batch.costs)


def crossed_regulariser(regulariser: Regulariser, batch: DenseBlocks) -> Regulariser:
    """Return `regulariser` for own attributes, and L2 of the strength 1/N for those of other classes.

    N is the number of `batch`'s columns, as for the class-specific weights: where the examples hold the
    irrelevant weights at zero, C means the same in both.
    """
    k, a = batch.column_of.shape
    strength = np.full((k, k, a), 1.0 / len(batch.columns))
    subset = np.full((k, k, a), -1, np.int64)
    own = np.arange(k)
    strength[own, own] = regulariser.strength[batch.column_of]
    subset[own, own] = regulariser.subset[batch.column_of]
    return Regulariser(strength.ravel(), subset.ravel())


def crossed_prior(prior: Floats, batch: DenseBlocks) -> Floats:
    """Return class-specific prior weights in their places of the full matrix, zero elsewhere."""
    k, a = batch.column_of.shape
    cube = np.zeros((k, k, a))
    cube[np.arange(k), np.arange(k)] = prior[batch.column_of]
    return cube.ravel()
