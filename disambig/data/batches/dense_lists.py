"""Dense lists: the same few attributes for each candidate, and lists of candidates of any length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.rows import index_of, rows_of


@dataclass(frozen=True, slots=True, eq=False)
class DenseLists:
    """Attributes of every candidate of n instances, each of which has a list of its own.

    Attributes
    ----------
    values : array of float32, shape (n_rows, A)
        One row a candidate; all candidates share the A columns.
    offsets : array of int64, shape (n + 1,)
    cost : array of float32, shape (n_rows,)
    columns : Columns
        A entries.
    """

    values: NDArray[np.float32]
    offsets: NDArray[np.int64]
    cost: NDArray[np.float32]
    columns: Columns

    @property
    def layout(self) -> NDArray[np.int64]:
        """The offsets: each row is a candidate of its own."""
        return self.offsets

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
        rows, offsets = rows_of(self.offsets, index_of(index))
        return DenseLists(self.values[rows], offsets, self.cost[rows], self.columns)
