"""The best of a list: ties, probabilities, and a scale that is of greatest likelihood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from disambig.data import Group, ScoreBatch
from disambig.decision import BestOfList
from disambig.testing.checks import LISTS, MadeCalibrationData, make_calibration_data


def scored(lists, costs=None):
    """Return lists of scores as a judge gets them."""
    sizes = [len(each) for each in lists]
    n, rows = len(lists), sum(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scores = np.array([score for each in lists for score in each], float)
    cost = np.ones(rows) if costs is None else np.concatenate(costs)
    zeros = np.zeros(rows, np.int32)
    return ScoreBatch.from_group(
        LISTS[0], 0, offsets, scores, np.full(n, -1, np.int32), zeros, zeros, cost.astype("f4")
    )


def made(part):
    return replace(make_calibration_data("own"), parts=(part,))


def test_the_best_is_chosen_and_the_first_of_equals():
    judged = BestOfList().judge(scored([[1.0], [0.0, 2.0, 2.0], [3.0, 3.0], [-5.0, -7.0]]))
    assert judged.chosen.tolist() == [0, 1, 0, 0]
    assert judged.margins.tolist() == [np.inf, 0.0, 0.0, 2.0]
    expected = [1.0, 1 / (2 + np.exp(-2)), 0.5, 1 / (1 + np.exp(-2))]
    assert judged.probabilities == pytest.approx(expected)
    assert not judged.flagged.any() and judged.answered.all()


def test_probabilities_are_shares_at_the_scale_and_bear_large_scores():
    lists = scored([[0.0, 1.0], [3.0], [1e4, 0.0, -1e4]])
    found = BestOfList(scale=2.0).probabilities(lists)
    assert found == pytest.approx([1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2)), 1.0, 1.0, 0.0, 0.0])


def test_the_scale_that_made_the_data_is_found():
    rng = np.random.default_rng(0)
    lists = [rng.normal(size=rng.integers(1, 8)) for _ in range(4000)]
    costs = []
    for each in lists:
        p = np.exp(2.5 * each) / np.exp(2.5 * each).sum()
        costs.append((np.arange(len(each)) != rng.choice(len(each), p=p)).astype(float))
    fitted = BestOfList().fit(made(scored(lists, costs)))
    assert fitted.scale == pytest.approx(2.5, rel=0.1)
    # units of the scores are no matter
    again = BestOfList().fit(made(scored([1e-4 * each for each in lists], costs)))
    assert again.scale == pytest.approx(1e4 * fitted.scale, rel=1e-3)


def test_several_right_candidates_count_together_and_lists_without_any_not_at_all():
    def likelihood(scale, lists, costs):
        return sum(
            np.logaddexp.reduce(scale * s[c == 0]) - np.logaddexp.reduce(scale * s)
            for s, c in zip(lists, costs, strict=True)
            if (c == 0).any()
        )

    rng = np.random.default_rng(1)
    lists = [rng.normal(size=4) for _ in range(200)]
    costs = [(rng.random(4) > 1 / (1 + np.exp(-2 * s))).astype(float) for s in lists]
    assert {int((c == 0).sum()) for c in costs} >= {0, 1, 2, 3}
    scale = BestOfList().fit(made(scored(lists, costs))).scale
    best = likelihood(scale, lists, costs)
    assert best > max(likelihood(0.97 * scale, lists, costs), likelihood(1.03 * scale, lists, costs))


@pytest.mark.parametrize("lists", [[], [[1.0], [2.0]], [[1.0, 1.0]]])
def test_where_nothing_can_be_learned_the_scale_stays(lists):
    assert BestOfList(scale=3.0).fit(made(scored(lists))).scale == 3.0


def test_lists_of_which_none_has_a_right_candidate_give_a_finite_scale():
    fitted = BestOfList().fit(made(scored([[0.0, 1.0], [2.0, 0.0]])))
    assert np.isfinite(fitted.scale) and fitted.scale > 0


def test_groups_are_fitted_together():
    task = replace(make_calibration_data("own").task, groups=(Group("one", ()), Group("two", ())))
    rng = np.random.default_rng(2)
    lists = [rng.normal(size=3) for _ in range(400)]
    costs = [(np.arange(3) != np.argmax(s + rng.gumbel(size=3))).astype(float) for s in lists]
    one, two = scored(lists[:250], costs[:250]), scored(lists[250:], costs[250:])
    two = replace(two, numbers=(1,), groups=task.groups[1:])
    apart = BestOfList().fit(MadeCalibrationData(task, (one, two)))
    assert apart.scale == pytest.approx(BestOfList().fit(made(scored(lists, costs))).scale, rel=1e-3)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ValueError, match="scale"):
        BestOfList().from_state({"scale": np.array([scale])}, ())
