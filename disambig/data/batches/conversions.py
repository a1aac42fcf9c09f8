"""The legal conversions between storages, as a table; others have no meaning or no room in memory.

All but those to `CrossedRows` keep the columns: what flat weights mean. So a scorer that is nothing but flat
weights for the converted batch scores the given one as it is. Lists never become blocks of a group, though
they may be of equal length: what a batch can be must not depend on which instances are in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, overload, runtime_checkable

import numpy as np

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_columns import CrossedColumns, beside, candidates_of, own_columns
from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.batches.joined import JoinedRows
from disambig.data.batches.sequences import ChainRows
from disambig.data.batches.sparse import CrossedRows, SparseRows
from disambig.errors import UserError

Batch = TypeVar("Batch")
MOST_BYTES = 1 << 32
"""Sparse rows are not made dense where they would take more."""


@runtime_checkable
class WritesOut(Protocol):
    """A batch of a storage of somebody else's that can be written out, for learners that take no other."""

    def to_sparse(self) -> SparseRows:
        """Return the same rows and columns in sparse form."""


class _Meaningless(Exception):
    """A batch that has no such form, though others of its storage do."""


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


def dense_to_lists(batch: DenseBlocks) -> DenseLists:
    """Return one row a candidate; the candidates must share their columns."""
    n, k, a = batch.values.shape
    width, first = len(batch.columns), batch.column_of[0] if k else np.zeros(0, np.int64)
    if width != a or (batch.column_of != first).any() or len(np.unique(first)) != a:
        raise _Meaningless
    values = np.empty((n * k, a), batch.values.dtype)
    values[:, first] = batch.values.reshape(n * k, a)
    return DenseLists(values, batch.offsets, batch.cost, batch.columns)


def crossed_to_sparse(batch: CrossedRows) -> SparseRows:
    """Write the cross product out: K times the numbers."""
    return crossed_lists_to_sparse(crossed_to_lists(batch))


def crossed_to_lists(batch: CrossedRows) -> CrossedLists:
    """Return the same rows, every instance with a list of all labels."""
    n, k = batch.costs.shape
    labels = np.tile(np.arange(k, dtype=np.int64), n)
    return CrossedLists(batch.rows, labels, batch.offsets, batch.cost, batch.columns)


def lists_to_sparse(batch: DenseLists) -> SparseRows:
    """Return the same rows in sparse form."""
    from scipy.sparse import csr_array

    return SparseRows(csr_array(batch.values, dtype=np.float64), batch.offsets, batch.cost, batch.columns)


def crossed_lists_to_sparse(batch: CrossedLists) -> SparseRows:
    """Write the features of the candidates out, in the columns of all labels."""
    return SparseRows(batch.written_out(), batch.offsets, batch.cost, batch.columns)


def sparse_to_lists(batch: SparseRows) -> DenseLists:
    """Return the same rows with all their zeros: few columns only.

    Raises
    ------
    UserError
        D417 where they would take more than `MOST_BYTES`.
    """
    n_bytes = 4 * batch.rows.shape[0] * batch.rows.shape[1]
    if n_bytes > MOST_BYTES:
        n, columns = batch.rows.shape
        raise UserError("D417", n=n, columns=columns, gigabytes=n_bytes / 1e9)
    values = batch.rows.toarray().astype(np.float32)
    return DenseLists(values, batch.offsets, batch.cost, batch.columns)


def joined_to_sparse(batch: JoinedRows) -> SparseRows:
    """Write all parts out, side by side."""
    from scipy.sparse import csr_array, hstack

    rows = hstack([convert(part, SparseRows).rows for part in batch.parts], format="csr")
    return SparseRows(csr_array(rows), batch.offsets, batch.cost, batch.columns)


def joined_to_crossed(batch: JoinedRows) -> CrossedRows:
    """Give every class the attributes of all parts, of class blocks those of all candidates."""
    if not all(isinstance(part, DenseBlocks | CrossedRows) for part in batch.parts):
        raise _Meaningless
    return crossed_beside([convert(part, CrossedRows) for part in batch.parts])


def crossed_beside(batches: list[CrossedRows]) -> CrossedRows:
    """Join rows that are crossed with the same labels; feature groups of one name become one."""
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([csr_array(batch.rows) for batch in batches], format="csr"))
    rows.sort_indices()
    own = beside(*(own_columns(batch.columns, int(batch.rows.shape[1])) for batch in batches))
    first = batches[0]
    candidates = candidates_of(first.columns, first.costs.shape[1])
    return CrossedRows(rows, first.costs, CrossedColumns(own, candidates))


def chains_to_sparse(batch: ChainRows) -> SparseRows:
    """Write the edges out: small problems only."""
    return batch.places.edges()


CONVERSIONS: dict[tuple[type, type], Callable[[Any], Any]] = {
    (DenseBlocks, SparseRows): dense_to_sparse,
    (DenseBlocks, CrossedRows): dense_to_crossed,
    (DenseBlocks, DenseLists): dense_to_lists,
    (CrossedRows, SparseRows): crossed_to_sparse,
    (CrossedRows, CrossedLists): crossed_to_lists,
    (DenseLists, SparseRows): lists_to_sparse,
    (CrossedLists, SparseRows): crossed_lists_to_sparse,
    (SparseRows, DenseLists): sparse_to_lists,
    (JoinedRows, SparseRows): joined_to_sparse,
    (JoinedRows, CrossedRows): joined_to_crossed,
    (ChainRows, SparseRows): chains_to_sparse,
}


@overload
def convert(batch: Any, storage: type[Batch], /) -> Batch: ...
@overload
def convert(batch: Any, *storages: type) -> Any: ...
def convert(batch: Any, *storages: type) -> Any:
    """Return `batch` in one of some storages: as it is or, if it is in none, in the first that it can be.

    A batch of a storage of somebody else's may write itself out (see `WritesOut`).

    Raises
    ------
    UserError
        D459 where the table has no such conversion: a config has put together what does not fit.
    """
    if isinstance(batch, storages):
        return batch
    for storage in storages:
        if (found := _converted(batch, storage)) is not None:
            return found
    wanted = " or ".join(storage.__name__ for storage in storages)
    raise UserError("D459", wanted=wanted, seen=type(batch).__name__)


def _converted(batch: Any, storage: type) -> Any:
    for kind in type(batch).__mro__:
        if (kind, storage) in CONVERSIONS:
            try:
                return CONVERSIONS[kind, storage](batch)
            except _Meaningless:
                return None
    if storage is SparseRows and isinstance(batch, WritesOut):
        return batch.to_sparse()
    if storage is DenseLists and (sparse := _converted(batch, SparseRows)) is not None:
        return sparse_to_lists(sparse)
    return None
