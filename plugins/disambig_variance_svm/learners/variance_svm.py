"""VAR-SVM and related learners: SVMs that penalise the variance of class-specific weights.

Bergsma, Lin and Schuurmans (CoNLL 2010), section 2.3: eq. (6), and eq. (4) for the CS-SVM. For small C the
solution approaches the unsupervised sum of the counts (SumLM), for large C that of the CS-SVM. The settings
of the paper's systems::

    VAR-SVM                 variance = ["3-gram", "4-gram", "5-gram"]
    VAR-SVM, two subsets    variance = [["it"], ["they"]]
    VAR-SVM+FreeB           free = ["bias"]
    CS-SVM                  variance = []
    CS-SVM+                 variance = [], sum = ["3-gram", "4-gram", "5-gram"]
    VAR-SVM, full matrix    full_matrix = true

The same learner works on candidate lists whose candidates share their columns, with one weight per column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator

from disambig.api import (
    Arrays,
    CandidateBatch,
    Columns,
    CrossedRows,
    DenseBlocks,
    Fitted,
    LinearScorer,
    Scorer,
    SparseRows,
    UserError,
    load_model,
)
from disambig.api.arrays import Floats
from disambig.api.batches import DenseLists, convert, segments
from disambig.api.decoding import from_the_least
from disambig.api.settings import ABOVE_ZERO, validate_settings
from disambig.api.training import with_median

from ..svm.list_solver import RankedSolution, solve_lists
from ..svm.problem import Regulariser
from ..svm.solvers import Solution, solve
from ._fitting import (
    CrossedScorer,
    check_attributes,
    check_names,
    check_settings,
    fit_best_c,
    fold_crossed_sum,
    fold_sum,
    round_c,
    with_sum,
)


def crossed_blocks(batch: DenseBlocks) -> DenseBlocks:
    """Return the crossed batch as class blocks with K * A attributes; the values are not copied."""
    n, k, a = batch.values.shape
    crossed = convert(batch, CrossedRows)
    values = np.broadcast_to(crossed.rows[:, None, :], (n, k, k * a))
    column_of = np.arange(k * k * a, dtype=np.int64).reshape(k, k * a)
    return DenseBlocks(values, column_of, crossed.columns, batch.costs)


def crossed_regulariser(regulariser: Regulariser, batch: DenseBlocks) -> Regulariser:
    """Return `regulariser` for a class's own attributes, and L2 with strength 1/N for those of other classes.

    Section 2.3 of the paper: an identity matrix for all irrelevant weights of a multi-class SVM.

    N is the number of `batch`'s columns, as for class-specific weights, so that C means the same in both
    problems if the examples keep the irrelevant weights at zero.
    """
    k, a = batch.column_of.shape
    strength = np.full((k, k, a), 1.0 / len(batch.columns))
    subset = np.full((k, k, a), -1, np.int64)
    classes = np.arange(k)
    strength[classes, classes] = regulariser.strength[batch.column_of]
    subset[classes, classes] = regulariser.subset[batch.column_of]
    return Regulariser(strength.ravel(), subset.ravel())


def crossed_prior(prior: Floats, batch: DenseBlocks) -> Floats:
    """Return class-specific prior weights at their places in the full matrix, with zeros elsewhere."""
    k, a = batch.column_of.shape
    cube = np.zeros((k, k, a))
    cube[np.arange(k), np.arange(k)] = prior[batch.column_of]
    return cube.ravel()


MAX_BYTES = 1 << 32
"""Maximum size of the padded blocks."""


def pad_lists(batch: CandidateBatch) -> DenseBlocks:
    """Return lists as blocks, padded to the number of candidates of the longest list.

    Raises D417 if the blocks would take more than `MAX_BYTES`.
    """
    sizes = np.diff(batch.offsets)
    n, k, a = len(sizes), int(sizes.max(initial=1)), len(batch.columns)
    if 4 * n * k * a > MAX_BYTES:
        raise UserError("D417", n=n * k, columns=a, gigabytes=4 * n * k * a / 1e9)
    values = convert(batch, DenseLists).values
    cost = from_the_least(batch)
    gold = segments.first_rows(cost == 0, batch.offsets)
    place = np.arange(k)
    row = np.where(place < sizes[:, None], batch.offsets[:-1, None] + place, gold[:, None])  # (n, K)
    row = np.where(cost[row] > 0, row, gold[:, None])  # padding repeats the correct candidate: no loss
    columns = np.tile(np.arange(a, dtype=np.int64), (k, 1))
    return DenseBlocks(values[row], columns, batch.columns, cost[row].astype(np.float32))


ColumnNames = tuple[tuple[str, str], ...]


def weights_from_prior(prior: str, batch: CandidateBatch) -> Floats:
    """Return the weights of a trained model for the columns of `batch`.

    Columns match if their names and feature groups are the same in the same order, that is, for the same
    candidates and extractors. If the model had too few examples of these candidates, the weights are those
    that all its groups share.

    Raises D402 to D409 if the model cannot be loaded, D750 if it has no such columns or not one weight per
    column.

    `prior` is a task, PACK/TASK or a model directory.
    """
    model = load_model(prior)
    wanted = _column_names(batch.columns)
    group = _groups_by_columns(model).get(wanted) if wanted else None
    if group is None:
        names: Sequence[str] = batch.columns.names
        shown = f"such as {names[0]!r}" if len(names) else "without names"
        problem = f"none of its groups has these {len(batch.columns)} columns, {shown}"
        raise UserError("D750", prior=prior, problem=problem)
    name = model.task.groups[group].name
    scorer = model.scorers[group] if model.scorers[group] is not None else model.shared
    if scorer is None:
        problem = f"it had too few examples to learn weights for {name!r}"
        raise UserError("D750", prior=prior, problem=problem)
    weights = _weights(scorer, batch)
    if weights is None:
        problem = f"its scorer for {name!r} does not have one weight per column"
        raise UserError("D750", prior=prior, problem=problem)
    return weights


def _weights(scorer: Scorer, batch: CandidateBatch) -> Floats | None:
    """Return a scorer's weight for each column, or None if it does not have one weight per column."""
    linear = getattr(scorer, "linear", None)
    if linear is None:
        return None
    try:
        same, weights = linear(batch)
    except (TypeError, ValueError):  # the scorer has other attributes
        return None
    return np.asarray(weights) if len(weights) == len(batch.columns) and same is batch else None


@lru_cache(maxsize=4)
def _groups_by_columns(model: Any) -> dict[ColumnNames, int]:
    """Return the index of the group that has each list of columns in a model."""
    # without a text there are no instances, but extractors return their columns all the same
    empty_view = model.tokenisation([])
    no_instances = model.task.instances(empty_view)
    return {
        _column_names(model.features(empty_view, no_instances, g).batch.columns): g
        for g in range(len(model.scorers))
    }


def _column_names(columns: Columns) -> ColumnNames:
    """Return the name and feature group of each column, or nothing if the columns have no names."""
    groups = columns.groups.tolist()
    return tuple((str(name), columns.group_names[g]) for name, g in zip(columns.names, groups, strict=False))


GRID = tuple(float(f"{10.0**step:.1g}") for step in (-7.0, -6.0, -5.0, -4.0, *np.arange(-3.0, 3.1, 0.5)))
"""Values of C times the number of examples that are tried on development data, each from the last solution.

The smallest values leave the sum of counts, or the prior, nearly unchanged; ten examples do not support
more."""
_DEFAULT = 0.1
"""C times the number of examples if there is no development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSVM:
    """Crammer-Singer SVM with a variance term on some subsets of the weights.

    Every weight has the factor 1/N in the regulariser, with N the number of attributes, in variance and L2
    subsets alike. So the two kinds of subset are balanced, and the meaning of C does not depend on N. (The
    paper's text can also be read as probabilities over each variance subset and an identity matrix elsewhere;
    an L2 weight would then count N times as much as one in a variance subset.) A CS-SVM with C here is a
    CS-SVM with N C in the usual form.

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default it is chosen on development data from `GRID`, smallest first,
        the smallest among equals; without development data it is 0.1 divided by the number of examples.
    variance : list of str or of lists of str
        Feature groups whose weights, taken together, keep a low variance. A list of lists defines several
        subsets (theta_j in section 2.3 of the paper).
    free : list of str
        Feature groups whose weights are not regularised. All other weights get L2.
    sum : list of str
        Feature groups whose sum becomes one more attribute of every class, in a feature group "sum".
    p : dict of str to float, optional
        Share of a feature group's weights in the regulariser, relative to 1 for groups that are not named; 0
        means not regularised. The shares are scaled to a sum of 1.
    full_matrix : bool
        Let every class weigh the attributes of all classes, as the K-SVM does. The weights of a class for
        its own attributes are regularised as above, the others by L2.
    prior : str or list of float, optional
        Weights to stay near, such as those learned in another domain; the difference from them is
        regularised. Either a trained model with the same candidates and extractors (a task, PACK/TASK or a
        model directory), which contributes its shared weights if it had too few examples of these
        candidates, or one number per attribute.
    tolerance : float
        Relative duality gap at which training stops.
    """

    C: float | None = None
    variance: Sequence[str] | Sequence[Sequence[str]] = ("3-gram", "4-gram", "5-gram")
    free: tuple[str, ...] | list[str] = ()
    sum: tuple[str, ...] | list[str] = ()
    p: Mapping[str, float] | None = None
    full_matrix: bool = False
    prior: str | Sequence[float] | Floats | None = None
    tolerance: float = 1e-3

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer that minimises the objective; `rng` is not used (the problem is convex).

        There may be fewer examples than classes, classes without examples, or a single class: the regulariser
        determines what the examples do not.

        Raises D451 for an unknown feature group, D700 to D705, D710 and D760 for invalid settings or
        attributes, D750 for a `prior` without weights for these candidates and extractors.
        """
        if self.full_matrix and not isinstance(batch, DenseBlocks):
            wanted = "DenseBlocks (for a full matrix)"
            raise UserError("D459", wanted=wanted, seen=type(batch).__name__)
        for setting in ("variance", "free", "sum"):
            check_names(f"VarianceSVM.{setting}", getattr(self, setting), nested=setting == "variance")
        validate_settings(self, tolerance=ABOVE_ZERO)
        check_settings(C=self.C, p=self.p, subsets=[*self.subsets, list(self.free)])
        if isinstance(self.prior, str):
            return replace(self, prior=weights_from_prior(self.prior, batch)).fit(batch, dev=dev, rng=rng)
        check_attributes(batch, self.prior)
        if not (isinstance(batch, DenseBlocks) or self.subsets or self.free or self.sum):
            strength = self.regulariser(batch).strength
            if self.prior is None and strength.all():
                rows = convert(batch, SparseRows)

                def solve_at(C: float, last: RankedSolution | None) -> RankedSolution:
                    return solve_lists(rows, C, strength=strength, tolerance=self.tolerance, start=last)

                return self._fit_best_c(solve_at, rows, dev)
        blocks = batch if isinstance(batch, DenseBlocks) else pad_lists(batch)
        problem, regulariser, prior = self.problem(blocks)
        first_start = prior + sum_weights(regulariser)

        def solve_blocks(C: float, last: Solution | None) -> Solution:
            start = first_start if last is None else last.weights
            return solve(problem, regulariser, C, prior=prior, start=start, tolerance=self.tolerance)

        return self._fit_best_c(solve_blocks, blocks, dev)

    @property
    def takes(self) -> tuple[type, ...]:
        """Class blocks; without the full matrix also lists."""
        return (DenseBlocks,) if self.full_matrix else (DenseBlocks, SparseRows, DenseLists)

    def _fit_best_c(
        self, solve_at: Callable[[float, Any], Any], batch: CandidateBatch, dev: CandidateBatch | None
    ) -> Fitted:
        """Return the scorer and report for the given or best C.

        `solve_at` returns the solution at a C, starting from the solution at the last C or None.
        """
        solution = None

        def train(C: float) -> tuple[LinearScorer | CrossedScorer, Any]:
            nonlocal solution
            solution = solve_at(C, solution)
            return self._scorer(solution, batch), solution

        n = len(batch.offsets) - 1
        scorer, best, C, path = fit_best_c(train, n, dev, C=self.C, default=round_c(_DEFAULT / n), grid=GRID)
        report: dict[str, Any] = {
            "C": C,
            "objective": best.primal,
            "gap": best.gap,
            "n_iter": best.n_iter,
            "dev_accuracy": path,
        }
        return Fitted(scorer, report)

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> VarianceSVM:
        """Return the learner with the median C of earlier fits, if its own is not set."""
        return with_median(self, "C", reports)

    def from_state(self, arrays: Arrays) -> LinearScorer | CrossedScorer:
        """Rebuild a saved scorer."""
        return CrossedScorer.from_state(arrays) if self.full_matrix else LinearScorer.from_state(arrays)

    def problem(self, batch: DenseBlocks) -> tuple[DenseBlocks, Regulariser, Floats]:
        """Return the problem to solve: examples with all attributes, their regulariser, the prior weights."""
        prior = np.zeros(len(batch.columns)) if self.prior is None else np.asarray(self.prior, np.float64)
        wider = with_sum(batch, self.sum) if self.sum else batch
        prior = np.concatenate([prior, np.zeros(len(wider.columns) - len(prior))])
        regulariser = self.regulariser(wider)
        if not self.full_matrix:
            return wider, regulariser, prior
        return crossed_blocks(wider), crossed_regulariser(regulariser, wider), crossed_prior(prior, wider)

    def regulariser(self, batch: CandidateBatch) -> Regulariser:
        """Return the regulariser of `batch`'s columns."""
        n = len(batch.columns)
        strength = np.ones(n)
        for name, weight in (self.p or {}).items():
            strength[batch.columns.in_groups([name], setting="VarianceSVM.p")] = weight
        if not strength.any():
            raise UserError("D702", problem="every feature group has the weight 0")
        strength /= strength.max()  # first by the maximum: the sum of large numbers may overflow
        strength /= strength.sum()
        strength[batch.columns.in_groups(self.free, setting="VarianceSVM.free")] = 0.0
        subset = np.full(n, -1, np.int64)
        for number, names in enumerate(self.subsets):
            subset[batch.columns.in_groups(names, setting="VarianceSVM.variance")] = number
        return Regulariser(strength, subset)

    @property
    def subsets(self) -> list[list[str]]:
        """The variance subsets: each list, and one subset of all names that are not in a list."""
        alone = [names for names in self.variance if isinstance(names, str)]
        lists = [list(names) for names in self.variance if not isinstance(names, str)]
        return [alone, *lists] if alone else lists

    def _scorer(
        self, solution: Solution | RankedSolution, batch: CandidateBatch
    ) -> LinearScorer | CrossedScorer:
        """Return the scorer of a solution, in the storage of the batch."""
        weights = solution.weights
        if not isinstance(batch, DenseBlocks):
            return LinearScorer(weights)
        if self.full_matrix:
            return CrossedScorer(fold_crossed_sum(weights, batch, self.sum) if self.sum else weights)
        return LinearScorer(fold_sum(weights, batch, self.sum) if self.sum else weights)


def sum_weights(regulariser: Regulariser) -> Floats:
    """Return the weights of SumLM, eq. (5): ones on the variance subsets, zeros elsewhere."""
    return np.where(regulariser.subset >= 0, 1.0, 0.0)
