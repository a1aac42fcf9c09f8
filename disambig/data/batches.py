"""Candidate batches: dense, sparse and crossed features of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import Columns, JoinedColumns
from disambig.data.segments import Ragged, as_index, lengths, offsets_from_sizes, row_owners, take_rows
from disambig.type_aliases import Floats


class CandidateRows:
    """Base of batches in which every row is one candidate."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def offsets(self) -> NDArray[np.int64]:
            """Offset of the first row of each instance, shape ``(n + 1,)``."""

    @property
    def layout(self) -> NDArray[np.int64]:
        """The offsets: every row is one candidate."""
        return self.offsets


class EqualLists(CandidateRows):
    """A batch with ``costs`` of shape (n, K): zero for the right candidates of each instance."""

    __slots__ = ()
    costs: NDArray[np.float32]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first row of each instance, shape ``(n + 1,)``."""
        n, k = self.costs.shape
        return np.arange(n + 1, dtype=np.int64) * k

    @property
    def cost(self) -> NDArray[np.float32]:
        """The cost of each row, zero for right candidates, shape ``(n * K,)``."""
        return self.costs.ravel()


def _wrong_weights(n_weights: int, n_columns: int) -> ValueError:
    """Return the error for weights that do not fit the columns of a batch: they would be used silently."""
    return ValueError(
        f"{n_weights:,} weights for {n_columns:,} columns: if the batch for `fit` was converted to another "
        "storage, convert this one as well"
    )


_CURVATURE_CHUNK = 8192
_VALUES_AT_ONCE = 1 << 14
"""Number of values that are converted to float64 at a time, so that they stay in the CPU cache."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseBlocks(EqualLists):
    """Attributes of every candidate of n instances that share a group.

    Attributes
    ----------
    values : array of float32, shape (n, K, A)
    column_of : array of int64, shape (K, A)
        Index of the flat weight by which each attribute of each candidate is multiplied; candidates that
        share a weight have the same index.
    columns : Columns
    costs : array of float32, shape (n, K)
        Zero for the right candidates.
    """

    values: NDArray[np.float32]
    column_of: NDArray[np.int64]
    columns: Columns
    costs: NDArray[np.float32]

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``w_r . x_r`` for each candidate r of each instance, shape ``(n * K,)``.

        Raises ValueError unless there is one weight per column.
        """
        if len(weights) != len(self.columns):
            raise _wrong_weights(len(weights), len(self.columns))
        n, k, a = self.values.shape
        scores = np.empty((n, k))
        step = max(1, _VALUES_AT_ONCE // max(n * a, 1))
        for first in range(0, k, step):  # some candidates of all instances at a time
            part = slice(first, first + step)
            values, columns = self.values[:, part].transpose(1, 0, 2), self.column_of[part]
            scores[:, part] = (values @ weights[columns][:, :, None])[:, :, 0].T
        return scores.ravel()

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`, shape ``(n_columns,)``."""
        n, k, _ = self.values.shape
        mass = mass.reshape(n, k)
        blocks = np.stack([mass[:, r] @ self.values[:, r] for r in range(k)])  # (K, A)
        sums = np.bincount(self.column_of.ravel(), blocks.ravel(), minlength=len(self.columns))
        return sums.astype(np.float64)

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each candidate's attributes."""
        return np.einsum("nka,nka->nk", self.values, self.values, dtype=np.float64).ravel()

    def take(self, index: NDArray[np.int64]) -> DenseBlocks:
        """Return the batch of the instances in `index`."""
        return DenseBlocks(self.values[index], self.column_of, self.columns, self.costs[index])

    def curvature(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Hessian of ``sum_i logsumexp_r(score_ir)`` at softmax shares ``(n * K,)``.

        It is the covariance of the features under `shares`, summed over instances,
        shape ``(n_columns, n_columns)``.
        """
        n, k, a = self.values.shape
        shares = shares.reshape(n, k)
        flat = self.column_of.ravel()
        full = np.zeros((k * a, k * a))
        for start in range(0, n, _CURVATURE_CHUNK):
            block = self.values[start : start + _CURVATURE_CHUNK].astype(np.float64)  # (c, K, A)
            mean = (shares[start : start + _CURVATURE_CHUNK, :, None] * block).reshape(len(block), k * a)
            full -= mean.T @ mean
            for r in range(k):
                part = slice(r * a, (r + 1) * a)
                full[part, part] += mean[:, part].T @ block[:, r]
        if len(np.unique(flat)) == k * a and len(self.columns) == k * a:
            result = np.empty_like(full)
            result[np.ix_(flat, flat)] = full
            return result
        tie = np.zeros((k * a, len(self.columns)))
        tie[np.arange(k * a), flat] = 1.0
        return tie.T @ full @ tie


@dataclass(frozen=True, slots=True, eq=False)
class DenseLists(CandidateRows):
    """Attributes of every candidate of n instances with per-instance candidates.

    Attributes
    ----------
    values : array of float32, shape (n_rows, A)
        One row per candidate; all candidates share the A columns.
    offsets : array of int64, shape (n + 1,)
    cost : array of float32, shape (n_rows,)
    columns : Columns
        Has A entries.
    """

    values: NDArray[np.float32]
    offsets: NDArray[np.int64]
    cost: NDArray[np.float32]
    columns: Columns

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        return np.asarray(self.values @ weights, np.float64)

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`, shape ``(A,)``."""
        return np.asarray(mass @ self.values, np.float64)

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each candidate's attributes."""
        return np.einsum("ra,ra->r", self.values, self.values, dtype=np.float64)

    def take(self, index: NDArray[np.int64]) -> DenseLists:
        """Return the batch of the instances in `index`."""
        rows, offsets = take_rows(self.offsets, as_index(index))
        return DenseLists(self.values[rows], offsets, self.cost[rows], self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows(CandidateRows):
    """Features of candidates (or of parts of structures) as rows of a scipy CSR matrix.

    Attributes
    ----------
    rows : scipy.sparse.csr_array, shape (n_rows, n_columns)
    offsets : array of int64, shape (n + 1,)
    cost : array of float32, shape (n_rows,)
    columns : Columns
    """

    rows: Any
    offsets: NDArray[np.int64]
    cost: NDArray[np.float32]
    columns: Columns

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        return np.asarray(self.rows @ weights)

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`."""
        return np.asarray(self.rows.T @ mass)

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each row."""
        return np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel()

    def take(self, index: NDArray[np.int64]) -> SparseRows:
        """Return the batch of the instances in `index`."""
        rows, offsets = take_rows(self.offsets, as_index(index))
        return SparseRows(self.rows[rows], offsets, self.cost[rows], self.columns)


_MAX_LABEL_RATIO = 4
"""Score all labels of a row if they are at most this many times its candidates: one product is faster."""
_CROSSED_CHUNK = 1 << 22
"""Maximum number of values of written-out rows held in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossedRows(EqualLists):
    """One feature row per instance; the features of label r are that row in block r of the weights.

    The cross product is never computed: weights of shape (K * D,) are read as (K, D).

    Attributes
    ----------
    rows : array or scipy.sparse.csr_array, shape (n, D)
    costs : array of float32, shape (n, K)
        Shape (n_rows,) if instances have `labels` of their own.
    columns : Columns
        Has K * D entries, label by label.
    labels : Ragged of int64, optional
        The labels that are the candidates of each instance; by default all K.
    """

    rows: Any
    costs: NDArray[np.float32]
    columns: Columns
    labels: Ragged | None = None

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first row of each instance, shape ``(n + 1,)``."""
        if self.labels is not None:
            return self.labels.offsets
        return EqualLists.offsets.fget(self)  # type: ignore[attr-defined]

    @property
    def n_labels(self) -> int:
        """K, the number of all labels."""
        if self.labels is None:
            return self.costs.shape[1]
        width = int(self.rows.shape[1])
        return len(self.columns) // width if width else int(self.labels.values.max(initial=-1)) + 1

    @property
    def label_of_rows(self) -> NDArray[np.int64]:
        """The label of each candidate, shape ``(n_rows,)``."""
        if self.labels is not None:
            return self.labels.values
        n, k = self.costs.shape
        return np.tile(np.arange(k, dtype=np.int64), n)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``W_r . x`` for each candidate r of each instance, shape ``(n_rows,)``."""
        n, k = self.rows.shape[0], self.n_labels
        if self.labels is None:
            return np.asarray(self.rows @ weights.reshape(k, -1).T).ravel()
        if n * k <= _MAX_LABEL_RATIO * len(self.costs):
            all_scores = np.asarray(self.rows @ weights.reshape(k, -1).T)  # (n, K)
            return np.asarray(all_scores[row_owners(self.offsets), self.labels.values], np.float64)
        scores = np.empty(len(self.costs))
        per_row = self.rows.nnz // max(n, 1) + 1 if hasattr(self.rows, "nnz") else int(self.rows.shape[1])
        step = max(_CROSSED_CHUNK // max(per_row, 1), 1)
        for start in range(0, len(scores), step):
            part = slice(start, start + step)
            scores[part] = self.written_out(part) @ weights
        return scores

    def written_out(self, part: slice = slice(None)) -> Any:
        """Return some candidates' rows in all K * D columns, as a scipy.sparse.csr_array."""
        from scipy.sparse import csr_array

        rows, labels = csr_array(self.rows)[row_owners(self.offsets)[part]], self.label_of_rows[part]
        width = int(self.rows.shape[1])
        columns = np.repeat(labels * width, np.diff(rows.indptr)) + rows.indices
        # scipy copies the matrix to 64-bit indices unless both index arrays are 32-bit
        if len(self.columns) < np.iinfo(np.int32).max:
            columns = columns.astype(np.int32)
        return csr_array((rows.data, columns, rows.indptr), (len(labels), len(self.columns)))

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the crossed features summed with weights `mass`, shape ``(K * D,)``."""
        if self.labels is None:
            return np.asarray((self.rows.T @ mass.reshape(self.costs.shape)).T).ravel()
        from scipy.sparse import csr_array

        shape = self.rows.shape[0], self.n_labels
        by_label = csr_array((np.asarray(mass, np.float64), self.labels.values, self.offsets), shape).T
        sums = by_label @ self.rows  # (K, D)
        return np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums, np.float64).ravel()

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each candidate's features, which is that of its instance's row."""
        square = self.rows.multiply(self.rows) if hasattr(self.rows, "multiply") else self.rows**2
        return np.repeat(np.asarray(square.sum(axis=1)).ravel(), lengths(self.offsets))

    def take(self, index: NDArray[np.int64]) -> CrossedRows:
        """Return the batch of the instances in `index`."""
        index = as_index(index)
        if self.labels is None:
            return CrossedRows(self.rows[index], self.costs[index], self.columns)
        rows, _ = take_rows(self.offsets, index)
        return CrossedRows(self.rows[index], self.costs[rows], self.columns, self.labels.take(index))


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows(CandidateRows):
    """Several batches with features of the same candidates; their flat weights are concatenated.

    Attributes
    ----------
    parts : tuple of CandidateBatch
        With equal offsets and costs.
    columns : Columns
    """

    parts: tuple[Any, ...]
    columns: Columns

    @classmethod
    def from_parts(cls, parts: Sequence[Any]) -> JoinedRows:
        """Join batches column-wise."""
        return cls(tuple(parts), JoinedColumns([part.columns for part in parts]))

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first row of each instance, shape ``(n + 1,)``."""
        return self.parts[0].offsets

    @property
    def cost(self) -> NDArray[np.float32]:
        """The cost of each row, zero for right candidates."""
        return self.parts[0].cost

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each row: the sum of its scores in all parts.

        Raises ValueError unless there is one weight per column.
        """
        if len(weights) != len(self.columns):
            raise _wrong_weights(len(weights), len(self.columns))
        ends = offsets_from_sizes(len(part.columns) for part in self.parts).tolist()
        scores = np.zeros(len(self.cost))
        for part, (start, end) in zip(self.parts, pairwise(ends), strict=True):
            scores += part.scores(weights[start:end])
        return scores

    def adjoint(self, mass: Floats) -> Floats:
        """Return the features of all parts summed with weights `mass`."""
        return np.concatenate([part.adjoint(mass) for part in self.parts])

    def row_sqnorm(self) -> Floats:
        """Return the squared norm of each row."""
        return np.sum([part.row_sqnorm() for part in self.parts], axis=0)

    def take(self, index: NDArray[np.int64]) -> JoinedRows:
        """Return the batch of the instances in `index`."""
        return JoinedRows(tuple(part.take(index) for part in self.parts), self.columns)
