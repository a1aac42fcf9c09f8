"""Single steps of the boosted lasso and related learners, compared with formulas and recomputation."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_boosted_lasso.learners import (
    FSLR,
    BLasso,
    Boosting,
    FBoosting,
    Stepper,
    StepSettings,
    base_weights,
    build_pairs,
)
from hypothesis import given, settings, strategies as st
from small_lists import batch_of, differences, exp_loss, word_lists

LISTS = word_lists(alike=6)
LEARNERS = [
    BLasso(),
    BLasso(eps=0.1, truncate=False),
    FBoosting(),
    FSLR(),
    FSLR(eps=0.05),
    Boosting(),
    Boosting(smoothing=1e-3, shrinkage=0.3),
]
RULES = {
    "grid": StepSettings(grid=True, eps=0.2, theta=0.0),
    "forward only": StepSettings(grid=True, eps=0.2),
    "continuous": StepSettings(grid=False, eps=0.2),
    "smoothed": StepSettings(grid=False, smoothing=1e-3),
}


def singles():
    """Return lists of two whose features differ by one or not at all: of the second C+ is 5, and C- is 1."""
    references = [[0, 1, 0]] * 5 + [[0, 0, 1], [0, 0, 0]]
    others = [[0, 0, 0]] * 6 + [[0, 1, 0]]
    rows = np.stack([references, others], axis=1).reshape(-1, 3)
    return batch_of(rows, np.arange(0, 15, 2), [0, 1] * 7, base=False)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_losses_and_norms_of_every_path(learner):
    path = learner.path(LISTS)
    assert len(path) > 20
    assert (np.diff(path.losses)[~path.backward] < 0).all()
    for step in (0, 1, len(path) // 2, len(path)):
        weights = path.weights(step)
        assert path.losses[step] == pytest.approx(exp_loss(LISTS, weights), rel=1e-9)
        assert path.norms[step] == pytest.approx(np.abs(weights).sum(), abs=1e-9)
    assert (np.diff(path.alphas) <= 0).all()


@pytest.mark.parametrize("eps", [0.5, 0.1, 0.03])
@pytest.mark.parametrize("truncate", [True, False])
def test_lasso_loss_does_not_rise_while_alpha_is_constant(eps, truncate):
    path = BLasso(eps=eps, truncate=truncate).path(LISTS)
    same = np.flatnonzero(path.alphas[1:] == path.alphas[:-1]) + 1
    assert len(same) > 3 or eps == 0.5
    alpha = path.alphas[same]
    change = path.losses[same] - path.losses[same - 1] + alpha * (path.norms[same] - path.norms[same - 1])
    assert change.max(initial=-1.0) <= 1e-10 * path.losses[0]


def test_steps_back_are_taken_where_they_pay():
    path = BLasso(eps=0.05, truncate=False).path(LISTS)
    assert path.backward.sum() > 5
    for t in np.flatnonzero(path.backward):
        weight = path.weights(t)[path.columns[t]]
        assert abs(path.weights(t + 1)[path.columns[t]]) < abs(weight)
        raised, alpha = path.losses[t + 1] - path.losses[t], path.alphas[t]
        assert alpha * abs(path.steps[t]) - raised > 0
    forth = np.flatnonzero(~path.backward[1:]) + 1
    for t in forth[:: max(1, len(forth) // 20)]:
        weights = path.weights(t)
        for k in np.flatnonzero(weights[1:]) + 1:
            back = weights.copy()
            back[k] -= np.sign(back[k]) * min(0.05, abs(back[k]))
            gain = exp_loss(LISTS, weights) - exp_loss(LISTS, back)
            gain += path.alphas[t] * (np.abs(weights).sum() - np.abs(back).sum())
            assert gain <= 1e-9 * path.losses[0]


@pytest.mark.parametrize("eps", [0.5, 0.1])
@pytest.mark.parametrize("truncate", [True, False])
def test_f_boosting_is_the_boosted_lasso_with_a_large_theta(eps, truncate):
    ours = FBoosting(eps=eps, truncate=truncate).path(LISTS)
    theirs = BLasso(eps=eps, truncate=truncate, theta=1e3).path(LISTS)
    for name in ("columns", "steps", "losses", "norms", "alphas"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert not theirs.backward.any()


@pytest.mark.parametrize("eps", [0.5, 0.1])
def test_each_step_of_the_grid_is_the_best_one(eps):
    path = FBoosting(eps=eps, truncate=False).path(LISTS)
    for t in range(0, len(path), max(1, len(path) // 15)):
        weights = path.weights(t)
        tried = [exp_loss(LISTS, weights + s * e) for e in np.eye(len(weights))[1:] for s in (eps, -eps)]
        assert path.losses[t + 1] == pytest.approx(min(tried), rel=1e-9)


def test_each_step_of_continuous_search_is_of_the_best_feature():
    """Grids so fine that no better step is between them, over features whose counts differ by two, too."""
    path = FSLR(eps=0.25).path(LISTS)
    grid = np.linspace(-4, 4, 1601)
    pairs = differences(LISTS, (0,))
    for t in range(0, 30, 5):
        each = np.exp(-pairs @ path.weights(t))
        tried = np.array([[each @ np.exp(-s * column) for s in grid] for column in pairs[:, 1:].T])
        best = np.unravel_index(tried.argmin(), tried.shape)
        assert path.columns[t] == best[0] + 1
        assert abs(path.steps[t] - np.clip(grid[best[1]], -0.25, 0.25)) < 0.01


@pytest.mark.parametrize("name", RULES)
def test_the_index_equals_recomputation(name):
    stepper = Stepper(build_pairs(LISTS, "base score"), RULES[name], 1e-12)
    found, _ = stepper.take(400)
    assert len(found[0]) > 100
    weight, sums = stepper.sums
    start = np.zeros(len(LISTS.columns))
    start[0] = stepper.base[0]
    np.add.at(start, stepper.pairs.columns[found[0]], found[2])
    np.testing.assert_allclose(weight, np.exp(-differences(LISTS, (0,)) @ start), rtol=1e-9)
    stepper.refresh()
    scale = np.abs(sums).max()
    np.testing.assert_allclose(stepper.sums[1], sums, rtol=1e-8, atol=1e-12 * scale)


@given(seed=st.integers(0, 10_000), most=st.integers(1, 4), grid=st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_lists_keep_the_loss_in_step(seed, most, grid):
    lists = word_lists(8, size=4, words=6, most=most, seed=seed, alike=2)
    learner = BLasso(eps=0.3, max_steps=300) if grid else Boosting(max_steps=300)
    path = learner.path(lists)
    assert path.losses[-1] == pytest.approx(exp_loss(lists, path.weights()), rel=1e-7, abs=1e-9)
    assert (np.diff(path.losses)[~path.backward] < 0).all()


def test_steps_by_hand():
    # C+ = 5, C- = 1, Z = 7: eq. (16)
    path = Boosting(smoothing=0.01, steps=1).path(singles())
    assert path.columns[0] == 1
    assert path.steps[0] == pytest.approx(0.5 * np.log((5 + 0.07) / (1 + 0.07)), rel=1e-12)
    whole, tenth = (Boosting(smoothing=1e-9, shrinkage=nu, steps=1).path(singles()) for nu in (1.0, 0.1))
    assert whole.steps[0] == pytest.approx(0.5 * np.log(5), rel=1e-8)
    assert tenth.steps[0] == pytest.approx(0.1 * whole.steps[0], rel=1e-12)
    left = 2 * np.sqrt(5)  # of C+ + C- = 6 after the optimal step
    assert whole.losses[1] == pytest.approx(1 + left, rel=1e-7)
    # one pair differs by 2, one by -1: the best step is log(2) / 3, which C+ and C- do not say
    lists = batch_of([[2.0], [0], [0], [1]], [0, 2, 4], [0, 1, 0, 1], base=False)
    path = FSLR(eps=10.0, steps=1).path(lists)
    assert path.steps[0] == pytest.approx(np.log(2) / 3, rel=1e-9)
    path = BLasso(eps=1.0, steps=1).path(singles())
    assert path.alphas[1] == pytest.approx((path.losses[0] - path.losses[1]) / path.steps[0], rel=1e-12)
    assert path.steps[0] < 1.0


@pytest.mark.parametrize(("eps", "step"), [(0.5, 0.5), (1.0, 0.5 * np.log(5))])
def test_the_smaller_of_eps_and_the_optimal_step_is_taken(eps, step):
    for learner in (FSLR(eps=eps, steps=1), FBoosting(eps=eps, steps=1), BLasso(eps=eps, steps=1)):
        assert learner.path(singles()).steps[0] == pytest.approx(step, rel=1e-9)


def test_the_base_weight_is_where_exp_loss_is_least():
    path = BLasso(steps=0).path(LISTS)
    assert np.count_nonzero(path.start) == 1
    at = [exp_loss(LISTS, path.start * factor) for factor in (0.99, 1.0, 1.01)]
    assert at[1] == min(at)
    assert at[1] == pytest.approx(path.losses[0], rel=1e-12)
    for learner in LEARNERS:
        path = learner.path(LISTS)
        assert path.weights()[0] == path.start[0] != 0
        assert (path.columns != 0).all()


def test_base_weights_of_several_columns():
    rng = np.random.default_rng(0)
    pairs = rng.normal(0.3, 1.0, (200, 3)) * [1.0, 100.0, 1e-3]
    weights = base_weights(pairs)
    slope = pairs.T @ np.exp(-pairs @ weights)
    np.testing.assert_allclose(slope / np.abs(pairs).max(axis=0), 0.0, atol=1e-5 * len(pairs))
    twice = base_weights(np.column_stack([pairs[:, 0], pairs[:, 0]]))
    assert twice.sum() == pytest.approx(base_weights(pairs[:, :1])[0], rel=1e-6)
    assert 10 < base_weights(np.array([[1.0], [2.0]]))[0] < 100
