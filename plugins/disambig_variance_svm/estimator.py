"""VAR-SVM and CS-SVM as a scikit-learn classifier for feature matrices from any source.

Importing this module imports scikit-learn; nothing else in the plugin imports it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from disambig.api import Columns, DenseBlocks, UserError
from disambig.api.arrays import Floats
from disambig.api.settings import SVM_C

from .learners._fitting import real_numbers
from .svm.problem import Regulariser
from .svm.solvers import solve


class VarianceRegularizedSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Multi-class SVM with class-specific attributes and low-variance weights.

    Minimises ``R(w) + C sum_i max_r [1 + s_ir - s_iy]_+`` over the examples i and the wrong classes r, where
    s_ir is the weighted sum of the attributes of class r (Bergsma, Lin and Schuurmans 2010).

    ==============================  ==================================================================
    neither argument                K-SVM (Crammer-Singer): every class weighs every attribute
    `attribute_class`               CS-SVM: every attribute belongs to one class only
    `attribute_class` and           VAR-SVM: the weights of each variance group are pulled together
    `variance_group`
    ==============================  ==================================================================

    Parameters
    ----------
    attribute_class : array-like of shape (n_features,), optional
        The class that each attribute belongs to. Classes named here are candidates even if training has no
        example of them. None: every attribute is shared by all classes.
    variance_group : array-like of shape (n_features,), optional
        The variance group of each attribute's weights, with any labels; None or NaN for an attribute means
        L2. If the argument is None, all weights get L2.
    p : array-like of shape (n_features,), optional
        Share of each attribute's weights in the regulariser, scaled to a sum of 1 over all weights;
        0 means not regularised, as for a bias. None: uniform.
    C : float
        Weight of the losses. With `variance_group` R is that of the paper's eq. (6) and (7),
        ``1/2 sum_i p_i (w_i - m_g(i))^2`` with m_g the mean of the group and zero for L2, p uniform
        1/N over the N weights. Without it R is ``1/2 sum_i N p_i w_i^2``, for a uniform p
        ``1/2 ||w||^2`` as in ``LinearSVC(multi_class="crammer_singer")``. With variance groups, the same
        balance of losses and regulariser therefore needs a C that is smaller by the factor N.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (n_classes, n_features)
        Zero if an attribute does not belong to a class. There is no intercept: add a constant attribute,
        with `attribute_class` one for each class.
    gap_ : float
        Certified relative duality gap; a warning is issued if it is above 1e-3.
    n_iter_ : int
        Newton steps.
    """

    def __init__(
        self,
        attribute_class: ArrayLike | None = None,
        variance_group: ArrayLike | None = None,
        p: ArrayLike | None = None,
        C: float = 1.0,
    ) -> None:
        self.attribute_class = attribute_class
        self.variance_group = variance_group
        self.p = p
        self.C = C

    def fit(self, X: Any, y: Any) -> VarianceRegularizedSVC:
        """Learn from attributes X of shape (n, n_features) and class labels y.

        Raises
        ------
        UserError
            D700 for C, D702 for p, D703 for X, D706 for y, D707 to D709 for the labels of attributes.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
        check_classification_targets(y)
        _check_finite(X)
        SVM_C.check("C", self.C)
        seen, right = np.unique(y, return_inverse=True)
        if len(seen) < 2:
            raise UserError("D706", seen=seen.tolist()[0])
        classes = self._attribute_classes(seen, X.shape[1])
        right = np.searchsorted(self.classes_, seen)[right]
        k, width = len(self.classes_), X.shape[1]
        if classes is None:
            solution = solve(_shared_blocks(X, right, k), self._regulariser(width, k), float(self.C))
            self.coef_ = solution.weights.reshape(k, width)
        else:
            batch = _class_specific_blocks(X, right, k, classes)
            solution = solve(batch, self._regulariser(width, 1), float(self.C))
            self.coef_ = np.zeros((k, width))
            self.coef_[classes, np.arange(width)] = solution.weights
        self.gap_, self.n_iter_ = solution.gap, solution.n_iter
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores, shape (n, n_classes); for two classes the second's minus the first's, (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite=False)
        _check_finite(X)
        scores: Floats = X @ self.coef_.T
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the highest score for each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _attribute_classes(self, seen: NDArray[Any], width: int) -> NDArray[np.int64] | None:
        """Set `classes_`; return the class index of each attribute, or None if classes share attributes."""
        self.classes_ = seen
        if self.attribute_class is None:
            return None
        labels = _attribute_labels("attribute_class", self.attribute_class, width)
        without = [i for i, label in enumerate(labels.tolist()) if _is_missing(label)]
        if without:
            raise UserError("D709", n=len(without), attribute=without[0])
        labels = np.array(labels.tolist())  # an object array becomes one of the same type as y
        missing = [label for label in seen.tolist() if label not in set(labels.tolist())]
        if missing:
            raise UserError("D708", seen=missing[0])
        self.classes_, classes = np.unique(labels, return_inverse=True)
        return classes.astype(np.int64)

    def _regulariser(self, width: int, copies: int) -> Regulariser:
        """Return the regulariser of `copies` weights for each of `width` attributes."""
        p = np.ones(width)
        if self.p is not None:
            p = _check_p(_attribute_labels("p", self.p, width))
        strength = np.tile(p, copies) / (copies * p.sum())
        if self.variance_group is None:
            return Regulariser(strength * len(strength), np.full(len(strength), -1, np.int64))
        labels = _attribute_labels("variance_group", self.variance_group, width).tolist()
        numbers = {label: i for i, label in enumerate(dict.fromkeys(x for x in labels if not _is_missing(x)))}
        subset = np.array([-1 if _is_missing(label) else numbers[label] for label in labels], np.int64)
        return Regulariser(strength, np.tile(subset, copies))


def _attribute_labels(argument: str, labels: ArrayLike, width: int) -> NDArray[Any]:
    """Return an argument that has one entry per attribute as an array; D707 for any other shape."""
    mixed = isinstance(labels, list | tuple) and any(_is_missing(label) for label in labels)
    try:
        array = np.array(labels, dtype=object) if mixed else np.asarray(labels)
    except ValueError as error:  # rows of different lengths
        raise UserError("D707", argument=argument, seen="of no array", expected=width) from error
    if array.shape != (width,):
        raise UserError("D707", argument=argument, seen=array.shape, expected=width)
    return array


def _is_missing(label: Any) -> bool:
    """Return True if a label is None or NaN."""
    return label is None or (isinstance(label, float | np.floating) and bool(np.isnan(label)))


def _check_p(values: NDArray[Any]) -> Floats:
    """Return `p` divided by its largest number, because the sum of large numbers may overflow."""
    p = real_numbers(values)
    if p is None:
        raise UserError("D702", problem="it contains values that are not numbers")
    if not np.isfinite(p).all() or p.min() < 0 or p.max() == 0:
        raise UserError("D702", problem=f"smallest {p.min():g}, largest {p.max():g}")
    return p / p.max()


def _check_finite(X: Floats) -> None:
    """Raise D703 if a value is NaN or infinite, or becomes infinite in single precision."""
    # examples are stored as float32; a NaN makes the comparison false and takes the slow path
    if np.abs(X).max(initial=0.0) < np.finfo(np.float32).max:
        return
    bad = np.argwhere(~(np.abs(X) < np.finfo(np.float32).max))
    raise UserError("D703", n=len(bad), example=int(bad[0, 0]), attribute=f", attribute {bad[0, 1]}")


def _shared_blocks(X: Floats, right: NDArray[np.int64], k: int) -> DenseBlocks:
    """Return a batch in which each class has its own weights for all attributes; X is not copied."""
    n, width = X.shape
    values = np.broadcast_to(X.astype(np.float32)[:, None, :], (n, k, width))
    columns = Columns.of_group("attributes", k * width)
    return DenseBlocks(values, np.arange(k * width).reshape(k, width), columns, _costs(right, n, k))


def _class_specific_blocks(
    X: Floats, right: NDArray[np.int64], k: int, classes: NDArray[np.int64]
) -> DenseBlocks:
    """Return a batch of each class's own attributes, padded with zeros for classes with fewer."""
    columns_of_class = [np.flatnonzero(classes == r) for r in range(k)]
    values = np.zeros((len(X), k, max(map(len, columns_of_class))), np.float32)
    column_of = np.zeros(values.shape[1:], np.int64)
    for r, columns in enumerate(columns_of_class):
        values[:, r, : len(columns)] = X[:, columns]
        column_of[r, : len(columns)] = columns
    all_columns = Columns.of_group("attributes", X.shape[1])
    return DenseBlocks(values, column_of, all_columns, _costs(right, len(X), k))


def _costs(right: NDArray[np.int64], n: int, k: int) -> NDArray[np.float32]:
    costs = np.ones((n, k), np.float32)
    costs[np.arange(n), right] = 0.0
    return costs
