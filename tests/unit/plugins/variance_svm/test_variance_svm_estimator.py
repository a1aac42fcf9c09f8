"""The scikit-learn estimator: its conventions, the systems of the paper, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm import VarianceRegularizedSVC
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from disambig.errors import UserError

CHECKS = list(estimator_checks_generator(VarianceRegularizedSVC()))


def check_name(check):
    return getattr(check, "func", check).__name__


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[f"{i}-{check_name(check)}" for i, (_, check) in enumerate(CHECKS)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_counts(n=60, k=3, patterns=4, *, seed=0):
    """Return filled-pattern counts of k fillers, the right filler's larger, with their classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    X = np.log1p(rng.poisson(2.0, (n, k, patterns)))
    X[np.arange(n), y] += rng.exponential(1.0, (n, patterns))
    words = np.array(["in", "of", "on", "to", "by"])[:k]
    return X.reshape(n, -1), words[y], np.repeat(words, patterns)


def test_default_is_the_k_svm():
    X, y, _ = make_counts(40)
    X = StandardScaler().fit_transform(X)
    ours = VarianceRegularizedSVC(C=0.1).fit(X, y)
    theirs = LinearSVC(
        multi_class="crammer_singer", C=0.1, fit_intercept=False, tol=1e-8, max_iter=10**5, random_state=0
    ).fit(X, y)
    assert objective(ours.coef_, X, y, 0.1) == pytest.approx(objective(theirs.coef_, X, y, 0.1), rel=1e-3)


def objective(coef, X, y, C):
    right = np.unique(y, return_inverse=True)[1]
    scores = X @ coef.T
    losses = 1 + scores - scores[np.arange(len(X)), right][:, None]
    losses[np.arange(len(X)), right] = 0.0
    return 0.5 * np.sum(coef**2) + C * losses.max(axis=1).sum()


def test_attributes_count_for_their_own_class_only():
    X, y, owner = make_counts()
    fitted = VarianceRegularizedSVC(attribute_class=owner).fit(X, y)
    assert (fitted.coef_[np.unique(owner)[:, None] != owner] == 0).all()
    assert fitted.gap_ <= 1e-3
    assert fitted.score(X, y) > 0.9


def test_a_low_variance_svm_with_little_loss_weight_is_the_sum():
    X, y, owner = make_counts(seed=1)
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=["all"] * len(owner), C=1e-6)
    fitted.fit(X, y)
    used = fitted.coef_[fitted.coef_ != 0]
    assert used.std() < 1e-3 * used.mean()
    sums = np.stack([X[:, owner == label].sum(axis=1) for label in fitted.classes_], axis=1)
    assert (fitted.predict(X) == fitted.classes_[sums.argmax(axis=1)]).all()


def test_each_variance_group_has_a_mean_of_its_own():
    X, y, owner = make_counts(200)
    X[:, ::4] *= 0.1  # one pattern on another scale
    groups = ["small" if i % 4 == 0 else "large" for i in range(X.shape[1])]
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=groups, C=1e-5).fit(X, y)
    weights = fitted.coef_.sum(axis=0)
    assert weights[::4].std() < 1e-2 * abs(weights[::4].mean())
    assert weights[::4].mean() > 2 * np.delete(weights, np.s_[::4]).mean()


def test_an_attribute_without_a_variance_group_is_drawn_to_zero():
    X, y, owner = make_counts(seed=2)
    groups = [None if i % 4 == 0 else "rest" for i in range(X.shape[1])]
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=groups, C=1e-6).fit(X, y)
    weights = fitted.coef_.sum(axis=0)
    assert np.abs(weights[::4]).max() < 1e-3 < np.delete(weights, np.s_[::4]).min()


@pytest.mark.parametrize("missing", [np.nan, np.float32("nan"), None])
def test_a_missing_variance_group_is_none(missing):
    X, y, owner = make_counts(seed=2)
    for label in ("rest", 1.0):
        groups = [[none if i % 4 == 0 else label for i in range(X.shape[1])] for none in (None, missing)]
        plain, other = (VarianceRegularizedSVC(owner, group, C=1e-4).fit(X, y).coef_ for group in groups)
        assert (plain == other).all()
    array = np.array([np.nan if i % 4 == 0 else 1.0 for i in range(X.shape[1])])
    assert (VarianceRegularizedSVC(owner, array, C=1e-4).fit(X, y).coef_ == plain).all()


def test_only_proportions_of_p_count():
    """The sum of large numbers is infinite: nothing would be regularised."""
    X, y, owner = make_counts()
    p = np.arange(1.0, X.shape[1] + 1)
    plain, large, small = (
        VarianceRegularizedSVC(owner, p=scale * p, C=1e-2).fit(X, y).coef_ for scale in (1, 1e307, 1e-300)
    )
    assert large == pytest.approx(plain)
    assert small == pytest.approx(plain)


def test_a_constant_with_p_zero_is_a_free_bias():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60) + 50.0, np.ones(60)])
    y = (X[:, 0] > 50).astype(int)
    assert VarianceRegularizedSVC(p=[1, 0], C=1.0).fit(X, y).score(X, y) > 0.9
    assert VarianceRegularizedSVC(p=[1, 1], C=1.0).fit(X, y).score(X, y) < 0.9


def test_a_class_of_attributes_without_examples():
    X, y, owner = make_counts(120)
    seen = y != "on"
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=[0] * len(owner), C=1e-4)
    fitted.fit(X[seen], y[seen])
    assert fitted.classes_.tolist() == ["in", "of", "on"]
    assert np.mean(fitted.predict(X[~seen]) == "on") > 0.8


def test_classes_may_have_different_numbers_of_attributes():
    X, y, owner = make_counts()
    kept = np.delete(np.arange(len(owner)), [0, 5, 6])
    fitted = VarianceRegularizedSVC(attribute_class=owner[kept]).fit(X[:, kept], y)
    assert fitted.coef_.shape == (3, len(kept))
    assert fitted.gap_ <= 1e-3


def test_works_in_a_pipeline_and_a_grid_search():
    X, y, owner = make_counts(90)
    pipeline = make_pipeline(MaxAbsScaler(), VarianceRegularizedSVC(owner, [0] * len(owner)))
    search = GridSearchCV(pipeline, {"varianceregularizedsvc__C": [1e-4, 1e-2, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.85


BAD = {
    "D700": {"C": 0.0},
    "D700 negative": {"C": -1.0},
    "D700 NaN": {"C": float("nan")},
    "D700 none": {"C": None},
    "D700 string": {"C": "a"},
    "D700 beyond": {"C": 1e300},
    "D702 strings": {"p": ["a"] * 12},
    "D702 missing": {"p": [None] * 12},
    "D702 truths": {"p": [True] * 12},
    "D702 NaN": {"p": [1.0] * 11 + [float("nan")]},
    "D702 negative": {"p": [-1] + [1] * 11},
    "D702 zero sum": {"p": [0] * 12},
    "D707": {"attribute_class": ["in"] * 5},
    "D707 group": {"variance_group": [[0] * 12]},
    "D707 p": {"p": [1.0]},
    "D707 ragged": {"variance_group": [[0], [0, 1]] * 6},
    "D709 none": {"attribute_class": ["in"] * 4 + ["of"] * 4 + ["on"] * 3 + [None]},
    "D709 NaN": {"attribute_class": ["in"] * 4 + ["of"] * 4 + ["on"] * 3 + [float("nan")]},
    "D709 all": {"attribute_class": [None] * 12},
    "D708 mixed": {"attribute_class": np.array([1] * 4 + ["of"] * 4 + ["on"] * 4, object)},
    "D708": {"attribute_class": ["in"] * 6 + ["of"] * 6},
    "D708 other type": {"attribute_class": [1] * 6 + [2] * 6},
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_named(case):
    X, y, _ = make_counts()
    with pytest.raises(UserError, match=case[:4]):
        VarianceRegularizedSVC(**BAD[case]).fit(X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_attributes_that_are_not_numbers(bad):
    X, y, _ = make_counts()
    fitted = VarianceRegularizedSVC().fit(X, y)
    X[3, 7] = bad
    for call in (lambda: fitted.predict(X), lambda: VarianceRegularizedSVC().fit(X, y)):
        with pytest.raises(
            UserError, match=r"D703.*1 are NaN or infinite, the first in example 3, attribute 7"
        ):
            call()


def test_one_class_is_an_error():
    X, _, _ = make_counts()
    with pytest.raises(UserError, match=r"D706.*'in'"):
        VarianceRegularizedSVC().fit(X, ["in"] * len(X))


def test_fewer_examples_than_classes():
    X, y, owner = make_counts(200, k=5)
    few = [int(np.flatnonzero(y == label)[0]) for label in ("in", "of", "on")]
    fitted = VarianceRegularizedSVC(owner, [0] * len(owner), C=1e-3).fit(X[few], y[few])
    assert fitted.score(X, y) > 0.7
