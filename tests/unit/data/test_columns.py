"""Columns of rows crossed with candidates, their feature groups, and normalised rows."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from disambig.data import (
    Columns,
    CrossedColumns,
    CrossedRows,
    candidate_names,
    join_columns,
    normalised,
    own_columns,
    restricted,
    used_columns,
)
from disambig.errors import UserError
from disambig.features import join
from disambig.testing import crossed
from disambig.types import Features

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
    own = own_columns(plain, 8)
    assert own.groups.tolist() == [0] * 7 + [1]
    assert own.labels.tolist() == [-1] * 8
    assert own.group_names == ("words", "bias")
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


def features(rows, own, evidence, costs):
    from scipy.sparse import csr_array

    batch = CrossedRows(csr_array(np.array(rows, float)), costs, CrossedColumns(own, CANDIDATES))
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
    assert both.found.tolist() == [4, 4, 2, 2]
    assert both.asked.tolist() == [6, 6, 4, 4]
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
    gc.collect()
    assert [item() for item in gone] == [None] * 3


GROUPS = np.array([0, 0, 1, 1, 2], np.int32)


NAMES = ("local", "broad", "near")


WORDS = ["a", "b", "c", "d", "e"]


ROWS = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(5)), elements=st.integers(-3, 3).map(float))


WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.3, 1.0, 2.5]) for name in NAMES})


def make_batch(rows, names=()):
    rows = np.array(rows, float)
    own = Columns(np.full(5, -1, np.int32), GROUPS, NAMES, names)
    costs = np.zeros((len(rows), 2), np.float32)
    return CrossedRows(csr_array(rows), costs, CrossedColumns(own, ("river", "money")))


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
