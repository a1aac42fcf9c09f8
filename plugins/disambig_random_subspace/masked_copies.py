"""Any linear learner under masks, by one masked copy of the rows after another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.api import (
    Arrays,
    CandidateBatch,
    CrossedRows,
    DenseBlocks,
    Learner,
    Scorer,
    SparseRows,
    UserError,
)
from disambig.api.batches import convert


@dataclass(frozen=True, slots=True)
class MaskedCopies:
    """Give a learner without ``fit_masked`` one, for sparse rows and a scorer of nothing but weights.

    The scorer must be linear (have ``linear``) and its state a single array ``weights``.
    """

    base: Learner

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return how many numbers a row has.

        Raises
        ------
        UserError
            D459 and D774 for a batch that is neither crossed rows nor lists.
        """
        return int(self._rows(batch).rows.shape[1])

    def fit_masked(self, batch: CandidateBatch, masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the sum of the flat weights learned under each mask.

        Raises
        ------
        UserError
            D774 for a learner whose scorers cannot be averaged.
        """
        crossed = self._rows(batch)
        return np.sum([self._weights(crossed, mask) for mask in masks], axis=0)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Return the base's scorer."""
        return self.base.from_state(arrays)

    def _weights(self, batch: CrossedRows | SparseRows, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        if isinstance(batch.rows, np.ndarray):
            rows = batch.rows * mask
        else:
            rows = batch.rows.tocsr(copy=True)
            rows.data *= mask[rows.indices]
        scorer = self.base.fit(replace(batch, rows=rows)).scorer
        state = scorer.state()
        if not hasattr(scorer, "linear") or set(state) != {"weights"}:
            raise self._refused("its scorer is not linear, or has more than weights")
        return np.asarray(state["weights"], np.float64)

    def _rows(self, batch: CandidateBatch) -> CrossedRows | SparseRows:
        if isinstance(batch, DenseBlocks):
            raise self._refused(f"it has no fit_masked, and the examples are {type(batch).__name__}")
        return convert(batch, CrossedRows, SparseRows)

    def _refused(self, problem: str) -> UserError:
        return UserError("D774", base=type(self.base).__name__, problem=problem)
