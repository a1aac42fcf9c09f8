"""All folds of SGD in one pass: each model is scikit-learn's on the other folds, in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_random_subspace.learners import SGD, descend_folds, prepare_labels
from scipy.sparse import csr_array
from sklearn.linear_model import SGDClassifier

from disambig.data import Columns, CrossedRows
from disambig.errors import UserError
from disambig.testing import lists
from disambig.training import FitsFolds, fit_folds
from disambig.types import HasOpenSettings


def made(n=90, dimensions=12, labels=3, *, seed=0, noise=0.6):
    """Return rows some of whose first dimensions speak for the label."""
    rng = np.random.default_rng(seed)
    right = rng.integers(labels, size=n)
    rows = noise * rng.normal(size=(n, dimensions)) * (rng.random((n, dimensions)) < 0.7)
    rows[np.arange(n), right] += 1.0
    costs = np.ones((n, labels), np.float32)
    costs[np.arange(n), right] = 0.0
    size = labels * dimensions
    about = Columns(
        np.repeat(np.arange(labels), dimensions).astype(np.int32), np.zeros(size, np.int32), ("x",)
    )
    return CrossedRows(csr_array(rows), costs, about)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("n_folds", [2, 5, 9])
def test_each_model_is_scikit_learn_s_without_the_fold(labels, n_folds):
    batch = made(labels=labels)
    folds = np.random.default_rng(1).integers(n_folds, size=90)
    problem = prepare_labels(batch, seed=0)
    held_out, coefficients, intercepts = descend_folds(problem, folds, passes=3, alpha=1e-2)
    rows, of_row = problem.matrix, folds[problem.order]
    settings = {"alpha": 1e-2, "max_iter": 3, "tol": None, "shuffle": False}
    for p, targets in enumerate(problem.targets):
        whole = SGDClassifier(**settings).fit(rows, targets)
        np.testing.assert_allclose(coefficients[p], whole.coef_[0], rtol=1e-8)
        np.testing.assert_allclose(intercepts[p], whole.intercept_[0], rtol=1e-8)
        for fold in range(n_folds):
            theirs = SGDClassifier(**settings).fit(rows[of_row != fold], targets[of_row != fold])
            decided = theirs.decision_function(rows[of_row == fold]) / (2 if labels == 2 else 1)
            ours = held_out[problem.order[of_row == fold], problem.seen[p if labels > 2 else 1]]
            np.testing.assert_allclose(ours, decided, rtol=1e-8)


def test_the_scorer_is_that_of_fit_but_for_digits_that_are_not_kept():
    batch, folds = made(), np.arange(90) % 5
    found, scores = fit_folds(SGD(), batch, folds)
    alone = SGD().fit(batch).scorer
    np.testing.assert_allclose(found.scorer.weights, alone.weights, rtol=1e-6)
    assert found.scorer.state()["weights"].dtype == np.float32
    assert alone.state()["weights"].dtype == np.float64
    again = SGD().from_state(found.scorer.state())
    np.testing.assert_array_equal(again.scores(batch), found.scorer.scores(batch))
    assert scores.shape == (90 * 3,)


def test_labels_without_examples_are_never_chosen():
    batch = made()
    absent = CrossedRows(batch.rows, np.column_stack([batch.costs, np.ones(90, np.float32)]), wider(batch))
    _, scores = fit_folds(SGD(), absent, np.arange(90) % 3)
    assert (scores.reshape(90, 4).argmax(axis=1) < 3).all()


def wider(batch):
    n = batch.rows.shape[1] * 4
    return Columns(np.repeat(np.arange(4), n // 4).astype(np.int32), np.zeros(n, np.int32), ("x",))


def test_the_alpha_is_that_which_decides_most_unseen_examples_right():
    batch, folds = made(n=200, noise=1.5), np.arange(200) % 5
    learner = SGD(alpha=[10.0, 1e-2])  # so large a weight of the norm leaves nothing else to learn
    assert isinstance(learner, FitsFolds) and isinstance(learner, HasOpenSettings)
    found, scores = fit_folds(learner, batch, folds)
    accuracy = (batch.costs[np.arange(200), scores.reshape(200, 3).argmax(axis=1)] == 0).mean()
    report = found.report
    assert report["accuracy"][f"{report['alpha']:g}"] == max(report["accuracy"].values()) == accuracy
    assert learner.with_tuned([report]) == SGD(alpha=report["alpha"])
    assert learner.with_tuned([report, {}]) is learner and learner.with_tuned([]) is learner
    assert learner.fit(batch).scorer.weights.tolist() == SGD(alpha=10.0).fit(batch).scorer.weights.tolist()


def test_an_alpha_per_example_is_divided_by_the_number_of_examples():
    batch, folds = made(), np.arange(90) % 3
    shared, whole = SGD(alpha=[0.9, 0.45], per_example=True), SGD(alpha=[0.9 / 90, 0.45 / 90])
    ours, theirs = fit_folds(shared, batch, folds), fit_folds(whole, batch, folds)
    np.testing.assert_allclose(ours[1], theirs[1])
    assert set(ours[0].report["accuracy"]) == {"0.9", "0.45"}
    np.testing.assert_allclose(shared.fit(batch).scorer.weights, whole.fit(batch).scorer.weights)
    masks = np.ones((2, batch.rows.shape[1]), bool)
    np.testing.assert_allclose(shared.fit_masked(batch, masks), whole.fit_masked(batch, masks))


def test_lists_are_learned_from_in_turn():
    batch = lists()
    assert fit_folds(SGD(), batch, np.arange(len(batch.offsets) - 1) % 2) is None


@pytest.mark.parametrize("alpha", [[], [1e-4, 0.0], "1e-4"])
def test_alphas_that_make_no_sense_are_refused(alpha):
    with pytest.raises(UserError, match="D760"):
        SGD(alpha=alpha)
