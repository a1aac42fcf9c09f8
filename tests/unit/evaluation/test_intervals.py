"""Intervals against known values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.metrics import mean_interval, wilson


def test_wilson_of_the_textbook_example() -> None:
    low, high = wilson(8, 10)
    assert low == pytest.approx(0.4902, abs=1e-4)
    assert high == pytest.approx(0.9433, abs=1e-4)


def test_wilson_of_nothing_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 5000), st.data())
def test_wilson_holds_the_share(n: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, n))
    low, high = wilson(right, n)
    assert -1e-9 <= low <= right / n + 1e-9
    assert right / n - 1e-9 <= high <= 1 + 1e-9


def test_mean_of_groups_is_bracketed_and_narrows_with_examples() -> None:
    few = mean_interval([(8, 10), (18, 20)])
    many = mean_interval([(800, 1000), (1800, 2000)])
    assert few[0] < 0.85 < few[1]
    assert many[1] - many[0] < few[1] - few[0]
    assert few == mean_interval([(8, 10), (18, 20)])
