"""The learners of regularised least squares (Popescu 2004, sections 2 and 3), and the weights of feature groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, Kernel, Scorer, UserError, nearest_first
from disambig.api.batches import own_columns

from .._validation import CHOSEN, check_kernel, check_regularisation, check_weights
from .kernel_functions import LinearKernel, in_shares, row_products
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

Floats = NDArray[np.float64]
UNIT = LinearKernel(normalise="groups")
STEPS = (0.25, 0.125, 0.0625)
"""How much weight the search moves from one feature group to another, one size after the other."""


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """A problem whose kernel is a weighted sum of normalised linear kernels, one a feature group.

    Attributes
    ----------
    problem : Problem
        Of rows normalised by feature group with equal weights, see `UNIT`.
    names : tuple of str
    group_of : array of int, shape (d,)
        Of the columns of the problem's rows.
    """

    problem: RLSProblem
    names: tuple[str, ...]
    group_of: NDArray[np.int64]

    @classmethod
    def from_batch(cls, batch: CandidateBatch) -> FeatureGroups:
        """Return the feature groups of a batch; raises as `prepare`."""
        crossed = read_batch(batch)
        problem = prepare_problem(crossed, UNIT)
        own = own_columns(crossed.columns, int(crossed.rows.shape[1]))
        return cls(problem, own.group_names, own.groups[problem.columns].astype(np.int64))

    def shares(self, weights: Mapping[str, float]) -> Floats:
        """Return a user's weights, divided by their sum.

        Raises
        ------
        UserError
            D451 for a weight of no feature group, D476 for a feature group without one.
        """
        for name in weights:
            if name not in self.names:
                raise UserError("D451", setting="weights", name=name, names=nearest_first(name, self.names))
        for name in self.names:
            if name not in weights:
                raise UserError("D476", name=name, seen="none")
        shares = in_shares(weights)
        return np.array([shares[name] for name in self.names], np.float64)

    def equal(self) -> Floats:
        """Return equal weights."""
        return np.full(len(self.names), 1.0 / max(len(self.names), 1))

    def scale(self, shares: Floats) -> Floats:
        """Return what the rows' columns are multiplied with under these weights, shape (d,)."""
        return np.sqrt(shares * len(self.names))[self.group_of]

    def rows(self, shares: Floats) -> Any:
        """Return the rows under these weights."""
        from scipy.sparse import csr_array

        rows = self.problem.rows
        data = rows.data * self.scale(shares)[rows.indices]
        return csr_array((data, rows.indices, rows.indptr), rows.shape)

    def scorer(self, shares: Floats, weights: Floats, bias: Floats | None = None) -> ColumnWeights:
        """Return the scorer of weights of the columns of `rows`, shape (d, K), and a bias, shape (K,)."""
        scaled = weights * self.scale(shares)[:, None]
        return self.problem.scorer(UNIT, scaled, bias=bias, shares=shares)

    def by_name(self, shares: Floats) -> dict[str, float]:
        """Return what each feature group weighs, plain, for reports."""
        return dict(zip(self.names, shares.tolist(), strict=True))

    @cached_property
    def grams(self) -> Floats:
        """The kernel of each feature group, shape (n_groups, n, n), each one (or zero) on its diagonal."""
        rows = self.problem.rows.tocsc()
        parts = [rows[:, np.flatnonzero(self.group_of == g)] for g in range(len(self.names))]
        return len(self.names) * np.array([row_products(part.tocsr(), part.tocsr()) for part in parts])

    def gram(self, shares: Floats) -> Floats:
        """Return the weighted sum of `grams`, shape (n, n)."""
        return np.tensordot(shares, self.grams, axes=1)

    def system(self, shares: Floats) -> LinearSystem:
        """Return the system under these weights, in its smaller form."""
        n, d = self.problem.rows.shape
        if d < n:
            return PrimalSystem(self.rows(shares).toarray())
        if "grams" in vars(self):
            return DualSystem(self.gram(shares))
        rows = self.rows(shares)
        return DualSystem(row_products(rows, rows))


def alignment_weights(groups: FeatureGroups) -> Floats:
    """Return weights in the proportions of the kernels' alignments with the targets.

    The alignment of two kernels is the cosine of their matrices (Cristianini et al. 2002), here of the
    centred ones (Cortes et al. 2012): uncentred, whatever is positive everywhere is aligned. The targets'
    kernel is the inner product of the examples' targets. Negative alignments weigh nothing; if none is
    above zero, the weights are equal.
    """
    found = np.maximum(alignments(groups.grams, groups.problem.targets), 0.0)
    return found / found.sum() if found.sum() > 0 else groups.equal()


def alignments(grams: Floats, targets: Floats) -> Floats:
    """Return the centred alignment of each kernel with the targets, shape (n_kernels,); 0 of a constant one.

    Parameters
    ----------
    grams : array of float64, shape (n_kernels, n, n)
    targets : array of float64, shape (n, K)
    """
    centred = targets - targets.mean(axis=0)
    # H T H has rank K: <HKH, HTH> = <HK, (HY)(HY)'> = sum of (HY)' K (HY)'s diagonal
    size = float(np.linalg.norm(centred.T @ centred))
    found = np.zeros(len(grams))
    for g, gram in enumerate(grams):
        means = gram.mean(axis=0)
        inner = gram - means - means[:, None] + means.mean()
        length = float(np.linalg.norm(inner))
        if length > 1e-12 * len(gram) and size > 0:
            found[g] = np.einsum("ik,ik->", centred, inner @ centred) / (length * size)
    return found


def search_weights(groups: FeatureGroups, regularisation: float) -> Floats:
    """Return weights, of sum one, half-way from equal ones to the best by leave-one-out.

    From equal weights on, weight is moved from one feature group to another as long as that helps, by each
    of `STEPS` in turn. Each trial is one factorisation. A few hundred examples do not say more about the
    weights than the direction: the whole way did worse on examples left out of the search.
    """

    def tried(shares: Floats) -> LeaveOneOutQuality:
        return leave_one_out_qualities(groups.problem, groups.system(shares), [regularisation])[0]

    if groups.problem.rows.shape[1] >= groups.problem.rows.shape[0]:
        _ = groups.grams  # made once, for all trials
    best = groups.equal()
    found = tried(best)
    for step in STEPS:
        best, found = _improve_weights(best, found, step, tried)
    return (best + groups.equal()) / 2


def _improve_weights(
    best: Floats, found: LeaveOneOutQuality, step: float, tried: Callable[[Floats], LeaveOneOutQuality]
) -> tuple[Floats, LeaveOneOutQuality]:
    """Move `step` of weight between two feature groups until no move is better."""
    moved = True
    while moved:
        moved = False
        for giver, taker in np.argwhere(~np.eye(len(best), dtype=bool)):
            part = min(step, best[giver])
            if part < 1e-9:
                continue
            shares = best.copy()
            shares[giver] -= part
            shares[taker] += part
            other = tried(shares)
            if other > found:
                best, found, moved = shares, other, True
    return best, found


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
        weights = column_weights(system, solution, problem.rows)
        return Fitted(problem.scorer(kernel, weights), report)

    def leave_one_out(self, batch: CandidateBatch) -> float:
        """Return the share of the examples that the model of all others decides right; raises as `fit`.

        In closed form, at the same ``n lambda``; where all examples chose lambda, it is not chosen anew.
        """
        _, problem, system = self._posed(batch)
        return _leave_one_out(self.regularisation, problem, system)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        kernel = self._kernel()
        if kernel.is_linear:
            return ColumnWeights.from_state(kernel, arrays)
        return SupportRows.from_state(kernel, arrays)

    def _posed(self, batch: CandidateBatch) -> tuple[Kernel, RLSProblem, LinearSystem]:
        kernel = self._kernel()
        problem = prepare_problem(batch, kernel)
        return kernel, problem, _system(problem, kernel)

    def _kernel(self) -> Kernel:
        return LinearKernel() if self.kernel is None else self.kernel


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
        return ColumnWeights.from_state(LinearKernel(), arrays)


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
        scorer = groups.scorer(shares, column_weights(system, solution, groups.rows(shares)))
        report = _report(problem, system, lam, quality) | {"weights": groups.by_name(shares)}
        return Fitted(scorer, report)

    def leave_one_out(self, batch: CandidateBatch) -> float:
        """Return the share of the examples that the model of all others decides right, as `RLSC` does.

        Where all examples chose the weights, these are not chosen anew either.
        """
        groups, _, system = self._posed(batch)
        return _leave_one_out(self.regularisation, groups.problem, system)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        return ColumnWeights.from_state(UNIT, arrays)

    def _posed(self, batch: CandidateBatch) -> tuple[FeatureGroups, Floats, LinearSystem]:
        groups = FeatureGroups.from_batch(batch)
        shares = group_weights(groups, self.weights, self.regularisation)
        return groups, shares, groups.system(shares)


def group_weights(
    groups: FeatureGroups, weights: str | Mapping[str, float] | None, regularisation: float | str
) -> Floats:
    """Return what each feature group weighs, of sum one, by a learner's setting `weights`."""
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
    """Return the weights of the columns of `rows`, shape (d, K), from the solution of either form."""
    return solution if isinstance(system, PrimalSystem) else np.asarray(rows.T @ solution)


def _system(problem: RLSProblem, kernel: Kernel) -> LinearSystem:
    n, d = problem.rows.shape
    if kernel.is_linear and d < n:
        return PrimalSystem(problem.rows.toarray())
    return DualSystem.from_kernel(kernel.gram(problem.rows, problem.rows), n)


def _regularisation(
    setting: float | str, problem: RLSProblem, system: LinearSystem
) -> tuple[float, LeaveOneOutQuality | None]:
    if setting == "loo":
        return best_regularisation(problem, system)
    return grown(len(problem.targets)) if setting == "auto" else float(setting), None


def grown(n: int) -> float:
    """Return the lambda of `n` examples where it is "auto".

    A hundred examples can be fitted exactly: they have far more features. Where there are about as many
    examples as features, those that contradict each other would cost most of what was learned.
    """
    return OF_MANY * min(n / MANY, 1.0)


def _leave_one_out(setting: float | str, problem: RLSProblem, system: LinearSystem) -> float:
    lam, quality = _regularisation(setting, problem, system)
    return (quality or leave_one_out_qualities(problem, system, [lam])[0]).accuracy


def _report(
    problem: RLSProblem, system: LinearSystem, lam: float, quality: LeaveOneOutQuality | None
) -> dict[str, Any]:
    report: dict[str, Any] = {
        "examples": len(problem.targets),
        "regularisation": lam,
        "form": "primal" if isinstance(system, PrimalSystem) else "dual",
    }
    if len(problem.columns):
        report["columns"] = len(problem.columns)
    if quality is not None:
        report["leave_one_out"] = quality.accuracy
    return report
