"""Lists of candidates as the kernels read them: what differs in a list, its gold candidate, its losses.

Gold is the first of the candidates that cost least: in n-best lists that of the best base score. Others that
cost as little are neither gold nor rivals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, DenseBlocks, SparseRows, UserError
from disambig.api.batches import CrossedLists, convert
from disambig.api.decoding import from_the_least

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STORAGES = (DenseBlocks, CrossedLists, SparseRows)
"""Storages that are read as they are; others are converted."""


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Arrays of lists: the first ten are what `pass_kernels` calls `lists`.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        The candidates of each list.
    cols : array of int32
    col_starts : array of int64, shape (n, 2)
        The columns of list i are ``cols[col_starts[i, 0]:col_starts[i, 1]]``.
    ptr : array of int64
    ptr_starts : array of int64, shape (n,)
        The entries of candidate y of list i begin at ``ptr[ptr_starts[i] + y]``, counted from the list's
        first one.
    local : array of int32
        Column of an entry, as an index into the list's columns.
    starts : array of int64, shape (n, 2)
        Where the entries of each list begin in `local` and in `values`.
    values : array of float32 or float64
    labels : array of int64, shape (n_rows,)
        Of candidates that are crossed with the row of their instance: which block of columns is theirs.
    width : int
        The columns of such a block; 0 for lists that are not crossed.
    n_columns : int
    cost : array of float64, shape (n_rows,)
        Counted from each list's least; -1 for candidates that are as right as gold.
    gold : array of int64, shape (n,)
        Counted from the list's first.
    missing : int
        Lists whose least cost is above zero: none of their candidates is right.
    """

    offsets: Ints
    cols: NDArray[np.int32]
    col_starts: Ints
    ptr: Ints
    ptr_starts: Ints
    local: NDArray[np.int32]
    starts: Ints
    values: NDArray[Any]
    labels: Ints
    width: int
    n_columns: int
    cost: Floats
    gold: Ints
    missing: int

    @classmethod
    def of(cls, batch: CandidateBatch) -> Listed:
        """Return the lists of a batch.

        Raises
        ------
        UserError
            D703 for features and D610 for costs that are NaN or infinite, D705 where there is no list, D459
            for a batch that cannot be converted.
        """
        if len(batch.offsets) < 2:
            raise UserError("D705")
        taken = convert(batch, *STORAGES)
        offsets = np.asarray(taken.offsets, np.int64)
        n = len(offsets) - 1
        about = judged(taken)
        nothing = np.zeros(0, np.int64)
        if isinstance(taken, DenseBlocks):
            _, k, a = taken.values.shape
            values = finite(taken.values.reshape(-1), offsets, np.arange(n * k + 1) * a)
            columns, local = np.unique(taken.column_of, return_inverse=True)
            ends = np.tile(np.array([0, len(columns)]), (n, 1))
            starts = np.stack([np.zeros(n, np.int64), np.arange(n) * k * a], axis=1)
            return cls(
                offsets, columns.astype(np.int32), ends, np.arange(k + 1) * a, np.zeros(n, np.int64),
                local.ravel().astype(np.int32), starts, values, nothing, 0, len(taken.columns), *about,
            )  # fmt: skip
        if isinstance(taken, CrossedLists):
            rows = canonical(taken.rows)
            values = finite(rows.data, np.arange(n + 1), rows.indptr)
            ends = np.stack([rows.indptr[:-1], rows.indptr[1:]], axis=1).astype(np.int64)
            starts = np.stack([np.zeros(n, np.int64), ends[:, 0]], axis=1)
            return cls(
                offsets, rows.indices.astype(np.int32, copy=False), ends, nothing, np.zeros(n, np.int64),
                np.zeros(0, np.int32), starts, values, taken.labels.astype(np.int64), int(rows.shape[1]),
                len(taken.columns), *about,
            )  # fmt: skip
        rows = canonical(taken.rows)
        values = finite(rows.data, offsets, rows.indptr)
        cols, ends, ptr, begins, local, starts, found = _differing(rows, values, offsets)
        width = len(taken.columns)
        return cls(offsets, cols, ends, ptr, begins, local, starts, found, nothing, 0, width, *about)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What kernels take."""
        return (
            self.offsets, self.cols, self.col_starts, self.ptr, self.ptr_starts, self.local, self.starts,
            self.values, self.labels, self.width,
        )  # fmt: skip


def canonical(rows: Any) -> Any:
    """Return rows as a scipy.sparse.csr_array without columns that a row has twice."""
    from scipy.sparse import csr_array

    rows = csr_array(rows)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def finite(data: NDArray[Any], offsets: Ints, begins: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in single precision if that holds them exactly, else in double; D703 if not finite.

    Parameters
    ----------
    data : array
    offsets : array of int64, shape (n + 1,)
        The rows of each example.
    begins : array of int, shape (n_rows + 1,)
        The numbers of each row.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        sound = bool(np.isfinite(data.sum(dtype=np.float64)))
    if not sound:  # a finite sum has finite numbers only; an infinite one may come of finite ones
        bad = np.flatnonzero(~np.isfinite(data))
        if len(bad):
            row = int(np.searchsorted(begins, bad[0], side="right")) - 1
            example = int(np.searchsorted(offsets, row, side="right")) - 1
            raise UserError("D703", n=len(bad), example=example, attribute=int(bad[0] - begins[row]))
    if data.dtype == np.float32:
        return data
    with np.errstate(over="ignore"):
        small = data.astype(np.float32)
    return small if (small == data).all() else data.astype(np.float64)


def checked_costs(batch: CandidateBatch) -> None:
    """Refuse costs that are NaN or infinite (D610)."""
    bad = np.flatnonzero(~np.isfinite(batch.cost))
    if len(bad):
        example = int(np.searchsorted(batch.offsets, bad[0], side="right")) - 1
        raise UserError("D610", n=len(bad), example=example)


def judged(batch: CandidateBatch) -> tuple[Floats, Ints, int]:
    """Return the costs, gold candidates and number of missing ones (see `Listed`)."""
    checked_costs(batch)
    offsets = np.asarray(batch.offsets, np.int64)
    cost = from_the_least(batch)
    right = np.flatnonzero(cost == 0)
    gold = right[np.searchsorted(right, offsets[:-1])]
    missing = int((np.asarray(batch.cost)[gold] > 0).sum())
    cost[right] = -1.0
    cost[gold] = 0.0
    return cost, gold - offsets[:-1], missing


def _differing(rows: Any, values: NDArray[Any], offsets: Ints) -> tuple[Any, ...]:
    """Return the arrays from `cols` to `values` of lists of sparse rows."""
    from .reduction_kernels import reduced

    n = len(offsets) - 1
    if values.dtype == np.float32 and not (values == np.rint(values)).all():
        values = values.astype(np.float64)  # differences of whole numbers are exact, others would be rounded
    arrays = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), values, offsets
    starts, begins = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    no = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, values.dtype)
    reduced(*arrays, rows.shape[1], False, starts, begins, *no)
    cols, ptr = np.empty(starts[-1], np.int32), np.empty(int(offsets[-1]) + n, np.int64)
    local, found = np.empty(begins[-1], np.int32), np.empty(begins[-1], values.dtype)
    reduced(*arrays, rows.shape[1], True, starts, begins, cols, ptr, local, found)
    ends = np.stack([starts[:-1], starts[1:]], axis=1)
    return cols, ends, ptr, offsets[:-1] + np.arange(n), local, np.stack([begins[:-1]] * 2, axis=1), found
