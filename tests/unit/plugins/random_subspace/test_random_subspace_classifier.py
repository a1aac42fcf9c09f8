"""RandomSubspaceClassifier: scikit-learn's conventions, the learners behind it, errors."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_random_subspace import NAMES, RandomSubspaceClassifier
from disambig_random_subspace.learners import SGD, PassiveAggressive, RandomSubspaces
from scipy.sparse import csc_matrix, csr_array
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import estimator_checks_generator

from disambig.data import CrossedRows, numbered
from disambig.errors import UserError

CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{i}-{getattr(check, 'func', check).__name__}")
    for name in NAMES
    for i, (estimator, check) in enumerate(
        estimator_checks_generator(RandomSubspaceClassifier(name, n_subspaces=10))
    )
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_documents(n=120, words=40, classes=2, *, seed=0):
    """Return counts of words, some more frequent in one class, and the classes by name."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    rates = np.full((classes, words), 0.3)
    for label in range(classes):
        rates[label, label :: 2 * classes] = 1.5
    return rng.poisson(rates[y]).astype(float), np.array(["comp", "rec", "sci", "talk"])[y]


def as_batch(X, y):
    labels, right = np.unique(y, return_inverse=True)
    costs = np.ones((len(y), len(labels)), np.float32)
    costs[np.arange(len(y)), right] = 0.0
    return CrossedRows(csr_array(X), costs, numbered(len(labels) * X.shape[1]))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_it_learns(name, classes):
    X, y = make_documents(400, classes=classes)
    fitted = RandomSubspaceClassifier(name, n_subspaces=20, random_state=0).fit(X[:300], y[:300])
    assert fitted.score(X[300:], y[300:]) > 0.85
    assert fitted.classes_.tolist() == ["comp", "rec", "sci", "talk"][:classes]
    assert fitted.coef_.shape == (1 if classes == 2 else 4, 40)
    assert fitted.intercept_.shape == (len(fitted.coef_),)
    assert fitted.n_features_in_ == 40


@pytest.mark.parametrize("classes", [2, 3])
def test_equal_to_the_learner_and_to_scikit_learn(classes):
    X, y = make_documents(classes=classes)
    fitted = RandomSubspaceClassifier(n_subspaces=12, removal_rate=0.3, alpha=1e-3, random_state=5).fit(X, y)
    learner = RandomSubspaces(base=SGD(alpha=1e-3, seed=5), n_subspaces=12, removal_rate=0.3, seed=5)
    scores = learner.fit(as_batch(X, y)).scorer.scores(as_batch(X, y)).reshape(-1, classes)
    expected = scores[:, 1] - scores[:, 0] if classes == 2 else scores
    assert fitted.decision_function(X) == pytest.approx(expected)
    order = np.random.default_rng(5).permutation(len(y))
    theirs = SGDClassifier(max_iter=5, tol=None, shuffle=False).fit(csr_array(X[order]), y[order])
    ours = RandomSubspaceClassifier(n_subspaces=3, removal_rate=0, random_state=5).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-9)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-9)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_settings_reach_the_base():
    X, y = make_documents()
    ours = RandomSubspaceClassifier("pa", n_subspaces=1, removal_rate=0, C=0.01, passes=2, random_state=1)
    base = PassiveAggressive(C=0.01, passes=2, seed=1).fit(as_batch(X, y)).scorer
    weights = base.weights.reshape(2, -1)
    assert ours.fit(X, y).coef_[0] == pytest.approx((weights[1] - weights[0])[:-1])
    cw = [
        RandomSubspaceClassifier("cw", n_subspaces=2, confidence=c, random_state=1).fit(X, y).coef_
        for c in (0.6, 0.99)
    ]
    assert (cw[0] != cw[1]).any()


@pytest.mark.parametrize("name", NAMES)
def test_dense_and_sparse_rows_of_any_kind_are_the_same(name):
    X, y = make_documents()
    dense = RandomSubspaceClassifier(name, n_subspaces=9, random_state=0).fit(X, y)
    for kind in (csr_array, csc_matrix):
        sparse = RandomSubspaceClassifier(name, n_subspaces=9, random_state=0).fit(kind(X), y)
        assert sparse.coef_.tobytes() == dense.coef_.tobytes()
        assert sparse.decision_function(kind(X)) == pytest.approx(dense.decision_function(X))


def test_random_states():
    X, y = make_documents()
    same = [RandomSubspaceClassifier(n_subspaces=9, random_state=3).fit(X, y).coef_ for _ in range(2)]
    assert same[0].tobytes() == same[1].tobytes()
    drawn = [
        RandomSubspaceClassifier(n_subspaces=9, random_state=np.random.RandomState(seed)).fit(X, y).coef_
        for seed in (3, 3, 4)
    ]
    assert drawn[0].tobytes() == drawn[1].tobytes() != drawn[2].tobytes()


def test_works_in_a_pipeline_and_a_grid_search():
    X, y = make_documents()
    pipeline = make_pipeline(Normalizer(), RandomSubspaceClassifier(n_subspaces=9, random_state=0))
    grid = {"randomsubspaceclassifier__removal_rate": [0.0, 0.1, 0.5]}
    assert GridSearchCV(pipeline, grid, cv=3).fit(csr_array(X), y).best_score_ > 0.8


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        *(({"estimator": bad}, "D775") for bad in ("svm", None)),
        *(({"n_subspaces": bad}, "D452") for bad in (0, 2.0)),
        *(({"removal_rate": bad}, "D770") for bad in (1.0, -0.1)),
        ({"passes": 0}, "D452"),
        ({"alpha": 0.0}, "D760"),
        ({"estimator": "pa", "C": -1.0}, "D760"),
        ({"estimator": "cw", "confidence": 0.5}, "D771"),
        ({"random_state": -1}, "D457"),
    ],
)
def test_invalid_settings(settings, code):
    X, y = make_documents()
    estimator = RandomSubspaceClassifier(**settings)  # scikit-learn's manner: nothing is checked before fit
    with pytest.raises(UserError, match=code):
        estimator.fit(X, y)


def test_invalid_examples():
    X, y = make_documents()
    fitted = RandomSubspaceClassifier(n_subspaces=2).fit(X, y)
    with pytest.raises(UserError, match=r"D706.*'comp'"):
        RandomSubspaceClassifier().fit(X, ["comp"] * len(X))
    X[3, 7] = np.nan
    for rows in (X, csr_array(X)):
        for call in (fitted.predict, lambda rows: RandomSubspaceClassifier().fit(rows, y)):
            with pytest.raises(UserError, match=r"D772.*1 are NaN.*example 3, dimension 7"):
                call(rows)
