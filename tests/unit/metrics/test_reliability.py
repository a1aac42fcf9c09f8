"""Reliability of probabilities, and scales that turn scores into probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.decision import Calibration, fit_choices
from disambig.metrics import choice_reliability, reliability, reliability_lines


def random_scores(n, k, scale, seed):
    """Return scores, and labels drawn from the softmax of the scaled scores."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 3
    noise = rng.gumbel(size=(n, k))
    return scores, (scale * scores + noise).argmax(axis=1).astype(np.int32)


def test_bins_have_predicted_and_observed_shares():
    predicted = np.array([0.62, 0.68, 0.95, 1.0, 0.05])
    result = reliability(predicted, np.array([True, False, True, True, False]))
    assert [(bin["low"], bin["n"]) for bin in result["bins"]] == [(0.0, 1), (0.6, 2), (0.9, 2)]
    middle = result["bins"][1]
    assert (middle["predicted"], middle["observed"]) == (pytest.approx(0.65), 0.5)
    assert result["expected_calibration_error"] == pytest.approx((0.05 + 2 * 0.15 + 2 * 0.025) / 5)
    assert result["brier"] == pytest.approx((0.38**2 + 0.68**2 + 0.05**2 + 0.05**2) / 5)
    assert len(reliability_lines(result)) == 5


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_bins_contain_every_decision_once(pairs):
    predicted, right = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs], bool)
    result = reliability(predicted, right)
    assert sum(bin["n"] for bin in result["bins"]) == result["n"] == len(pairs)
    assert all(bin["low"] - 1e-9 <= bin["predicted"] <= bin["high"] + 1e-9 for bin in result["bins"])
    if pairs:
        assert 0 <= result["expected_calibration_error"] <= 1 and 0 <= result["brier"] <= 1
    else:
        assert result["brier"] is None and reliability_lines(result) == []


def test_choice_reliability_skips_places_without_an_observed_word():
    probabilities = np.array([0.7, 0.3, 0.1, 0.2, 0.7, 0.5, 0.5])
    chosen, observed = np.array([0, 2, 0], np.int32), np.array([0, 1, -1], np.int32)
    result = choice_reliability(probabilities, np.array([0, 2, 5, 7]), chosen, observed)
    assert result["n"] == 2
    assert result["brier"] == pytest.approx((0.3**2 + 0.7**2) / 2)


def candidates(scores, scales, certainty):
    return Calibration(np.zeros(4), np.zeros((len(scales) - 1, 4)), scales, certainty).candidates(scores, 0)


def calibration_error(probabilities, truth):
    n, k = probabilities.shape
    chosen = probabilities.argmax(axis=1)
    figures = choice_reliability(probabilities.ravel(), np.arange(n + 1) * k, chosen, truth)
    return figures["expected_calibration_error"]


@pytest.mark.parametrize("certainty", [(1.0, 0.0), (0.5, 0.3)])
def test_fit_recovers_the_probabilities_that_generated_the_data(certainty):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4000, 5)) * 3
    true_probabilities = candidates(scores, np.array([0.7, 0.7]), np.tile(certainty, (2, 1)))
    assert true_probabilities.sum(axis=1) == pytest.approx(np.ones(4000))
    truth = (
        (np.log(true_probabilities) + rng.gumbel(size=true_probabilities.shape))
        .argmax(axis=1)
        .astype(np.int32)
    )
    result = candidates(scores, *fit_choices([scores], [truth]))
    assert result.sum(axis=1) == pytest.approx(np.ones(4000))
    assert np.abs(result - true_probabilities).mean() < 0.03 and calibration_error(result, truth) < 0.03


@pytest.mark.parametrize("certainty", [(1.0, 0.0), (0.1, 0.0), (1e-3, -5.0), (3.0, 4.0), (1.0, 1e4)])
@pytest.mark.parametrize("spread", [0.0, 1e-3, 3.0, 1e4])
def test_probabilities_sum_to_one_and_the_choice_has_the_largest(certainty, spread):
    for k in (2, 3, 34):
        scores = np.random.default_rng(k).normal(size=(500, k)) * spread
        result = candidates(scores, np.ones(2), np.tile(certainty, (2, 1)))
        assert result.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-12)
        assert (result >= 0).all()
        chosen = result[np.arange(500), scores.argmax(axis=1)]
        assert (chosen == result.max(axis=1)).all()


def test_distant_candidates_share_the_rest():
    certainty = np.tile((0.1, 0.0), (2, 1))
    assert candidates(np.array([[0.0, -1e4]]), np.ones(2), certainty).sum() == pytest.approx(1.0)
    (sure, *others) = candidates(np.array([[0.0, -1e4, -1e4]]), np.ones(2), certainty)[0]
    assert sure > 0.8 and others == pytest.approx([(1 - sure) / 2] * 2)


def test_certainty_is_at_least_that_of_the_second_best():
    result = candidates(np.array([[0.01, 0.0], [1.0, 0.0]]), np.ones(2), np.tile((1.0, -0.5), (2, 1)))
    assert result[0].tolist() == [0.5, 0.5]
    assert result[1, 0] == pytest.approx(1 / (1 + np.exp(-0.5)))  # the log-odds of its share are 1


def test_units_of_the_scores_do_not_matter():
    scores, truth = random_scores(300, 4, 1.0, seed=2)
    plain = candidates(scores, *fit_choices([scores], [truth]))
    for unit in (1e-4, 1e4):
        result = candidates(scores * unit, *fit_choices([scores * unit], [truth]))
        assert result == pytest.approx(plain, abs=1e-3)


def test_shrinks_groups_with_few_examples():
    many, few = random_scores(3000, 3, 2.0, seed=3), random_scores(6, 3, 0.2, seed=4)
    empty = (np.empty((0, 3)), np.empty(0, np.int32))
    scales, certainty = fit_choices([many[0], few[0], empty[0]], [many[1], few[1], empty[1]])
    assert scales[2] == scales[3] and (certainty[2] == certainty[3]).all()
    assert 0.5 * scales[3] < scales[1] < scales[3]
    alone, _ = fit_choices([few[0]], [few[1]])
    assert alone[0] < scales[1]


def test_scale_stays_without_examples():
    assert (fit_choices([np.zeros((5, 2))], [np.zeros(5, np.int32)])[0] == 1.0).all()
    assert (fit_choices([], [])[0] == 1.0).all()
    assert Calibration(np.zeros(4), np.zeros((0, 4))).candidates(np.ones((2, 2)), 0) is None
