"""Examples prepared for the linear learners, by labels or by lists, and the scorer they return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Columns, CrossedRows, SparseRows, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import canonical_rows, check_numbers, convert, has_own_labels
from disambig.api.decoding import from_the_least


@dataclass(frozen=True, slots=True, eq=False)
class LinearProblem:
    """Rows in training order, and their targets."""

    # the rows. Only columns that occur are kept, the most frequent first, so that their weights are adjacent
    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: Floats
    used: NDArray[np.int64]  # (d,): the dimension of each column
    targets: Floats  # float64 (n_problems, n): 1 for the positive label of a problem, -1 for the others
    seen: NDArray[np.int64]  # labels that have examples
    n_labels: int
    dimensions: int
    order: NDArray[np.int64]  # (n,): the example of each row

    @property
    def rows(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Floats]:
        """The rows as arguments of the compiled functions."""
        return self.indptr, self.indices, self.data

    @property
    def matrix(self) -> Any:
        """The rows as a scipy.sparse.csr_array."""
        from scipy.sparse import csr_array

        shape = (len(self.indptr) - 1, len(self.used))
        return csr_array((self.data, self.indices.astype(np.int32), self.indptr.astype(np.int32)), shape)

    def zeros(self) -> tuple[Floats, Floats]:
        """Return zero coefficients, shape (n_problems, d), and intercepts, shape (n_problems,)."""
        n = len(self.targets)
        return np.zeros((n, len(self.used))), np.zeros(n)

    def scores(self, problem_scores: Floats) -> Floats:
        """Return scores of labels, shape (n, n_labels), from those of the problems, (n_problems, n)."""
        full = np.zeros((problem_scores.shape[1], self.n_labels))
        if len(self.seen) == 2:
            full[:, self.seen[1]], full[:, self.seen[0]] = problem_scores[0] / 2, -problem_scores[0] / 2
        elif len(self.seen) > 2:
            full[:, self.seen] = problem_scores.T
        if len(self.seen) < self.n_labels:
            absent = np.setdiff1d(np.arange(self.n_labels), self.seen)
            full[:, absent] = full[:, self.seen].mean(axis=1, keepdims=True) - 1.0
        return full

    def weights(self, coefficients: Floats, intercepts: Floats, count: int) -> Floats:
        """Return the flat weights of all labels.

        Raises D773 if the weights are not finite numbers.

        The coefficients, shape ``(n_problems, d)``, and intercepts, shape ``(n_problems,)``, are the sums of
        those of `count` models. The weights have the shape ``(n_labels * (dimensions + 1),)``: label by
        label, the intercept last.
        """
        if not (np.isfinite(coefficients).all() and np.isfinite(intercepts).all()):
            raise UserError("D773")
        full = np.zeros((self.n_labels, self.dimensions + 1))
        if len(self.seen) == 2:
            full[self.seen[1], self.used], full[self.seen[1], -1] = coefficients[0] / 2, intercepts[0] / 2
            full[self.seen[0]] -= full[self.seen[1]]
        elif len(self.seen) > 2:
            full[np.ix_(self.seen, self.used)], full[self.seen, -1] = coefficients, intercepts
        if len(self.seen) < self.n_labels:
            absent = np.setdiff1d(np.arange(self.n_labels), self.seen)
            full[absent] = full[self.seen].mean(axis=0)
            full[absent, -1] -= count
        return full.ravel()


def prepare_labels(crossed: CrossedRows, seed: int) -> LinearProblem:
    """Return the problem for a batch, with its rows permuted by ``default_rng(seed)``.

    A candidate with zero cost is right; if there are several, the first one is.

    Raises D705 if there are no examples, D772 for numbers that are NaN or infinite, D773 for numbers beyond
    `LARGEST_NUMBER`.
    """
    from scipy.sparse import csr_array

    if not len(crossed.costs):
        raise UserError("D705")
    order = np.random.default_rng(seed).permutation(len(crossed.costs))
    rows = csr_array(crossed.rows, dtype=np.float64)
    check_numbers(rows)
    rows = rows[order]
    rows.sum_duplicates()
    rows.eliminate_zeros()
    used, columns = _sort_by_frequency(rows)
    right = crossed.costs[order].argmin(axis=1)
    seen = np.unique(right)
    positive = seen[1:] if len(seen) == 2 else seen if len(seen) > 2 else seen[:0]
    targets = np.where(right == positive[:, None], 1.0, -1.0)
    return LinearProblem(
        rows.indptr.astype(np.uint64), columns, rows.data, used, targets, seen, crossed.costs.shape[1],
        rows.shape[1], order,
    )  # fmt: skip


def _sort_by_frequency(rows: Any) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the columns that occur, the most frequent first, and the rank of each entry's column."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    used = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].astype(np.int64)
    ranks = np.zeros(rows.shape[1], np.uint32)
    ranks[used] = np.arange(len(used))
    return used, ranks[rows.indices]


def wider_columns(columns: Columns, k: int) -> Columns:
    """Return the columns of `k` labels, each with an additional column for its intercept."""
    width = len(columns) // k
    ends = np.arange(1, k + 1) * width
    return Columns(
        np.insert(columns.labels, ends, np.arange(k, dtype=np.int32)),
        np.insert(columns.groups, ends, len(columns.group_names)),
        (*columns.group_names, "intercept"),
        _InterceptNames(columns.names, width) if len(columns.names) else (),
    )


class _InterceptNames(Sequence[str]):
    """The names of columns with intercepts, made on demand."""

    def __init__(self, names: Sequence[str], width: int) -> None:
        self._names, self._width = names, width

    def __len__(self) -> int:
        return len(self._names) // self._width * (self._width + 1)

    def __getitem__(self, at: Any) -> Any:
        label, column = divmod(range(len(self))[at], self._width + 1)
        return "intercept" if column == self._width else self._names[label * self._width + column]


@dataclass(frozen=True, slots=True, eq=False)
class ListProblem:
    """Lists of candidates as arguments of the compiled functions."""

    # the rows of all candidates. Only columns that occur are kept, the most frequent first
    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: Floats
    offsets: NDArray[np.int64]  # (n + 1,)
    cost: Floats  # float64 (n_rows,): relative to the smallest cost of the instance
    order: NDArray[np.int64]  # (n,): training order of the instances
    used: NDArray[np.int64]  # (d,): the flat weight of each column
    dimension_of: NDArray[np.int64]  # (d,): the dimension of each column, for masks; -1 for intercepts
    dimensions: int
    n_weights: int

    @property
    def examples(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """The first arguments of all compiled functions."""
        return self.indptr, self.indices, self.data, self.offsets, self.cost, self.order

    @property
    def longest(self) -> int:
        """Number of candidates in the longest list."""
        return int(np.diff(self.offsets).max())

    def column_masks(self, masks: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Return masks of dimensions, shape (d, LANES), as masks of columns."""
        from ._kernels import LANES

        keep = np.zeros((len(self.used), LANES), np.uint8)
        removable = self.dimension_of >= 0
        keep[:, : len(masks)] = 1
        keep[removable, : len(masks)] = np.ascontiguousarray(masks.T)[self.dimension_of[removable]]
        return keep

    def weights(self, used_weights: Floats) -> Floats:
        """Return flat weights from the weights of the used columns; D773 if they are not finite numbers."""
        if not np.isfinite(used_weights).all():
            raise UserError("D773")
        full = np.zeros(self.n_weights)
        full[self.used] = used_weights
        return full


def prepare_lists(batch: CandidateBatch, seed: int) -> ListProblem:
    """Return the problem for a batch of lists; the instances are permuted by ``default_rng(seed)``.

    Raises the errors of `prepare_labels`.
    """
    from scipy.sparse import csr_array

    if len(batch.offsets) < 2:
        raise UserError("D705")
    dimensions = len(batch.columns)
    is_crossed = isinstance(batch, CrossedRows)
    if isinstance(batch, CrossedRows):
        dimensions = int(batch.rows.shape[1])
        batch = with_constant(batch)
    rows = csr_array(convert(batch, SparseRows).rows, dtype=np.float64)
    check_numbers(rows, batch.offsets)
    rows = canonical_rows(rows)
    used, columns = _sort_by_frequency(rows)
    dimension_of = used
    if is_crossed:
        dimension_of = np.where(used % (dimensions + 1) < dimensions, used % (dimensions + 1), -1)
    order = np.random.default_rng(seed).permutation(len(batch.offsets) - 1)
    return ListProblem(
        rows.indptr.astype(np.uint64), columns, rows.data, batch.offsets, from_the_least(batch), order, used,
        dimension_of, dimensions, rows.shape[1],
    )  # fmt: skip


def with_constant(batch: CrossedRows) -> CrossedRows:
    """Return crossed rows with a constant of one as the last column of each label."""
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([csr_array(batch.rows), np.ones((batch.rows.shape[0], 1))], format="csr"))
    return CrossedRows(rows, batch.costs, wider_columns(batch.columns, batch.n_labels), batch.labels)


@dataclass(frozen=True, eq=False)
class InterceptScorer:
    """Scores label r by ``W_r . x + b_r``. Dimensions without training examples have zero weight.

    Candidates of lists whose columns belong to no label are scored by ``w . x``.
    """

    # (K * (D + 1),) or (n_columns,): label by label, the intercept last; or one weight per column
    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score per row of the batch.

        Raises `ValueError` if the columns of the batch are not those of the weights.
        """
        crossed = convert_to_crossed(batch)
        if not isinstance(crossed, CrossedRows) or has_own_labels(crossed):
            same, flat = self.linear(batch)
            return same.scores(flat)
        k = crossed.costs.shape[1]
        if len(self.weights) != len(crossed.columns) + k:
            raise ValueError(f"{len(self.weights)} weights for {len(crossed.columns)} columns of {k} labels")
        weights = self.weights.reshape(k, -1)
        if isinstance(crossed.rows, np.ndarray):
            return np.asarray(crossed.rows @ weights[:, :-1].T + weights[:, -1]).ravel()
        if self not in _by_column:  # the weights of each column side by side: computed once
            _by_column[self] = np.ascontiguousarray(weights[:, :-1].T)
        return np.asarray(crossed.rows @ _by_column[self] + weights[:, -1]).ravel()

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as crossed rows with a constant of one as the last column, and the weights.

        Lists without labels remain unchanged.
        """
        crossed = convert_to_crossed(batch)
        same = with_constant(crossed) if isinstance(crossed, CrossedRows) else batch
        if len(self.weights) != len(same.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(same.columns)} columns")
        return same, self.weights

    def state(self) -> Arrays:
        """Return the weights, in half the space if this loses no bits (see `rounded`)."""
        short = self.weights.astype(np.float32)
        return {"weights": short if np.array_equal(short, self.weights) else self.weights}

    def rounded(self) -> InterceptScorer:
        """Return a scorer with weights rounded to seven digits."""
        return InterceptScorer(self.weights.astype(np.float32).astype(np.float64))

    @classmethod
    def from_state(cls, arrays: Arrays) -> InterceptScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))


_by_column: WeakKeyDictionary[InterceptScorer, NDArray[np.float64]] = WeakKeyDictionary()
"""Cached weights of scorers for sparse rows, shape (D, K), as long as the scorers exist."""


def convert_to_crossed(batch: CandidateBatch) -> CandidateBatch:
    """Return a batch as crossed rows if it can be converted, otherwise unchanged."""
    try:
        return convert(batch, CrossedRows, own_labels=True)
    except UserError:
        return batch
