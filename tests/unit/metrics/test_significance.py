"""Significance tests and intervals, compared with SciPy and known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binomtest, chi2_contingency

from disambig.metrics import chi_squared, mcnemar, mcnemar_from_counts, mean_interval, wilcoxon, wilson


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_agrees_with_the_exact_binomial_test(b, c):
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar_from_counts(b, c) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_counts_where_only_one_is_right():
    first = np.repeat([True, True, False, False], [50, 12, 2, 9])
    second = np.repeat([True, False, True, False], [50, 12, 2, 9])
    assert mcnemar(first, second) == mcnemar_from_counts(12, 2) == mcnemar(second, first) < 0.05
    assert mcnemar(first, first) == 1.0


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(1, 60))
def test_chi_squared_agrees_with_scipy(a, b, c, d):
    expected = chi2_contingency([[a, b], [c, d]], correction=False).pvalue
    assert chi_squared(a, a + b, c, c + d) == pytest.approx(expected, rel=1e-6)


def test_chi_squared_of_equal_shares_is_one():
    assert chi_squared(5, 5, 7, 7) == chi_squared(0, 5, 0, 7) == chi_squared(0, 0, 3, 7) == 1.0


def test_wilcoxon_on_a_known_case():
    # ranks of the differences 1, 2, 3, 4, -5: 10 against 5
    first = np.array([1.0, 2.0, 3.0, 4.0, 0.0])
    second = np.array([0.0, 0.0, 0.0, 0.0, 5.0])
    ranks = [1, 2, 3, 4, 5]
    patterns = [sum(r for r, bit in zip(ranks, f"{n:05b}", strict=True) if bit == "1") for n in range(32)]
    expected = sum(min(total, 15 - total) <= 5 for total in patterns) / 32
    assert wilcoxon(first, second) == pytest.approx(expected)
    assert wilcoxon(second, first) == pytest.approx(expected)


PAIR = st.tuples(st.integers(0, 5), st.integers(0, 5))


# for 9 to 13 differences with ties, SciPy tries all signs, which takes long
@given(st.lists(PAIR, max_size=8) | st.lists(PAIR, min_size=25, max_size=40))
def test_wilcoxon_leaves_out_ties(pairs):
    first, second = np.array(pairs, float).reshape(-1, 2).T
    p = wilcoxon(first, second)
    assert 0 <= p <= 1
    assert p == wilcoxon(np.append(first, [0.3, 7.0]), np.append(second, [0.1 + 0.2, 7.0]))


def test_wilson_on_a_known_case() -> None:
    low, high = wilson(8, 10)
    assert low == pytest.approx(0.4902, abs=1e-4)
    assert high == pytest.approx(0.9433, abs=1e-4)


def test_wilson_of_no_examples() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000), st.data())
def test_wilson_contains_the_share(n: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, n))
    low, high = wilson(right, n)
    assert 0 <= low <= right / n + 1e-9
    assert right / n - 1e-9 <= high <= 1


def test_wilson_of_none_and_all_stays_between_0_and_1() -> None:
    assert all(wilson(0, n)[0] >= 0 and wilson(n, n)[1] <= 1 for n in range(1, 200))
    assert f"{wilson(0, 7)[0]:.1%}" == "0.0%"


def test_interval_of_the_mean_narrows_with_examples() -> None:
    few = mean_interval([(8, 10), (18, 20)])
    many = mean_interval([(800, 1000), (1800, 2000)])
    assert few[0] < 0.85 < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    assert few == mean_interval([(8, 10), (18, 20)])
