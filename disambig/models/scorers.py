"""The linear scorer, and the baseline that scores all candidates alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays, CandidateBatch, Fitted


@dataclass(frozen=True, slots=True, eq=False)
class LinearScorer:
    """Scores rows by ``weights . features``.

    Attributes
    ----------
    weights : array of float64, shape (n_columns,)
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score a row.

        Raises
        ------
        ValueError
            For a batch of other columns than the weights are for.
        """
        if len(self.weights) != len(batch.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(batch.columns)} columns")
        return batch.scores(self.weights)

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as it is, and its weights (see `disambig.types.Scorer`)."""
        return batch, self.weights

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}

    @classmethod
    def from_state(cls, arrays: Arrays) -> LinearScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))


@dataclass(frozen=True, slots=True)
class ZeroScorer:
    """Scores every row zero."""

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return a zero a row."""
        return np.zeros(len(batch.cost))

    def state(self) -> Arrays:
        """Return nothing: there is nothing to keep."""
        return {}


@dataclass(frozen=True, slots=True)
class NoPreference:
    """Learn nothing and prefer none of the candidates."""

    needs_training: ClassVar[bool] = False

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return zero scores; the examples are not looked at."""
        return Fitted(ZeroScorer())

    def from_state(self, arrays: Arrays) -> ZeroScorer:
        """Rebuild a saved scorer."""
        return ZeroScorer()
