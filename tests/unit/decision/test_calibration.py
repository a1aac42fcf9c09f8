"""Operating points and calibration of corrections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from disambig.data import Group
from disambig.decision import (
    RATES,
    Corrections,
    compare_with_observed,
    error_probabilities,
    fit_calibration,
    fit_logistic,
    tune_operating_point,
    variant_matrix,
)
from disambig.errors import UserError


@given(st.lists(st.floats(-30, 30), max_size=200), st.integers(1, 100_000))
def test_thresholds_keep_their_rate_on_the_tuning_text(values, n_words):
    log_odds = np.array(values)
    point = tune_operating_point(log_odds, n_words)
    assert (np.diff(point.thresholds) <= 0).all()
    for rate in RATES:
        flags = np.count_nonzero(log_odds > point.threshold(rate))
        assert flags * 1000 <= rate * n_words + 1e-9
    assert point.threshold(0) == np.inf
    rule = Corrections(flags_per_1000=0.5, operating=point)  # the default rate
    assert rule.limit() == rule.limit(0.5) == error_probabilities(np.float64(point.threshold(0.5)))


def test_interpolates_between_rates():
    point = tune_operating_point(np.linspace(-5, 5, 1000), 100_000)
    assert point.threshold(2.0) < point.threshold(1.7) < point.threshold(1.5)
    assert point.threshold(1e-9) == point.threshold(RATES[0])
    assert point.threshold(1e9) == point.threshold(RATES[-1])


@pytest.mark.parametrize("rate", [-1, -0.001, float("nan")])
def test_rejects_impossible_rates(rate):
    with pytest.raises(UserError, match="D401"):
        tune_operating_point(np.zeros(3), 10).threshold(rate)


def test_compares_the_best_other_candidate():
    group = Group("g", ("to", "toward", "towards"), (("toward", "towards"),))
    same = variant_matrix(group)
    assert same.tolist() == [[True, False, False], [False, True, True], [False, True, True]]
    scores = np.array([[1.0, 5.0, 3.0]] * 4)
    result = np.array([[1, 2, 3]] * 4, np.int32)
    observed = np.array([0, 1, 2, -1], np.int32)
    comparison = compare_with_observed(scores, result, observed, same[observed])
    # a variant of the observed candidate does not count as another one
    assert comparison.other.tolist() == [1, 0, 0, -1]
    margins = comparison.features[:3, 0]
    assert np.sign(margins).tolist() == [1, -1, -1]
    assert margins[1] < margins[2]
    assert comparison.features[0, 1:].tolist() == [np.log1p(2), np.log1p(1), 1.0]


def test_variants_only_have_no_other_candidate():
    same = np.ones((3, 2), bool)
    three = np.zeros((3, 2)), np.ones((3, 2), np.int32), np.zeros(3, np.int32)
    comparison = compare_with_observed(*three, same)
    assert comparison.other.tolist() == [-1] * 3
    assert np.isfinite(comparison.features).all()
    nothing = np.zeros((0, 2)), np.zeros((0, 2), np.int32), np.zeros(0, np.int32), same[:0]
    assert compare_with_observed(*nothing).other.size == 0


def test_calibration_recovers_the_odds_that_generated_the_data():
    rng = np.random.default_rng(0)
    truth = np.array([1.5, 0.5, -1.0, -0.3])
    x = np.column_stack([rng.normal(size=20_000), rng.random((20_000, 2)) * 2, np.ones(20_000)])
    wrong = rng.random(20_000) < 1 / (1 + np.exp(-(x @ truth)))
    weights = np.ones(20_000)
    assert fit_logistic(x, wrong, weights) == pytest.approx(truth, abs=0.12)
    few = slice(0, 15)
    groups = [x, x[few], x[:0]], [wrong, ~wrong[few], wrong[:0]], [weights, weights[few], weights[:0]]
    calibration = fit_calibration(*groups)
    assert calibration.groups[0] == pytest.approx(truth, abs=0.15)
    assert calibration.groups[1] == pytest.approx(calibration.pooled, abs=1.0)  # few examples
    assert calibration.groups[2] == pytest.approx(calibration.pooled)
    assert calibration.log_odds(x[:2], 7) == pytest.approx(x[:2] @ calibration.pooled)


def test_weight_of_the_margin_is_positive():
    x = np.array([[-1.0, 0, 0, 1], [1.0, 0, 0, 1]] * 20)
    assert fit_logistic(x, x[:, 0] < 0, np.ones(40))[0] > 0


def test_error_probabilities_include_the_prior():
    values = error_probabilities(np.array([-1000.0, 0.0, 4.6, 1000.0]))
    assert (np.diff(values) > 0).all()
    assert values[1] == pytest.approx(0.01)
    assert ((values >= 0) & (values <= 1)).all()
