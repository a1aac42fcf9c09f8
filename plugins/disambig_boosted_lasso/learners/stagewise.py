"""The stagewise learners of Gao et al. (2006): Boosting, FSLR, F-Boosting and BLasso."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar, TypeVar

import numpy as np

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, SparseRows

from ._validation import (
    check_above_zero,
    check_count,
    check_flag,
    check_fraction,
    check_group_name,
    check_non_negative,
    check_non_negative_count,
)
from .pairs import build_pairs
from .path import LearningPath, PathLimits, StepSettings, compute_path

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
        check_group_name(f"{name}.base", self.base)
        if self.steps is not None:
            check_non_negative_count(f"{name}.steps", self.steps)
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

    def path(self, batch: CandidateBatch, *, dev: CandidateBatch | None = None) -> LearningPath:
        """Return the whole path; with `dev` what its winners cost along it, too, which may end it."""
        limits = PathLimits(
            most=self.max_steps if self.steps is None else self.steps,
            tolerance=self.tolerance,
            patience=self.patience if self.steps is None else self.max_steps + 1,
        )
        return compute_path(build_pairs(batch, self.base), self.rule(), limits, dev)

    def rule(self) -> StepSettings:
        """Return how steps are chosen."""
        raise NotImplementedError

    def with_tuned(self: Self, reports: Sequence[Mapping[str, Any]]) -> Self:
        """Return the learner with as many steps as the middle of some fits took, where that is left open."""
        if self.steps is not None or not reports:
            return self
        return replace(self, steps=int(median(report["steps"] for report in reports)))

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boosting(Stagewise):
    """Rerank by boosting of ExpLoss, with smoothed or shrunken steps.

    Each step takes the feature whose optimal step lowers ExpLoss most (eq. 7), and moves its weight by
    ``shrinkage * 1/2 log((C+ + smoothing Z) / (C- + smoothing Z))`` (eq. 16 and 9): C+ and C- are the weights
    of the pairs in which the reference has the feature and the other candidate has not, and the other way
    round; Z is ExpLoss. Where counts differ by more than one, what the formula minimises is: ExpLoss with
    pairs of weight ``smoothing Z`` added that have the feature once in the reference, or once in the other.

    Parameters
    ----------
    smoothing : float
        Above zero: the larger, the shorter the steps of rare features.
    shrinkage : float
        What each step is multiplied with, above 0 and 1 at most.
    base : str
        Feature group of the base score: its weight is set first, where ExpLoss is least, and then fixed.
        Where there is no such group, no weight is.
    steps : int, optional
        How many steps are taken. Left open, development data choose; without these, it is all.
    max_steps : int
        Of a path with `steps` left open.
    patience : int
        Steps without a lower cost on development data after which the path ends.
    tolerance : float
        The path ends where no step lowers ExpLoss by more than this share of what it was at first.
    """

    smoothing: float = 1e-4
    shrinkage: float = 1.0

    def __post_init__(self) -> None:
        Stagewise.__post_init__(self)
        check_above_zero("Boosting.smoothing", self.smoothing)
        check_fraction("Boosting.shrinkage", self.shrinkage)

    def rule(self) -> StepSettings:
        """Return how steps are chosen."""
        return StepSettings(grid=False, smoothing=self.smoothing, shrinkage=self.shrinkage)


@dataclass(frozen=True, slots=True, kw_only=True)
class FSLR(Stagewise):
    """Rerank by forward stagewise linear regression: chosen as in boosting, steps of one length.

    Parameters
    ----------
    eps : float
        Length of a step.
    truncate : bool
        Whether the optimal step is taken where it is smaller than `eps`, as the paper does.
    base : str
        Feature group of the base score: its weight is set first, where ExpLoss is least, and then fixed.
        Where there is no such group, no weight is.
    steps : int, optional
        How many steps are taken. Left open, development data choose; without these, it is all.
    max_steps : int
        Of a path with `steps` left open.
    patience : int
        Steps without a lower cost on development data after which the path ends.
    tolerance : float
        The path ends where no step lowers ExpLoss by more than this share of what it was at first.
    """

    eps: float = 0.5
    truncate: bool = True

    def __post_init__(self) -> None:
        Stagewise.__post_init__(self)
        check_above_zero(f"{type(self).__name__}.eps", self.eps)
        check_flag(f"{type(self).__name__}.truncate", self.truncate)

    def rule(self) -> StepSettings:
        """Return how steps are chosen: eq. (7) and (11)."""
        return StepSettings(grid=False, eps=self.eps, truncate=self.truncate)


@dataclass(frozen=True, slots=True, kw_only=True)
class FBoosting(FSLR):
    """Rerank by F-Boosting: the step of `eps` that lowers ExpLoss most. It is BLasso without steps back.

    From where no step of `eps` lowers ExpLoss on, features are chosen by their optimal steps, which are
    smaller; if these are not taken (`truncate`), the path ends there.

    Parameters
    ----------
    eps : float
        Length of a step; features are chosen by what one of this length does.
    truncate : bool
        Whether the optimal step of the feature is taken where it is smaller than `eps`, as the paper does.
    base : str
        Feature group of the base score: its weight is set first, where ExpLoss is least, and then fixed.
        Where there is no such group, no weight is.
    steps : int, optional
        How many steps are taken. Left open, development data choose; without these, it is all.
    max_steps : int
        Of a path with `steps` left open.
    patience : int
        Steps without a lower cost on development data after which the path ends.
    tolerance : float
        The path ends where no step lowers ExpLoss by more than this share of what it was at first.
    """

    def rule(self) -> StepSettings:
        """Return how steps are chosen: eq. (12) and (13)."""
        return StepSettings(grid=True, eps=self.eps, truncate=self.truncate)


@dataclass(frozen=True, slots=True, kw_only=True)
class BLasso(FBoosting):
    """Rerank by the boosted lasso: steps of `eps` forth, and back where that lowers LassoLoss.

    LassoLoss is ``ExpLoss + alpha * L1 norm``; alpha is what a step forth lowered ExpLoss by for each unit of
    its length, the least so far. Before each step forth the weight whose step of `eps` toward zero raises
    ExpLoss least is drawn back, if LassoLoss falls by more than `theta` (eq. 14 and 15). Where a weight is
    less than `eps` the step ends at zero, and what it raises ExpLoss by is held against its length. Where no
    step of `eps` lowers ExpLoss it goes on as F-Boosting does.

    Parameters
    ----------
    theta : float
        What a step back must lower LassoLoss by.
    eps : float
        Length of a step; features are chosen by what one of this length does.
    truncate : bool
        Whether the optimal step of the feature is taken where it is smaller than `eps`, as the paper does. If
        not, the path approaches that of the lasso as `eps` falls.
    base : str
        Feature group of the base score: its weight is set first, where ExpLoss is least, and then fixed.
        Where there is no such group, no weight is.
    steps : int, optional
        How many steps are taken. Left open, development data choose; without these, it is all.
    max_steps : int
        Of a path with `steps` left open.
    patience : int
        Steps without a lower cost on development data after which the path ends.
    tolerance : float
        The path ends where no step lowers ExpLoss by more than this share of what it was at first.
    """

    theta: float = 0.0

    def __post_init__(self) -> None:
        FSLR.__post_init__(self)
        check_non_negative("BLasso.theta", self.theta)

    def rule(self) -> StepSettings:
        """Return how steps are chosen: eq. (12) to (15)."""
        return StepSettings(grid=True, eps=self.eps, truncate=self.truncate, theta=self.theta)
