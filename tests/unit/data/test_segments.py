"""Maxima, softmax and the best few between offsets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import segments

floats = st.floats(-700, 700).map(lambda value: round(value, 2))
instances = st.lists(st.lists(floats, min_size=1, max_size=5), max_size=6)


def flat(rows):
    values = np.array([value for row in rows for value in row], np.float64)
    return values, np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)


@given(instances)
def test_against_loops(rows):
    values, offsets = flat(rows)
    assert segments.lengths(offsets).tolist() == [len(row) for row in rows]
    assert segments.maxima(values, offsets).tolist() == [max(row) for row in rows]
    assert segments.argmax(values, offsets).tolist() == [row.index(max(row)) for row in rows]
    sums = [np.logaddexp.reduce(row) for row in rows]
    assert segments.log_sums(values, offsets) == pytest.approx(sums)
    shares = [np.exp(np.array(row) - total) for row, total in zip(rows, sums, strict=True)]
    assert segments.softmax(values, offsets) == pytest.approx(np.concatenate([*shares, np.empty(0)]))


@given(instances, st.integers(1, 7))
def test_top_is_sorted_and_stable(rows, k):
    values, offsets = flat(rows)
    best = segments.top(values, offsets, k)
    assert best.shape == (len(rows), k)
    for i, row in enumerate(rows):
        order = sorted(range(len(row)), key=lambda r: -row[r])[:k]
        assert best[i].tolist() == [offsets[i] + r for r in order] + [-1] * (k - len(order))


def test_rows_at_minus_infinity_get_nothing():
    values, offsets = np.array([-np.inf, 1.0, -np.inf, 2.0]), np.array([0, 2, 4])
    assert segments.softmax(values, offsets).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert segments.log_sums(values, offsets).tolist() == [1.0, 2.0]


def test_no_instances():
    empty, offsets = np.empty(0), np.array([0])
    for function in (segments.maxima, segments.argmax, segments.log_sums, segments.softmax):
        assert len(function(empty, offsets)) == 0
    assert segments.top(empty, offsets, 2).shape == (0, 2)
