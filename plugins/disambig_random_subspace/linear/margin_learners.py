"""Perceptron, SGD with hinge loss and passive-aggressive learning: scikit-learn's, and under masks.

Without masks they are scikit-learn's estimators; under masks `kernels` takes the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, Fitted, LinearScorer, UserError
from disambig.api.batches import SequenceRows, convert
from disambig.api.decoding import ChainScorer, structures_of, subgradient

from ..checks import check_above_zero, check_count, check_decoder
from .learner import TAKES, LinearLearner
from .lists import ListProblem
from .problem import Problem, prepare
from .scorer import InterceptScorer

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceptron(LinearLearner):
    """The perceptron (Rosenblatt 1958), steps of one, the last weights.

    Parameters
    ----------
    passes : int
        Over the examples.
    seed : int
        Of the order of the examples, which is the same in all passes.
    """

    passes: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("Perceptron.passes", self.passes)
        check_count("Perceptron.seed", self.seed, least=0)

    def _plain(self, problem: Problem) -> tuple[Floats, Floats]:
        settings = {"loss": "perceptron", "penalty": None, "learning_rate": "constant", "eta0": 1.0}
        return _by_scikit_learn(problem, settings, self.passes)

    def _masked(
        self, problem: Problem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        return _descend(problem, targets, keep, lanes, self.passes, threshold=0.0, alpha=0.0)

    def _of_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        return _descend_lists(problem, keep, lanes, self.passes, margin=0.0, alpha=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SGD(LinearLearner):
    """Stochastic gradient descent on the hinge loss and the squared norm of the weights (Zhang 2004).

    The steps fall as scikit-learn's "optimal" ones: ``1 / (alpha (t0 + t))``, t0 as in Bottou's heuristic.

    Parameters
    ----------
    alpha : float or sequence of float
        Weight of half the squared norm. Of several, the one that decides most examples right that were not
        seen is taken where training has folds, else the first.
    passes, seed : int
        As in `Perceptron`.
    decoder : Decoder, optional
        Of sequences, charts, ...: the loss is then the structured hinge, with each row's cost in its margin.
        By default each row is a candidate of its own.
    """

    alpha: float | Sequence[float] = 1e-4
    passes: int = 5
    seed: int = 0
    decoder: Any = None

    def __post_init__(self) -> None:
        check_decoder("SGD.decoder", self.decoder)
        if not self.alphas:
            raise UserError("D760", setting="SGD.alpha", value=self.alpha)
        for alpha in self.alphas:
            check_above_zero("SGD.alpha", alpha)
        check_count("SGD.passes", self.passes)
        check_count("SGD.seed", self.seed, least=0)

    @property
    def alphas(self) -> tuple[float, ...]:
        """The weights of the squared norm to choose from."""
        several = isinstance(self.alpha, Sequence) and not isinstance(self.alpha, str)
        return tuple(self.alpha) if several else (self.alpha,)  # type: ignore

    @property
    def takes(self) -> tuple[type, ...]:
        """Crossed rows and lists; with a decoder any batch."""
        return TAKES if self.decoder is None else ()

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer; see `LinearLearner.fit`."""
        if self.decoder is None:
            return LinearLearner.fit(self, batch)
        if len(batch.offsets) < 2:
            raise UserError("D705")
        examples = structures_of(batch, self.decoder)
        alpha = float(self.alphas[0])
        weights = subgradient(examples, alpha=alpha, passes=self.passes, seed=self.seed)
        if isinstance(batch, SequenceRows):
            return Fitted(ChainScorer.of_weights(weights, batch.costs.shape[1]))
        return Fitted(LinearScorer(weights))

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> SGD:
        """Return the learner with the middle one of the alphas of some fits, if all chose one."""
        found = sorted(float(each["alpha"]) for each in reports if "alpha" in each)
        return replace(self, alpha=found[len(found) // 2]) if found and len(found) == len(reports) else self

    def fit_folds(self, batch: CandidateBatch, folds: NDArray[np.int64]) -> tuple[Fitted, Floats] | None:
        """Return the scorer of all examples, and scores by those that did not see an example's fold.

        Each is what `fit` returns, but for the order of examples: it is one order, for all alike. Lists and
        sequences have no quicker way than one after another: None.
        """
        from .folds import descend_folds

        given = None if self.decoder is not None else convert(batch, *TAKES)
        if not isinstance(given, CrossedRows):
            return None
        problem = prepare(given, self.seed)
        tried: dict[str, float] = {}
        best: tuple[float, float, tuple[Floats, Floats, Floats]] | None = None
        for alpha in map(float, self.alphas):
            found = descend_folds(problem, folds, passes=self.passes, alpha=alpha)
            accuracy = float((given.costs[np.arange(len(folds)), found[0].argmax(axis=1)] == 0).mean())
            tried[f"{alpha:g}"] = accuracy
            if best is None or accuracy > best[0]:
                best = accuracy, alpha, found
        assert best is not None
        _, alpha, (held_out, coefficients, intercepts) = best
        scorer = InterceptScorer(problem.weights(coefficients, intercepts, 1)).rounded()
        report = {"seen_dimensions": len(problem.used), "alpha": alpha, "accuracy": tried}
        return Fitted(scorer, report), held_out.ravel()

    def from_state(self, arrays: Arrays) -> Any:
        """Rebuild a saved scorer."""
        if "weights" not in arrays:
            return ChainScorer.from_state(arrays)
        if self.decoder is not None:
            return LinearScorer.from_state(arrays)
        return LinearLearner.from_state(self, arrays)

    def _plain(self, problem: Problem) -> tuple[Floats, Floats]:
        settings = {"loss": "hinge", "penalty": "l2", "alpha": self.alphas[0], "learning_rate": "optimal"}
        return _by_scikit_learn(problem, settings, self.passes)

    def _masked(
        self, problem: Problem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        return _descend(
            problem, targets, keep, lanes, self.passes, threshold=1.0, alpha=float(self.alphas[0])
        )

    def _of_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        return _descend_lists(problem, keep, lanes, self.passes, margin=1.0, alpha=float(self.alphas[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassiveAggressive(LinearLearner):
    """Passive-aggressive learning, PA-I (Crammer et al. 2006).

    Parameters
    ----------
    C : float
        The largest step, in units of the row.
    passes, seed : int
        As in `Perceptron`.
    """

    C: float = 1.0
    passes: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_above_zero("PassiveAggressive.C", self.C)
        check_count("PassiveAggressive.passes", self.passes)
        check_count("PassiveAggressive.seed", self.seed, least=0)

    def _plain(self, problem: Problem) -> tuple[Floats, Floats]:
        settings = {"loss": "hinge", "penalty": None, "learning_rate": "pa1", "eta0": self.C}
        return _by_scikit_learn(problem, settings, self.passes)

    def _masked(
        self, problem: Problem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        from .kernels import passive_aggressive

        weights, intercepts = np.zeros(keep.shape), np.zeros(lanes)
        most = float(self.C)
        passive_aggressive(*problem.rows, targets, keep, self.passes, most, weights, intercepts)
        return weights, intercepts

    def _of_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        from .list_kernels import passive_aggressive

        weights, most = np.zeros(keep.shape), float(self.C)
        passive_aggressive(*problem.examples, keep, self.passes, most, problem.longest, weights, lanes)
        return weights


def _descend(
    problem: Problem,
    targets: Floats,
    keep: NDArray[np.uint8],
    lanes: int,
    passes: int,
    *,
    threshold: float,
    alpha: float,
) -> tuple[Floats, Floats]:
    from .kernels import descend

    weights, intercepts = np.zeros(keep.shape), np.zeros(lanes)
    descend(*problem.rows, targets, keep, passes, threshold, alpha, weights, intercepts)
    return weights, intercepts


def _descend_lists(
    problem: ListProblem, keep: NDArray[np.uint8], lanes: int, passes: int, *, margin: float, alpha: float
) -> Floats:
    from .list_kernels import descend

    weights = np.zeros(keep.shape)
    descend(*problem.examples, keep, passes, margin, alpha, problem.longest, weights, lanes)
    return weights


def _by_scikit_learn(problem: Problem, settings: dict[str, Any], passes: int) -> tuple[Floats, Floats]:
    """Return coefficients and intercepts of scikit-learn's estimator for each problem."""
    coefficients, intercepts = problem.zeros()
    rows = problem.matrix
    if not rows.shape[1]:  # rows without any word: scikit-learn takes no matrix without columns
        rows.resize(rows.shape[0], 1)
    for p, targets in enumerate(problem.targets):
        estimator = _estimator(settings, passes)
        try:
            estimator.fit(rows, targets)
        except ValueError as error:  # all else it refuses was checked before: sums beyond all numbers
            raise UserError("D773") from error
        coefficients[p] = estimator.coef_[0, : len(problem.used)]
        intercepts[p] = estimator.intercept_[0]
    return coefficients, intercepts


def _estimator(settings: dict[str, Any], passes: int) -> Any:
    """Return an estimator that passes over the rows as they lie.

    scikit-learn has had PA-I as a learning rate since 1.8, and before as a class that is now deprecated.
    """
    import sklearn

    order = {"max_iter": passes, "tol": None, "shuffle": False}
    version = tuple(int(number) for number in sklearn.__version__.split(".")[:2])
    if settings["learning_rate"] == "pa1" and version < (1, 8):
        from sklearn.linear_model import PassiveAggressiveClassifier

        return PassiveAggressiveClassifier(C=settings["eta0"], loss="hinge", **order)
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(**settings, **order)
