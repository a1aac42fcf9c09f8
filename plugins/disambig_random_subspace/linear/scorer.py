"""The scorer of the linear learners: weights and an intercept for each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Columns, CrossedRows, convert


@dataclass(frozen=True, slots=True, eq=False)
class InterceptScorer:
    """Scores label r by ``W_r . x + b_r``. Dimensions that no training example had weigh nothing.

    Attributes
    ----------
    weights : array of float64, shape (K * (D + 1),)
        Label by label, the intercept last.
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score a row of the batch.

        Raises
        ------
        ValueError
            For a batch of other columns than the weights are for.
        """
        crossed = convert(batch, CrossedRows)
        weights = self._by_label(crossed)
        rows, own = crossed.rows, weights[:, :-1]
        if not isinstance(rows, np.ndarray):  # the few columns in use, and not a copy of all weights
            used, at = np.unique(rows.indices, return_inverse=True)
            rows = type(rows)((rows.data, at.astype(np.int32), rows.indptr), (rows.shape[0], len(used)))
            own = np.ascontiguousarray(own[:, used])
        return np.asarray(rows @ own.T + weights[:, -1]).ravel()

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as crossed rows with a constant of one as their last column, and the weights."""
        crossed = convert(batch, CrossedRows)
        self._by_label(crossed)
        return _with_constant(crossed), self.weights

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}

    @classmethod
    def from_state(cls, arrays: Arrays) -> InterceptScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))

    def _by_label(self, crossed: CrossedRows) -> NDArray[np.float64]:
        k = crossed.costs.shape[1]
        if len(self.weights) != len(crossed.columns) + k:
            raise ValueError(f"{len(self.weights)} weights for {len(crossed.columns)} columns of {k} labels")
        return self.weights.reshape(k, -1)


def _with_constant(batch: CrossedRows) -> CrossedRows:
    from scipy.sparse import csr_array, hstack

    n, k = batch.costs.shape
    columns, width = batch.columns, len(batch.columns) // k
    ends = np.arange(1, k + 1) * width
    wider = Columns(
        np.insert(columns.labels, ends, np.arange(k, dtype=np.int32)),
        np.insert(columns.groups, ends, len(columns.group_names)),
        (*columns.group_names, "intercept"),
        _Names(columns.names, width) if len(columns.names) else (),
    )
    rows = csr_array(hstack([csr_array(batch.rows), np.ones((n, 1))]))
    return CrossedRows(rows, batch.costs, wider)


class _Names(Sequence[str]):
    """The names of columns with one more for each label, made when they are asked for."""

    def __init__(self, names: Sequence[str], width: int) -> None:
        self._names, self._width = names, width

    def __len__(self) -> int:
        return len(self._names) // self._width * (self._width + 1)

    def __getitem__(self, at: Any) -> Any:
        label, column = divmod(range(len(self))[at], self._width + 1)
        return "intercept" if column == self._width else self._names[label * self._width + column]
