"""The scorer of the linear learners: weights, and an intercept for each label where there are labels."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, UserError
from disambig.api.batches import CrossedLists, convert

from .intercepts import wider_columns
from .lists import with_constant


@dataclass(frozen=True, eq=False)
class InterceptScorer:
    """Scores label r by ``W_r . x + b_r``. Dimensions that no training example had weigh nothing.

    Candidates of lists whose columns belong to no label are scored by ``w . x``.

    Attributes
    ----------
    weights : array of float64, shape (K * (D + 1),) or (n_columns,)
        Label by label, the intercept last; or one a column.
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score a row of the batch.

        Raises
        ------
        ValueError
            For a batch of other columns than the weights are for.
        """
        crossed = read(batch)
        if not isinstance(crossed, CrossedRows):
            same, flat = self.linear(batch)
            return same.scores(flat)
        weights = self._by_label(crossed)
        if isinstance(crossed.rows, np.ndarray):
            return np.asarray(crossed.rows @ weights[:, :-1].T + weights[:, -1]).ravel()
        if self not in _by_column:  # the weights of a column side by side: made once
            _by_column[self] = np.ascontiguousarray(weights[:, :-1].T)
        return np.asarray(crossed.rows @ _by_column[self] + weights[:, -1]).ravel()

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as crossed rows with a constant of one as their last column, and the weights.

        Lists without labels stay as they are.
        """
        crossed = read(batch)
        if isinstance(crossed, CrossedRows):
            self._by_label(crossed)
            return _with_constant(crossed), self.weights
        same = with_constant(crossed) if isinstance(crossed, CrossedLists) else batch
        if len(self.weights) != len(same.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(same.columns)} columns")
        return same, self.weights

    def state(self) -> Arrays:
        """Return the weights; in half the space where no bit of them is lost (see `rounded`)."""
        short = self.weights.astype(np.float32)
        return {"weights": short if np.array_equal(short, self.weights) else self.weights}

    def rounded(self) -> InterceptScorer:
        """Return a scorer of weights of seven digits."""
        return InterceptScorer(self.weights.astype(np.float32).astype(np.float64))

    @classmethod
    def from_state(cls, arrays: Arrays) -> InterceptScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))

    def _by_label(self, crossed: CrossedRows) -> NDArray[np.float64]:
        k = crossed.costs.shape[1]
        if len(self.weights) != len(crossed.columns) + k:
            raise ValueError(f"{len(self.weights)} weights for {len(crossed.columns)} columns of {k} labels")
        return self.weights.reshape(k, -1)


_by_column: WeakKeyDictionary[InterceptScorer, NDArray[np.float64]] = WeakKeyDictionary()
"""The weights of scorers of sparse rows, shape (D, K), as long as they are in use."""


def read(batch: CandidateBatch) -> CandidateBatch:
    """Return a batch as the learners read it: crossed, if its rows are, and otherwise as it is."""
    try:
        return convert(batch, CrossedRows, CrossedLists)
    except UserError:
        return batch


def _with_constant(batch: CrossedRows) -> CrossedRows:
    from scipy.sparse import csr_array, hstack

    n, k = batch.costs.shape
    rows = csr_array(hstack([csr_array(batch.rows), np.ones((n, 1))]))
    return CrossedRows(rows, batch.costs, wider_columns(batch.columns, k))
