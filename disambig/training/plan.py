"""Who sees what in training: what learns, what is tuned on, what a judge is fitted to. One plan each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.model.model import Model
from disambig.types import FeatureExtractor, Learner, Material, Scorer, Task

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

    def hits(self, task: Task, learner: Learner, baseline: Learner) -> NDArray[np.bool_] | None:
        """Return which examples are decided right by what did not see them; None where that is not known."""
        ...

    def settled(self, learner: Learner) -> Learner:
        """Return a learner with what it leaves open as it came out in the fits so far."""
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


class Plan(Protocol):
    """Held-out examples (`held_out`) or folds of all of them (`folds`)."""

    def prepare(self, parts: dict[str, Any], tell: Progress) -> Ready:
        """Fit the extractors of a resolved config."""
        ...
