"""VAR-SVM and its kin: SVMs with class-specific attributes whose weights are drawn to be equal.

Bergsma, Lin and Schuurmans (CoNLL 2010), section 3. As C falls the answer becomes the unsupervised
sum of the counts (SumLM); as it grows, that of the CS-SVM. The paper's systems as settings::

    VAR-SVM                 variance = ["3-gram", "4-gram", "5-gram"]
    VAR-SVM, two subsets    variance = [["it"], ["they"]]
    VAR-SVM+FreeB           free = ["bias"]
    CS-SVM                  variance = []
    CS-SVM+                 variance = [], sum = ["3-gram", "4-gram", "5-gram"]
    VAR-SVM, full matrix    full_matrix = true

Of lists of candidates that share their columns it learns the same: one weight a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, DenseBlocks, Fitted, LinearScorer, SparseRows, UserError
from disambig.api.batches import DenseLists, convert

from ..svm.lists import Ranked, solve_lists
from ..svm.regulariser import Regulariser
from ..svm.solver import Solution, solve
from .c_search import CSearch, quality, settled
from .checks import check_above_zero, check_attributes, check_finite, check_names, check_settings
from .crossed_scorer import CrossedScorer
from .full_matrix import crossed_blocks, crossed_prior, crossed_regulariser
from .padded import padded
from .prior_weights import weights_of
from .sum_attribute import fold_crossed_sum, fold_sum, with_sum

Floats = NDArray[np.float64]

GRID = tuple(float(f"{10.0**step:.1g}") for step in (-7.0, -6.0, -5.0, -4.0, *np.arange(-3.0, 3.1, 0.5)))
"""Values of C times the number of examples tried on development data, each from the solution before it.

The least of them are the sum of the counts, or the prior, nearly as it is: what ten examples can bear."""
_DEFAULT = 0.1
"""C times the number of examples without development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSVM:
    """Crammer-Singer SVM with a variance term on some subsets of the weights.

    Every weight counts 1/N, N the number of attributes, in variance and L2 subsets alike, so that the
    two kinds of subset are in balance and C does not change its meaning with N. (With a variance of
    probabilities over its own subset and a plain identity elsewhere, as the paper's text may be read, an
    L2 weight would count N times as much as one in a variance subset.) A CS-SVM with C here is one with
    N C in the usual form.

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default chosen on development data from `GRID`, smallest first
        and the smallest of the best; without development data it is 0.1 divided by the number of
        examples.
    variance : list of str or of lists of str
        Feature groups whose weights, taken together, keep a low variance; lists of them: each list a
        subset of its own (eq. 7 of the paper, several theta_j).
    free : list of str
        Feature groups whose weights are not regularised; all others are, by L2.
    sum : list of str
        Feature groups whose sum becomes one more attribute of every class, in a feature group "sum".
    p : dict of str to float, optional
        What a weight of a feature group counts, relative to 1 for groups that are not named; 0: not
        regularised. All together are scaled to a sum of 1.
    full_matrix : bool
        Let every class weigh the attributes of all classes, as the K-SVM does: the weights of a class
        for its own attributes are regularised as above, the others by L2.
    prior : str or list of float, optional
        Weights to stay near, such as those learned in another domain: what is regularised is the
        difference from them. A trained model of the same candidates and extractors (a task, PACK/TASK
        or a model directory), by what all its groups share where it had too few examples for these
        candidates; or one number for each attribute.
    tolerance : float
        Relative duality gap to reach.
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
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of least objective; `rng` is not used (the problem is convex).

        Fewer examples than classes, classes that do not occur and even a single class are no obstacle:
        the regulariser says what the examples leave open.

        Raises
        ------
        UserError
            D451 for an unknown feature group, D700 to D705, D710 and D760 for settings or attributes that
            make no sense, D750 for a `prior` that has no weights for these candidates and extractors.
        """
        if self.full_matrix and not isinstance(batch, DenseBlocks):
            wanted = "DenseBlocks (for a full matrix)"
            raise UserError("D459", wanted=wanted, seen=type(batch).__name__)
        for setting in ("variance", "free", "sum"):
            check_names(f"VarianceSVM.{setting}", getattr(self, setting), nested=setting == "variance")
        check_above_zero("VarianceSVM.tolerance", self.tolerance)
        check_settings(C=self.C, p=self.p, subsets=[*self.subsets, list(self.free)])
        if isinstance(self.prior, str):
            return replace(self, prior=weights_of(self.prior, batch)).fit(batch, dev=dev, rng=rng)
        check_attributes(batch, self.prior)
        if not (isinstance(batch, DenseBlocks) or self.subsets or self.free or self.sum):
            strength = self.regulariser(batch).strength
            if self.prior is None and strength.all():
                rows = convert(batch, SparseRows)

                def ranked(C: float, last: Ranked | None) -> Ranked:
                    return solve_lists(rows, C, strength=strength, tolerance=self.tolerance, start=last)

                return self._by_c(ranked, rows, dev)
        blocks = batch if isinstance(batch, DenseBlocks) else padded(batch)
        problem, regulariser, prior = self.problem(blocks)
        start = prior + regulariser_mean(regulariser)

        def solved(C: float, last: Solution | None) -> Solution:
            begin = start if last is None else last.weights
            return solve(problem, regulariser, C, prior=prior, start=begin, tolerance=self.tolerance)

        return self._by_c(solved, blocks, dev)

    @property
    def takes(self) -> tuple[type, ...]:
        """Class blocks; but for the full matrix lists, too."""
        return (DenseBlocks,) if self.full_matrix else (DenseBlocks, SparseRows, DenseLists)

    def _by_c(
        self, solved: Callable[[float, Any], Any], batch: CandidateBatch, dev: CandidateBatch | None
    ) -> Fitted:
        """Return the scorer of the C given or, with development data, of the best of the grid."""
        n = len(batch.offsets) - 1
        if self.C is not None or dev is None or len(dev.offsets) < 2:
            C = _rounded(_DEFAULT / n) if self.C is None else self.C
            solution = solved(C, None)
            return self._fitted(self._scorer(solution, batch), solution, C, {})
        check_finite(dev)
        search = CSearch[Any](n, len(dev.offsets) - 1)
        solution = None
        for value in GRID:
            C = _rounded(value / n)
            solution = solved(C, solution)
            if not search.add(C, quality(dev, self._scorer(solution, batch).scores(dev)), solution):
                break
        assert search.best is not None
        _, C, solution = search.best
        return self._fitted(self._scorer(solution, batch), solution, C, search.report())

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> VarianceSVM:
        """Return the learner with the C of the middle of some fits, where it is left open."""
        return settled(self, reports)

    def from_state(self, arrays: Arrays) -> LinearScorer | CrossedScorer:
        """Rebuild a saved scorer."""
        return CrossedScorer.from_state(arrays) if self.full_matrix else LinearScorer.from_state(arrays)

    def problem(self, batch: DenseBlocks) -> tuple[DenseBlocks, Regulariser, Floats]:
        """Return what is solved: examples with all attributes, their regulariser and the prior weights."""
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
        strength /= strength.max()  # the sum of large numbers may be infinite
        strength /= strength.sum()
        strength[batch.columns.in_groups(self.free, setting="VarianceSVM.free")] = 0.0
        subset = np.full(n, -1, np.int64)
        for number, names in enumerate(self.subsets):
            subset[batch.columns.in_groups(names, setting="VarianceSVM.variance")] = number
        return Regulariser(strength, subset)

    @property
    def subsets(self) -> list[list[str]]:
        """The variance subsets: those given as lists, and one of all the names given alone."""
        alone = [names for names in self.variance if isinstance(names, str)]
        lists = [list(names) for names in self.variance if not isinstance(names, str)]
        return [alone, *lists] if alone else lists

    def _scorer(self, solution: Solution | Ranked, batch: CandidateBatch) -> LinearScorer | CrossedScorer:
        weights = solution.weights
        if not isinstance(batch, DenseBlocks):
            return LinearScorer(weights)
        if self.full_matrix:
            return CrossedScorer(fold_crossed_sum(weights, batch, self.sum) if self.sum else weights)
        return LinearScorer(fold_sum(weights, batch, self.sum) if self.sum else weights)

    def _fitted(
        self,
        scorer: LinearScorer | CrossedScorer,
        solution: Solution | Ranked,
        C: float,
        path: dict[str, float],
    ) -> Fitted:
        report: dict[str, Any] = {
            "C": C,
            "objective": solution.primal,
            "gap": solution.gap,
            "n_iter": solution.n_iter,
            "dev_accuracy": path,
        }
        return Fitted(scorer, report)


def regulariser_mean(regulariser: Regulariser) -> Floats:
    """Return SumLM's direction: ones on the variance subsets, zeros elsewhere."""
    return np.where(regulariser.subset >= 0, 1.0, 0.0)


def _rounded(C: float) -> float:
    return float(f"{C:g}")
