"""Ragged arrays, minibatches and look-up of keys, compared with loops and dicts."""

from __future__ import annotations

from itertools import accumulate, compress

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from disambig.data import (
    HashVocabulary,
    Ragged,
    join_offsets,
    minibatch,
    offsets_from_sizes,
    row_owners,
    row_ranks,
    segments,
    take_rows,
)

any_floats = st.floats(-700, 700).map(lambda value: round(value, 2))


any_instances = st.lists(st.lists(any_floats, min_size=1, max_size=5), max_size=6)


def flat(rows):
    values = np.array([value for row in rows for value in row], np.float64)
    return values, offsets_from_sizes(map(len, rows))


any_sizes = st.lists(st.integers(0, 5), max_size=8)


@given(any_sizes, st.sampled_from([np.int64, np.int32, np.uint16, bool, list]))
def test_offsets_from_sizes_against_accumulate(numbers, kind):
    if kind is bool:
        numbers = [int(number > 2) for number in numbers]
    offsets = offsets_from_sizes(numbers if kind is list else np.array(numbers, kind))
    assert offsets.dtype == np.int64
    assert offsets.tolist() == list(accumulate(numbers, initial=0))
    assert offsets_from_sizes(iter(numbers)).tolist() == offsets.tolist()


@given(any_sizes)
def test_owners_and_ranks_against_loops(numbers):
    offsets = offsets_from_sizes(numbers)
    pairs = [(i, rank) for i, size in enumerate(numbers) for rank in range(size)]
    assert list(zip(row_owners(offsets).tolist(), row_ranks(offsets).tolist(), strict=True)) == pairs


@given(st.lists(any_sizes, max_size=6), st.data())
def test_ragged_lists_against_lists(lists, data):
    ragged = Ragged.from_lists(lists, np.int16)
    assert ragged.values.dtype == np.int16 and len(ragged) == len(lists)
    assert [ragged[i].tolist() for i in range(len(ragged))] == lists
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists))), bool)
    taken = ragged.take(mask)
    assert [taken[i].tolist() for i in range(len(taken))] == list(compress(lists, mask))
    back = ragged.take(np.arange(len(lists))[::-1])
    assert [back[i].tolist() for i in range(len(back))] == lists[::-1]


@given(st.lists(any_sizes, max_size=4))
def test_joined_offsets_are_those_of_all_sizes(parts):
    joined = join_offsets(offsets_from_sizes(numbers) for numbers in parts)
    assert joined.tolist() == offsets_from_sizes(size for numbers in parts for size in numbers).tolist()


@given(any_sizes.filter(len), st.data())
def test_take_rows_against_slices(numbers, data):
    offsets = offsets_from_sizes(numbers)
    index = data.draw(st.lists(st.integers(0, len(numbers) - 1), max_size=6))
    rows, taken = take_rows(offsets, np.array(index, np.int64))
    assert rows.tolist() == [row for i in index for row in range(offsets[i], offsets[i + 1])]
    assert taken.tolist() == list(accumulate((numbers[i] for i in index), initial=0))


@given(any_instances)
def test_segment_functions_against_loops(rows):
    values, offsets = flat(rows)
    assert segments.lengths(offsets).tolist() == [len(row) for row in rows]
    assert segments.maxima(values, offsets).tolist() == [max(row) for row in rows]
    assert segments.argmax(values, offsets).tolist() == [row.index(max(row)) for row in rows]
    sums = [np.logaddexp.reduce(row) for row in rows]
    assert segments.log_sums(values, offsets) == pytest.approx(sums)
    shares = [np.exp(np.array(row) - total) for row, total in zip(rows, sums, strict=True)]
    assert segments.softmax(values, offsets) == pytest.approx(np.concatenate([*shares, np.empty(0)]))


@given(any_instances, st.integers(1, 7))
def test_top_is_sorted_and_stable(rows, k):
    values, offsets = flat(rows)
    best = segments.top(values, offsets, k)
    assert best.shape == (len(rows), k)
    for i, row in enumerate(rows):
        order = sorted(range(len(row)), key=lambda r: -row[r])[:k]
        assert best[i].tolist() == [offsets[i] + r for r in order] + [-1] * (k - len(order))


def test_rows_at_minus_infinity_have_softmax_zero():
    values, offsets = np.array([-np.inf, 1.0, -np.inf, 2.0]), np.array([0, 2, 4])
    assert segments.softmax(values, offsets).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert segments.log_sums(values, offsets).tolist() == [1.0, 2.0]


def test_segment_functions_without_instances():
    empty, offsets = np.empty(0), np.array([0])
    for function in (segments.maxima, segments.argmax, segments.log_sums, segments.softmax):
        assert len(function(empty, offsets)) == 0
    assert segments.top(empty, offsets, 2).shape == (0, 2)


@given(any_sizes, st.integers(1, 9), st.none() | st.integers(1, 3))
def test_minibatches_are_consecutive_and_minimal(numbers, size, most):
    batches = list(minibatch(iter(numbers), size, lambda number: number, most=most))
    assert [number for batch in batches for number in batch] == numbers
    assert all(batches)
    for batch in batches[:-1]:
        assert sum(batch) >= size or len(batch) == most
    for batch in batches:
        assert sum(batch[:-1]) < size and (most is None or len(batch) <= most)
    if most is None:
        by_number = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        assert list(minibatch(numbers, size)) == by_number


def test_minibatches_do_not_read_ahead():
    read = iter(range(10))
    batches = minibatch(read, 3)
    assert next(batches) == [0, 1, 2] and next(read) == 3


hashes = st.integers(0, 40).map(lambda number: number * 2**58)


key_lists = st.sets(hashes, max_size=8).map(sorted)


wanted_arrays = arrays.arrays(
    np.uint64, arrays.array_shapes(max_dims=2, min_side=0, max_side=5), elements=hashes
)


@given(key_lists, wanted_arrays)
def test_lookup_and_contains_against_a_dict(keys, expected):
    vocabulary = HashVocabulary(np.array(keys, np.uint64))
    index = {key: i for i, key in enumerate(keys)}
    result = vocabulary.lookup(expected)
    assert result.shape == expected.shape and result.dtype == np.int64
    assert result.ravel().tolist() == [index.get(key, -1) for key in expected.ravel().tolist()]
    assert np.array_equal(vocabulary.contains(expected), result >= 0)


@given(key_lists, wanted_arrays)
def test_get_against_a_dict(keys, expected):
    vocabulary = HashVocabulary(np.array(keys, np.uint64))
    values = {key: 3 * i + 1 for i, key in enumerate(keys)}
    column = np.array(list(values.values()), np.int16)
    got = vocabulary.get(expected, column, np.int16(-7))
    assert got.dtype == np.int16
    assert got.ravel().tolist() == [values.get(key, -7) for key in expected.ravel().tolist()]
    # a different default for each key
    same = vocabulary.get(expected, np.array(keys, np.uint64), expected)
    assert same.dtype == np.uint64 and np.array_equal(same, expected)
