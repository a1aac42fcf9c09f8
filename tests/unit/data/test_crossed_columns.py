"""Columns of rows crossed with candidates, and rows side by side."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from disambig.data import Columns, CrossedColumns, CrossedRows, candidate_names, join_columns, own_columns
from disambig.errors import UserError
from disambig.features import join
from disambig.testing import crossed
from disambig.types import Features

CANDIDATES = ("river", "money")


def row(groups, group_names, names=()):
    return Columns(np.full(len(groups), -1, np.int32), np.array(groups, np.int32), group_names, names)


OWN = row([0, 1, 0], ("near", "far"), ["sand", "", "bill"])


def test_all_columns_stand_candidate_by_candidate():
    columns = CrossedColumns(OWN, CANDIDATES)
    assert len(columns) == 6
    assert columns.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert columns.groups.tolist() == [0, 1, 0, 0, 1, 0]
    assert columns.group_names == ("near", "far")
    assert columns.in_groups(["far"]).tolist() == [False, True, False] * 2
    with pytest.raises(UserError, match="D451"):
        columns.in_groups(["fra"])


def test_names_are_made_when_asked_for():
    names = CrossedColumns(OWN, CANDIDATES).names
    assert len(names) == 6
    assert names[0] == "river: sand"
    assert names[-1] == names[5] == "money: bill"
    assert names[4] == ""  # a column without a name has none with a candidate
    assert list(names) == names[0:6] == ["river: sand", "", "river: bill", "money: sand", "", "money: bill"]
    assert names[4:1:-2] == ["", "river: bill"]
    with pytest.raises(IndexError):
        names[6]
    assert len(CrossedColumns(row([0, 0], ("near",)), CANDIDATES).names) == 0


def test_one_feature_group_is_kept_once_whatever_the_number_of_candidates():
    groups = np.broadcast_to(np.int32(0), (4,))
    columns = CrossedColumns(Columns(groups - 1, groups, ("near",)), CANDIDATES)
    assert columns.groups.tolist() == [0] * 8
    assert columns.groups.strides == (0,)
    none = CrossedColumns(Columns(groups[:0], groups[:0], ("near",)), CANDIDATES)
    assert len(none) == len(none.groups) == len(none.labels) == 0


def test_what_a_row_means_is_found_with_and_without_crossing():
    columns = CrossedColumns(OWN, CANDIDATES)
    assert own_columns(columns, 3) is OWN
    assert candidate_names(columns, 2) == CANDIDATES
    plain = crossed(labels=3, columns=8).columns
    own = own_columns(plain, 8)
    assert own.groups.tolist() == [0] * 7 + [1]
    assert own.labels.tolist() == [-1] * 8
    assert own.group_names == ("words", "bias")
    assert candidate_names(plain, 3) == ("0", "1", "2")


def test_feature_groups_of_one_name_become_one():
    other = row([1, 0], ("far", "tags"))
    both = join_columns(OWN, other)
    assert both.group_names == ("near", "far", "tags")
    assert both.groups.tolist() == [0, 1, 0, 2, 1]
    assert both.labels.tolist() == [-1] * 5
    assert list(both.names) == ["sand", "", "bill", "", ""]
    assert both.names[3:] == ["", ""] and both.names[-3] == "bill"
    assert join_columns(OWN, other) is both  # made once
    assert len(join_columns(other, other).names) == 0
    empty = row([], ("none",))
    assert join_columns(empty, OWN).groups.tolist() == [1, 2, 1]
    assert list(join_columns(empty, OWN).names) == ["sand", "", "bill"]


def features(rows, own, evidence, costs):
    from scipy.sparse import csr_array

    batch = CrossedRows(csr_array(np.array(rows, float)), costs, CrossedColumns(own, CANDIDATES))
    return Features(batch, np.array(evidence, np.int32), np.array(evidence, np.int32) + 1)


def test_joined_rows_score_as_the_sum_of_their_parts():
    costs = np.array([[0, 1], [1, 0]], np.float32)
    one = features([[1, 2, 0], [0, 0, 3]], OWN, [1, 1, 2, 2], costs)
    two = features([[0, 4], [5, 6]], row([0, 1], ("far", "tags")), [3, 3, 0, 0], costs)
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
        CrossedRows(np.array([[7.0], [8.0]]), costs, CrossedColumns(row([0], ("bias",)), CANDIDATES)),
        np.zeros(4, np.int32),
        np.zeros(4, np.int32),
    )
    assert join([sparse, dense]).batch.rows.toarray().tolist() == [[1, 0, 2, 7], [0, 0, 0, 8]]


def test_columns_put_beside_each_other_are_kept_as_long_as_the_first_lives():
    first, second = row([1, 0], ("far", "tags")), row([0], ("near",))
    both = join_columns(first, second)
    assert join_columns(first, second) is both
    assert len(join_columns(first).names) == 0 and list(join_columns(first, OWN).names)[-1] == "bill"
    join_columns(first, first)
    gone = [weakref.ref(each) for each in (first, second, join_columns(second, first))]
    del first, second, both
    gc.collect()
    assert [each() for each in gone] == [None] * 3
