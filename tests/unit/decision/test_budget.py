"""A budget of flags for several decision rules, compared with exhaustive search and a linear program."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from examples import fewer_examples
from hypothesis import given, strategies as st
from scipy.optimize import linprog

from disambig.decision import concave_envelope, share_budget

RATES = np.array([0.1, 0.2, 0.5, 1.0, 2.0])
GAINS = st.lists(st.integers(0, 100), min_size=5, max_size=5).map(lambda g: np.sort(np.array(g) / 100))
CURVES = st.lists(GAINS.map(lambda gains: (RATES, gains)), min_size=2, max_size=4)


def gain(curves, rates):
    """Return the recall at some rates, on the concave envelopes."""
    best = 0.0
    for curve, rate in zip(curves, rates, strict=True):
        x, y = concave_envelope(*curve)
        best += float(np.interp(rate, x, y))
    return best


def best_by_linear_program(curves, total):
    """Return the maximum gain if the rate of each curve is a mixture of its points and zero."""
    points = [
        (i, rate, g) for i, (rates, gains) in enumerate(curves) for rate, g in zip(rates, gains, strict=True)
    ]
    of_curve = np.array([[i == k for i, _, _ in points] for k in range(len(curves))], float)
    spent = np.array([[rate for _, rate, _ in points]])
    best = linprog(
        [-g for _, _, g in points],
        A_ub=np.vstack([of_curve, spent]),
        b_ub=[*[1.0] * len(curves), total],
        bounds=(0, 1),
    )
    assert best.success
    return -best.fun


@fewer_examples
@given(CURVES, st.floats(0, 8))
def test_a_linear_program_finds_no_better_solution(curves, total):
    rates = share_budget(curves, total)
    assert sum(rates) == pytest.approx(total) and min(rates) >= 0
    assert gain(curves, rates) == pytest.approx(best_by_linear_program(curves, total), abs=1e-9)


def test_known_shares():
    steep = RATES, np.array([0.3, 0.4, 0.45, 0.5, 0.5])
    slow = RATES, np.array([0.05, 0.1, 0.25, 0.5, 0.6])
    for total, expected in [
        (0.1, [0.1, 0.0]),
        (1.0, [0.2, 0.8]),  # the slope of `slow` is 0.5 up to 1, that of `steep` 0.17
        (4.0, [2.0, 2.0]),
        (6.0, [3.0, 3.0]),  # a rate from which no model gains is shared equally
    ]:
        assert share_budget([steep, slow], total) == pytest.approx(expected)
        assert share_budget([slow, steep], total) == pytest.approx(expected[::-1])


def test_a_rule_without_gains_gets_the_rest_only():
    nothing, something = (RATES, np.zeros(5)), (RATES, np.linspace(0.1, 0.2, 5))
    assert share_budget([nothing, something], 2.0) == pytest.approx([0.0, 2.0])


@pytest.mark.parametrize("total", [0.0, 0.37, 5.0, 100.0, float("inf")])
def test_one_rule_gets_all_and_rules_with_unknown_gains_equal_shares(total):
    curve = RATES, np.linspace(0.1, 0.5, 5)
    assert share_budget([curve], total) == [total]
    assert share_budget([None, curve], total) == [total / 2, total / 2]
    assert share_budget([None], total) == [total]
    assert share_budget([], total) == []


def test_the_envelope_is_concave_and_above_all_points():
    for gains in product((0.0, 0.2, 0.5), repeat=3):
        points = np.array([0.1, 0.5, 1.0]), np.sort(np.array(gains))
        x, y = concave_envelope(*points)
        assert (np.diff(np.diff(y) / np.diff(x)) < 0).all()
        assert (np.interp(points[0], x, y) >= points[1] - 1e-12).all() and (x[0], y[0]) == (0, 0)
