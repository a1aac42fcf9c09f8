"""The legal conversions between storages, as a table; others have no meaning or no room in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from disambig.data.columns import Columns
from disambig.data.dense import DenseBlocks
from disambig.data.sparse import CrossedRows, SparseRows
from disambig.errors import UserError

Batch = TypeVar("Batch")


def dense_to_sparse(batch: DenseBlocks) -> SparseRows:
    """Return the same rows in sparse form: Kesler's construction, one row per candidate."""
    from scipy.sparse import csr_array

    n, k, a = batch.values.shape
    columns = np.tile(batch.column_of.ravel(), n)
    starts = np.arange(n * k + 1) * a
    rows = csr_array((batch.values.ravel().astype(np.float64), columns, starts), (n * k, len(batch.columns)))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return SparseRows(rows, batch.offsets, batch.cost, batch.columns)


def dense_to_crossed(batch: DenseBlocks) -> CrossedRows:
    """Give every class all attributes of all candidates: the K-SVM's (n, K * A) rows."""
    n, k, a = batch.values.shape
    groups = batch.columns.groups[batch.column_of.ravel()]
    columns = Columns(
        np.repeat(np.arange(k, dtype=np.int32), k * a), np.tile(groups, k), batch.columns.group_names
    )
    return CrossedRows(batch.values.reshape(n, k * a), batch.costs, columns)


def crossed_to_sparse(batch: CrossedRows) -> SparseRows:
    """Write the cross product out: small problems and references only."""
    from scipy.sparse import csr_array, kron

    n, k = batch.costs.shape
    blocks = [kron(csr_array(np.eye(k)), csr_array(batch.rows[[i]])) for i in range(n)]
    from scipy.sparse import vstack

    return SparseRows(csr_array(vstack(blocks)), batch.offsets, batch.cost, batch.columns)


CONVERSIONS: dict[tuple[type, type], Callable[[Any], Any]] = {
    (DenseBlocks, SparseRows): dense_to_sparse,
    (DenseBlocks, CrossedRows): dense_to_crossed,
    (CrossedRows, SparseRows): crossed_to_sparse,
}


def convert(batch: Any, storage: type[Batch]) -> Batch:
    """Return `batch` in another storage.

    Raises
    ------
    UserError
        D459 where the table has no such conversion: a config has put together what does not fit.
    """
    if isinstance(batch, storage):
        return batch
    try:
        return CONVERSIONS[type(batch), storage](batch)
    except KeyError:
        raise UserError("D459", wanted=storage.__name__, seen=type(batch).__name__) from None
