"""Learners of regularised least squares (Popescu 2004, sections 3 and 4), and weights of feature groups.

Support vector machines with the same kernels, by scikit-learn, are there for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, Kernel, Scorer, UserError, nearest_first
from disambig.api.arrays import Floats
from disambig.api.batches import own_columns
from disambig.api.settings import ABOVE_ZERO, validate_settings

from .kernel_functions import (
    KERNEL,
    REGULARISATION,
    WEIGHT_CHOICES,
    LinearKernel,
    divide_by_sum,
    group_weights_constraint,
    row_products,
)
from .scorers import TAKES, ColumnWeights, SupportRows, read_batch
from .systems import (
    DualSystem,
    LeaveOneOutQuality,
    LinearSystem,
    PrimalSystem,
    RLSProblem,
    best_regularisation,
    leave_one_out_qualities,
    prepare_problem,
)

UNIT = LinearKernel(normalise="groups")
STEPS = (0.25, 0.125, 0.0625)
"""Amounts of weight that the search moves from one feature group to another, one after the other."""


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """A problem whose kernel is a weighted sum of normalised linear kernels, one per feature group."""

    problem: RLSProblem  # its rows are normalised by feature group with equal weights (see `UNIT`)
    names: tuple[str, ...]
    group_of: NDArray[np.int64]  # int (d,): feature group of each column of the problem's rows

    @classmethod
    def from_batch(cls, batch: CandidateBatch) -> FeatureGroups:
        """Return the feature groups of a batch (errors: see `prepare_problem`)."""
        crossed = read_batch(batch)
        problem = prepare_problem(crossed, UNIT)
        columns = own_columns(crossed.columns, int(crossed.rows.shape[1]))
        return cls(problem, columns.group_names, columns.groups[problem.columns].astype(np.int64))

    def shares(self, weights: Mapping[str, float]) -> Floats:
        """Return the weights from a setting, divided by their sum.

        Raises D451 for a weight of an unknown feature group, D476 for a feature group without a weight.
        """
        for name in weights:
            if name not in self.names:
                raise UserError("D451", setting="weights", name=name, names=nearest_first(name, self.names))
        for name in self.names:
            if name not in weights:
                raise UserError("D476", name=name, seen="none")
        shares = divide_by_sum(weights)
        return np.array([shares[name] for name in self.names], np.float64)

    def equal(self) -> Floats:
        """Return equal weights."""
        return np.full(len(self.names), 1.0 / max(len(self.names), 1))

    def scale(self, shares: Floats) -> Floats:
        """Return the factors of the columns for these weights, shape (d,)."""
        return np.sqrt(shares * len(self.names))[self.group_of]

    def rows(self, shares: Floats) -> Any:
        """Return the rows scaled by these weights."""
        from scipy.sparse import csr_array

        rows = self.problem.rows
        data = rows.data * self.scale(shares)[rows.indices]
        return csr_array((data, rows.indices, rows.indptr), rows.shape)

    def scorer(self, shares: Floats, weights: Floats, bias: Floats | None = None) -> ColumnWeights:
        """Return the scorer for weights of the columns of `rows`, shape (d, K), and a bias, shape (K,)."""
        scaled = weights * self.scale(shares)[:, None]
        return self.problem.scorer(UNIT, scaled, bias=bias, shares=shares)

    def by_name(self, shares: Floats) -> dict[str, float]:
        """Return the weight of each feature group as plain values, for reports."""
        return dict(zip(self.names, shares.tolist(), strict=True))

    @cached_property
    def grams(self) -> Floats:
        """The kernel of each feature group, shape (n_groups, n, n), with ones (or zeros) on the diagonal."""
        rows = self.problem.rows.tocsc()
        parts = [rows[:, np.flatnonzero(self.group_of == g)] for g in range(len(self.names))]
        return len(self.names) * np.array([row_products(part.tocsr(), part.tocsr()) for part in parts])

    def gram(self, shares: Floats) -> Floats:
        """Return the weighted sum of `grams`, shape (n, n)."""
        return np.tensordot(shares, self.grams, axes=1)

    def system(self, shares: Floats) -> LinearSystem:
        """Return the linear system for these weights, in its smaller form (primal or dual)."""
        n, d = self.problem.rows.shape
        if d < n:
            return PrimalSystem(self.rows(shares).toarray())
        if "grams" in vars(self):
            return DualSystem(self.gram(shares))
        rows = self.rows(shares)
        return DualSystem(row_products(rows, rows))


def alignment_weights(groups: FeatureGroups) -> Floats:
    """Return weights proportional to the kernels' alignments with the targets.

    The alignment of two kernels is the cosine of their matrices (Cristianini et al. 2002), here of the
    centred matrices (Cortes et al. 2012), because without centring every kernel with positive values is
    aligned. The kernel of the targets is the inner product of the examples' targets. Negative alignments give
    a weight of zero; if none is above zero, the weights are equal.
    """
    weights = np.maximum(alignments(groups.grams, groups.problem.targets), 0.0)
    return weights / weights.sum() if weights.sum() > 0 else groups.equal()


def alignments(grams: Floats, targets: Floats) -> Floats:
    """Return the centred alignment of each kernel with the targets, shape (n_kernels,); 0 if constant.

    `grams` have the shape ``(n_kernels, n, n)``, `targets` ``(n, K)``.
    """
    centred = targets - targets.mean(axis=0)
    # H T H has rank K: <HKH, HTH> = <HK, (HY)(HY)'> = sum of (HY)' K (HY)'s diagonal
    size = float(np.linalg.norm(centred.T @ centred))
    result = np.zeros(len(grams))
    for g, gram in enumerate(grams):
        means = gram.mean(axis=0)
        inner = gram - means - means[:, None] + means.mean()
        length = float(np.linalg.norm(inner))
        if length > 1e-12 * len(gram) and size > 0:
            result[g] = np.einsum("ik,ik->", centred, inner @ centred) / (length * size)
    return result


def search_weights(groups: FeatureGroups, regularisation: float) -> Floats:
    """Return weights with a sum of one, half-way between equal weights and the best by leave-one-out.

    Starting from equal weights, weight is moved from one feature group to another as long as that helps, by
    each of `STEPS` in turn. Each trial needs one factorisation. The search stops half-way because a few
    hundred examples only determine the direction: the full step was worse on examples left out of the search.
    """

    def quality_with(shares: Floats) -> LeaveOneOutQuality:
        return leave_one_out_qualities(groups.problem, groups.system(shares), [regularisation])[0]

    if groups.problem.rows.shape[1] >= groups.problem.rows.shape[0]:
        _ = groups.grams  # computed once for all trials; `system` uses them if they are cached
    best = groups.equal()
    quality = quality_with(best)
    for step in STEPS:
        moved = True
        while moved:
            moved = False
            for source, target in permutations(range(len(best)), 2):
                amount = min(step, best[source])
                if amount < 1e-9:
                    continue
                shares = best.copy()
                shares[source] -= amount
                shares[target] += amount
                other = quality_with(shares)
                if other > quality:
                    best, quality, moved = shares, other, True
    return (best + groups.equal()) / 2


LAMBDA = 1e-9
"""The value in the paper (end of section 4)."""
MANY, LAMBDA_OF_MANY = 1000, 3e-4
"""The "auto" lambda for `MANY` or more examples; for fewer examples it is proportionally smaller."""


class LeastSquares:
    """A learner of regularised least squares with `regularisation`; subclasses say with which kernel."""

    __slots__ = ()
    regularisation: float | str
    takes: ClassVar[tuple[type, ...]] = TAKES

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used, since tuning is by leave-one-out.

        Raises D705, D772 and D773 for unusable examples, D779 and D782 for an unusable kernel matrix; with
        weights, D451 and D476 if they do not match the feature groups.
        """
        prepared = self._prepare(batch)
        problem, system, n = prepared.problem, prepared.system, len(prepared.problem.targets)
        lam, quality = _regularisation(self.regularisation, problem, system)
        scorer = prepared.make_scorer(system.solve(problem.targets, lam * n))
        form = "primal" if isinstance(system, PrimalSystem) else "dual"
        report: dict[str, Any] = {"examples": n, "regularisation": lam, "form": form}
        if len(problem.columns):
            report["columns"] = len(problem.columns)
        if quality is not None:
            report["leave_one_out"] = quality.accuracy
        return Fitted(scorer, report | prepared.report)

    def leave_one_out(self, batch: CandidateBatch) -> float:
        """Return the leave-one-out accuracy (errors: see `fit`).

        It is computed in closed form at the same ``n lambda``. A lambda, or weights, that were chosen on all
        examples are not chosen again for each of them.
        """
        prepared = self._prepare(batch)
        problem, system = prepared.problem, prepared.system
        lam, quality = _regularisation(self.regularisation, problem, system)
        return (quality or leave_one_out_qualities(problem, system, [lam])[0]).accuracy

    def _prepare(self, batch: CandidateBatch) -> PreparedExamples:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False)
class PreparedExamples:
    """Training examples as a linear system, and how its solution becomes a scorer."""

    problem: RLSProblem
    system: LinearSystem
    make_scorer: Callable[[Floats], Scorer]
    report: dict[str, Any] = field(default_factory=dict)  # additional figures


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSC(LeastSquares):
    """Regularised least squares with a kernel, each candidate against all others.

    For each candidate, ``min_f 1/n sum_i (y_i - f(x_i))^2 + lambda |f|^2`` is solved (Popescu 2004, section
    3), with y_i one if the candidate is correct and minus one otherwise. The scorers of linear kernels have
    weights of columns, others store the training rows.

    Parameters
    ----------
    kernel : Kernel, optional
        By default `LinearKernel`, with rows of length one.
    regularisation : float, "auto" or "loo"
        Lambda. "auto" grows with the number of examples (see `auto_regularisation`). "loo" chooses the value
        of `systems.GRID` with the best leave-one-out accuracy and, among equals, the lowest squared error.

    Raises
    ------
    UserError
        D776 and D781 for invalid settings.
    """

    kernel: Any = None
    regularisation: float | str = LAMBDA

    def __post_init__(self) -> None:
        validate_settings(self, regularisation=REGULARISATION, kernel=KERNEL.or_none)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        kernel = self._kernel()
        if kernel.is_linear:
            return ColumnWeights.from_state(kernel, arrays)
        return SupportRows.from_state(kernel, arrays)

    def _kernel(self) -> Kernel:
        return LinearKernel() if self.kernel is None else self.kernel

    def _prepare(self, batch: CandidateBatch) -> PreparedExamples:
        return _with_kernel(batch, self._kernel())


def _with_kernel(batch: CandidateBatch, kernel: Kernel) -> PreparedExamples:
    """Return the examples as a linear system in its smaller form (primal or dual)."""
    problem = prepare_problem(batch, kernel)
    rows, (n, d) = problem.rows, problem.rows.shape
    system: LinearSystem
    if kernel.is_linear and d < n:
        system = PrimalSystem(rows.toarray())
    else:
        system = DualSystem.from_kernel(kernel.gram(rows, rows), n)

    def make_scorer(solution: Floats) -> Scorer:
        if not kernel.is_linear:
            return SupportRows(kernel, rows, solution, problem.frequencies)
        return problem.scorer(kernel, column_weights(system, solution, rows))

    return PreparedExamples(problem, system, make_scorer)


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSCLin(LeastSquares):
    """RLSC-LIN: regularised least squares with one normalised linear kernel over all features.

    Parameters
    ----------
    regularisation : float, "auto" or "loo"
        See `RLSC`.

    Raises
    ------
    UserError
        D776 for an invalid regularisation.
    """

    regularisation: float | str = LAMBDA

    def __post_init__(self) -> None:
        validate_settings(self, regularisation=REGULARISATION)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(LinearKernel(), arrays)

    def _prepare(self, batch: CandidateBatch) -> PreparedExamples:
        return _with_kernel(batch, LinearKernel())


@dataclass(frozen=True, slots=True, kw_only=True)
class RLSCComb(LeastSquares):
    """RLSC-COMB: regularised least squares with a weighted sum of one normalised kernel per feature group.

    Section 4 of the paper: half the kernel of the local features plus half that of the broad context.

    Parameters
    ----------
    weights : None, "alignment", "loo" or mapping of str to float
        Weights of the feature groups, which are divided by their sum. None: equal weights, as in the paper.
        "alignment": by the alignment of each kernel with the targets (see `alignment_weights`). "loo": by a
        search with leave-one-out (see `search_weights`).
    regularisation : float, "auto" or "loo"
        See `RLSC`.

    Raises
    ------
    UserError
        D776 and D777 for invalid settings.
    """

    weights: str | Mapping[str, float] | None = None
    regularisation: float | str = LAMBDA

    def __post_init__(self) -> None:
        validate_settings(
            self, weights=group_weights_constraint(WEIGHT_CHOICES), regularisation=REGULARISATION
        )

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(UNIT, arrays)

    def _prepare(self, batch: CandidateBatch) -> PreparedExamples:
        groups = FeatureGroups.from_batch(batch)
        shares = group_weights(groups, self.weights, self.regularisation)
        system = groups.system(shares)

        def make_scorer(solution: Floats) -> Scorer:
            return groups.scorer(shares, column_weights(system, solution, groups.rows(shares)))

        return PreparedExamples(groups.problem, system, make_scorer, {"weights": groups.by_name(shares)})


def group_weights(
    groups: FeatureGroups, weights: str | Mapping[str, float] | None, regularisation: float | str
) -> Floats:
    """Return the weights of the feature groups, with a sum of one, for a learner's setting `weights`."""
    if weights is None:
        return groups.equal()
    if weights == "alignment":
        return alignment_weights(groups)
    if weights == "loo":
        lam, _ = _regularisation(regularisation, groups.problem, groups.system(groups.equal()))
        return search_weights(groups, lam)
    assert isinstance(weights, Mapping)
    return groups.shares(weights)


def column_weights(system: LinearSystem, solution: Floats, rows: Any) -> Floats:
    """Return the weights of the columns of `rows`, shape (d, K), from a primal or dual solution."""
    return solution if isinstance(system, PrimalSystem) else np.asarray(rows.T @ solution)


def _regularisation(
    setting: float | str, problem: RLSProblem, system: LinearSystem
) -> tuple[float, LeaveOneOutQuality | None]:
    """Return lambda for a learner's setting, and its quality if it was chosen by leave-one-out."""
    if setting == "loo":
        return best_regularisation(problem, system)
    return auto_regularisation(len(problem.targets)) if setting == "auto" else float(setting), None


def auto_regularisation(n: int) -> float:
    """Return the "auto" lambda for `n` examples.

    A hundred examples have many more features and can be fitted exactly. With about as many examples as
    features, an exact fit of contradicting examples would destroy most of what was learned.
    """
    return LAMBDA_OF_MANY * min(n / MANY, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SVMLin:
    """SVM-LIN: one support vector machine per candidate, with one normalised linear kernel over all features.

    A candidate that is correct in all examples, or in none, always scores 1 or -1.

    Parameters
    ----------
    C : float
        Cost of an example within the margin, above zero.

    Raises
    ------
    UserError
        D760 for an invalid C.
    """

    C: float = 1.0
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        validate_settings(self, C=ABOVE_ZERO)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used.

        Raises D705, D772 and D773 for unusable examples.
        """
        kernel = LinearKernel()
        problem = prepare_problem(batch, kernel)
        coefficients, bias = train_machines(row_products(problem.rows, problem.rows), problem.targets, self.C)
        weights = np.asarray(problem.rows.T @ coefficients)  # (d, K)
        return Fitted(problem.scorer(kernel, weights, bias=bias), _machine_report(coefficients))

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(LinearKernel(), arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class SVMComb:
    """SVM-COMB: one support vector machine per candidate, with a weighted sum of kernels of feature groups.

    Parameters
    ----------
    C : float
        See `SVMLin`.
    weights : "alignment", "loo", mapping of str to float, or None
        See `RLSCComb`; "loo" uses the leave-one-out of regularised least squares with the same kernels.

    Raises
    ------
    UserError
        D760 and D777 for invalid settings.
    """

    C: float = 1.0
    weights: str | Mapping[str, float] | None = None
    takes: ClassVar[tuple[type, ...]] = TAKES

    def __post_init__(self) -> None:
        validate_settings(self, C=ABOVE_ZERO, weights=group_weights_constraint(WEIGHT_CHOICES))

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used.

        Raises the errors of `SVMLin.fit`; D451 and D476 if the weights do not match the feature groups.
        """
        groups = FeatureGroups.from_batch(batch)
        shares = group_weights(groups, self.weights, LAMBDA)
        rows = groups.rows(shares)
        coefficients, bias = train_machines(row_products(rows, rows), groups.problem.targets, self.C)
        scorer = groups.scorer(shares, np.asarray(rows.T @ coefficients), bias)
        return Fitted(scorer, _machine_report(coefficients) | {"weights": groups.by_name(shares)})

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(UNIT, arrays)


def train_machines(gram: Floats, targets: Floats, C: float) -> tuple[Floats, Floats]:
    """Return coefficients of the examples, shape (n, K), and biases, shape (K,), of one machine per column.

    `gram` has the shape ``(n, n)``; `targets`, shape ``(n, K)``, are plus and minus one.
    """
    from sklearn.svm import SVC

    coefficients, bias = np.zeros(targets.shape), np.zeros(targets.shape[1])
    for r, target in enumerate(targets.T):
        if (target == target[0]).all():
            bias[r] = target[0]
            continue
        machine = SVC(kernel="precomputed", C=C).fit(gram, target)
        coefficients[machine.support_, r] = machine.dual_coef_[0]
        bias[r] = machine.intercept_[0]
    return coefficients, bias


def _machine_report(coefficients: Floats) -> dict[str, Any]:
    return {"examples": len(coefficients), "support": int((coefficients != 0).any(axis=1).sum())}
