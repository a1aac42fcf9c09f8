"""Columns of rows, ragged arrays and look-up of keys, places in texts and their edits."""

from __future__ import annotations

import re
import weakref
from dataclasses import replace
from itertools import accumulate, compress

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_array

from disambig.data import (
    CandidateFinder,
    CandidateLists,
    Columns,
    CrossedColumns,
    CrossedRows,
    Group,
    HashVocabulary,
    Instances,
    PackedStrings,
    Ragged,
    ScoreBatch,
    apart,
    candidate_names,
    check_certain_mistakes,
    check_numbers,
    confusion_set,
    edited_text,
    empty_places,
    find_instances,
    join_columns,
    join_offsets,
    minibatch,
    normalised,
    offsets_from_sizes,
    own_columns,
    parse_share,
    record_edit,
    replacement,
    restricted,
    row_owners,
    row_ranks,
    segments,
    strings_from_state,
    take_rows,
    used_columns,
    word_tokens,
)
from disambig.errors import UserError
from disambig.features import join
from disambig.testing import crossed
from disambig.text import Words
from disambig.types import Decides, Features

CANDIDATES = ("river", "money")


def row_columns(groups, group_names, names=()):
    return Columns(np.full(len(groups), -1, np.int32), np.array(groups, np.int32), group_names, names)


OWN = row_columns([0, 1, 0], ("near", "far"), ["sand", "", "bill"])


def test_crossed_columns_are_ordered_by_candidate():
    columns = CrossedColumns(OWN, CANDIDATES)
    assert len(columns) == 6
    assert columns.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert columns.groups.tolist() == [0, 1, 0, 0, 1, 0]
    assert columns.group_names == ("near", "far")
    assert columns.in_groups(["far"]).tolist() == [False, True, False] * 2
    with pytest.raises(UserError, match="D451"):
        columns.in_groups(["fra"])


def test_names_of_columns_are_lazy():
    names = CrossedColumns(OWN, CANDIDATES).names
    assert len(names) == 6
    assert names[0] == "river: sand"
    assert names[-1] == names[5] == "money: bill"
    assert names[4] == ""  # a column without a name also has no name with a candidate
    assert list(names) == names[0:6] == ["river: sand", "", "river: bill", "money: sand", "", "money: bill"]
    assert names[4:1:-2] == ["", "river: bill"]
    with pytest.raises(IndexError):
        names[6]
    assert len(CrossedColumns(row_columns([0, 0], ("near",)), CANDIDATES).names) == 0


def test_one_feature_group_is_stored_once():
    groups = np.broadcast_to(np.int32(0), (4,))
    columns = CrossedColumns(Columns(groups - 1, groups, ("near",)), CANDIDATES)
    assert columns.groups.tolist() == [0] * 8
    assert columns.groups.strides == (0,)
    none = CrossedColumns(Columns(groups[:0], groups[:0], ("near",)), CANDIDATES)
    assert len(none) == len(none.groups) == len(none.labels) == 0


def test_own_columns_and_candidate_names():
    columns = CrossedColumns(OWN, CANDIDATES)
    assert own_columns(columns, 3) is OWN
    assert candidate_names(columns, 2) == CANDIDATES
    plain = crossed(labels=3, columns=8).columns
    stored_columns = own_columns(plain, 8)
    assert stored_columns.groups.tolist() == [0] * 7 + [1]
    assert stored_columns.labels.tolist() == [-1] * 8
    assert stored_columns.group_names == ("words", "bias")
    assert candidate_names(plain, 3) == ("0", "1", "2")


def test_feature_groups_of_the_same_name_are_merged():
    other = row_columns([1, 0], ("far", "tags"))
    both = join_columns(OWN, other)
    assert both.group_names == ("near", "far", "tags")
    assert both.groups.tolist() == [0, 1, 0, 2, 1]
    assert both.labels.tolist() == [-1] * 5
    assert list(both.names) == ["sand", "", "bill", "", ""]
    assert both.names[3:] == ["", ""] and both.names[-3] == "bill"
    assert join_columns(OWN, other) is both  # computed once
    assert len(join_columns(other, other).names) == 0
    empty = row_columns([], ("none",))
    assert join_columns(empty, OWN).groups.tolist() == [1, 2, 1]
    assert list(join_columns(empty, OWN).names) == ["sand", "", "bill"]


def features(rows, stored_columns, evidence, costs):
    from scipy.sparse import csr_array

    batch = CrossedRows(csr_array(np.array(rows, float)), costs, CrossedColumns(stored_columns, CANDIDATES))
    return Features(batch, np.array(evidence, np.int32), np.array(evidence, np.int32) + 1)


def test_joined_rows_score_as_the_sum_of_their_parts():
    costs = np.array([[0, 1], [1, 0]], np.float32)
    one = features([[1, 2, 0], [0, 0, 3]], OWN, [1, 1, 2, 2], costs)
    two = features([[0, 4], [5, 6]], row_columns([0, 1], ("far", "tags")), [3, 3, 0, 0], costs)
    both = join([one, two])
    assert both.batch.rows.toarray().tolist() == [[1, 2, 0, 0, 4], [0, 0, 3, 5, 6]]
    assert both.batch.rows.has_sorted_indices
    assert both.batch.columns.own.groups.tolist() == [0, 1, 0, 1, 2]
    assert both.batch.columns.names[2] == "river: bill"
    assert both.batch.costs is costs
    assert both.n_hits.tolist() == [4, 4, 2, 2]
    assert both.n_queries.tolist() == [6, 6, 4, 4]
    weights = np.random.default_rng(0).normal(size=(2, 5))
    expected = one.batch.scores(weights[:, :3].ravel()) + two.batch.scores(weights[:, 3:].ravel())
    np.testing.assert_allclose(both.batch.scores(weights.ravel()), expected)


def test_dense_rows_are_joined_with_sparse_ones():
    costs = np.zeros((2, 2), np.float32)
    sparse = features([[1, 0, 2], [0, 0, 0]], OWN, [0] * 4, costs)
    dense = Features(
        CrossedRows(np.array([[7.0], [8.0]]), costs, CrossedColumns(row_columns([0], ("bias",)), CANDIDATES)),
        np.zeros(4, np.int32),
        np.zeros(4, np.int32),
    )
    assert join([sparse, dense]).batch.rows.toarray().tolist() == [[1, 0, 2, 7], [0, 0, 0, 8]]


def test_joined_columns_are_cached_while_the_first_is_alive():
    first, second = row_columns([1, 0], ("far", "tags")), row_columns([0], ("near",))
    both = join_columns(first, second)
    assert join_columns(first, second) is both
    assert len(join_columns(first).names) == 0 and list(join_columns(first, OWN).names)[-1] == "bill"
    join_columns(first, first)
    gone = [weakref.ref(item) for item in (first, second, join_columns(second, first))]
    del first, second, both
    assert [item() for item in gone] == [None] * 3


GROUPS = np.array([0, 0, 1, 1, 2], np.int32)
NAMES = ("local", "broad", "near")
WORDS = ["a", "b", "c", "d", "e"]
ROWS = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(5)), elements=st.integers(-3, 3).map(float))
WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.3, 1.0, 2.5]) for name in NAMES})


def make_batch(rows, names=()):
    rows = np.array(rows, float)
    stored_columns = Columns(np.full(5, -1, np.int32), GROUPS, NAMES, names)
    costs = np.zeros((len(rows), 2), np.float32)
    return CrossedRows(csr_array(rows), costs, CrossedColumns(stored_columns, ("river", "money")))


@given(ROWS, WEIGHTS)
def test_inner_products_are_the_weighted_sum_of_normalised_kernels(rows, weights):
    scaled = normalised(make_batch(rows), weights).rows
    expected = np.zeros((len(rows), len(rows)))
    for g, name in enumerate(NAMES):
        part = rows[:, g == GROUPS]
        lengths = np.linalg.norm(part, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            cosines = np.where(np.outer(lengths, lengths) > 0, part @ part.T / np.outer(lengths, lengths), 0)
        expected += weights[name] * cosines
    np.testing.assert_allclose((scaled @ scaled.T).toarray(), expected, atol=1e-12)


@given(ROWS)
def test_feature_groups_are_scaled_to_their_weights(rows):
    squares = normalised(make_batch(rows)).rows.toarray() ** 2
    for g in range(3):
        full = (rows[:, g == GROUPS] != 0).any(axis=1)
        np.testing.assert_allclose(squares[:, g == GROUPS].sum(axis=1), np.where(full, 1 / 3, 0))


@given(ROWS)
def test_whole_rows_are_scaled_to_length_one(rows):
    scaled = normalised(make_batch(rows), together=True).rows.toarray()
    full = (rows != 0).any(axis=1)
    np.testing.assert_allclose((scaled**2).sum(axis=1), full)
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(scaled * lengths[:, None], rows, atol=1e-12)


@pytest.mark.parametrize("together", [False, True])
@given(ROWS, st.sampled_from([1e-320, 1e-170, 1e-110, 1e110, 1e170, 1e300]))
def test_normalising_avoids_underflow_and_overflow(together, rows, factor):
    both = np.concatenate([rows[:1], rows[:1] * factor])
    result = normalised(make_batch(both), together=together).rows.toarray()
    np.testing.assert_allclose(result[1], result[0], rtol=1e-2 if factor < 1e-300 else 1e-12, atol=1e-12)


def test_the_norm_of_a_full_row_is_the_sum_of_weights():
    scaled = normalised(make_batch([[1, 2, 3, 0, 5]]), {"local": 0.3, "broad": 0.2, "near": 0.5}).rows
    assert (scaled @ scaled.T).toarray() == pytest.approx(1.0)


def test_normalising_does_not_change_the_batch():
    batch = make_batch([[3, 4, 0, 0, 1]])
    normalised(batch)
    assert batch.rows.toarray().tolist() == [[3, 4, 0, 0, 1]]
    assert normalised(batch).costs is batch.costs
    assert normalised(batch).columns is batch.columns


def test_columns_without_crossing_have_groups_too():
    scaled = normalised(crossed(labels=2, columns=4)).rows.toarray()
    np.testing.assert_allclose(scaled[:, -1], np.sqrt(0.5))
    np.testing.assert_allclose((scaled[:, :-1] ** 2).sum(axis=1), 0.5)


@pytest.mark.parametrize(
    ("weights", "code", "message"),
    [
        ({"local": 1, "broad": 1, "near": 1, "brood": 1}, "D451", "brood"),
        ({"local": 1, "broad": 1}, "D476", "near' is none"),
        ({"local": 1, "broad": -0.5, "near": 1}, "D476", "broad' is -0.5"),
        ({"local": 1, "broad": float("nan"), "near": 1}, "D476", "broad' is nan"),
        ({"local": 1, "broad": float("inf"), "near": 1}, "D476", "broad' is inf"),
    ],
)
def test_rejects_invalid_weights(weights, code, message):
    with pytest.raises(UserError, match=f"(?s){code}.*{message}|{message}.*{code}"):
        normalised(make_batch([[1, 1, 1, 1, 1]]), weights)


@given(ROWS)
def test_restricted_rows_keep_every_product(rows):
    batch = make_batch(rows, WORDS)
    columns = used_columns(batch)
    assert columns.tolist() == [c for c in range(5) if (rows[:, c] != 0).any()]
    small = restricted(batch, columns)
    assert small.rows.toarray().tolist() == rows[:, columns].tolist()
    assert small.columns.own.groups.tolist() == GROUPS[columns].tolist()
    assert list(small.columns.own.names) == [WORDS[c] for c in columns]
    assert small.columns.group_names == NAMES
    assert small.columns.candidates == ("river", "money")
    assert len(small.columns) == 2 * len(columns)


def test_columns_of_other_rows_are_dropped():
    small = restricted(make_batch([[1, 2, 3, 4, 5], [0, 0, 0, 0, 6]]), np.array([1, 3]))
    assert small.rows.toarray().tolist() == [[2, 4], [0, 0]]
    assert len(small.columns.own.names) == 0
    none = restricted(make_batch([[1, 2, 3, 4, 5]]), np.zeros(0, np.int64))
    assert none.rows.shape == (1, 0)
    assert len(none.columns) == 0


def test_numbers_that_no_learner_can_use():
    rows = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, np.nan, np.inf]]))
    with pytest.raises(UserError, match=r"D772.* 2 are NaN.*example 2, dimension 1"):
        check_numbers(rows)
    with pytest.raises(UserError, match=r"D772.*example 1, dimension 1"):
        check_numbers(rows, np.array([0, 2, 3]))
    with pytest.raises(UserError, match="D773"):
        check_numbers(csr_array(np.array([[-1e101]])))
    check_numbers(csr_array(np.array([[np.float32(3e38), 0.0]], np.float32)))


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


@given(
    any_sizes.filter(len), st.builds(slice, *[st.none() | st.integers(-8, 8)] * 2, st.sampled_from([None, 2]))
)
def test_take_rows_of_a_slice_are_those_of_its_indices(numbers, part):
    offsets = offsets_from_sizes(numbers)
    rows, taken = take_rows(offsets, part)
    expected, ends = take_rows(offsets, np.arange(len(numbers))[part])
    assert np.arange(offsets[-1])[rows].tolist() == expected.tolist()
    assert taken.tolist() == ends.tolist()


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
    batches = list(minibatch(iter(numbers), size, lambda number: number, maximum=most))
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
wanted_arrays = arrays(np.uint64, array_shapes(max_dims=2, min_side=0, max_side=5), elements=hashes)


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


WORD_GROUPS = (
    Group("quite/quiet", ("quite", "quiet")),
    Group("some/some time/any", ("some", "some time", "any")),
    Group("quiet/silent", ("quiet", "silent")),
)


def find_places(text, groups=WORD_GROUPS):
    """Return the places that a finder sees: word or words, group and candidate."""
    view = Words()([text])
    instances = CandidateFinder.from_groups(groups).find(view)
    rows = zip(instances.positions, instances.lengths, instances.groups, instances.observed, strict=True)
    return [
        (text[view.starts[at] : view.ends[at + length - 1]], int(group), int(candidate))
        for at, length, group, candidate in rows
    ]


def test_candidates_are_found_in_text_order_then_by_group():
    assert find_places("Some quiet place, some time later; any was quite silent.") == [
        ("Some", 1, 0),
        ("quiet", 0, 1),
        ("quiet", 2, 0),
        ("some time", 1, 1),
        ("any", 1, 2),
        ("quite", 0, 0),
        ("silent", 2, 1),
    ]
    assert find_places("quite-like any/some text, quiet") == [("quiet", 0, 1), ("quiet", 2, 0)]
    assert find_places("Nothing of it.") == []
    assert find_places("not-\n  quite so, -\nsome - quiet") == [
        ("some", 1, 0),
        ("quiet", 0, 1),
        ("quiet", 2, 0),
    ]


def test_finders_refuse_candidates_that_are_not_one_word_or_two():
    for candidate in ("", "one two three"):
        with pytest.raises(UserError, match="D450"):
            CandidateFinder.from_groups([Group("x", ("a", candidate))])
    with_zero = (Group("x", ("", "a")),)
    assert len(CandidateFinder.from_groups(with_zero, zero=True).first) == 1


def test_empty_places_are_between_words_of_a_sentence():
    view = Words()(["We go - home now. It rained"])
    words = view.texts[0]
    assert [words[view.starts[at] : view.ends[at]] for at in empty_places(view)] == ["go", "now", "rained"]
    assert word_tokens(view).sum() == 6 and not word_tokens(view).flags.writeable


@given(st.lists(st.text("ab .-é'", max_size=30), max_size=4))
def test_empty_places_are_between_separate_words(texts):
    view = Words()(texts)
    for place in empty_places(view).tolist():
        assert view.document_indices(np.array([place])) == view.document_indices(np.array([place - 1]))
        text = texts[int(view.document_indices(np.array([place]))[0])]
        between = text[view.ends[place - 1] : view.starts[place]]
        assert between and not between.strip()


def test_places_apart_from_the_words_of_instances():
    zeros = np.zeros(2, np.int32)
    taken = Instances(np.array([3, 8]), np.array([2, 1], np.int32), zeros, zeros)  # tokens 3, 4 and 8
    places = np.arange(1, 11)
    assert places[apart(places, taken, 11)].tolist() == [1, 2, 6, 7, 10]


@pytest.mark.parametrize(
    ("certain", "problem"),
    [
        (([0], [1], [0.5]), "returned"),
        ((np.array([0]), np.array([1])), "returned"),
        ((np.array([[0]]), np.array([1]), np.array([0.5])), "returned"),
        ((np.array([0]), np.array([1, 0]), np.array([0.5])), "returned"),
        ((np.array([0.0]), np.array([1]), np.array([0.5])), "returned"),
        ((np.array([2]), np.array([1]), np.array([0.5])), "names instance 2 of 2"),
        ((np.array([-1]), np.array([1]), np.array([0.5])), "names instance -1 of 2"),
        ((np.array([1]), np.array([3]), np.array([0.5])), "proposes candidate 3 of 3"),
        ((np.array([0]), np.array([-1]), np.array([0.5])), "proposes candidate -1 of 2"),
        ((np.array([0]), np.array([1]), np.array([0.0])), "gives the probability 0"),
        ((np.array([0]), np.array([1]), np.array([1.5])), r"gives the probability 1\.5"),
        ((np.array([0]), np.array([1]), np.array([np.nan])), "gives the probability nan"),
    ],
)
def test_certain_mistakes_are_checked(certain, problem):
    class Task:
        name, groups, decides = "made", WORD_GROUPS, Decides()

    zeros = np.zeros(2, np.int32)
    instances = Instances(np.array([1, 2]), zeros + 1, np.array([0, 1], np.int32), zeros)
    right = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1e-9])
    assert all(a is b for a, b in zip(check_certain_mistakes(Task, instances, right), right, strict=True))
    with pytest.raises(UserError, match=rf"D414.*certain_mistakes {problem}"):
        check_certain_mistakes(Task, instances, certain)
    with pytest.raises(UserError, match=r"D414.*no method instances"):
        find_instances(Task, Words()(["quite"]))


def edited(text, word, replacement, *, at=None):
    start = text.index(word) if at is None else at
    end = start + len(word)
    record = {"start": start, "end": end, "observed": word, "replacement": replacement}
    edit = record_edit(record, text)
    return edited_text(text, [(edit["start"], edit["end"], edit["replacement"])])


@pytest.mark.parametrize(
    ("text", "word", "replacement", "after"),
    [
        ("It was quite here.", "quite", "quiet", "It was quiet here."),
        ("We saw the dogs.", "the", "", "We saw dogs."),
        ("The life is short.", "The", "", "Life is short."),
        ("A \u00e9tude, she said", "A", "", "\u00c9tude, she said"),
        ("THE LIFE", "THE", "", "LIFE"),
        ("The 3 dogs", "The", "", "3 dogs"),
        ("A 2nd end.", "A", "", "2nd end."),
        ("A the end.", "A", "", "The end."),  # the capital goes to a letter at an even and at an odd place
        ("A *the* end.", "A", "", "*The* end."),
        ("what for the?", "the", "", "what for?"),
        ("at end the", "the", "", "at end"),
        ("in the\nhouse", "the", "", "in\nhouse"),
        ("here. The\nhouse", "The", "", "here.\nHouse"),
        ("the", "the", "", ""),
        ("see (the) one", "the", "", "see () one"),
        # the next word of the paragraph gets the capital
        ("So.\nThe\nhouse.", "The", "", "So.\nHouse."),
        ("The\r\n  house.", "The", "", "  House."),
        ("Of The\n\nhouse.", "The", "", "Of\n\nhouse."),
        ("Of\n\nThe\n\nhouse.", "The", "", "Of\n\nhouse."),
    ],
)
def test_words_are_replaced_and_removed(text, word, replacement, after):
    assert edited(text, word, replacement) == after
    assert edited("We saw dog.", "", "the ", at=7) == "We saw the dog."
    assert edited("We go too far", "too", "to") == "We go to far"
    nothing = {"start": 2, "end": 2, "observed": "", "replacement": ""}
    assert record_edit(nothing, "We go") is nothing


def test_a_removed_repetition_passes_no_capital_on():
    assert edited("I I can", "I", "", at=2) == "I can"
    assert edited("The\nThe dog", "The", "", at=4) == "The\ndog"
    assert edited("Bathe. The dog", "The", "", at=7) == "Bathe. Dog"
    assert edited("PIZZA\nA dog", "A", "", at=6) == "PIZZA\nDog"  # the end of another word


@pytest.mark.parametrize(
    ("text", "after"),
    [
        # the line of the only word is removed too
        ("in\nthe\nhouse", "in\nhouse"),
        ("in\r\nthe\r\nhouse", "in\r\nhouse"),
        ("in\rthe\rhouse", "in\rhouse"),
        ("  in\n  the\n  house", "  in\n  house"),
        ("in\nthe \nhouse", "in\nhouse"),
        ("in\nthe", "in"),
        ("in\r\nthe", "in"),
        ("in\nthe\n", "in\n"),
        ("the\nhouse", "house"),
        ("the\n\nOne.", "One."),
        ("One.\n\nthe\n\nTwo.", "One.\n\nTwo."),
        ("One.\n \nthe\n \nTwo.", "One.\n \nTwo."),
        ("One.\r\n\r\nthe\r\n\r\nTwo.", "One.\r\n\r\nTwo."),
        ("One.\nthe\n\nTwo.", "One.\n\nTwo."),
        ("One.\n\nthe\nhouse.", "One.\n\nhouse."),
        ("One.\n\nthe\n\n", "One.\n\n"),
        ("the\n", ""),
        ("\tthe\n", ""),
        # blanks around the word
        ("in  the\nhouse", "in\nhouse"),
        ("in\tthe\nhouse", "in\nhouse"),
        ("in the\r\nhouse", "in\r\nhouse"),
        ("in the  \nhouse", "in  \nhouse"),
        ("in the ", "in "),
        ("  the  house", "  house"),
        ("so.\nthe  house", "so.\nhouse"),
        ("so.  the house", "so.  house"),
        ("in the  house", "in house"),
        ("in\tthe\thouse", "in\thouse"),
        ("in the, house", "in, house"),
        ("in  the, house", "in, house"),
        ("in\n  the, house", "in\n  , house"),
        ("(the house)", "(house)"),
        ("(in the)", "(in)"),
        ("in\u00a0the\u00a0house", "in\u00a0house"),
    ],
)
def test_blanks_and_lines_around_a_removed_word(text, after):
    assert edited(text, "the", "") == after


@given(st.text("a \t\r\n.,("), st.text("a \t\r\n.,)"))
def test_removing_a_word_changes_no_other_word(before, after):
    text = edited(before + "X" + after, "X", "", at=len(before)).replace("A", "a")
    assert "".join(text.split()) == "".join((before + after).split())
    words = re.findall(r"\S+", f"{before}X{after}")
    if "X" in words:  # blanks on both sides or none: words are never joined
        assert text.split() == [word for word in words if word != "X"]
    lines = (before + "X" + after).splitlines()
    blank = sum(not line.strip() for line in lines)
    assert sum(not line.strip() for line in text.splitlines()) <= blank  # no additional paragraphs


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("The the end.", "The end."),
        ("The **the** end.", "**The** end."),
        ("The *_the_* end.", "*_The_* end."),
        ('The <b class="x">the</b> end.', '<b class="x">The</b> end.'),
        ("The \u201cthe\u201d end.", "\u201cThe\u201d end."),
        ("The [the](x) end.", "[The](x) end."),
        ("The\n\n**the** end.", "**the** end."),  # another paragraph
        ("The < the end.", "< the end."),
    ],
)
def test_the_next_word_gets_the_capital_of_a_removed_one(text, corrected):
    assert edited(text, "The", "") == corrected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GO |ME", "TO "),
        ("I |GO", "to "),  # one capital letter is no word in capitals
        ("GO |I", "to "),
        ("GO |me", "to "),
        ("GO |", "to "),
        ("|GO", "to "),
    ],
)
def test_inserted_words_are_in_capitals_between_capitals(text, expected):
    at = text.index("|")
    assert replacement("to", text.replace("|", ""), at, at) == expected
    assert replacement("", text.replace("|", ""), at, at) == ""
    assert replacement("to", "GO", 0, 2) == "TO"


@pytest.mark.parametrize(
    ("value", "share"),
    [("4 in 5", 0.8), ("4/5", 0.8), ("80 %", 0.8), ("0.8", 0.8), (" 100% ", 1.0), (1, 1.0), (0.5, 0.5)],
)
def test_shares_are_read(value, share):
    assert parse_share(value) == share and isinstance(parse_share(value), float)


@pytest.mark.parametrize(
    "value", ["0", 0, "0 %", "101 %", 1.01, 2, "5/4", "1/0", "most", "", True, None, [1]]
)
def test_other_shares_are_refused(value):
    with pytest.raises(UserError, match="D860"):
        parse_share(value)


def test_confusion_sets():
    group = confusion_set("Quite / it\u2019s/may  be")
    assert group == Group("quite/it's/may be", ("quite", "it's", "may be"))
    assert len(confusion_set(["a" * n for n in range(1, 201)]).candidates) == 200
    for value in (
        "quite",
        "a/a",
        "a/A",
        "a/",
        "a/one two three",
        "a/well-known",
        ["a" * n for n in range(1, 202)],
    ):
        with pytest.raises(UserError, match="D411"):
            confusion_set(value)


def test_packed_strings_are_restored_from_their_state():
    words = PackedStrings.from_words(["quite", "", "pièce", "a"])
    state = words.state()
    assert list(strings_from_state(state, 4)) == list(words) == ["quite", "", "pièce", "a"]
    assert list(words.replaced({1: "new", 3: ""})) == ["quite", "new", "pièce", ""]
    assert PackedStrings.from_words([]).state() == {} and not len(strings_from_state({}, 3))
    letters, ends = state["letters"], state["ends"]
    for broken in (
        {"letters": letters.astype(np.int64), "ends": ends},
        {"letters": letters, "ends": ends.astype(float)},
        {"letters": letters[:-1], "ends": ends},
        {"letters": letters, "ends": ends[:-1]},
        {"letters": letters, "ends": ends[::-1]},
        {"letters": letters, "ends": np.append(-1, ends[1:])},
    ):
        with pytest.raises(ValueError, match="names of columns"):
            strings_from_state(broken, 4)
    with pytest.raises(KeyError):
        strings_from_state({"letters": letters}, 4)


def test_lists_without_a_right_candidate_are_counted():
    lists = CandidateLists.from_texts([["a"], ["b", "c"], ["d", "e"]])
    costs = np.array([1.0, 0.5, 0.0, 2.0, np.nan], np.float32)
    zeros = np.zeros(3, np.int32)
    instances = Instances(np.arange(3), zeros + 1, zeros, zeros, replace(lists, costs=costs))
    assert instances.without_right() == 1  # of the last list not all costs are known
    assert instances.take(np.zeros(0, np.int64)).without_right() == 0
    assert replace(instances, lists=None).without_right() == 0


def test_one_batch_joined_is_itself():
    counts = np.zeros(2, np.int32)
    columns = np.zeros(2), np.zeros(1, np.int32), counts, counts, np.zeros(2, np.float32), None
    batch = ScoreBatch.from_group(WORD_GROUPS[0], 0, np.array([0, 2]), *columns)
    assert ScoreBatch.joined([batch]) is batch
    assert len(ScoreBatch.joined([batch, batch]).observed) == 2


def test_first_rows_and_owners_of_rows():
    offsets = np.array([0, 2, 5, 6])
    rows = np.array([False, True, True, False, True, True])
    assert segments.first_rows(rows, offsets).tolist() == [1, 2, 5]
    assert [segments.find_owner(offsets, row) for row in range(6)] == [0, 0, 1, 1, 1, 2]
    assert segments.first_rows(np.zeros(0, bool), np.zeros(1, np.int64)).tolist() == []
