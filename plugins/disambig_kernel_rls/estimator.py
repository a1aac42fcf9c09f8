"""Regularised least squares with kernels as a scikit-learn classifier.

Importing this module imports scikit-learn; nothing else in the plugin imports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from disambig.api import Columns, CrossedRows, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import LARGEST_NUMBER, CrossedColumns
from disambig.api.settings import choice

from .rls.kernel_functions import (
    NORMALISATIONS,
    REGULARISATION,
    WEIGHT_CHOICES,
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    divide_by_sum,
    group_weights_constraint,
)
from .rls.learners import FeatureGroups, column_weights, group_weights
from .rls.scorers import find_winners
from .rls.systems import (
    DualSystem,
    LinearSystem,
    PrimalSystem,
    RLSProblem,
    best_regularisation,
    leave_one_out_quality,
)

ROW_KERNELS = ("linear", "poly", "rbf")
NAMES = (*ROW_KERNELS, "precomputed")


class RLSClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Regularised least squares with a kernel, each class against all others, without an intercept.

    After Popescu (2004). For each class, ``min_f 1/n sum_i (y_i - f(x_i))^2 + alpha |f|^2`` is solved with
    targets of one and minus one; all classes share one factorisation. The class with the highest score is
    predicted; among equal scores, the class with the most examples. Each fit includes leave-one-out scores in
    closed form.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable
        A callable takes two matrices of normalised rows, which are sparse if X is, and returns the kernel of
        each pair. With "precomputed" X is the kernel matrix, which is used unchanged.
    normalise : {"row", "groups", "none"}
        Whether rows are scaled to length one, as a whole or per group of features (see `groups`).
    groups : array-like of int of shape (n_features,), optional
        The group of each feature, from 0 to below n_features, for `normalise` "groups". By default all
        features are in one group.
    group_weights : array-like of shape (n_groups,), "alignment" or "loo", optional
        Weight of each group in the sum of their kernels; weights are divided by their sum. Equal by default.
        "alignment": by the centred kernel-target alignment; "loo": by a search with leave-one-out.
    alpha : float or "loo"
        The regularisation (lambda); "loo" chooses the value with the best leave-one-out accuracy.
    gamma : float
        For "rbf": ``exp(-gamma |x - y|^2)``.
    degree : int
    coef0 : float
        For "poly": ``(<x, y> + coef0) ** degree``, divided by its largest value if rows are normalised.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    alpha_ : float
    loo_score_ : float
        Share of the examples that the model trained on all others decides correctly, at the same ``n alpha``.
    loo_decision_function_ : array of shape (n,) for two classes, otherwise (n, n_classes)
        The scores of each example by the model trained on all others.
    coef_ : array of shape (1, n_features) for two classes, otherwise (n_classes, n_features)
        Weights of the normalised features, if the kernel is linear.
    dual_coef_ : array of shape (n, 1) for two classes, otherwise (n, n_classes)
        Absent if the kernel is linear and there are fewer features than examples.
    group_weights_ : array of shape (n_groups,)
        Only if `normalise` is "groups".
    n_features_in_ : int
    """

    def __init__(
        self,
        kernel: Any = "linear",
        normalise: str = "row",
        groups: Any = None,
        group_weights: Any = None,
        alpha: float | str = 1e-9,
        gamma: float = 1.0,
        degree: int = 2,
        coef0: float = 1.0,
    ) -> None:
        self.kernel = kernel
        self.normalise = normalise
        self.groups = groups
        self.group_weights = group_weights
        self.alpha = alpha
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any) -> RLSClassifier:
        """Learn from rows X, sparse or dense, of shape (n, n_features), and class labels y.

        Raises
        ------
        UserError
            D452, D513, D760, D776 to D778, D780, D783 and D784 for invalid parameters, D706 for y, D773 for
            numbers that are too large, D779 and D782 for an unusable kernel matrix.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        for name in ("coef_", "dual_coef_", "group_weights_", "X_fit_"):  # from an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        REGULARISATION.check("alpha", self.alpha)
        if not callable(self.kernel):
            choice("D778", NAMES).check("kernel", self.kernel)
        choice("D778", NORMALISATIONS).check("normalise", self.normalise)
        for option in ("groups", "group_weights"):
            if getattr(self, option) is not None:
                choice("D778", ("groups",)).check(f"normalise, with {option},", self.normalise)
                if not callable(self.kernel):
                    choice("D778", ROW_KERNELS).check(f"kernel, with {option},", self.kernel)
        self.classes_, right = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise UserError("D706", seen=self.classes_.tolist()[0])
        if np.abs(X.data if hasattr(X, "indptr") else X).max() > LARGEST_NUMBER:
            raise UserError("D773")
        targets = np.where(np.arange(len(self.classes_)) == right[:, None], 1.0, -1.0)
        problem = RLSProblem(self._training_rows(X, targets), np.zeros(0, np.int32), targets)
        system = self._system(problem.rows)
        self.alpha_ = best_regularisation(problem, system)[0] if self.alpha == "loo" else float(self.alpha)
        solution, left_out = system.solve_left_out(targets, len(targets) * self.alpha_)
        self.loo_score_ = leave_one_out_quality(problem, left_out).accuracy
        self.class_count_ = problem.frequencies
        self.loo_decision_function_ = left_out[:, 1] if len(self.classes_) == 2 else left_out
        if len(self.classes_) == 2:  # the scores of the first class are those of the second, negated
            solution = solution[:, 1:]
        if isinstance(system, DualSystem):
            self.dual_coef_ = solution
        if self.kernel == "linear":
            self.coef_ = np.ascontiguousarray(column_weights(system, solution, problem.rows).T)
        elif self.kernel != "precomputed":
            self.X_fit_ = problem.rows
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores, shape (n, n_classes); for two classes that of the second, shape (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        rows = self._rows(X)
        if self.kernel == "linear":
            scores = rows @ self.coef_.T
        else:
            scores = self._gram(rows, getattr(self, "X_fit_", None)) @ self.dual_coef_
        result: Floats = np.asarray(scores)
        return result.ravel() if len(self.classes_) == 2 else result

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the highest score for each row, the most frequent one in case of ties."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        return np.asarray(self.classes_[find_winners(scores, self.class_count_)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _training_rows(self, X: Any, targets: Floats) -> Any:
        """Choose the weights of the groups and return the training rows in the form that the kernel takes."""
        self._columns = None
        if self.normalise == "groups" and self.kernel != "precomputed":
            self._columns = _columns(self.groups, X.shape[1])
            names = self._columns.group_names
            weights = self.group_weights
            if weights is not None and not isinstance(weights, str):
                values = np.asarray(weights)
                if values.shape != (len(names),):
                    raise UserError("D784", seen=values.shape, expected=len(names))
                weights = dict(zip(names, values.tolist(), strict=True))
            group_weights_constraint(WEIGHT_CHOICES).check("group_weights", weights)
            if isinstance(weights, Mapping) or weights is None:
                shares = divide_by_sum(dict.fromkeys(names, 1.0) if weights is None else weights)
                self.group_weights_ = np.array([shares[name] for name in names])
            else:
                columns = CrossedColumns(self._columns, tuple(map(str, range(targets.shape[1]))))
                batch = CrossedRows(_sparse(X), (targets < 0).astype(np.float32), columns)
                self.group_weights_ = group_weights(FeatureGroups.from_batch(batch), weights, self.alpha)
        return self._rows(X)

    def _rows(self, X: Any) -> Any:
        """Return rows in the form that the kernel takes."""
        if self.kernel == "precomputed":
            return X.toarray() if hasattr(X, "toarray") else X
        rows, columns, weights = _sparse(X), self._columns, None
        if columns is None:
            columns = _columns(None, X.shape[1])
        else:
            weights = dict(zip(columns.group_names, self.group_weights_.tolist(), strict=True))
        batch = CrossedRows(rows, np.ones((rows.shape[0], 1), np.float32), CrossedColumns(columns, ("",)))
        normalised = LinearKernel(normalise=self.normalise, weights=weights).rows(batch)
        return normalised.toarray() if callable(self.kernel) and not hasattr(X, "toarray") else normalised

    def _system(self, rows: Any) -> LinearSystem:
        """Return the linear system of the training rows, in its smaller form (primal or dual)."""
        if self.kernel == "linear" and rows.shape[1] < rows.shape[0]:
            return PrimalSystem(rows.toarray())
        return DualSystem.from_kernel(self._gram(rows, rows), rows.shape[0])

    def _gram(self, left: Any, right: Any) -> Floats:
        """Return the kernel of each pair of prepared rows."""
        if self.kernel == "precomputed":
            return np.asarray(left)
        if callable(self.kernel):
            return np.asarray(self.kernel(left, right), np.float64)
        if self.kernel == "rbf":
            return GaussianKernel(gamma=self.gamma).gram(left, right)
        if self.kernel == "poly":
            # the rows are normalised already; the kernel only needs to know whether they are
            normalise = "none" if self.normalise == "none" else "row"
            kernel = PolynomialKernel(degree=self.degree, offset=self.coef0, normalise=normalise)
            return kernel.gram(left, right)
        return LinearKernel().gram(left, right)


def _sparse(X: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array(X)


def _columns(groups: Any, width: int) -> Columns:
    """Return columns in groups named "0", "1", ...; a single group if `groups` is None."""
    group_of = np.zeros(width, np.int32) if groups is None else np.asarray(groups)
    if group_of.shape != (width,) or group_of.dtype.kind not in "iu":
        seen = group_of.shape if group_of.shape != (width,) else group_of.dtype
        raise UserError("D783", seen=seen, expected=width)
    if group_of.min(initial=0) < 0 or group_of.max(initial=0) >= width:
        raise UserError("D783", seen=f"{group_of.min()} to {group_of.max()}", expected=width)
    names = tuple(str(g) for g in range(int(group_of.max(initial=0)) + 1))
    return Columns(np.full(width, -1, np.int32), group_of.astype(np.int32), names)
