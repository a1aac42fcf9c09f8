"""What the learners of figures 1 and 2 have in common: base score, end of the path, choice on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar, TypeVar

import numpy as np

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, SparseRows

from ..checks import check_above_zero, check_count, check_count_from_zero, check_group
from .pairs import pairs_of
from .path import Path
from .stepper import Steps
from .training import Limits, path_of

Self = TypeVar("Self", bound="Stagewise")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stagewise:
    """A learner that moves one weight a step. Each says in its own words what its settings are.

    It has a path of its own (`path`) and is no `FitsPath`: of those the trainer scores development data once
    a step, and here are tens of thousands of steps, along which `fit` follows the winners by an index.
    """

    base: str = "base score"
    steps: int | None = None
    max_steps: int = 5_000_000
    patience: int = 20_000
    tolerance: float = 1e-7
    takes: ClassVar[tuple[type, ...]] = (SparseRows,)

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_group(f"{name}.base", self.base)
        if self.steps is not None:
            check_count_from_zero(f"{name}.steps", self.steps)
        check_count(f"{name}.max_steps", self.max_steps)
        check_count(f"{name}.patience", self.patience)
        check_above_zero(f"{name}.tolerance", self.tolerance)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of the step whose winners cost least on `dev`, the first of equals.

        Without development data, or where `steps` is given, it is the last step's. Nothing is random.

        Raises
        ------
        UserError
            D703 for features that are NaN or infinite, D645 for costs that are NaN, D705 where there is no
            list.
        """
        path = self.path(batch, dev=dev)
        step = len(path) if self.steps is not None else path.best()
        return Fitted(path.scorer(step), path.report(step))

    def path(self, batch: CandidateBatch, *, dev: CandidateBatch | None = None) -> Path:
        """Return the whole path; with `dev` what its winners cost along it, too, which may end it."""
        limits = Limits(
            most=self.max_steps if self.steps is None else self.steps,
            tolerance=self.tolerance,
            patience=self.patience if self.steps is None else self.max_steps + 1,
        )
        return path_of(pairs_of(batch, self.base), self.rule(), limits, dev)

    def rule(self) -> Steps:
        """Return how steps are chosen."""
        raise NotImplementedError

    def settled(self: Self, reports: Sequence[Mapping[str, Any]]) -> Self:
        """Return the learner with as many steps as the middle of some fits took, where that is left open."""
        if self.steps is not None or not reports:
            return self
        return replace(self, steps=int(median(report["steps"] for report in reports)))

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)
