"""The search for C on development data, along a path from the smallest value on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, CrossedRows, DenseBlocks
from disambig.api.batches import segments
from disambig.api.decoding import from_the_least

Answer = TypeVar("Answer")

_PATIENCE, _PATIENT_TO = 3, 1e-3
"""The path ends when so many values in a row, from the second one on, were worse than the best by more than a
standard error. Level stretches do not end it: where all is still decided for the most frequent candidate,
or as the sum does, better values lie behind."""


@dataclass(slots=True)
class CSearch(Generic[Answer]):
    """The best answer so far: of equals that of the smallest C.

    Attributes
    ----------
    n_train, n_dev : int
        Examples to learn from, and those that accuracy is measured on.
    path : dict of float to float
        Accuracy at each C.
    best : tuple of (float, float, Answer), optional
        Accuracy, C and answer.
    """

    n_train: int
    n_dev: int
    path: dict[float, float] = field(default_factory=dict)
    best: tuple[float, float, Answer] | None = None
    _worse: int = 0

    def add(self, C: float, accuracy: float, answer: Answer) -> bool:
        """Take in the answer at a larger C than before; return whether to go on."""
        self.path[C] = accuracy
        if self.best is None or accuracy > self.best[0]:
            self.best = accuracy, C, answer
        error = math.sqrt(self.best[0] * (1 - self.best[0]) / self.n_dev)
        clearly = C * self.n_train >= _PATIENT_TO * (1 - 1e-6) and accuracy < self.best[0] - error
        self._worse = self._worse + 1 if clearly else 0
        return self._worse < _PATIENCE and accuracy < 1.0

    def report(self) -> dict[str, float]:
        """Return the path in the form that models are saved with."""
        return {f"{C:g}": accuracy for C, accuracy in self.path.items()}


def settled(learner: Any, reports: Sequence[Mapping[str, Any]]) -> Any:
    """Return a learner that leaves C open with the middle one of those that some fits chose, if all did."""
    chosen = [report.get("C") for report in reports]
    if learner.C is not None or not chosen or not all(chosen):
        return learner
    return replace(learner, C=float(np.median([float(C) for C in chosen if C])))


def quality(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return `accuracy` or, of lists, what it becomes for graded costs: one where all are decided right.

    Costs are counted from an instance's least, as shares of the largest there is.
    """
    if isinstance(batch, DenseBlocks | CrossedRows):
        return accuracy(batch, scores)
    cost = from_the_least(batch)
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return 1.0 - float(np.mean(cost[best])) / max(float(cost.max(initial=0.0)), 1e-300)


def accuracy(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return the share of instances whose best-scored candidate costs nothing."""
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return float(np.mean(batch.cost[best] == 0))
