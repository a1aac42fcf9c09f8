"""Perceptron, SGD with hinge loss and passive-aggressive learning: scikit-learn's, and under masks.

Without masks they are scikit-learn's estimators; under masks `kernels` takes the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError

from ..checks import check_above_zero, check_count
from .learner import LinearLearner
from .problem import Problem

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
    needs_training: bool = True

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SGD(LinearLearner):
    """Stochastic gradient descent on the hinge loss and the squared norm of the weights (Zhang 2004).

    The steps fall as scikit-learn's "optimal" ones: ``1 / (alpha (t0 + t))``, t0 as in Bottou's heuristic.

    Parameters
    ----------
    alpha : float
        Weight of half the squared norm.
    passes, seed : int
        As in `Perceptron`.
    """

    alpha: float = 1e-4
    passes: int = 5
    seed: int = 0
    needs_training: bool = True

    def __post_init__(self) -> None:
        check_above_zero("SGD.alpha", self.alpha)
        check_count("SGD.passes", self.passes)
        check_count("SGD.seed", self.seed, least=0)

    def _plain(self, problem: Problem) -> tuple[Floats, Floats]:
        settings = {"loss": "hinge", "penalty": "l2", "alpha": self.alpha, "learning_rate": "optimal"}
        return _by_scikit_learn(problem, settings, self.passes)

    def _masked(
        self, problem: Problem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        return _descend(problem, targets, keep, lanes, self.passes, threshold=1.0, alpha=float(self.alpha))


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
    needs_training: bool = True

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
