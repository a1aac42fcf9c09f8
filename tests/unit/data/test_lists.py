"""Candidates of each instance's own flow through instances and decisions as those of a group do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from disambig.data import CandidateLists, Decisions, Group, Instances
from disambig.models import join_pieces

GROUP = Group("list", ())
LISTS = [["a"], ["b", "c", "d"], ["e", "f"], ["g", "h", "i", "j"]]


def candidates(lists=LISTS):
    own = CandidateLists.from_texts(lists)
    n = len(own.texts)
    return replace(
        own,
        scores=np.arange(n) / 2,
        costs=np.arange(n, dtype=np.float32),
        features=csr_array(np.arange(2 * n, dtype=float).reshape(n, 2)),
        feature_names=("x", "y"),
    )


def instances(observed=(-1, -1, -1, -1), own=None):
    n = len(observed)
    zeros = np.zeros(n, np.int32)
    own = candidates() if own is None else own
    return Instances(np.arange(n), zeros + 1, zeros, np.array(observed, np.int32), own)


def test_texts_alone_make_lists():
    own = CandidateLists.from_texts(LISTS)
    assert len(own) == 4 and own.offsets.tolist() == [0, 1, 4, 6, 10] and own.offsets.dtype == np.int64
    assert own.ranks.tolist() == [0, 0, 1, 2, 0, 1, 0, 1, 2, 3]
    assert not own.scores.any() and np.isnan(own.costs).all() and own.features is None
    assert [own.instance_candidates(i) for i in range(4)] == [tuple(each) for each in LISTS]
    assert len(CandidateLists.from_texts([])) == 0


@given(st.lists(st.integers(0, 3), max_size=8))
def test_some_of_the_lists_in_any_order(index):
    own, rows = candidates(), np.array(index, np.int64)
    taken = own.take(rows)
    assert [taken.instance_candidates(i) for i in range(len(taken))] == [
        own.instance_candidates(i) for i in index
    ]
    at = np.concatenate([np.arange(own.offsets[i], own.offsets[i + 1]) for i in index] or [rows])
    for name in ("scores", "ranks", "costs"):
        assert np.array_equal(getattr(taken, name), getattr(own, name)[at]), name
    assert np.array_equal(taken.features.toarray(), own.features.toarray()[at])
    assert taken.feature_names == ("x", "y")


@pytest.mark.parametrize("index", [slice(1, 3), np.array([False, True, True, False]), np.array([1, 2])])
def test_slices_masks_and_numbers(index):
    taken = candidates().take(index)
    assert [taken.instance_candidates(i) for i in range(2)] == [("b", "c", "d"), ("e", "f")]
    assert instances().take(index).own.offsets.tolist() == [0, 3, 5]


def test_parts_are_joined_again():
    own = candidates()
    again = CandidateLists.joined([own.take(slice(0, 1)), own.take(slice(1, 4))])
    assert again.offsets.tolist() == own.offsets.tolist() and again.texts == own.texts
    for name in ("scores", "ranks", "costs"):
        assert np.array_equal(getattr(again, name), getattr(own, name)), name
    assert np.array_equal(again.features.toarray(), own.features.toarray())
    assert CandidateLists.joined([CandidateLists.from_texts([["a"]])] * 2).features is None


def test_instances_with_lists_have_sizes_and_offsets_of_these():
    made = instances()
    assert made.sizes(GROUP).tolist() == [1, 3, 2, 4]
    assert made.offsets(GROUP).tolist() == [0, 1, 4, 6, 10]
    plain = replace(made, own=None)
    three = Group("g", ("x", "y", "z"))
    assert plain.sizes(three).tolist() == [3] * 4 and plain.offsets(three).tolist() == [0, 3, 6, 9, 12]


def test_costs_that_are_known_stay_and_others_come_from_what_is_observed():
    own = candidates()
    beyond = [0, 0, 1, 2, 0, 1, 0, 1, 2, 3]  # what each costs beyond the cheapest one of its list
    assert instances((0, 2, 0, 1)).costs(GROUP).tolist() == beyond
    unknown = replace(own, costs=np.full(10, np.nan, np.float32))
    expected = [0, 1, 1, 0, 0, 1, 1, 1, 1, 1]
    assert instances((0, 2, 0, -1), unknown).costs(GROUP).tolist() == expected
    some = own.costs.copy()
    some[3] = some[7] = np.nan  # the right one of the second list, a wrong one of the last
    by_list = [[0], [1, 1, 0], [0, 1], [0, 1, 1, 1]]  # a list that knows some costs only knows none
    costs = instances((0, 2, 0, 0), replace(own, costs=some)).costs(GROUP)
    assert costs.tolist() == [cost for each in by_list for cost in each]
    fixed = replace(instances((1, -1, 0, 2)), own=None).costs(Group("g", ("x", "y", "z")))
    assert fixed.reshape(4, 3).tolist() == [[1, 0, 1], [1, 1, 1], [0, 1, 1], [1, 1, 0]]


def test_what_is_tried_sees_neither_the_right_one_nor_any_cost():
    made = instances((0, 2, 0, 1)).without_labels()
    assert (made.observed == -1).all() and np.isnan(made.own.costs).all()
    assert (made.costs(GROUP) == 1).all()
    assert np.array_equal(made.own.scores, candidates().scores)  # what the source says may be looked at


def decisions():
    n = 4
    return Decisions(
        task="rerank",
        model="m 1",
        table=(GROUP,),
        documents=np.array([0, 0, 2, 2], np.int32),
        starts=np.array([0, 2, 0, 2], np.int32),
        ends=np.array([1, 3, 1, 3], np.int32),
        groups=np.zeros(n, np.int32),
        observed=np.array([0, -1, 1, -1], np.int32),
        chosen=np.array([0, 2, 1, 3], np.int32),
        offsets=candidates().offsets,
        scores=np.arange(10, dtype=np.float32),
        margins=np.ones(n, np.float32),
        probabilities=np.full(n, 0.5, np.float32),
        flagged=np.zeros(n, bool),
        found=np.zeros(n, np.int32),
        asked=np.zeros(n, np.int32),
        own=candidates(),
    )


TEXT = "a x"


def test_a_record_shows_the_list_best_first_and_what_its_source_said():
    record = decisions().record(1, TEXT)
    assert record["chosen"] == "d" and record["observed"] == record["replacement"] == "x"
    assert record["candidates"] == (("d", 3.0), ("c", 2.0), ("b", 1.0))
    assert (record["base"], record["rank"]) == (1.5, 2)
    assert decisions().candidate_texts(3) == ("g", "h", "i", "j")


def test_decisions_with_lists_are_sliced_taken_and_divided_by_documents():
    made = decisions()
    expected = [made.record(i, TEXT) for i in range(4)]
    assert [made.slice(1, 3).record(i, TEXT) for i in range(2)] == expected[1:3]
    backwards = made.take(np.array([3, 1]))
    assert [backwards.record(i, TEXT) for i in range(2)] == [expected[3], expected[1]]
    parts = [made.in_document(document) for document in range(3)]
    assert [len(part) for part in parts] == [2, 0, 2] and len(parts[1].own) == 0
    assert [part.record(i, TEXT) for part in parts for i in range(len(part))] == expected


def test_pieces_of_a_document_are_joined_with_their_lists():
    made = decisions()
    first, second = made.in_document(0), made.in_document(2)
    (joined,) = join_pieces([([first], 0), ([second], 100)])
    assert joined.starts.tolist() == [0, 2, 100, 102] and joined.offsets.tolist() == made.offsets.tolist()
    assert [joined.candidate_texts(i) for i in range(4)] == [made.candidate_texts(i) for i in range(4)]
    assert np.array_equal(joined.own.ranks, made.own.ranks)
