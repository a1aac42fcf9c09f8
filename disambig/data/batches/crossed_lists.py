"""Crossed lists: one row of features an instance, crossed with those of the labels that it may have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.rows import index_of, rows_of

_FEW = 4
"""Up to so many times the candidates there are, labels that are none are scored as well: whole rows."""
_CHUNK = 1 << 22
"""Numbers of written-out rows held at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossedLists:
    """One feature row per instance, which has a list of labels of its own: a few of K.

    As in `CrossedRows`, a label's features are the row in its block of the weights, and the cross product is
    never made: weights of shape (K * D,) are read as (K, D).

    Attributes
    ----------
    rows : array or scipy.sparse.csr_array, shape (n, D)
    labels : array of int64, shape (n_rows,)
        Which label each candidate is.
    offsets : array of int64, shape (n + 1,)
    cost : array of float32, shape (n_rows,)
    columns : Columns
        K * D entries, label by label.
    """

    rows: Any
    labels: NDArray[np.int64]
    offsets: NDArray[np.int64]
    cost: NDArray[np.float32]
    columns: Columns

    @property
    def n_labels(self) -> int:
        """K, the number of all labels."""
        width = int(self.rows.shape[1])
        return len(self.columns) // width if width else int(self.labels.max(initial=-1)) + 1

    @property
    def instance(self) -> NDArray[np.int64]:
        """The instance of each candidate, shape ``(n_rows,)``."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def layout(self) -> NDArray[np.int64]:
        """The offsets: each row is a candidate of its own."""
        return self.offsets

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``W_r . x`` for each candidate r of each instance, shape ``(n_rows,)``."""
        n, k = len(self.offsets) - 1, self.n_labels
        if n * k <= _FEW * len(self.cost):
            of_all = np.asarray(self.rows @ weights.reshape(k, -1).T)  # (n, K)
            return np.asarray(of_all[self.instance, self.labels], np.float64)
        scores = np.empty(len(self.cost))
        per_row = self.rows.nnz // max(n, 1) + 1 if hasattr(self.rows, "nnz") else int(self.rows.shape[1])
        step = max(_CHUNK // max(per_row, 1), 1)
        for start in range(0, len(scores), step):
            part = slice(start, start + step)
            scores[part] = self.written_out(part) @ weights
        return scores

    def written_out(self, part: slice = slice(None)) -> Any:
        """Return some candidates' rows in all K * D columns, as a scipy.sparse.csr_array."""
        from scipy.sparse import csr_array

        rows, labels = csr_array(self.rows)[self.instance[part]], self.labels[part]
        width = int(self.rows.shape[1])
        columns = np.repeat(labels * width, np.diff(rows.indptr)) + rows.indices
        if len(self.columns) < np.iinfo(np.int32).max:
            columns = columns.astype(np.int32)
        return csr_array((rows.data, columns, rows.indptr), (len(labels), len(self.columns)))

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the crossed features summed with weights `mass`, shape ``(K * D,)``."""
        from scipy.sparse import csr_array

        shape = len(self.offsets) - 1, self.n_labels
        by_label = csr_array((np.asarray(mass, np.float64), self.labels, self.offsets), shape).T
        sums = by_label @ self.rows  # (K, D)
        return np.asarray(sums.toarray() if hasattr(sums, "toarray") else sums, np.float64).ravel()

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each candidate's features: that of its instance."""
        square = self.rows.multiply(self.rows) if hasattr(self.rows, "multiply") else self.rows**2
        return np.repeat(np.asarray(square.sum(axis=1), np.float64).ravel(), np.diff(self.offsets))

    def take(self, index: NDArray[np.int64]) -> CrossedLists:
        """Return the batch of the instances in `index`."""
        index = index_of(index)
        rows, offsets = rows_of(self.offsets, index)
        return CrossedLists(self.rows[index], self.labels[rows], offsets, self.cost[rows], self.columns)
