"""The stagewise learners of Gao et al. (2006): Boosting, FSLR, F-Boosting and BLasso."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from numpy.random import Generator

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, SparseRows
from disambig.api.settings import (
    ABOVE_ZERO,
    COUNT,
    NON_NEGATIVE,
    NON_NEGATIVE_COUNT,
    Constraint,
    real_number,
    validate_settings,
)
from disambig.api.training import with_median

from .pairs import GROUP_NAME, build_pairs
from .path import LearningPath, PathLimits, StepSettings, compute_path

Self = TypeVar("Self", bound="Stagewise")
_FRACTION = real_number("D646", lambda value: 0 < value <= 1)
_FLAG = Constraint("D648", lambda value: isinstance(value, bool))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stagewise:
    """A learner that changes one weight per step. Subclasses document their settings.

    `fit` chooses the step on development data itself: there are tens of thousands of steps, along which it
    updates the winners with an index.
    """

    base: str = "base score"
    steps: int | None = None
    max_steps: int = 5_000_000
    patience: int = 20_000
    tolerance: float = 1e-7
    takes: ClassVar[tuple[type, ...]] = (SparseRows,)

    def __post_init__(self) -> None:
        validate_settings(self, base=GROUP_NAME, steps=NON_NEGATIVE_COUNT.or_none)
        validate_settings(self, max_steps=COUNT, patience=COUNT, tolerance=ABOVE_ZERO)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer of the first step with the lowest cost of winners on `dev`.

        Without development data, or if `steps` is given, it is that of the last step. `rng` is not used.

        Raises D703 for features that are NaN or infinite, D645 for costs that are NaN, D705 if there are no
        lists.
        """
        path = self.path(batch, dev=dev)
        step = len(path) if self.steps is not None else path.best()
        return Fitted(path.scorer(step), path.report(step))

    def path(self, batch: CandidateBatch, *, dev: CandidateBatch | None = None) -> LearningPath:
        """Return the whole path; with `dev` also the cost of its winners, which may end the path."""
        limits = PathLimits(
            most=self.max_steps if self.steps is None else self.steps,
            tolerance=self.tolerance,
            patience=self.patience if self.steps is None else self.max_steps + 1,
        )
        return compute_path(build_pairs(batch, self.base), self.rule(), limits, dev)

    def rule(self) -> StepSettings:
        """Return the rule for steps."""
        raise NotImplementedError

    def with_tuned(self: Self, reports: Sequence[Mapping[str, Any]]) -> Self:
        """Return the learner with the median number of steps of earlier fits, if its own is not set."""
        return with_median(self, "steps", reports)

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boosting(Stagewise):
    """Rerank by boosting of ExpLoss, with smoothed or shrunk steps.

    Each step selects the feature whose optimal step lowers ExpLoss most (eq. 7), and changes its weight by
    ``shrinkage * 1/2 log((C+ + smoothing Z) / (C- + smoothing Z))`` (eq. 16 and 9): C+ and C- are the weights
    of the pairs in which the reference has the feature and the other candidate does not, and vice versa; Z is
    ExpLoss. If counts differ by more than one, the step minimises what the formula minimises: ExpLoss with
    additional pairs of weight ``smoothing Z`` that have the feature once in the reference, or once in the
    other.

    Parameters
    ----------
    smoothing : float
        Above zero: larger values give shorter steps for rare features.
    shrinkage : float
        Factor on each step, above 0 and at most 1.
    base : str
        Feature group of the base score: its weight is set first, to minimise ExpLoss, and then fixed.
        If there is no such group, no weight is fixed.
    steps : int, optional
        Number of steps. By default chosen on development data; without these, all steps are taken.
    max_steps : int
        Maximum number of steps if `steps` is not set.
    patience : int
        The path ends after this number of steps without a lower cost on development data.
    tolerance : float
        The path ends when no step lowers ExpLoss by more than this share of its initial value.
    """

    smoothing: float = 1e-4
    shrinkage: float = 1.0

    def __post_init__(self) -> None:
        Stagewise.__post_init__(self)
        validate_settings(self, smoothing=ABOVE_ZERO, shrinkage=_FRACTION)

    def rule(self) -> StepSettings:
        """Return the rule for steps."""
        return StepSettings(grid=False, smoothing=self.smoothing, shrinkage=self.shrinkage)


@dataclass(frozen=True, slots=True, kw_only=True)
class FSLR(Stagewise):
    """Rerank by forward stagewise linear regression: features as in boosting, steps of one length.

    Parameters
    ----------
    eps : float
        Step length.
    truncate : bool
        Whether the optimal step is taken if it is smaller than `eps`, as in the paper.
    base, steps, max_steps, patience, tolerance : settings of `Boosting`
    """

    eps: float = 0.5
    truncate: bool = True

    def __post_init__(self) -> None:
        Stagewise.__post_init__(self)
        validate_settings(self, eps=ABOVE_ZERO, truncate=_FLAG)

    def rule(self) -> StepSettings:
        """Return the rule for steps: eq. (7) and (11)."""
        return StepSettings(grid=False, eps=self.eps, truncate=self.truncate)


@dataclass(frozen=True, slots=True, kw_only=True)
class FBoosting(FSLR):
    """Rerank by F-Boosting: the step of `eps` that lowers ExpLoss most; this is BLasso without steps back.

    When no step of `eps` lowers ExpLoss any more, features are chosen by their optimal steps, which are
    smaller; if these are not allowed (`truncate`), the path ends.

    Parameters
    ----------
    eps : float
        Step length; features are chosen by the effect of a step of this length.
    truncate : bool
        Whether the feature's optimal step is taken if it is smaller than `eps`, as in the paper.
    base, steps, max_steps, patience, tolerance : settings of `Boosting`
    """

    def rule(self) -> StepSettings:
        """Return the rule for steps: eq. (12) and (13)."""
        return StepSettings(grid=True, eps=self.eps, truncate=self.truncate)


@dataclass(frozen=True, slots=True, kw_only=True)
class BLasso(FBoosting):
    """Rerank by the boosted lasso: steps of `eps` forward, and backward if this lowers LassoLoss.

    LassoLoss is ``ExpLoss + alpha * L1 norm``; alpha is the reduction of ExpLoss by a forward step per unit
    of its length, the smallest so far. Before each forward step, the weight whose step of `eps` towards zero
    raises ExpLoss least is stepped back, if LassoLoss falls by more than `theta` (eq. 14 and 15). If a weight
    is smaller than `eps`, its step ends at zero, and the increase of ExpLoss is relative to its length. When
    no step of `eps` lowers ExpLoss, the path continues as in F-Boosting.

    Parameters
    ----------
    theta : float
        Minimum reduction of LassoLoss by a step back.
    eps : float
        Step length; features are chosen by the effect of a step of this length.
    truncate : bool
        Whether the feature's optimal step is taken if it is smaller than `eps`, as in the paper. If
        not, the path approaches that of the lasso as `eps` falls.
    base, steps, max_steps, patience, tolerance : settings of `Boosting`
    """

    theta: float = 0.0

    def __post_init__(self) -> None:
        FSLR.__post_init__(self)
        validate_settings(self, theta=NON_NEGATIVE)

    def rule(self) -> StepSettings:
        """Return the rule for steps: eq. (12) to (15)."""
        return StepSettings(grid=True, eps=self.eps, truncate=self.truncate, theta=self.theta)
