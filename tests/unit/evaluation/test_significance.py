"""Tests of difference against scipy's own, and where there is nothing to tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.metrics import chi_squared, mcnemar, mcnemar_from_counts, wilcoxon


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_exact_binomial_test(b, c):
    from scipy.stats import binomtest

    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar_from_counts(b, c) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_counts_where_only_one_is_right():
    first = np.repeat([True, True, False, False], [50, 12, 2, 9])
    second = np.repeat([True, False, True, False], [50, 12, 2, 9])
    assert mcnemar(first, second) == mcnemar_from_counts(12, 2) == mcnemar(second, first) < 0.05
    assert mcnemar(first, first) == 1.0


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 60), st.integers(1, 60))
def test_chi_squared_is_pearsons(a, b, c, d):
    from scipy.stats import chi2_contingency

    expected = chi2_contingency([[a, b], [c, d]], correction=False).pvalue
    assert chi_squared(a, a + b, c, c + d) == pytest.approx(expected, rel=1e-6)


def test_where_nothing_differs_p_is_one():
    assert chi_squared(5, 5, 7, 7) == chi_squared(0, 5, 0, 7) == chi_squared(0, 0, 3, 7) == 1.0


def test_wilcoxon_on_a_case_worked_by_hand():
    # ranks of the differences 1, 2, 3, 4, -5: 10 against 5
    first = np.array([1.0, 2.0, 3.0, 4.0, 0.0])
    second = np.array([0.0, 0.0, 0.0, 0.0, 5.0])
    ranks = [1, 2, 3, 4, 5]
    patterns = [sum(r for r, bit in zip(ranks, f"{n:05b}", strict=True) if bit == "1") for n in range(32)]
    expected = sum(min(total, 15 - total) <= 5 for total in patterns) / 32
    assert wilcoxon(first, second) == pytest.approx(expected)
    assert wilcoxon(second, first) == pytest.approx(expected)


PAIR = st.tuples(st.integers(0, 5), st.integers(0, 5))


# of 9 to 13 differences with ties scipy tries all signs, which takes it long
@given(st.lists(PAIR, max_size=8) | st.lists(PAIR, min_size=25, max_size=80))
def test_wilcoxon_leaves_out_data_sets_on_which_both_are_alike(pairs):
    first, second = np.array(pairs, float).reshape(-1, 2).T
    p = wilcoxon(first, second)
    assert 0 <= p <= 1
    assert p == wilcoxon(np.append(first, [0.3, 7.0]), np.append(second, [0.1 + 0.2, 7.0]))
