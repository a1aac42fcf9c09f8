"""The linear scorer, and a baseline that gives all candidates the same score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays, CandidateBatch, Fitted


@dataclass(frozen=True, slots=True, eq=False)
class LinearScorer:
    """Score rows by ``weights . features``.

    Attributes
    ----------
    weights : array of float64, shape (n_columns,)
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score per row.

        Raises
        ------
        ValueError
            If the batch has a different number of columns.
        """
        if len(self.weights) != len(batch.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(batch.columns)} columns")
        return batch.scores(self.weights)

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch unchanged, and the weights (see `disambig.types.LinearScores`)."""
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
    """Score every row zero."""

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one zero per row."""
        return np.zeros(len(batch.cost))

    def state(self) -> Arrays:
        """Return no arrays: the scorer has no state."""
        return {}


@dataclass(frozen=True, slots=True)
class NoPreference:
    """A learner without training that prefers no candidate."""

    needs_training: ClassVar[bool] = False

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return a scorer of zeros; the examples are ignored."""
        return Fitted(ZeroScorer())

    def from_state(self, arrays: Arrays) -> ZeroScorer:
        """Rebuild a saved scorer."""
        return ZeroScorer()
