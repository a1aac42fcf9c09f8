"""The solver of the variance SVM and its estimator: certificate, other solvers, facts of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm import VarianceRegularizedSVC
from disambig_variance_svm.learners import SumLM, VarianceSVM
from disambig_variance_svm.svm import Regulariser, solve
from hypothesis import given, settings, strategies as st
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from disambig.data import Columns, DenseBlocks, segments
from disambig.errors import UserError

GROUPS = ("2-gram", "3-gram", "4-gram", "bias")


def make_batch(n, k, *, seed=0, copies=None):
    """Return counts-like blocks: two 2-grams, three 3-grams, two 4-grams and a bias per candidate."""
    rng = np.random.default_rng(seed)
    kinds = np.array([0, 0, 1, 1, 1, 2, 2, 3], np.int32)
    a = len(kinds)
    right = rng.integers(k, size=n)
    values = np.log1p(rng.poisson(1.0, (n, k, a)) * rng.poisson(2.0, (n, k, 1)))
    values[np.arange(n), right] += rng.exponential(1.2, (n, a)) * (rng.random((n, a)) < 0.6)
    values[:, :, -1] = 1.0
    costs = np.ones((n, k), np.float32)
    costs[np.arange(n), right] = 0.0
    columns = Columns(np.repeat(np.arange(k, dtype=np.int32), a), np.tile(kinds, k), GROUPS)
    return DenseBlocks(values.astype(np.float32), np.arange(k * a).reshape(k, a), columns, costs)


def make_regulariser(batch, kind):
    n, group = len(batch.columns), batch.columns.groups
    strength, subset = np.full(n, 1.0 / n), np.full(n, -1, np.int64)
    for number, groups in enumerate(SUBSETS[kind]):
        subset[np.isin(group, groups)] = number
    if "free bias" in kind:
        strength[group == 3] = 0.0
    elif kind == "p not uniform":
        strength = np.random.default_rng(1).dirichlet(np.ones(n))
    elif kind == "some p zero":
        strength[np.flatnonzero(group == 1)[::4]] = 0.0
    return Regulariser(strength, subset)


SUBSETS = {
    "L2": [],
    "one subset and L2": [[1]],
    "two subsets": [[1], [2]],
    "free bias": [[1]],
    "p not uniform": [[0, 1]],
    "some p zero": [[0, 1]],
    "two subsets, free bias": [[1], [0]],
}


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_many_rows(C):
    """The curvature is approximate at first and must become exact if that is not enough."""
    batch = make_batch(3000, 34)
    regulariser = VarianceSVM(variance=("3-gram", "4-gram")).regulariser(batch)
    result = solve(batch, regulariser, C / 3000)
    assert result.gap <= 1e-3
    assert result.n_iter < 200


def test_start_and_end_of_the_solver():
    batch = make_batch(40, 3)
    regulariser = make_regulariser(batch, "one subset and L2")
    cold = solve(batch, regulariser, 0.1, tolerance=1e-5)
    other = np.random.default_rng(0).normal(size=len(batch.columns))
    warm = solve(batch, regulariser, 0.1, start=other, tolerance=1e-5)
    assert warm.primal == pytest.approx(cold.primal, rel=1e-4)
    assert batch.scores(warm.weights) == pytest.approx(batch.scores(cold.weights), abs=0.05)
    batch = make_batch(30, 3)
    with pytest.warns(UserWarning, match="stopped at a relative duality gap of"):
        result = solve(batch, make_regulariser(batch, "free bias"), 1.0, max_iter=2)
    assert result.gap > 1e-3


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_covariance_matrix(one, two, seed):
    rng = np.random.default_rng(seed)
    subset = np.array([0] * one + [1] * two + [-1, -1])
    p = np.concatenate([rng.dirichlet(np.ones(one)), rng.dirichlet(np.ones(two)), [0.5, 0.0]])
    q = Regulariser(p, subset).matrix
    w = rng.normal(size=len(p))
    assert np.linalg.eigvalsh(q).min() >= -1e-12
    variances = 0.0
    for number in (0, 1):
        inside = subset == number
        assert q[np.ix_(inside, inside)].sum() == pytest.approx(0.0, abs=1e-12)
        mean = p[inside] @ w[inside]
        variances += p[inside] @ (w[inside] - mean) ** 2
    assert w @ q @ w == pytest.approx(variances + 0.5 * w[-2] ** 2, abs=1e-9)
    assert Regulariser(p, subset).null_space @ q == pytest.approx(0.0, abs=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 200))
def test_limit_without_loss_is_the_unsupervised_sum(seed):
    patterns = ("3-gram", "4-gram")
    batch, fresh = make_batch(30, 4, seed=seed), make_batch(60, 4, seed=seed + 1000)
    fitted = VarianceSVM(C=1e-7, variance=patterns).fit(batch)
    mean = fitted.scorer.weights[batch.columns.in_groups(patterns)].mean()
    if mean < 1e-2:  # then the limit ties or reverses; see the digest
        return
    unsupervised = SumLM(patterns=patterns).fit(batch).scorer.scores(fresh)
    gaps = -np.diff(np.sort(unsupervised.reshape(60, 4), axis=1)[:, -2:], axis=1).ravel()
    clear = gaps < -1e-2  # not where the two best are as good as equal
    ours = segments.argmax(fitted.scorer.scores(fresh), fresh.offsets)
    theirs = segments.argmax(unsupervised, fresh.offsets)
    assert (ours[clear] == theirs[clear]).all()
    assert clear.sum() > 40


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
    right = np.unique(y, return_inverse=True)[1]

    def objective(coef):
        scores = X @ coef.T
        losses = 1 + scores - scores[np.arange(40), right][:, None]
        losses[np.arange(40), right] = 0.0
        return 0.5 * np.sum(coef**2) + 0.1 * losses.max(axis=1).sum()

    ours = VarianceRegularizedSVC(C=0.1).fit(X, y)
    settings = {"C": 0.1, "fit_intercept": False, "tol": 1e-8, "max_iter": 10**5, "random_state": 0}
    theirs = LinearSVC(multi_class="crammer_singer", **settings).fit(X, y)
    assert objective(ours.coef_) == pytest.approx(objective(theirs.coef_), rel=1e-3)


def test_owners_of_attributes():
    X, y, owner = make_counts()
    fitted = VarianceRegularizedSVC(attribute_class=owner).fit(X, y)
    assert (fitted.coef_[np.unique(owner)[:, None] != owner] == 0).all()
    assert fitted.gap_ <= 1e-3
    assert fitted.score(X, y) > 0.9
    X, y, owner = make_counts()
    kept = np.delete(np.arange(len(owner)), [0, 5, 6])
    fitted = VarianceRegularizedSVC(attribute_class=owner[kept]).fit(X[:, kept], y)
    assert fitted.coef_.shape == (3, len(kept))
    assert fitted.gap_ <= 1e-3
    X, y, owner = make_counts(120)
    seen = y != "on"
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=[0] * len(owner), C=1e-4)
    fitted.fit(X[seen], y[seen])
    assert fitted.classes_.tolist() == ["in", "of", "on"]
    assert np.mean(fitted.predict(X[~seen]) == "on") > 0.8
    X, y, owner = make_counts(200, k=5)
    few = [int(np.flatnonzero(y == label)[0]) for label in ("in", "of", "on")]
    fitted = VarianceRegularizedSVC(owner, [0] * len(owner), C=1e-3).fit(X[few], y[few])
    assert fitted.score(X, y) > 0.7


def test_variance_groups():
    """Of little loss weight: one group is the sum; each has a mean of its own; none is drawn to zero."""
    X, y, owner = make_counts(seed=1)
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=["all"] * len(owner), C=1e-6)
    fitted.fit(X, y)
    used = fitted.coef_[fitted.coef_ != 0]
    assert used.std() < 1e-3 * used.mean()
    sums = np.stack([X[:, owner == label].sum(axis=1) for label in fitted.classes_], axis=1)
    assert (fitted.predict(X) == fitted.classes_[sums.argmax(axis=1)]).all()
    X, y, owner = make_counts(200)
    X[:, ::4] *= 0.1  # one pattern on another scale
    groups = ["small" if i % 4 == 0 else "large" for i in range(X.shape[1])]
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=groups, C=1e-5).fit(X, y)
    weights = fitted.coef_.sum(axis=0)
    assert weights[::4].std() < 1e-2 * abs(weights[::4].mean())
    assert weights[::4].mean() > 2 * np.delete(weights, np.s_[::4]).mean()
    X, y, owner = make_counts(seed=2)
    groups = [None if i % 4 == 0 else "rest" for i in range(X.shape[1])]
    fitted = VarianceRegularizedSVC(attribute_class=owner, variance_group=groups, C=1e-6).fit(X, y)
    weights = fitted.coef_.sum(axis=0)
    assert np.abs(weights[::4]).max() < 1e-3 < np.delete(weights, np.s_[::4]).min()


@pytest.mark.parametrize("missing", [np.nan, np.float32("nan"), None])
def test_a_missing_variance_group_has_no_effect(missing):
    X, y, owner = make_counts(seed=2)
    for label in ("rest", 1.0):
        groups = [[none if i % 4 == 0 else label for i in range(X.shape[1])] for none in (None, missing)]
        plain, other = (VarianceRegularizedSVC(owner, group, C=1e-4).fit(X, y).coef_ for group in groups)
        assert (plain == other).all()
    array = np.array([np.nan if i % 4 == 0 else 1.0 for i in range(X.shape[1])])
    assert (VarianceRegularizedSVC(owner, array, C=1e-4).fit(X, y).coef_ == plain).all()


def test_weights_p_of_attributes():
    # The sum of large numbers is infinite: nothing would be regularised
    X, y, owner = make_counts()
    p = np.arange(1.0, X.shape[1] + 1)
    estimators = (VarianceRegularizedSVC(owner, p=scale * p, C=1e-2) for scale in (1, 1e307, 1e-300))
    plain, *others = (estimator.fit(X, y).coef_ for estimator in estimators)
    assert others == [pytest.approx(plain)] * 2
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60) + 50.0, np.ones(60)])
    y = (X[:, 0] > 50).astype(int)
    assert VarianceRegularizedSVC(p=[1, 0], C=1.0).fit(X, y).score(X, y) > 0.9
    assert VarianceRegularizedSVC(p=[1, 1], C=1.0).fit(X, y).score(X, y) < 0.9


THREE_OWNERS = ["in"] * 4 + ["of"] * 4 + ["on"] * 3
BAD = {
    ("D700", "C"): [0.0, -1.0, float("nan"), None, "a", 1e300],
    ("D702", "p"): [
        *([value] * 12 for value in ("a", None, True, 0)),
        [1.0] * 11 + [float("nan")],
        [-1] + [1] * 11,
    ],
    ("D707", "attribute_class"): [["in"] * 5],
    ("D707", "variance_group"): [[[0] * 12], [[0], [0, 1]] * 6],
    ("D707", "p"): [[1.0]],
    ("D709", "attribute_class"): [[*THREE_OWNERS, None], [*THREE_OWNERS, float("nan")], [None] * 12],
    ("D708", "attribute_class"): [
        np.array([1] * 4 + ["of"] * 4 + ["on"] * 4, object),
        ["in"] * 6 + ["of"] * 6,
        [1] * 6 + [2] * 6,
    ],
}


@pytest.mark.parametrize(("code", "name"), BAD)
def test_bad_settings_are_named(code, name):
    X, y, _ = make_counts()
    for value in BAD[code, name]:
        with pytest.raises(UserError, match=code):
            VarianceRegularizedSVC(**{name: value}).fit(X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_invalid_examples(bad):
    X, y, _ = make_counts()
    fitted = VarianceRegularizedSVC().fit(X, y)
    with pytest.raises(UserError, match=r"D706.*'in'"):
        VarianceRegularizedSVC().fit(X, ["in"] * len(X))
    X[3, 7] = bad
    problem = r"D703.*1 are NaN or infinite, the first in example 3, attribute 7"
    for call in (lambda: fitted.predict(X), lambda: VarianceRegularizedSVC().fit(X, y)):
        with pytest.raises(UserError, match=problem):
            call()
