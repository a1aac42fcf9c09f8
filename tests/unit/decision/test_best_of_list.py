"""BestOfList: ties, probabilities, and the scale of maximum likelihood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from disambig.data import Group, ScoreBatch
from disambig.decision import BestOfList
from disambig.testing.checks import LISTS, MadeCalibrationData, make_calibration_data


def scored(lists, costs=None):
    """Return a ScoreBatch of lists of scores."""
    sizes = [len(item) for item in lists]
    n, rows = len(lists), sum(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scores = np.array([score for item in lists for score in item], float)
    cost = np.ones(rows) if costs is None else np.concatenate(costs)
    zeros = np.zeros(rows, np.int32)
    return ScoreBatch.from_group(
        LISTS[0], 0, offsets, scores, np.full(n, -1, np.int32), zeros, zeros, cost.astype("f4")
    )


def calibration(part):
    return replace(make_calibration_data("own"), parts=(part,))


def test_chooses_the_first_of_the_best():
    decided = BestOfList().judge(scored([[1.0], [0.0, 2.0, 2.0], [3.0, 3.0], [-5.0, -7.0]]))
    assert decided.chosen.tolist() == [0, 1, 0, 0]
    assert decided.margins.tolist() == [np.inf, 0.0, 0.0, 2.0]
    expected = [1.0, 1 / (2 + np.exp(-2)), 0.5, 1 / (1 + np.exp(-2))]
    assert decided.probabilities == pytest.approx(expected)
    assert not decided.flagged.any() and decided.answered.all()


def test_probabilities_are_a_stable_softmax_at_the_scale():
    lists = scored([[0.0, 1.0], [3.0], [1e4, 0.0, -1e4]])
    probabilities = BestOfList(scale=2.0).probabilities(lists)
    assert probabilities == pytest.approx([1 / (1 + np.exp(2)), 1 / (1 + np.exp(-2)), 1.0, 1.0, 0.0, 0.0])


def test_fit_recovers_the_scale_that_generated_the_data():
    rng = np.random.default_rng(0)
    lists = [rng.normal(size=rng.integers(1, 8)) for _ in range(4000)]
    costs = []
    for item in lists:
        p = np.exp(2.5 * item) / np.exp(2.5 * item).sum()
        costs.append((np.arange(len(item)) != rng.choice(len(item), p=p)).astype(float))
    fitted = BestOfList().fit(calibration(scored(lists, costs)))
    assert fitted.scale == pytest.approx(2.5, rel=0.1)
    # the units of the scores do not matter
    again = BestOfList().fit(calibration(scored([1e-4 * item for item in lists], costs)))
    assert again.scale == pytest.approx(1e4 * fitted.scale, rel=1e-3)


def test_likelihood_sums_right_candidates_and_skips_lists_without_any():
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
    scale = BestOfList().fit(calibration(scored(lists, costs))).scale
    best = likelihood(scale, lists, costs)
    assert best > max(likelihood(0.97 * scale, lists, costs), likelihood(1.03 * scale, lists, costs))


@pytest.mark.parametrize("lists", [[], [[1.0], [2.0]], [[1.0, 1.0]]])
def test_scale_stays_if_nothing_can_be_learned(lists):
    assert BestOfList(scale=3.0).fit(calibration(scored(lists))).scale == 3.0


def test_scale_is_finite_if_no_list_has_a_right_candidate():
    assert 0 < BestOfList().fit(calibration(scored([[0.0, 1.0], [2.0, 0.0]]))).scale < np.inf


def test_fits_groups_together():
    task = replace(make_calibration_data("own").task, groups=(Group("one", ()), Group("two", ())))
    rng = np.random.default_rng(2)
    lists = [rng.normal(size=3) for _ in range(400)]
    costs = [(np.arange(3) != np.argmax(s + rng.gumbel(size=3))).astype(float) for s in lists]
    one, two = scored(lists[:250], costs[:250]), scored(lists[250:], costs[250:])
    two = replace(two, numbers=(1,), groups=task.groups[1:])
    apart = BestOfList().fit(MadeCalibrationData(task, (one, two)))
    assert apart.scale == pytest.approx(BestOfList().fit(calibration(scored(lists, costs))).scale, rel=1e-3)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
def test_rejects_an_invalid_scale(scale):
    with pytest.raises(ValueError, match="scale"):
        BestOfList().from_state({"scale": np.array([scale])}, ())
