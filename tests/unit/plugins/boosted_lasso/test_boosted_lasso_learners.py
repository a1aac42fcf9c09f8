"""Learners: settings, examples without information, other rerankers, and the complete path."""

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
    build_pairs,
    encode_values,
)
from small_lists import batch_of, differences, word_lists

from disambig.data import segments
from disambig.decode import averaged_perceptron, structured_examples
from disambig.errors import UserError
from disambig.testing import check_learner, lists
from disambig.training import fit, mean_cost
from disambig.types import HasOpenSettings

STAGEWISE = [BLasso, Boosting, FBoosting, FSLR]
EVERY = [*STAGEWISE, AveragedPerceptron, PairwiseL2]
LISTS, DEV = word_lists(120), word_lists(80, seed=1)


@pytest.mark.parametrize("learner", EVERY)
def test_contract_on_lists_of_counts(learner):
    for check in check_learner(learner(), LISTS):
        check()


@pytest.mark.parametrize("learner", EVERY)
def test_it_is_better_than_the_base_score_on_other_lists(learner):
    base = BLasso(steps=0).fit(LISTS).scorer
    assert mean_cost(fit(learner(), LISTS, dev=DEV).scorer, DEV) < 0.7 * mean_cost(base, DEV)


@pytest.mark.parametrize("learner", EVERY)
def test_lists_that_say_nothing_change_nothing(learner):
    none = batch_of([[1.0, 2], [3, 4], [0, 1]], [0, 1, 3], [0, 2, 2])
    for dev in (None, DEV.take(np.arange(0))):
        np.testing.assert_array_equal(learner().fit(none, dev=dev).scorer.weights, [1.0, 0.0])
    np.testing.assert_array_equal(learner(base="none").fit(none).scorer.weights, [0.0, 0.0])
    same = batch_of([[1.0, 2]] * 3, [0, 3], [0, 1, 2])
    weights = learner().fit(same).scorer.weights
    np.testing.assert_array_equal(weights, np.zeros(2))
    # one candidate, equal costs, none: a list without a pair is as if it were not there
    rows, last = LISTS.rows.toarray(), LISTS.offsets[-1]
    more = np.concatenate([rows, rows[:1], rows[3:6]])
    cost = np.concatenate([LISTS.cost, [3, 2, 2, 2]])
    silent = batch_of(more, [*LISTS.offsets, last + 1, last + 4], cost)
    if learner is AveragedPerceptron:  # a list more is time for the average to go on
        assert fit(learner(passes=1), silent.take(np.array([120, 121]))).report["mistakes"] == [0]
        return
    np.testing.assert_array_equal(fit(learner(), silent).scorer.weights, fit(learner(), LISTS).scorer.weights)


@pytest.mark.parametrize("learner", EVERY)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_invalid_numbers_are_rejected(learner, number):
    rows = LISTS.rows.toarray()
    rows[7, 2] = number
    bad = batch_of(rows, LISTS.offsets, LISTS.cost)
    with pytest.raises(UserError, match=r"D703.* the first in example 1, attribute 2"):
        learner().fit(bad)
    with pytest.raises(UserError, match="D703"):
        learner().fit(LISTS, dev=bad)
    cost = LISTS.cost.copy()
    cost[6] = np.nan
    with pytest.raises(UserError, match=r"D645.* 1 are NaN, the first in example 1"):
        learner().fit(replace(LISTS, cost=cost))
    with pytest.raises(UserError, match="D705"):
        learner().fit(LISTS.take(np.arange(0)))


@pytest.mark.parametrize("learner", STAGEWISE)
def test_very_large_numbers_are_harmless(learner):
    rows = LISTS.rows.toarray()
    rows[:, 1] *= 1e200
    rows[:, 2] *= 1e-200
    path = learner(max_steps=200).path(batch_of(rows, LISTS.offsets, LISTS.cost))
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
    lists = batch_of([[1.0, 0, 1], [2, 1, 0], [2, 0, 1], [9, 1, 1]], [0, 4], [1, 1, 1, 2])
    pairs = build_pairs(lists, "base score")
    np.testing.assert_array_equal(pairs.base[:, 0], [1, 0, -7])  # the second candidate, less the others
    assert build_pairs(lists, "no such group").base.shape == (3, 0)
    pairs = build_pairs(LISTS, "base score")
    dense, again = np.zeros((2, len(pairs), LISTS.rows.shape[1]))
    by_pair = np.repeat(np.arange(len(pairs)), np.diff(pairs.starts))
    dense[by_pair, pairs.columns[pairs.features]] = pairs.values[pairs.codes]
    dense[:, 0] = pairs.base[:, 0]
    np.testing.assert_array_equal(dense, differences(LISTS, (0,)))
    by_feature = np.repeat(np.arange(len(pairs.columns)), np.diff(pairs.ends))
    again[pairs.pairs, pairs.columns[by_feature]] = pairs.values[pairs.pair_codes]
    np.testing.assert_array_equal(again[:, 1:], dense[:, 1:])


@pytest.mark.parametrize("values", [[3.0, -1, 3, 0.0], [0.5, 1, 0.5], [1e9, 1, 1e9], []])
def test_values_are_distinguished_by_codes(values):
    distinct, codes = encode_values(np.array(values))
    np.testing.assert_array_equal(distinct[codes], values)
    assert len(distinct) == len(set(values))


@pytest.mark.parametrize("learner", EVERY)
def test_choices_of_folds_are_kept(learner):
    name = {AveragedPerceptron: "passes", PairwiseL2: "C"}.get(learner, "steps")
    assert isinstance(learner(), HasOpenSettings)
    settled = learner().with_tuned([{name: 3}, {name: 40}, {name: 5}])
    assert getattr(settled, name) == 5
    assert settled.with_tuned([{name: 9}]) == settled
    report = fit(settled, LISTS, dev=DEV).report
    assert report[name] == 5


def test_the_averaged_perceptron():
    """One right candidate in each list, no base score: the weights of the core's learning of structures."""
    kept = lists(40).take(np.arange(39))  # the last has two right candidates
    ours = fit(AveragedPerceptron(base="none", passes=3), kept).scorer.weights
    theirs, _ = averaged_perceptron(structured_examples(kept), passes=3, seed=0)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    weights = AveragedPerceptron().fit(LISTS).scorer.weights  # the base weight is left alone
    assert weights[0] == pytest.approx(BLasso(steps=0).fit(LISTS).scorer.weights[0])
    assert np.count_nonzero(weights) > 5
    report = AveragedPerceptron().fit(LISTS, dev=DEV).report
    assert len(report["dev_cost"]) == 20
    assert report["dev_cost"][report["passes"] - 1] == min(report["dev_cost"])


def test_pairwise_l2_is_at_its_optimum():
    weights = PairwiseL2(C=0.2, max_iter=2000).fit(LISTS).scorer.weights
    pairs = differences(LISTS, (0,))
    slope = weights - 0.2 * pairs.T @ (1 / (1 + np.exp(pairs @ weights)))
    assert np.abs(slope).max() < 0.02
    assert fit(PairwiseL2(), LISTS, dev=DEV).report["C"] in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


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
    norms = np.array(
        [[path.norms[np.argmax(path.losses <= loss)] for path in (ours, theirs)] for loss in losses]
    )
    assert (norms[:, 0] <= norms[:, 1] + eps).all()
    assert norms[-2, 0] < 0.97 * norms[-2, 1]
    assert norms[-1, 0] < norms[-1, 1]


@pytest.mark.parametrize("learner", [BLasso(), Boosting(), FSLR()], ids=lambda each: type(each).__name__)
def test_winners_are_followed_by_the_index(learner):
    path = learner.path(ALIKE, dev=ALIKE_DEV)
    np.testing.assert_array_equal(path.dev_costs, path.costs(ALIKE_DEV))
    assert len(path.dev_costs) == len(path) + 1
    for step in (0, 1, 7, len(path) // 2, len(path)):
        winners = ALIKE_DEV.offsets[:-1] + segments.argmax(
            ALIKE_DEV.scores(path.weights(step)), ALIKE_DEV.offsets
        )
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
    np.testing.assert_array_equal(
        BLasso(steps=step).fit(ALIKE, dev=ALIKE_DEV).scorer.weights, alone.weights(step)
    )
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
    lists = batch_of(rows, ALIKE.offsets, ALIKE.cost)
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
