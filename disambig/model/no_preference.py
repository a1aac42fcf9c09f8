"""No preference: the baseline of tasks that have none. Every candidate scores the same.

Where labels were counted, their frequencies decide then, through the calibration (`disambig.judges.labels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays, CandidateBatch, Fitted


@dataclass(frozen=True, slots=True)
class Indifferent:
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
        return Fitted(Indifferent())

    def from_state(self, arrays: Arrays) -> Indifferent:
        """Rebuild a saved scorer."""
        return Indifferent()
