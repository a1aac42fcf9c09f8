"""The learners of regularised least squares (Popescu 2004, sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, Kernel, Scorer

from ..checks import CHOSEN, check_kernel, check_regularisation, check_weights
from ..kernels.linear import Linear
from ..reading import TAKES
from .feature_groups import UNIT, FeatureGroups, aligned, searched
from .leave_one_out import Quality, best_regularisation, qualities
from .problem import Problem, prepare
from .scorers import ColumnWeights, SupportRows
from .systems import Dual, Primal, System

Floats = NDArray[np.float64]
LAMBDA = 1e-9
"""What the paper takes."""
MANY, OF_MANY = 1000, 3e-4
"""So many examples and more get this lambda where it is "auto"; fewer a smaller one, in proportion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSC:
    """Regularised least squares with a kernel, each candidate against all others.

    For each candidate ``min_f 1/n sum_i (y_i - f(x_i))^2 + lambda |f|^2``, y_i one where it is right and
    minus one where not. Linear kernels give weights of columns, others keep the training rows.

    Parameters
    ----------
    kernel : Kernel, optional
        By default `Linear`: rows of length one.
    regularisation : float, "auto" or "loo"
        Lambda. "auto" grows with the examples (see `grown`); "loo" takes that of `leave_one_out.GRID` which
        has the best leave-one-out accuracy and, of equal ones, the least squared error.

    Raises
    ------
    UserError
        D776 and D781 for settings that make no sense.
    """

    kernel: Any = None
    regularisation: float | str = LAMBDA
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        check_regularisation(f"{type(self).__name__}.regularisation", self.regularisation)
        if self.kernel is not None:
            check_kernel(f"{type(self).__name__}.kernel", self.kernel)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used: what is tuned is tuned by leave-one-out.

        Raises
        ------
        UserError
            D705, D772 and D773 for examples that make no sense, D779 and D782 for a kernel that is none.
        """
        kernel, problem, system = self._posed(batch)
        lam, quality = _regularisation(self.regularisation, problem, system)
        solution = system.solve(problem.targets, lam * len(problem.targets))
        report = _report(problem, system, lam, quality)
        if not kernel.is_linear:
            return Fitted(SupportRows(kernel, problem.rows, solution, problem.frequencies), report)
        weights = weights_of(system, solution, problem.rows)
        return Fitted(problem.scorer(kernel, weights), report)

    def leave_one_out(self, batch: CandidateBatch) -> float:
        """Return the share of the examples that the model of all others decides right; raises as `fit`.

        In closed form, at the same ``n lambda``; where all examples chose lambda, it is not chosen anew.
        """
        _, problem, system = self._posed(batch)
        return _left_out(self.regularisation, problem, system)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        kernel = self._kernel()
        if kernel.is_linear:
            return ColumnWeights.from_state(kernel, arrays)
        return SupportRows.from_state(kernel, arrays)

    def _posed(self, batch: CandidateBatch) -> tuple[Kernel, Problem, System]:
        kernel = self._kernel()
        problem = prepare(batch, kernel)
        return kernel, problem, _system(problem, kernel)

    def _kernel(self) -> Kernel:
        return Linear() if self.kernel is None else self.kernel


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSCLin:
    """RLSC-LIN: regularised least squares with one normalised linear kernel over all features.

    Parameters
    ----------
    regularisation : float, "auto" or "loo"
        As of `RLSC`.

    Raises
    ------
    UserError
        D776 for another regularisation.
    """

    regularisation: float | str = LAMBDA
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        check_regularisation("RLSCLin.regularisation", self.regularisation)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; see `RLSC.fit`."""
        return RLSC(regularisation=self.regularisation).fit(batch)

    def leave_one_out(self, batch: CandidateBatch) -> float:
        """Return the share of the examples that the model of all others decides right, as `RLSC` does."""
        return RLSC(regularisation=self.regularisation).leave_one_out(batch)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(Linear(), arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSCComb:
    """RLSC-COMB: regularised least squares with the weighted sum of one normalised kernel a feature group.

    Parameters
    ----------
    weights : None, "alignment", "loo" or mapping of str to float
        Of the feature groups, divided by their sum. None: equal ones, as in the paper. "alignment": by how
        well each kernel agrees with the targets (see `feature_groups.aligned`), "loo": the best of a search
        by leave-one-out (see `feature_groups.searched`).
    regularisation : float, "auto" or "loo"
        As of `RLSC`.

    Raises
    ------
    UserError
        D776 and D777 for settings that make no sense.
    """

    weights: str | Mapping[str, float] | None = None
    regularisation: float | str = LAMBDA
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        check_weights("RLSCComb.weights", self.weights, CHOSEN)
        check_regularisation("RLSCComb.regularisation", self.regularisation)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; see `RLSC.fit`.

        Raises
        ------
        UserError
            As `RLSC.fit`; D451 and D476 for weights that are not those of the feature groups.
        """
        groups, shares, system = self._posed(batch)
        problem = groups.problem
        lam, quality = _regularisation(self.regularisation, problem, system)
        solution = system.solve(problem.targets, lam * len(problem.targets))
        scorer = groups.scorer(shares, weights_of(system, solution, groups.rows(shares)))
        report = _report(problem, system, lam, quality) | {"weights": groups.by_name(shares)}
        return Fitted(scorer, report)

    def leave_one_out(self, batch: CandidateBatch) -> float:
        """Return the share of the examples that the model of all others decides right, as `RLSC` does.

        Where all examples chose the weights, these are not chosen anew either.
        """
        groups, _, system = self._posed(batch)
        return _left_out(self.regularisation, groups.problem, system)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(UNIT, arrays)

    def _posed(self, batch: CandidateBatch) -> tuple[FeatureGroups, Floats, System]:
        groups = FeatureGroups.of(batch)
        shares = shares_of(groups, self.weights, self.regularisation)
        return groups, shares, groups.system(shares)


def shares_of(
    groups: FeatureGroups, weights: str | Mapping[str, float] | None, regularisation: float | str
) -> Floats:
    """Return what each feature group weighs, of sum one, by a learner's setting `weights`."""
    if weights is None:
        return groups.equal()
    if weights == "alignment":
        return aligned(groups)
    if weights == "loo":
        lam, _ = _regularisation(regularisation, groups.problem, groups.system(groups.equal()))
        return searched(groups, lam)
    assert isinstance(weights, Mapping)
    return groups.shares(weights)


def weights_of(system: System, solution: Floats, rows: Any) -> Floats:
    """Return the weights of the columns of `rows`, shape (d, K), from the solution of either form."""
    return solution if isinstance(system, Primal) else np.asarray(rows.T @ solution)


def _system(problem: Problem, kernel: Kernel) -> System:
    n, d = problem.rows.shape
    if kernel.is_linear and d < n:
        return Primal(problem.rows.toarray())
    return Dual.of(kernel.gram(problem.rows, problem.rows), n)


def _regularisation(setting: float | str, problem: Problem, system: System) -> tuple[float, Quality | None]:
    if setting == "loo":
        return best_regularisation(problem, system)
    return grown(len(problem.targets)) if setting == "auto" else float(setting), None


def grown(n: int) -> float:
    """Return the lambda of `n` examples where it is "auto".

    A hundred examples can be fitted exactly: they have far more features. Where there are about as many
    examples as features, those that contradict each other would cost most of what was learned.
    """
    return OF_MANY * min(n / MANY, 1.0)


def _left_out(setting: float | str, problem: Problem, system: System) -> float:
    lam, quality = _regularisation(setting, problem, system)
    return (quality or qualities(problem, system, [lam])[0]).accuracy


def _report(problem: Problem, system: System, lam: float, quality: Quality | None) -> dict[str, Any]:
    report: dict[str, Any] = {
        "examples": len(problem.targets),
        "regularisation": lam,
        "form": "primal" if isinstance(system, Primal) else "dual",
    }
    if len(problem.columns):
        report["columns"] = len(problem.columns)
    if quality is not None:
        report["leave_one_out"] = quality.accuracy
    return report
