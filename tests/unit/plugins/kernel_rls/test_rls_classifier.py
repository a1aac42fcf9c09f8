"""RLSClassifier: scikit-learn's conventions, the learners behind it, kernels, leave-one-out, errors."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_kernel_rls import RLSClassifier
from disambig_kernel_rls.rls import RLSC, GaussianKernel, LinearKernel, PolynomialKernel, RLSCComb
from scipy.sparse import csr_array
from sense_rows import make_rows, rows_of
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import estimator_checks_generator

from disambig.errors import UserError

CHECKED = {
    "linear": RLSClassifier(),
    "as-it-is": RLSClassifier(normalise="none", alpha="loo"),
    "rbf": RLSClassifier("rbf", normalise="none"),
    "poly": RLSClassifier("poly", alpha="loo"),
    "groups": RLSClassifier(normalise="groups", group_weights="loo"),
    "precomputed": RLSClassifier("precomputed", alpha=1e-3),
    "callable": RLSClassifier(cosine_similarity, alpha=1e-6),
}
PLAIN = ("linear", "poly", "precomputed")  # the others are slow only because there are many
CHECKS = [
    pytest.param(
        estimator,
        check,
        id=f"{name}-{i}-{getattr(check, 'func', check).__name__}",
        marks=() if name in PLAIN else pytest.mark.slow,
    )
    for name, classifier in CHECKED.items()
    for i, (estimator, check) in enumerate(estimator_checks_generator(classifier))
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_examples(n=60, width=40, senses=3, *, seed=0):
    """Return counts, sparse, and the senses by name."""
    batch = make_rows(n, width, senses, seed=seed)
    return batch.rows, np.array(["bank", "money", "river"])[batch.costs.argmin(axis=1)]


def as_batch(X, y, groups=None):
    return rows_of(X, np.unique(y, return_inverse=True)[1], groups=groups, group_names=("0", "1"))


@pytest.mark.parametrize("width", [40, 90])
@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ({}, LinearKernel()),
        ({"normalise": "none"}, LinearKernel(normalise="none")),
        ({"kernel": "rbf", "gamma": 0.3}, GaussianKernel(gamma=0.3)),
        ({"kernel": "poly", "degree": 3, "coef0": 2.0}, PolynomialKernel(degree=3, offset=2.0)),
        ({"kernel": "poly", "normalise": "none"}, PolynomialKernel(normalise="none")),
    ],
    ids=str,
)
def test_equal_to_the_learner(settings, kernel, width):
    (X, y), (new, labels) = make_examples(width=width), make_examples(20, width, seed=1)
    for alpha in (1e-4, "loo"):
        fitted = RLSClassifier(alpha=alpha, **settings).fit(X, y)
        learned = RLSC(kernel=kernel, regularisation=alpha).fit(as_batch(X, y))
        expected = learned.scorer.scores(as_batch(new, labels)).reshape(20, 3)
        assert fitted.decision_function(new) == pytest.approx(expected, abs=3e-6)
        assert fitted.alpha_ == learned.report["regularisation"]
        assert fitted.predict(new).tolist() == fitted.classes_[expected.argmax(axis=1)].tolist()


@pytest.mark.parametrize("weights", [None, [3.0, 1.0], "alignment", "loo"], ids=str)
def test_feature_groups(weights):
    (X, y), (new, labels) = make_examples(), make_examples(20, seed=1)
    groups = np.arange(40) % 2
    fitted = RLSClassifier(normalise="groups", groups=groups, group_weights=weights, alpha=1e-4).fit(X, y)
    named = dict(zip("01", weights, strict=True)) if isinstance(weights, list) else weights
    batch = as_batch(X, y, groups.astype(np.int32))
    learned = RLSCComb(weights=named, regularisation=1e-4).fit(batch)
    assert fitted.group_weights_ == pytest.approx(list(learned.report["weights"].values()))
    test = as_batch(new, labels, groups.astype(np.int32))
    expected = learned.scorer.scores(test).reshape(20, 3)
    assert fitted.decision_function(new) == pytest.approx(expected, abs=3e-6)
    gaussian = RLSClassifier("rbf", "groups", groups, weights, alpha=1e-4).fit(X, y)
    kernel = GaussianKernel(normalise="groups", weights=dict(zip("01", gaussian.group_weights_, strict=True)))
    scores = RLSC(kernel=kernel, regularisation=1e-4).fit(batch).scorer.scores(test)
    assert gaussian.decision_function(new).ravel() == pytest.approx(scores, abs=3e-6)


def test_two_classes():
    X, y = make_examples(senses=2)
    fitted = RLSClassifier("rbf", alpha=1e-2).fit(X, y)
    theirs = KernelRidge(kernel="rbf", gamma=1.0, alpha=60 * 1e-2)
    theirs.fit(normalize(X), np.where(y == "money", 1.0, -1.0))
    assert fitted.dual_coef_ == pytest.approx(theirs.dual_coef_[:, None], abs=1e-9)
    assert fitted.decision_function(X) == pytest.approx(theirs.predict(normalize(X)), abs=1e-9)
    assert fitted.loo_decision_function_.shape == (60,)
    linear = RLSClassifier(alpha=1e-2).fit(X, y)
    assert linear.coef_.shape == (1, 40)
    assert not hasattr(linear, "dual_coef_")
    assert normalize(X) @ linear.coef_[0] == pytest.approx(linear.decision_function(X))


def test_precomputed_and_callable_kernels():
    (X, y), (new, _) = make_examples(), make_examples(20, seed=1)
    expected = RLSClassifier("rbf", gamma=0.5, alpha=1e-3).fit(X, y).decision_function(new)
    rows, others = normalize(X), normalize(new)
    gram = GaussianKernel(gamma=0.5).gram(csr_array(rows), csr_array(rows))
    cross = GaussianKernel(gamma=0.5).gram(csr_array(others), csr_array(rows))
    for kernel in (gram, csr_array(gram)):
        fitted = RLSClassifier("precomputed", alpha=1e-3).fit(kernel, y)
        assert fitted.decision_function(cross) == pytest.approx(expected, abs=1e-9)
    called = RLSClassifier(GaussianKernel(gamma=0.5).gram, alpha=1e-3).fit(X, y)
    assert called.decision_function(new) == pytest.approx(expected, abs=1e-9)

    def laplacian(left, right):
        return laplacian_kernel(left.toarray(), right.toarray())

    theirs = laplacian_kernel(others.toarray(), rows.toarray())
    fitted = RLSClassifier(laplacian, alpha=1e-3).fit(X, y)
    assert fitted.decision_function(new) == pytest.approx(theirs @ fitted.dual_coef_, abs=1e-9)


@pytest.mark.parametrize("width", [15, 90])
@pytest.mark.parametrize("senses", [2, 3])
def test_leave_one_out_equals_scikit_learn(width, senses):
    X, y = make_examples(40, width, senses)
    classifier = RLSClassifier(alpha=1e-2 * 39 / 40).fit(X, y)
    refitted = cross_val_predict(
        RLSClassifier(alpha=1e-2), X, y, cv=LeaveOneOut(), method="decision_function"
    )
    assert classifier.loo_decision_function_ == pytest.approx(refitted, abs=1e-8)
    scores = refitted if senses == 3 else np.column_stack([-refitted, refitted])
    assert classifier.loo_score_ == pytest.approx(np.mean(classifier.classes_[scores.argmax(axis=1)] == y))


def test_sparse_and_dense_rows_are_the_same():
    (X, y), (new, _) = make_examples(), make_examples(20, seed=1)
    for classifier in CHECKED.values():
        if classifier.kernel != "precomputed":
            sparse = clone(classifier).fit(X, y).decision_function(new)
            dense = clone(classifier).fit(X.toarray(), y).decision_function(new.toarray())
            assert dense == pytest.approx(sparse, abs=1e-6)


def test_second_fits_and_grid_searches():
    X, y = make_examples()
    classifier = RLSClassifier("rbf").fit(X, y)
    classifier.set_params(kernel="linear").fit(X, y)
    assert not hasattr(classifier, "dual_coef_") and not hasattr(classifier, "X_fit_")
    assert hasattr(classifier.set_params(normalise="groups").fit(X, y), "group_weights_")
    assert not hasattr(classifier.set_params(normalise="row").fit(X, y), "group_weights_")
    X, y = make_examples(120)
    grid = {"alpha": [1e-9, 1e-2, "loo"], "kernel": ["linear", "rbf"]}
    assert GridSearchCV(RLSClassifier(), grid, cv=3).fit(X, y).best_score_ > 0.6


def test_ties_go_to_the_most_frequent_class():
    X = np.zeros((5, 2))
    X[0, 0] = 1.0
    fitted = RLSClassifier().fit(X, ["a", "b", "c", "c", "a"])
    assert fitted.predict([[0.0, 0.0], [0.0, 3.0], [2.0, 0.0]]).tolist() == ["a", "a", "a"]
    fitted = RLSClassifier().fit(X, ["a", "b", "b", "b", "a"])
    assert fitted.predict([[0.0, 0.0], [2.0, 0.0]]).tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"kernel": "sigmoid"}, "D778"),
        ({"kernel": None}, "D778"),
        ({"normalise": "l2"}, "D778"),
        ({"alpha": 0.0}, "D776"),
        ({"alpha": "cv"}, "D776"),
        ({"alpha": np.array([1.0, 2.0])}, "D776"),
        ({"alpha": 1e308}, "D776"),
        ({"normalise": np.array(["row", "none"])}, "D778"),
        ({"kernel": "poly", "degree": 10**400}, "D513"),
        ({"normalise": "groups", "groups": [10**7] * 40}, "D783"),
        ({"kernel": "rbf", "gamma": 0.0}, "D760"),
        ({"kernel": "rbf", "gamma": 10**400}, "D760"),
        ({"kernel": "poly", "degree": 0}, "D452"),
        ({"kernel": "poly", "coef0": -1.0}, "D780"),
        ({"normalise": "groups", "groups": [0, 1]}, "D783"),
        ({"normalise": "groups", "groups": [-1] * 40}, "D783"),
        ({"normalise": "groups", "groups": [0.5] * 40}, "D783"),
        ({"normalise": "groups", "group_weights": [1.0, 2.0]}, "D784"),
        ({"normalise": "groups", "group_weights": "equal"}, "D777"),
        ({"normalise": "groups", "group_weights": [-1.0]}, "D777"),
        ({"group_weights": [1]}, "D778"),
        ({"group_weights": "alignment"}, "D778"),
        ({"groups": [0, 1]}, "D778"),
        ({"groups": [0] * 40, "normalise": "none"}, "D778"),
        ({"kernel": "precomputed", "normalise": "groups", "group_weights": "loo"}, "D778"),
        ({"kernel": lambda left, right: np.ones((2, 2))}, "D782"),
        ({"kernel": lambda left, right: np.full((60, 60), np.nan)}, "D782"),
        ({"kernel": "precomputed"}, "D782"),
    ],
)
def test_invalid_settings(settings, code):
    X, y = make_examples()
    estimator = RLSClassifier(**settings)  # scikit-learn's manner: nothing is checked before fit
    with pytest.raises(UserError, match=code):
        estimator.fit(X, y)


def test_groups_are_for_rows_normalised_by_group():
    X, y = make_examples()
    with pytest.raises(UserError, match=r"normalise, with group_weights, is 'row'; available: groups"):
        RLSClassifier(group_weights=[1]).fit(X, y)
    with pytest.raises(UserError, match=r"kernel, with groups, is 'precomputed'"):
        RLSClassifier("precomputed", "groups", [0] * 60).fit(X @ X.T, y)
    by_group = RLSClassifier(cosine_similarity, "groups", [0] * 40, "loo").fit(X, y)
    assert by_group.group_weights_.tolist() == [1.0]
    with pytest.raises(UserError, match=r"D706.*'bank'"):
        RLSClassifier().fit(X, ["bank"] * len(y))


@pytest.mark.parametrize("normalise", ["row", "groups"])
def test_scale_of_the_numbers(normalise):
    X, y = make_examples()
    expected = RLSClassifier(normalise=normalise).fit(X, y).decision_function(X)
    for rows in (X * 1e-170, X.toarray() * 1e-170, X * 1e90):
        result = RLSClassifier(normalise=normalise).fit(rows, y).decision_function(rows)
        assert result == pytest.approx(expected, abs=1e-6)
    for rows in (X * 1e120, X.toarray() * 1e120):
        with pytest.raises(UserError, match="D773"):
            RLSClassifier(normalise="none").fit(rows, y)


def test_callable_kernels_get_rows_of_the_given_type():
    def squared(left, right):
        assert isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
        return (left @ right.T + 1) ** 2

    X, y = np.eye(6) + 0.1, [0, 1, 0, 1, 0, 1]
    mine = RLSClassifier(kernel=squared, alpha=1e-3).fit(X, y)
    ours = RLSClassifier(kernel="poly", degree=2, coef0=1.0, alpha=1e-3 / 4).fit(X, y)  # divided by 4
    np.testing.assert_array_equal(mine.predict(X), ours.predict(X))
    np.testing.assert_allclose(mine.decision_function(X), ours.decision_function(X), rtol=1e-6)
