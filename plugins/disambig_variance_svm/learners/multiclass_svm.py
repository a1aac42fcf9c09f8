"""K-SVM (Bergsma et al. 2010, eq. 2) and one-versus-all SVM, for fixed groups and candidate lists.

On classes, LIBLINEAR trains on crossed rows: every class weighs the attributes of all classes, and the bias
attributes among them replace an intercept. On lists there is one weight per column. The K-SVM requires the
correct candidate of a list to score above each other one by the cost of that one; one-versus-all separates
correct candidates from wrong ones, regardless of their list.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, DenseBlocks, Fitted, SparseRows, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import convert
from disambig.api.decoding import from_the_least
from disambig.api.settings import ABOVE_ZERO, COUNT, SVM_C
from disambig.api.training import with_median

from ..svm.list_solver import RankedSolution, solve_lists
from ._fitting import (
    CrossedScorer,
    check_attributes,
    check_names,
    fit_best_c,
    fold_crossed_sum,
    round_c,
    with_sum,
)

if TYPE_CHECKING:
    from typing_extensions import Self

GRID = tuple(float(f"{10.0**step:.1g}") for step in np.arange(-2.0, 3.1, 0.5))
"""Values of C times the number of examples that are tried on development data, smallest first."""
_DEFAULT = 10.0
"""C times the number of examples if there is no development data."""
Solved = tuple[CrossedScorer, bool | None]
"""The scorer for a value of C, and whether the solver converged."""
ONE_VERSUS_ALL, CRAMMER_SINGER = "ovr", "crammer_singer"
MAX_PASSES = 100_000
"""Fixed maximum number of passes in LIBLINEAR's Crammer-Singer solver; `max_iter` does not reach it."""


def _with_every_class(rows: Any, gold: NDArray[np.int64], k: int) -> tuple[Any, NDArray[np.int64]]:
    """Add an all-zero example for each missing class, because LIBLINEAR only learns classes that it sees."""
    missing = np.setdiff1d(np.arange(k), gold)
    if not len(missing):
        return rows, gold
    labels = np.concatenate([gold, missing])
    if isinstance(rows, np.ndarray):
        return np.concatenate([rows, np.zeros((len(missing), rows.shape[1]))]), labels
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([rows, csr_array((len(missing), rows.shape[1]))], format="csr")), labels


def counts_passes(kind: str) -> bool:
    """Return True if scikit-learn reports LIBLINEAR's number of passes for this kind of problem.

    Before version 1.9.1 it reports an undefined number for Crammer-Singer (issue 34029 of scikit-learn).
    """
    from packaging.version import Version
    from sklearn import __version__

    return kind != CRAMMER_SINGER or Version(__version__) >= Version("1.9.1")


def _add_sum(batch: SparseRows, summed: NDArray[np.bool_]) -> SparseRows:
    """Add the sum of some columns as the last column."""
    from scipy.sparse import csr_array, hstack

    total = batch.rows @ summed.astype(np.float64)
    rows = csr_array(hstack([batch.rows, total[:, None]], format="csr"))
    return SparseRows(rows, batch.offsets, batch.cost, batch.columns)


class LiblinearLearner(ABC):
    """Base class of the learners that LIBLINEAR trains."""

    __slots__ = ()
    C: float | None
    tolerance: float
    max_iter: int
    kind: ClassVar[str]
    """The solver."""
    takes: ClassVar[tuple[type, ...]] = (DenseBlocks, CrossedRows, SparseRows)

    @abstractmethod
    def _fit(self, batch: CandidateBatch, dev: CandidateBatch | None) -> Fitted:
        """Return the scorer that is learned from checked examples."""

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer; `rng` is not used, because LIBLINEAR's seed is fixed.

        Raises D451 for an unknown feature group; D452, D700, D710 and D760 for invalid settings; D703 and
        D705 for unusable examples.
        """
        learner = type(self).__name__
        SVM_C.or_none.check(f"{learner}.C", self.C)
        ABOVE_ZERO.check(f"{learner}.tolerance", self.tolerance)
        COUNT.check(f"{learner}.max_iter", self.max_iter)
        check_attributes(batch, None)
        return self._fit(batch, dev)

    def _fit_classes(
        self,
        batch: CrossedRows,
        dev: CandidateBatch | None,
        fold: Callable[[Floats], Floats] = lambda weights: weights,
    ) -> Fitted:
        """Return the scorer of an SVM over classes with the best C.

        `fold` converts the trained weights to the weights of the scorer.
        """
        n, k = batch.costs.shape
        gold = batch.costs.argmin(axis=1)
        sparse = hasattr(batch.rows, "indptr")
        values = batch.rows.astype(np.float64) if sparse else np.asarray(batch.rows, np.float64)
        rows, labels = _with_every_class(values, gold, k)

        def solve(C: float) -> Solved:
            weights, converged = self._train(rows, labels, C)
            return CrossedScorer(fold(weights.ravel())), converged

        comparable = isinstance(dev, DenseBlocks | CrossedRows)
        return self._fit_best_c(solve, n, dev if comparable else None)

    def _fit_best_c(
        self, solve: Callable[[float], Solved], n_train: int, dev: CandidateBatch | None
    ) -> Fitted:
        """Return the scorer and report for the given or best C."""
        scorer, converged, C, path = fit_best_c(
            solve, n_train, dev, C=self.C, default=_DEFAULT / n_train, grid=GRID
        )
        return Fitted(scorer, {"C": round_c(C), "converged": converged, "dev_accuracy": path})

    def _train(self, rows: Any, gold: NDArray[np.int64], C: float) -> tuple[Floats, bool | None]:
        """Return one row of weights per class, and whether LIBLINEAR converged (None: unknown).

        A single class gets zero weights, because LIBLINEAR rejects such data.
        """
        if len(np.unique(gold)) == 1:
            return np.zeros((1, rows.shape[1])), True
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        svm = LinearSVC(
            C=C,
            loss="hinge",
            multi_class=self.kind,
            fit_intercept=False,
            tol=self.tolerance,
            max_iter=self.max_iter,
            random_state=0,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            svm.fit(rows, gold)
        converged: bool | None = not any(issubclass(item.category, ConvergenceWarning) for item in caught)
        # for Crammer-Singer scikit-learn warns from `max_iter` passes on, although the solver goes on
        if not converged and self.kind == CRAMMER_SINGER:
            converged = svm.n_iter_ < MAX_PASSES if counts_passes(self.kind) else None
        weights = svm.coef_.astype(np.float64)
        if len(weights) == 1:  # for two classes, scikit-learn returns the weights of the second one only
            weights = np.concatenate([-weights, weights]) / 2
        return weights, converged

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> Self:
        """Return the learner with the median C of earlier fits, if its own is not set."""
        return with_median(self, "C", reports)

    def from_state(self, arrays: Arrays) -> CrossedScorer:
        """Rebuild a saved scorer."""
        return CrossedScorer.from_state(arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class KSVM(LiblinearLearner):
    """Crammer-Singer SVM over the attributes of all classes, by LIBLINEAR; for lists, by `svm.list_solver`.

    On lists it is a ranking SVM: one weight per column, with the costs as margins.

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default it is chosen on development data from `GRID`; without
        development data it is 10 divided by the number of examples.
    sum : list of str
        Feature groups whose sum becomes one more attribute of every class or candidate: the K-SVM+.
    tolerance : float
        LIBLINEAR's stopping criterion; for lists the relative duality gap.
    max_iter : int
        Maximum number of passes over the examples, for lists. It has no effect for classes: scikit-learn
        passes it on to LIBLINEAR, whose Crammer-Singer solver ignores it and makes up to 100,000 passes. The
        report says under ``converged`` whether the passes were enough, or None if scikit-learn does not
        report it (for classes, before version 1.9.1).
    """

    C: float | None = None
    sum: tuple[str, ...] | list[str] = ()
    tolerance: float = 1e-2
    max_iter: int = 1000
    kind: ClassVar[str] = CRAMMER_SINGER

    def _fit(self, batch: CandidateBatch, dev: CandidateBatch | None) -> Fitted:
        check_names("KSVM.sum", self.sum)
        if not self.sum or not isinstance(batch, DenseBlocks):
            rows = convert(batch, CrossedRows, SparseRows)
            if isinstance(rows, SparseRows):
                return self._fit_ranking(rows, dev)
            if self.sum:
                raise UserError("D459", wanted="DenseBlocks (for a sum)", seen=type(batch).__name__)
            return self._fit_classes(rows, dev)

        def fold(weights: Floats) -> Floats:
            return fold_crossed_sum(weights, batch, self.sum)

        return self._fit_classes(convert(with_sum(batch, self.sum), CrossedRows), dev, fold)

    def _fit_ranking(self, batch: SparseRows, dev: CandidateBatch | None) -> Fitted:
        """Return the scorer of the K-SVM on lists with the best C and the sum of the groups in `sum`."""
        summed = batch.columns.in_groups(self.sum, setting="KSVM.sum")
        wider = _add_sum(batch, summed) if self.sum else batch
        solution: RankedSolution | None = None

        def solve(C: float) -> Solved:
            nonlocal solution
            solution = solve_lists(wider, C, tolerance=self.tolerance, max_iter=self.max_iter, start=solution)
            weights = solution.weights[: len(summed)] + (solution.weights[-1] * summed if self.sum else 0.0)
            return CrossedScorer(weights), solution.gap <= self.tolerance

        return self._fit_best_c(solve, len(batch.offsets) - 1, dev)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneVersusAll(LiblinearLearner):
    """K binary linear SVMs over the attributes of all classes, by LIBLINEAR.

    A class without examples is separated from all others like any other class. On lists, one SVM separates
    correct candidates from others.

    Parameters
    ----------
    C : float, optional
        Weight of the training loss. By default it is chosen on development data from `GRID`; without
        development data it is 10 divided by the number of examples.
    tolerance : float
        LIBLINEAR's stopping criterion.
    max_iter : int
        Maximum number of LIBLINEAR's passes over the examples; the report says under ``converged`` whether
        they were enough.
    """

    C: float | None = None
    tolerance: float = 1e-2
    max_iter: int = 1000
    kind: ClassVar[str] = ONE_VERSUS_ALL

    def _fit(self, batch: CandidateBatch, dev: CandidateBatch | None) -> Fitted:
        rows = convert(batch, CrossedRows, SparseRows)
        if isinstance(rows, SparseRows):
            return self._fit_pointwise(rows, dev)
        return self._fit_classes(rows, dev)

    def _fit_pointwise(self, batch: SparseRows, dev: CandidateBatch | None) -> Fitted:
        """Return the scorer of a binary SVM that separates correct from wrong candidates, with the best C."""
        from scipy.sparse import csr_array, hstack

        n_rows = len(batch.cost)
        rows = csr_array(hstack([batch.rows, np.ones((n_rows, 1))], format="csr"), dtype=np.float64)
        correct = (from_the_least(batch) == 0).astype(np.int64)

        def solve(C: float) -> Solved:
            weights, converged = self._train(rows, correct, C)
            return CrossedScorer((weights[-1] - weights[0])[:-1]), converged

        return self._fit_best_c(solve, n_rows, dev)
