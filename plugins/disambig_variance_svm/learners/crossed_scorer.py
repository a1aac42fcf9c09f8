"""The scorer of the K-SVM's full weight matrix: every class weighs the attributes of all classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Columns, CrossedRows, UserError
from disambig.api.batches import convert


@dataclass(frozen=True, slots=True, eq=False)
class CrossedScorer:
    """Scores class r by ``W_r . x``, `x` the attributes of all classes.

    Attributes
    ----------
    weights : array of float64, shape (K * K * A,)
        Row by row of W, as in `CrossedRows`.
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score a row of a batch of dense class blocks, or of any lists.

        Raises
        ------
        ValueError
            For a batch of other columns than the weights are for.
        """
        rows = _read(batch)
        if len(self.weights) != len(rows.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(rows.columns)} crossed columns")
        return np.asarray(rows.scores(self.weights))

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as crossed rows, and the weights over them."""
        return _read(batch), self.weights

    def columns(self, batch: CandidateBatch) -> Columns:
        """Return what the weights mean: a class and one of its or another class's attributes."""
        return _read(batch).columns

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}

    @classmethod
    def from_state(cls, arrays: Arrays) -> CrossedScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))


def _read(batch: CandidateBatch) -> CandidateBatch:
    """Return a batch as crossed rows, or lists as they are."""
    try:
        return convert(batch, CrossedRows)
    except UserError:
        return batch
