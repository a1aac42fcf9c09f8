"""Settings, examples that hold nothing, and the rerankers that the lasso is compared with."""

from __future__ import annotations

from dataclasses import replace

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

from disambig.decode import averaged_perceptron, structured_examples
from disambig.errors import UserError
from disambig.testing import blocks, check_learner, lists
from disambig.training import fit, mean_cost
from disambig.types import HasOpenSettings

STAGEWISE = [BLasso, Boosting, FBoosting, FSLR]
EVERY = [*STAGEWISE, AveragedPerceptron, PairwiseL2]
LISTS, DEV = word_lists(120), word_lists(80, seed=1)


@pytest.mark.parametrize("learner", EVERY)
@pytest.mark.parametrize("problem", [lists(), blocks(), LISTS], ids=["sparse", "dense", "words"])
def test_contract(learner, problem):
    for check in check_learner(learner(), problem):
        check()


@pytest.mark.parametrize("learner", EVERY)
def test_it_is_better_than_the_base_score_on_other_lists(learner):
    base = BLasso(steps=0).fit(LISTS).scorer
    assert mean_cost(fit(learner(), LISTS, dev=DEV).scorer, DEV) < 0.7 * mean_cost(base, DEV)


@pytest.mark.parametrize("learner", EVERY)
def test_lists_that_say_nothing_change_nothing(learner):
    """One candidate, equal costs, none: a list without a pair is as if it were not there."""
    rows, cost = LISTS.rows.toarray(), LISTS.cost
    more = np.concatenate([rows, rows[:1], rows[3:6]])
    silent = batch_of(
        more,
        [*LISTS.offsets, LISTS.offsets[-1] + 1, LISTS.offsets[-1] + 4],
        np.concatenate([cost, [3, 2, 2, 2]]),
    )
    if learner is AveragedPerceptron:  # a list more is time for the average to go on
        assert fit(learner(passes=1), silent.take(np.array([120, 121]))).report["mistakes"] == [0]
        return
    np.testing.assert_array_equal(fit(learner(), silent).scorer.weights, fit(learner(), LISTS).scorer.weights)


@pytest.mark.parametrize("learner", EVERY)
def test_without_any_pair_the_base_score_decides(learner):
    none = batch_of([[1.0, 2], [3, 4], [0, 1]], [0, 1, 3], [0, 2, 2])
    for dev in (None, DEV.take(np.arange(0))):
        np.testing.assert_array_equal(learner().fit(none, dev=dev).scorer.weights, [1.0, 0.0])
    np.testing.assert_array_equal(learner(base="none").fit(none).scorer.weights, [0.0, 0.0])


@pytest.mark.parametrize("learner", EVERY)
def test_candidates_that_are_all_equal_teach_nothing(learner):
    same = batch_of([[1.0, 2]] * 3, [0, 3], [0, 1, 2])
    weights = learner().fit(same).scorer.weights
    np.testing.assert_array_equal(weights, np.zeros(2))


@pytest.mark.parametrize("learner", EVERY)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(learner, number):
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
def test_numbers_that_are_very_large_do_no_harm(learner):
    rows = LISTS.rows.toarray()
    rows[:, 1] *= 1e200
    rows[:, 2] *= 1e-200
    path = learner(max_steps=200).path(batch_of(rows, LISTS.offsets, LISTS.cost))
    assert np.isfinite(path.losses).all()
    assert np.isfinite(path.weights()).all()
    assert path.losses[-1] < path.losses[0]


BAD = [
    (BLasso, {"eps": 0}, "D760"),
    (FSLR, {"eps": np.inf}, "D760"),
    (FBoosting, {"eps": "0.5"}, "D760"),
    (BLasso, {"theta": -1}, "D780"),
    (BLasso, {"truncate": 1}, "D648"),
    (BLasso, {"base": None}, "D647"),
    (BLasso, {"steps": -1}, "D457"),
    (BLasso, {"max_steps": 0}, "D452"),
    (BLasso, {"patience": 1.5}, "D452"),
    (BLasso, {"tolerance": 0}, "D760"),
    (Boosting, {"smoothing": 0}, "D760"),
    (Boosting, {"shrinkage": 1.1}, "D646"),
    (Boosting, {"shrinkage": True}, "D646"),
    (AveragedPerceptron, {"passes": 0}, "D452"),
    (AveragedPerceptron, {"seed": -1}, "D457"),
    (AveragedPerceptron, {"base": 3}, "D647"),
    (PairwiseL2, {"C": 0}, "D760"),
    (PairwiseL2, {"max_iter": 0}, "D452"),
]


@pytest.mark.parametrize(("learner", "wrong", "code"), BAD)
def test_settings_that_make_no_sense_are_refused(learner, wrong, code):
    with pytest.raises(UserError, match=f"{code}.*{next(iter(wrong))}"):
        learner(**wrong)


def test_the_reference_costs_least_and_scores_best():
    rows = [[1.0, 0, 1], [2, 1, 0], [2, 0, 1], [9, 1, 1]]
    pairs = build_pairs(batch_of(rows, [0, 4], [1, 1, 1, 2]), "base score")
    np.testing.assert_array_equal(pairs.base[:, 0], [1, 0, -7])  # the second candidate, less the others
    assert build_pairs(batch_of(rows, [0, 4], [1, 1, 1, 2]), "no such group").base.shape == (3, 0)


def test_the_index_holds_the_differences():
    pairs = build_pairs(LISTS, "base score")
    dense = np.zeros((len(pairs), LISTS.rows.shape[1]))
    by_pair = np.repeat(np.arange(len(pairs)), np.diff(pairs.starts))
    dense[by_pair, pairs.columns[pairs.features]] = pairs.values[pairs.codes]
    dense[:, 0] = pairs.base[:, 0]
    np.testing.assert_array_equal(dense, differences(LISTS, (0,)))
    again = np.zeros_like(dense)
    by_feature = np.repeat(np.arange(len(pairs.columns)), np.diff(pairs.ends))
    again[pairs.pairs, pairs.columns[by_feature]] = pairs.values[pairs.pair_codes]
    np.testing.assert_array_equal(again[:, 1:], dense[:, 1:])


@pytest.mark.parametrize("values", [[3.0, -1, 3, 0.0], [0.5, 1, 0.5], [1e9, 1, 1e9], []])
def test_values_are_told_by_codes(values):
    distinct, codes = encode_values(np.array(values))
    np.testing.assert_array_equal(distinct[codes], values)
    assert len(distinct) == len(set(values))


@pytest.mark.parametrize("learner", EVERY)
def test_what_folds_chose_is_kept(learner):
    name = {AveragedPerceptron: "passes", PairwiseL2: "C"}.get(learner, "steps")
    assert isinstance(learner(), HasOpenSettings)
    settled = learner().with_tuned([{name: 3}, {name: 40}, {name: 5}])
    assert getattr(settled, name) == 5
    assert settled.with_tuned([{name: 9}]) == settled
    report = fit(settled, LISTS, dev=DEV).report
    assert report[name] == 5


def test_the_perceptron_is_that_of_the_core():
    """One right candidate in each list, no base score: the weights of the core's learning of structures."""
    one = lists(40)
    kept = one.take(np.arange(39))  # the last has two right candidates
    passes = 3
    ours = fit(AveragedPerceptron(base="none", passes=passes), kept).scorer.weights
    theirs, _ = averaged_perceptron(structured_examples(kept), passes=passes, seed=0)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_the_perceptron_leaves_the_base_weight_alone():
    base = BLasso(steps=0).fit(LISTS).scorer.weights
    weights = AveragedPerceptron().fit(LISTS).scorer.weights
    assert weights[0] == pytest.approx(base[0])
    assert np.count_nonzero(weights) > 5


def test_the_passes_are_those_of_least_cost():
    report = AveragedPerceptron().fit(LISTS, dev=DEV).report
    assert len(report["dev_cost"]) == 20
    assert report["dev_cost"][report["passes"] - 1] == min(report["dev_cost"])


def test_pairwise_l2_is_at_its_optimum():
    weights = PairwiseL2(C=0.2, max_iter=2000).fit(LISTS).scorer.weights
    pairs = differences(LISTS, (0,))
    slope = weights - 0.2 * pairs.T @ (1 / (1 + np.exp(pairs @ weights)))
    assert np.abs(slope).max() < 0.02
    assert fit(PairwiseL2(), LISTS, dev=DEV).report["C"] in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
