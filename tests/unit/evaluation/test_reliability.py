"""Reliability of probabilities, and the scales that make them of scores."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.decision import Calibration, fit_choices
from disambig.errors import UserError
from disambig.evaluation import plot_reliability
from disambig.metrics import choice_reliability, reliability, reliability_lines

RNG = np.random.default_rng(0)


def drawn(n, k, scale, seed):
    """Scores, and truths drawn by their softmax times a scale."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 3
    noise = rng.gumbel(size=(n, k))
    return scores, (scale * scores + noise).argmax(axis=1).astype(np.int32)


def test_bins_say_what_was_predicted_and_what_was_right():
    predicted = np.array([0.62, 0.68, 0.95, 1.0, 0.05])
    found = reliability(predicted, np.array([True, False, True, True, False]))
    assert [(at["low"], at["n"]) for at in found["bins"]] == [(0.0, 1), (0.6, 2), (0.9, 2)]
    middle = found["bins"][1]
    assert (middle["predicted"], middle["observed"]) == (pytest.approx(0.65), 0.5)
    assert found["expected_calibration_error"] == pytest.approx((0.05 + 2 * 0.15 + 2 * 0.025) / 5)
    assert found["brier"] == pytest.approx((0.38**2 + 0.68**2 + 0.05**2 + 0.05**2) / 5)
    assert len(reliability_lines(found)) == 5


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_bins_hold_every_decision_once(pairs):
    predicted, right = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs], bool)
    found = reliability(predicted, right)
    assert sum(at["n"] for at in found["bins"]) == found["n"] == len(pairs)
    assert all(at["low"] - 1e-9 <= at["predicted"] <= at["high"] + 1e-9 for at in found["bins"])
    if pairs:
        assert 0 <= found["expected_calibration_error"] <= 1 and 0 <= found["brier"] <= 1
    else:
        assert found["brier"] is None and reliability_lines(found) == []


def test_what_was_chosen_is_judged_and_places_without_a_word_are_not():
    probabilities = np.array([0.7, 0.3, 0.1, 0.2, 0.7, 0.5, 0.5])
    chosen, observed = np.array([0, 2, 0], np.int32), np.array([0, 1, -1], np.int32)
    found = choice_reliability(probabilities, np.array([0, 2, 5, 7]), chosen, observed)
    assert found["n"] == 2
    assert found["brier"] == pytest.approx((0.3**2 + 0.7**2) / 2)


def candidates(scores, scales, certainty):
    return Calibration(np.zeros(4), np.zeros((len(scales) - 1, 4)), scales, certainty).candidates(scores, 0)


def error_of(probabilities, truth):
    n, k = probabilities.shape
    chosen = probabilities.argmax(axis=1)
    return choice_reliability(probabilities.ravel(), np.arange(n + 1) * k, chosen, truth)[
        "expected_calibration_error"
    ]


@pytest.mark.parametrize("certainty", [(1.0, 0.0), (0.5, 0.3)])
def test_the_probabilities_that_made_the_truths_are_found(certainty):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4000, 5)) * 3
    made = candidates(scores, np.array([0.7, 0.7]), np.tile(certainty, (2, 1)))
    assert made.sum(axis=1) == pytest.approx(np.ones(4000))
    truth = (np.log(made) + rng.gumbel(size=made.shape)).argmax(axis=1).astype(np.int32)
    found = candidates(scores, *fit_choices([scores], [truth]))
    assert found.sum(axis=1) == pytest.approx(np.ones(4000))
    assert np.abs(found - made).mean() < 0.03 and error_of(found, truth) < 0.03


@pytest.mark.parametrize("certainty", [(1.0, 0.0), (0.1, 0.0), (1e-3, -5.0), (3.0, 4.0), (1.0, 1e4)])
@pytest.mark.parametrize("spread", [0.0, 1e-3, 3.0, 1e4])
def test_probabilities_sum_to_one_and_the_chosen_candidate_has_the_largest(certainty, spread):
    for k in (2, 3, 34):
        scores = np.random.default_rng(k).normal(size=(500, k)) * spread
        found = candidates(scores, np.ones(2), np.tile(certainty, (2, 1)))
        assert found.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-12)
        assert (found >= 0).all()
        chosen = found[np.arange(500), scores.argmax(axis=1)]
        assert (chosen == found.max(axis=1)).all()


def test_others_that_are_hopelessly_far_behind_share_what_is_left():
    certainty = np.tile((0.1, 0.0), (2, 1))
    assert candidates(np.array([[0.0, -1e4]]), np.ones(2), certainty).sum() == pytest.approx(1.0)
    (sure, *others) = candidates(np.array([[0.0, -1e4, -1e4]]), np.ones(2), certainty)[0]
    assert sure > 0.8 and others == pytest.approx([(1 - sure) / 2] * 2)


def test_a_certainty_below_the_runner_up_s_stops_where_both_are_alike():
    found = candidates(np.array([[0.01, 0.0], [1.0, 0.0]]), np.ones(2), np.tile((1.0, -0.5), (2, 1)))
    assert found[0].tolist() == [0.5, 0.5]
    assert found[1, 0] == pytest.approx(1 / (1 + np.exp(-0.5)))  # the log-odds of its share are 1


def test_units_of_the_scores_do_not_matter():
    scores, truth = drawn(300, 4, 1.0, seed=2)
    plain = candidates(scores, *fit_choices([scores], [truth]))
    for unit in (1e-4, 1e4):
        found = candidates(scores * unit, *fit_choices([scores * unit], [truth]))
        assert found == pytest.approx(plain, abs=1e-3)


def test_groups_with_few_examples_are_drawn_to_all_together():
    many, few = drawn(3000, 3, 2.0, seed=3), drawn(6, 3, 0.2, seed=4)
    empty = (np.empty((0, 3)), np.empty(0, np.int32))
    scales, certainty = fit_choices([many[0], few[0], empty[0]], [many[1], few[1], empty[1]])
    assert scales[2] == scales[3] and (certainty[2] == certainty[3]).all()
    assert 0.5 * scales[3] < scales[1] < scales[3]
    alone, _ = fit_choices([few[0]], [few[1]])
    assert alone[0] < scales[1]


def test_nothing_to_learn_from_leaves_scores_as_they_are():
    assert (fit_choices([np.zeros((5, 2))], [np.zeros(5, np.int32)])[0] == 1.0).all()
    assert (fit_choices([], [])[0] == 1.0).all()
    assert Calibration(np.zeros(4), np.zeros((0, 4))).candidates(np.ones((2, 2)), 0) is None


def test_the_plot_is_one_and_an_unknown_ending_is_refused(tmp_path):
    pytest.importorskip("matplotlib")
    found = reliability(RNG.random(200), RNG.random(200) < 0.5)
    for name in ("one.svg", "two.svg"):
        plot_reliability(found, tmp_path / name, title="pairs")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "pairs" in "".join(ElementTree.parse(tmp_path / "one.svg").getroot().itertext())
    with pytest.raises(UserError) as caught:
        plot_reliability(found, tmp_path / "plot.txt", title="pairs")
    assert caught.value.code == "D483"
