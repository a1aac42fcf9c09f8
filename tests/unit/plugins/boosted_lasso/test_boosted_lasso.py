"""The boosted lasso and related learners: single steps, paths, settings, compared with formulas and cvxpy."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from disambig_boosted_lasso.learners import (
    FSLR,
    AveragedPerceptron,
    BLasso,
    Boosting,
    FBoosting,
    PairwiseL2,
    Stepper,
    StepSettings,
    base_weights,
    build_pairs,
)
from hypothesis import given, settings, strategies as st
from small_lists import differences, exp_loss, make_batch, word_lists

from disambig.data import segments
from disambig.decode import averaged_perceptron, structured_examples
from disambig.errors import UserError
from disambig.testing import lists
from disambig.training import fit, mean_cost
from disambig.types import HasOpenSettings

LISTS = word_lists(alike=6)
LEARNERS = [BLasso(), BLasso(eps=0.1, truncate=False), FBoosting(), FSLR(), FSLR(eps=0.05), Boosting()]
LEARNERS += [Boosting(smoothing=1e-3, shrinkage=0.3)]
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
    return make_batch(rows, np.arange(0, 15, 2), [0, 1] * 7, base=False)


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
    for t in range(0, len(path), max(1, len(path) // 6)):
        weights = path.weights(t)
        tried = [exp_loss(LISTS, weights + s * e) for e in np.eye(len(weights))[1:] for s in (eps, -eps)]
        assert path.losses[t + 1] == pytest.approx(min(tried), rel=1e-9)


def test_each_step_of_continuous_search_is_of_the_best_feature():
    """Grids so fine that no better step is between them, over features whose counts differ by two, too."""
    path = FSLR(eps=0.25).path(LISTS)
    grid = np.linspace(-4, 4, 1601)
    pairs = differences(LISTS, (0,))
    for t in range(0, 30, 5):
        factors = np.exp(-pairs @ path.weights(t))
        tried = np.array([[factors @ np.exp(-s * column) for s in grid] for column in pairs[:, 1:].T])
        best = np.unravel_index(tried.argmin(), tried.shape)
        assert path.columns[t] == best[0] + 1
        assert abs(path.steps[t] - np.clip(grid[best[1]], -0.25, 0.25)) < 0.01


@pytest.mark.parametrize("name", RULES)
def test_the_index_equals_recomputation(name):
    stepper = Stepper(build_pairs(LISTS, "base score"), RULES[name], 1e-12)
    steps, _ = stepper.take(400)
    assert len(steps[0]) > 100
    weight, sums = stepper.sums
    start = np.zeros(len(LISTS.columns))
    start[0] = stepper.base[0]
    np.add.at(start, stepper.pairs.columns[steps[0]], steps[2])
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
    lists = make_batch([[2.0], [0], [0], [1]], [0, 2, 4], [0, 1, 0, 1], base=False)
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


STAGEWISE = [BLasso, Boosting, FBoosting, FSLR]
EVERY = [*STAGEWISE, AveragedPerceptron, PairwiseL2]
MANY_LISTS, DEV = word_lists(120), word_lists(80, seed=1)


@pytest.mark.parametrize("learner", EVERY)
def test_it_is_better_than_the_base_score_on_other_lists(learner):
    base = BLasso(steps=0).fit(MANY_LISTS).scorer
    assert mean_cost(fit(learner(), MANY_LISTS, dev=DEV).scorer, DEV) < 0.7 * mean_cost(base, DEV)


@pytest.mark.parametrize("learner", EVERY)
def test_lists_that_say_nothing_change_nothing(learner):
    none = make_batch([[1.0, 2], [3, 4], [0, 1]], [0, 1, 3], [0, 2, 2])
    for dev in (None, DEV.take(np.arange(0))):
        np.testing.assert_array_equal(learner().fit(none, dev=dev).scorer.weights, [1.0, 0.0])
    np.testing.assert_array_equal(learner(base="none").fit(none).scorer.weights, [0.0, 0.0])
    same = make_batch([[1.0, 2]] * 3, [0, 3], [0, 1, 2])
    np.testing.assert_array_equal(learner().fit(same).scorer.weights, np.zeros(2))
    # one candidate, equal costs, none: a list without a pair is as if it were not there
    rows, last = MANY_LISTS.rows.toarray(), MANY_LISTS.offsets[-1]
    more = np.concatenate([rows, rows[:1], rows[3:6]])
    cost = np.concatenate([MANY_LISTS.cost, [3, 2, 2, 2]])
    silent = make_batch(more, [*MANY_LISTS.offsets, last + 1, last + 4], cost)
    if learner is AveragedPerceptron:  # a list more is time for the average to go on
        assert fit(learner(passes=1), silent.take(np.array([120, 121]))).report["mistakes"] == [0]
        return
    one, other = (fit(learner(), batch).scorer.weights for batch in (silent, MANY_LISTS))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("learner", EVERY)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_invalid_numbers_are_rejected(learner, number):
    rows = MANY_LISTS.rows.toarray()
    rows[7, 2] = number
    bad = make_batch(rows, MANY_LISTS.offsets, MANY_LISTS.cost)
    with pytest.raises(UserError, match=r"D703.* the first in example 1, attribute 2"):
        learner().fit(bad)
    with pytest.raises(UserError, match="D703"):
        learner().fit(MANY_LISTS, dev=bad)
    cost = MANY_LISTS.cost.copy()
    cost[6] = np.nan
    with pytest.raises(UserError, match=r"D645.* 1 are NaN, the first in example 1"):
        learner().fit(replace(MANY_LISTS, cost=cost))
    with pytest.raises(UserError, match="D705"):
        learner().fit(MANY_LISTS.take(np.arange(0)))


@pytest.mark.parametrize("learner", STAGEWISE)
def test_very_large_numbers_are_harmless(learner):
    rows = MANY_LISTS.rows.toarray()
    rows[:, 1] *= 1e200
    rows[:, 2] *= 1e-200
    path = learner(max_steps=200).path(make_batch(rows, MANY_LISTS.offsets, MANY_LISTS.cost))
    assert np.isfinite(path.losses).all()
    assert np.isfinite(path.weights()).all()
    assert path.losses[-1] < path.losses[0]


BAD = [
    (BLasso, "D760", {"eps": 0, "tolerance": 0}),
    (FSLR, "D760", {"eps": np.inf}),
    (FBoosting, "D760", {"eps": "0.5"}),
    (BLasso, "D780", {"theta": -1}),
    (BLasso, "D648", {"truncate": 1}),
    (BLasso, "D647", {"base": None}),
    (BLasso, "D457", {"steps": -1}),
    (BLasso, "D452", {"max_steps": 0, "patience": 1.5}),
    (Boosting, "D760", {"smoothing": 0}),
    (Boosting, "D646", {"shrinkage": 1.1}),
    (Boosting, "D646", {"shrinkage": True}),
    (AveragedPerceptron, "D452", {"passes": 0}),
    (AveragedPerceptron, "D457", {"seed": -1}),
    (AveragedPerceptron, "D647", {"base": 3}),
    (PairwiseL2, "D760", {"C": 0}),
    (PairwiseL2, "D452", {"max_iter": 0}),
]


@pytest.mark.parametrize(("learner", "code", "wrong"), BAD)
def test_settings_that_make_no_sense_are_refused(learner, code, wrong):
    for name, value in wrong.items():
        with pytest.raises(UserError, match=f"{code}.*{name}"):
            learner(**{name: value})


def test_pairs_have_the_differences_to_the_reference():
    """The reference has the lowest cost and the best score; both indices contain the differences."""
    lists = make_batch([[1.0, 0, 1], [2, 1, 0], [2, 0, 1], [9, 1, 1]], [0, 4], [1, 1, 1, 2])
    pairs = build_pairs(lists, "base score")
    np.testing.assert_array_equal(pairs.base[:, 0], [1, 0, -7])  # the second candidate, less the others
    assert build_pairs(lists, "no such group").base.shape == (3, 0)
    pairs = build_pairs(MANY_LISTS, "base score")
    dense, again = np.zeros((2, len(pairs), MANY_LISTS.rows.shape[1]))
    by_pair = np.repeat(np.arange(len(pairs)), np.diff(pairs.starts))
    dense[by_pair, pairs.columns[pairs.features]] = pairs.values[pairs.codes]
    dense[:, 0] = pairs.base[:, 0]
    np.testing.assert_array_equal(dense, differences(MANY_LISTS, (0,)))
    by_feature = np.repeat(np.arange(len(pairs.columns)), np.diff(pairs.ends))
    again[pairs.pairs, pairs.columns[by_feature]] = pairs.values[pairs.pair_codes]
    np.testing.assert_array_equal(again[:, 1:], dense[:, 1:])


@pytest.mark.parametrize("learner", EVERY)
def test_choices_of_folds_are_kept(learner):
    name = {AveragedPerceptron: "passes", PairwiseL2: "C"}.get(learner, "steps")
    assert isinstance(learner(), HasOpenSettings)
    settled = learner().with_tuned([{name: 3}, {name: 40}, {name: 5}])
    assert getattr(settled, name) == 5
    assert settled.with_tuned([{name: 9}]) == settled
    report = fit(settled, MANY_LISTS, dev=DEV).report
    assert report[name] == 5


def test_the_averaged_perceptron():
    """One right candidate in each list, no base score: the weights of the core's learning of structures."""
    kept = lists(40).take(np.arange(39))  # the last has two right candidates
    ours = fit(AveragedPerceptron(base="none", passes=3), kept).scorer.weights
    theirs, _ = averaged_perceptron(structured_examples(kept), passes=3, seed=0)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    weights = AveragedPerceptron().fit(MANY_LISTS).scorer.weights  # the base weight is left alone
    assert weights[0] == pytest.approx(BLasso(steps=0).fit(MANY_LISTS).scorer.weights[0])
    assert np.count_nonzero(weights) > 5
    report = AveragedPerceptron().fit(MANY_LISTS, dev=DEV).report
    assert len(report["dev_cost"]) == 20
    assert report["dev_cost"][report["passes"] - 1] == min(report["dev_cost"])


def test_pairwise_l2_is_at_its_optimum():
    weights = PairwiseL2(C=0.2, max_iter=2000).fit(MANY_LISTS).scorer.weights
    pairs = differences(MANY_LISTS, (0,))
    slope = weights - 0.2 * pairs.T @ (1 / (1 + np.exp(pairs @ weights)))
    assert np.abs(slope).max() < 0.02
    assert fit(PairwiseL2(), MANY_LISTS, dev=DEV).report["C"] in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


ALIKE, ALIKE_DEV = word_lists(120, alike=8), word_lists(80, alike=8, seed=1)


def lasso_losses(lists, base, norms):
    """Return the minimum ExpLoss under bounds on the L1 norm, which excludes the base weight."""
    pairs = differences(lists, (0,))
    fixed = np.exp(-pairs[:, 0] * base)
    weights, bound = cp.Variable(pairs.shape[1] - 1), cp.Parameter(nonneg=True)
    loss = cp.sum(cp.multiply(fixed, cp.exp(-pairs[:, 1:] @ weights)))
    problem = cp.Problem(cp.Minimize(loss), [cp.norm1(weights) <= bound])
    paths = []
    for norm in norms:
        bound.value = norm
        problem.solve(solver=cp.CLARABEL)
        paths.append((float(problem.value), weights.value))
    return paths


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


@pytest.mark.parametrize(
    "learner", [BLasso(), Boosting(), FSLR()], ids=lambda learner: type(learner).__name__
)
def test_winners_are_followed_by_the_index(learner):
    path = learner.path(ALIKE, dev=ALIKE_DEV)
    np.testing.assert_array_equal(path.dev_costs, path.costs(ALIKE_DEV))
    assert len(path.dev_costs) == len(path) + 1
    for step in (0, 1, 7, len(path) // 2, len(path)):
        scores = ALIKE_DEV.scores(path.weights(step))
        winners = ALIKE_DEV.offsets[:-1] + segments.argmax(scores, ALIKE_DEV.offsets)
        assert path.dev_costs[step] == pytest.approx(ALIKE_DEV.cost[winners].mean(), rel=1e-6)


def test_development_data_only_choose_the_step():
    alone, beside = BLasso().path(ALIKE), BLasso().path(ALIKE, dev=ALIKE_DEV)
    n = len(beside)
    np.testing.assert_array_equal(alone.steps[:n], beside.steps)
    fitted = BLasso().fit(ALIKE, dev=ALIKE_DEV)
    step = fitted.report["steps"]
    assert beside.dev_costs[step] == beside.dev_costs.min()
    assert step == np.flatnonzero(beside.dev_costs == beside.dev_costs.min())[0]
    np.testing.assert_array_equal(fitted.scorer.weights, alone.weights(step))
    given = BLasso(steps=step).fit(ALIKE, dev=ALIKE_DEV)
    np.testing.assert_array_equal(given.scorer.weights, alone.weights(step))
    report = BLasso(eps=0.02).fit(ALIKE, dev=ALIKE_DEV).report
    curve = report["curve"]
    assert report["steps_taken"] > 200
    assert len(curve["step"]) == len(curve["exp_loss"]) == len(curve["l1"]) == len(curve["dev_cost"]) == 100
    assert curve["step"][0] == 0
    assert curve["step"][-1] == report["steps_taken"]
    assert report["steps_back"] > 0


def test_where_the_path_ends():
    path = BLasso(patience=30).path(ALIKE, dev=ALIKE_DEV)
    assert path.ended == "development data"
    assert len(path) < len(BLasso().path(ALIKE))
    assert path.dev_costs[: len(path) - 29].min() == path.dev_costs.min()
    path = BLasso(max_steps=17).path(ALIKE)
    assert (len(path), path.ended) == (17, "steps")
    assert BLasso(eps=0.1, truncate=False).path(ALIKE).ended == "no step lowers the loss"
    # features of a hundred: a step of 0.5 is far too long
    rows = ALIKE.rows.toarray()
    rows[:, 1:] *= 100.0
    lists = make_batch(rows, ALIKE.offsets, ALIKE.cost)
    assert len(FBoosting(truncate=False).path(lists)) == 0
    path = FBoosting().path(lists)
    assert path.losses[-1] == pytest.approx(FBoosting(eps=0.1).path(ALIKE).losses[-1], rel=1e-3)


def test_the_end_is_the_least_exp_loss():
    lists = word_lists(60, words=5, seed=5)
    base = BLasso(steps=0).path(lists).start[0]
    least, _ = lasso_losses(lists, base, [1e4])[0]
    for learner in (BLasso(), FBoosting(), FSLR(), Boosting()):
        path = learner.path(lists)
        assert path.losses[-1] == pytest.approx(least, rel=1e-3)
        assert path.losses[-1] >= least * (1 - 1e-6)
