"""Averages over random subspaces as a scikit-learn classifier.

Importing this module imports scikit-learn; nothing else in the plugin imports it.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from disambig.api import Columns, CrossedRows, UserError, nearest_first
from disambig.api.arrays import Floats
from disambig.api.batches import check_numbers

from .learners.linear import SGD, ConfidenceWeighted, LinearLearner, PassiveAggressive, Perceptron
from .learners.random_subspaces import RandomSubspaces

NAMES = ("cw", "pa", "perceptron", "sgd")


class RandomSubspaceClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Average of linear classifiers, each trained without a random subset of the features.

    It is meant for test documents from other domains than the training documents, in which many training
    words are missing (Søgaard and Johannsen 2012). The result is a single linear model, regardless of the
    number of subspaces. Two classes are one binary problem; of more classes, each is separated from all
    others.

    Parameters
    ----------
    estimator : {"sgd", "perceptron", "pa", "cw"}
        Hinge loss with L2 penalty; perceptron; passive-aggressive (PA-I); confidence-weighted.
    n_subspaces : int
    removal_rate : float
        Share of the features that each subspace removes, in [0, 1).
    passes : int
        Passes over the examples in each subspace.
    alpha : float
        For "sgd": weight of half the squared norm.
    C : float
        For "pa": maximum step size.
    confidence : float
        For "cw": the probability of a correct decision that each example requires, above 0.5 and below 1.
    random_state : int, RandomState or None
        Order of the examples, and choice of the subspaces. An integer gives bit-identical weights.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) for two classes, otherwise (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    n_features_in_ : int
    """

    def __init__(
        self,
        estimator: str = "sgd",
        n_subspaces: int = 100,
        removal_rate: float = 0.1,
        passes: int = 5,
        alpha: float = 1e-4,
        C: float = 1.0,
        confidence: float = 0.9,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_subspaces = n_subspaces
        self.removal_rate = removal_rate
        self.passes = passes
        self.alpha = alpha
        self.C = C
        self.confidence = confidence
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> RandomSubspaceClassifier:
        """Learn from rows X, sparse or dense, of shape (n, n_features), and class labels y.

        Raises
        ------
        UserError
            D452, D457, D760, D770, D771 and D775 for parameters, D706 for y, D772 and D773 for X.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False)
        check_classification_targets(y)
        learner = self._learner()
        rows = _finite_rows(X)
        self.classes_, right = np.unique(y, return_inverse=True)
        n_classes, width = len(self.classes_), rows.shape[1]
        if n_classes < 2:
            raise UserError("D706", seen=self.classes_.tolist()[0])
        costs = np.ones((len(right), n_classes), np.float32)
        costs[np.arange(len(right)), right] = 0.0
        columns = Columns.of_group("features", width, candidates=n_classes)
        scorer: Any = learner.fit(CrossedRows(rows, costs, columns)).scorer
        weights = scorer.weights.reshape(n_classes, width + 1)
        if n_classes == 2:  # the weights that separate the second class from the first
            weights = weights[1:] - weights[:1]
        self.coef_, self.intercept_ = weights[:, :-1].copy(), weights[:, -1].copy()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores, shape (n, n_classes); for two classes the score of the second, shape (n,)."""
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, reset=False, ensure_all_finite=False
        )
        scores: Floats = np.asarray(_finite_rows(X) @ self.coef_.T + self.intercept_)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the highest score for each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learner(self) -> RandomSubspaces:
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        order: dict[str, Any] = {"passes": self.passes, "seed": seed}
        base: LinearLearner
        if self.estimator == "sgd":
            base = SGD(alpha=self.alpha, **order)
        elif self.estimator == "perceptron":
            base = Perceptron(**order)
        elif self.estimator == "pa":
            base = PassiveAggressive(C=self.C, **order)
        elif self.estimator == "cw":
            base = ConfidenceWeighted(confidence=self.confidence, **order)
        else:
            raise UserError("D775", value=self.estimator, names=nearest_first(str(self.estimator), NAMES))
        return RandomSubspaces(
            base=base, n_subspaces=self.n_subspaces, removal_rate=self.removal_rate, seed=seed
        )


def _finite_rows(X: Any) -> Any:
    from scipy.sparse import csr_array

    rows = csr_array(X)
    check_numbers(rows)
    return rows
