"""The path as a whole: beside the lasso's own, solved by cvxpy, and along development data."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from disambig_boosted_lasso.learners import FSLR, BLasso, Boosting, FBoosting
from small_lists import batch_of, differences, word_lists

from disambig.data import segments

TRAIN, DEV = word_lists(120, alike=8), word_lists(80, alike=8, seed=1)


def lasso_losses(lists, base, norms):
    """Return the least ExpLoss under bounds of the L1 norm, that of the base weight left out."""
    pairs = differences(lists, (0,))
    fixed = np.exp(-pairs[:, 0] * base)
    weights, bound = cp.Variable(pairs.shape[1] - 1), cp.Parameter(nonneg=True)
    loss = cp.sum(cp.multiply(fixed, cp.exp(-pairs[:, 1:] @ weights)))
    problem = cp.Problem(cp.Minimize(loss), [cp.norm1(weights) <= bound])
    found = []
    for norm in norms:
        bound.value = norm
        problem.solve(solver=cp.CLARABEL)
        found.append((float(problem.value), weights.value))
    return found


def test_the_path_approaches_that_of_the_lasso_as_eps_falls():
    lists = word_lists(40, words=8, alike=4, seed=3)
    norms = np.array([0.4, 1.2, 2.4, 4.0, 6.0])
    base = BLasso(steps=0).path(lists).start[0]
    exact = lasso_losses(lists, base, norms)
    worst, far = [], []
    for eps in (0.2, 0.05, 0.0125):
        path = BLasso(eps=eps, truncate=False, tolerance=1e-9).path(lists)
        at = [np.abs(path.norms - abs(base) - norm).argmin() for norm in norms]
        assert np.allclose(path.norms[at] - abs(base), norms, atol=eps)
        best = [np.flatnonzero(path.norms <= abs(base) + norm + 1e-9)[-1] for norm in norms]
        worst.append(max(path.losses[t] / least - 1 for t, (least, _) in zip(best, exact, strict=True)))
        far.append(max(np.abs(path.weights(t)[1:] - w).max() for t, (_, w) in zip(best, exact, strict=True)))
    assert worst[0] > worst[1] > worst[2] >= -1e-6
    assert worst[2] < 0.01
    assert far[2] < 0.1 < far[0]


def norm_at(path, loss):
    return path.norms[np.argmax(path.losses <= loss)]


@pytest.mark.parametrize("eps", [0.1, 0.02])
def test_the_norm_is_less_than_without_steps_back_at_equal_loss(eps):
    """Features that are nearly sums of others; beyond the first steps, as in figure 3.

    At the end both come near the one least ExpLoss, and with it to one norm.
    """
    lists = word_lists(400, words=30, alike=30)
    ours = BLasso(eps=eps, truncate=False).path(lists)
    theirs = FBoosting(eps=eps, truncate=False).path(lists)
    least = max(ours.losses[-1], theirs.losses[-1])
    losses = np.geomspace(ours.losses[0], least, 12)[1:]
    norms = np.array([(norm_at(ours, loss), norm_at(theirs, loss)) for loss in losses])
    assert (norms[:, 0] <= norms[:, 1] + eps).all()
    assert norms[-2, 0] < 0.97 * norms[-2, 1]
    assert norms[-1, 0] < norms[-1, 1]


@pytest.mark.parametrize("learner", [BLasso(), Boosting(), FSLR()], ids=lambda each: type(each).__name__)
def test_winners_are_followed_by_the_index(learner):
    path = learner.path(TRAIN, dev=DEV)
    np.testing.assert_array_equal(path.dev_costs, path.costs(DEV))
    assert len(path.dev_costs) == len(path) + 1
    for step in (0, 1, 7, len(path) // 2, len(path)):
        winners = DEV.offsets[:-1] + segments.argmax(DEV.scores(path.weights(step)), DEV.offsets)
        assert path.dev_costs[step] == pytest.approx(DEV.cost[winners].mean(), rel=1e-6)


def test_development_data_choose_the_step_and_nothing_else():
    alone, beside = BLasso().path(TRAIN), BLasso().path(TRAIN, dev=DEV)
    n = len(beside)
    np.testing.assert_array_equal(alone.steps[:n], beside.steps)
    fitted = BLasso().fit(TRAIN, dev=DEV)
    step = fitted.report["steps"]
    assert beside.dev_costs[step] == beside.dev_costs.min()
    assert step == np.flatnonzero(beside.dev_costs == beside.dev_costs.min())[0]
    np.testing.assert_array_equal(fitted.scorer.weights, alone.weights(step))
    np.testing.assert_array_equal(BLasso(steps=step).fit(TRAIN, dev=DEV).scorer.weights, alone.weights(step))


def test_the_path_ends_by_patience_and_by_the_most_steps():
    path = BLasso(patience=30).path(TRAIN, dev=DEV)
    assert path.ended == "development data"
    assert len(path) < len(BLasso().path(TRAIN))
    assert path.dev_costs[: len(path) - 29].min() == path.dev_costs.min()
    path = BLasso(max_steps=17).path(TRAIN)
    assert (len(path), path.ended) == (17, "steps")
    assert BLasso(eps=0.1, truncate=False).path(TRAIN).ended == "no step lowers the loss"


def test_where_no_step_of_eps_helps_smaller_ones_are_taken():
    """Features of a hundred: a step of 0.5 is far too long."""
    rows = TRAIN.rows.toarray()
    rows[:, 1:] *= 100.0
    lists = batch_of(rows, TRAIN.offsets, TRAIN.cost)
    assert len(FBoosting(truncate=False).path(lists)) == 0
    path = FBoosting().path(lists)
    assert path.losses[-1] == pytest.approx(FBoosting(eps=0.1).path(TRAIN).losses[-1], rel=1e-3)


def test_the_end_is_the_least_exp_loss():
    lists = word_lists(60, words=5, seed=5)
    base = BLasso(steps=0).path(lists).start[0]
    least, _ = lasso_losses(lists, base, [1e4])[0]
    for learner in (BLasso(), FBoosting(), FSLR(), Boosting()):
        path = learner.path(lists)
        assert path.losses[-1] == pytest.approx(least, rel=1e-3)
        assert path.losses[-1] >= least * (1 - 1e-6)


def test_the_report_holds_a_curve_of_few_points():
    report = BLasso(eps=0.02).fit(TRAIN, dev=DEV).report
    curve = report["curve"]
    assert report["steps_taken"] > 200
    assert len(curve["step"]) == len(curve["exp_loss"]) == len(curve["l1"]) == len(curve["dev_cost"]) == 100
    assert curve["step"][0] == 0
    assert curve["step"][-1] == report["steps_taken"]
    assert report["steps_back"] > 0
