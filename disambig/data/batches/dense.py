"""Dense class blocks: the same few attributes for each of K candidates, such as n-gram counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.equal_lists import EqualLists

_CHUNK = 8192


@dataclass(frozen=True, slots=True, eq=False)
class DenseBlocks(EqualLists):
    """Attributes of every candidate of n instances that share a group.

    Attributes
    ----------
    values : array of float32, shape (n, K, A)
    column_of : array of int64, shape (K, A)
        The flat weight that each attribute of each candidate meets; equal where it is shared.
    columns : Columns
    costs : array of float32, shape (n, K)
        Zero for the right candidates.
    """

    values: NDArray[np.float32]
    column_of: NDArray[np.int64]
    columns: Columns
    costs: NDArray[np.float32]

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``w_r . x_r`` for each candidate r of each instance, shape ``(n * K,)``."""
        scores = np.empty(self.values.shape[:2])
        for r, columns in enumerate(self.column_of):
            scores[:, r] = self.values[:, r] @ weights[columns]
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
        for start in range(0, n, _CHUNK):
            block = self.values[start : start + _CHUNK].astype(np.float64)  # (c, K, A)
            mean = (shares[start : start + _CHUNK, :, None] * block).reshape(len(block), k * a)
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
