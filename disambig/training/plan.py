"""Who sees what in training: what learns, what is tuned on, what a judge is fitted to. One plan each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.model.model import Model
from disambig.types import CandidateBatch, FeatureExtractor, Fitted, Learner, Material, Scorer, Task

Progress = Callable[[str, int, int], None]


class Ready(Protocol):
    """A plan whose extractors are fitted."""

    @property
    def extractors(self) -> tuple[FeatureExtractor, ...]:
        """Those of the model."""
        ...

    def shared(self, model: Model, learner: Learner, rng: np.random.Generator) -> Scorer | None:
        """Return what all groups share; None where the plan or the examples allow none."""
        ...

    def fit(
        self, model: Model, learner: Learner, group: int, rng: np.random.Generator
    ) -> tuple[Scorer | None, dict[str, Any]]:
        """Return a group's scorer and its report; None where there is too little to learn from."""
        ...

    def material(self, model: Model, rng: np.random.Generator) -> Material:
        """Return what the judge is fitted to: examples that their scorers did not learn from."""
        ...

    def provenance(self, model: Model) -> dict[str, Any]:
        """Return what is to be said of the examples, as plain values."""
        ...


@runtime_checkable
class Tries(Protocol):
    """A plan whose extractors are fitted, and that can tell how good they are before anything is taken."""

    def hits(self, task: Task, learner: Learner, baseline: Learner) -> NDArray[np.bool_]:
        """Return which examples are decided right by scorers that did not see them."""
        ...

    def settled(self, learner: Learner) -> Learner:
        """Return a learner with what it leaves open as it came out in the fits so far."""
        ...


@runtime_checkable
class FitsFolds(Protocol):
    """A learner that learns from all examples, and from all but each fold, in one go: sooner than in turn."""

    def fit_folds(
        self, batch: CandidateBatch, folds: NDArray[np.int64]
    ) -> tuple[Fitted, NDArray[np.float64]] | None:
        """Return what was found on all instances, and the score of each row by what did not see its fold.

        None where a batch is learned from in turn: `fit` is called then. `folds`, shape (n,), are numbers
        from 0 on, two of them at least. A setting left open is the one by which most instances are decided
        right by what did not see them.
        """
        ...


class Plan(Protocol):
    """Held-out examples (`held_out`) or folds of all of them (`folds`)."""

    def prepare(self, parts: dict[str, Any], tell: Progress) -> Ready:
        """Fit the extractors of a resolved config."""
        ...
