"""Two sparse storages: one row per candidate (n-best lists), one row per instance crossed with labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.equal_lists import EqualLists
from disambig.data.batches.rows import index_of, rows_of


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Features of each candidate (or part) in a row of a scipy CSR matrix.

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

    @property
    def layout(self) -> NDArray[np.int64]:
        """The offsets: each row is a candidate of its own."""
        return self.offsets

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
        rows, offsets = rows_of(self.offsets, index_of(index))
        return SparseRows(self.rows[rows], offsets, self.cost[rows], self.columns)

    def narrowed(self) -> tuple[SparseRows, NDArray[np.int64]]:
        """Return the same rows in those columns alone that occur in them, and which they are."""
        from scipy.sparse import csr_array

        rows, whole = csr_array(self.rows), self.columns
        used, local = np.unique(rows.indices, return_inverse=True)
        own = csr_array((rows.data, local.astype(np.int32), rows.indptr), (rows.shape[0], len(used)))
        columns = Columns(whole.labels[used], whole.groups[used], whole.group_names)
        return SparseRows(own, self.offsets, self.cost, columns), used.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class CrossedRows(EqualLists):
    """One feature row per instance; candidate r's features are that row in block r of the weights.

    The cross product is never made: weights of shape (K * D,) are read as (K, D).

    Attributes
    ----------
    rows : array or scipy.sparse.csr_array, shape (n, D)
    costs : array of float32, shape (n, K)
    columns : Columns
        K * D entries, candidate by candidate.
    """

    rows: Any
    costs: NDArray[np.float32]
    columns: Columns

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``W_r . x`` for each candidate r of each instance, shape ``(n * K,)``."""
        return np.asarray(self.rows @ weights.reshape(self.costs.shape[1], -1).T).ravel()

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the crossed features summed with weights `mass`, shape ``(K * D,)``."""
        return np.asarray((self.rows.T @ mass.reshape(self.costs.shape)).T).ravel()

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each candidate's features: that of its instance."""
        square = self.rows.multiply(self.rows) if hasattr(self.rows, "multiply") else self.rows**2
        return np.repeat(np.asarray(square.sum(axis=1)).ravel(), self.costs.shape[1])

    def take(self, index: NDArray[np.int64]) -> CrossedRows:
        """Return the batch of the instances in `index`."""
        return CrossedRows(self.rows[index], self.costs[index], self.columns)
