"""Texts by number are the texts they stand for, however they are cut and joined."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import CandidateLists, Interned, distinct_texts, join_texts, take_texts

SPELLINGS = ["a", "", "an", "the", "never"]
numbers = st.lists(st.integers(0, 3), max_size=12).map(lambda each: np.array(each, np.int64))


def plain(texts):
    return [SPELLINGS[i] for i in texts.numbers]


@given(numbers, st.data())
def test_they_are_read_as_a_list(given_numbers, data):
    texts = Interned(SPELLINGS, given_numbers)
    assert list(texts) == texts[:] == plain(texts)
    assert len(texts) == len(given_numbers)
    rows = np.array(data.draw(st.lists(st.integers(0, max(len(texts) - 1, 0)), max_size=5)), np.int64)
    rows = rows[: len(rows) * (len(texts) > 0)]
    assert (
        list(take_texts(texts, rows)) == take_texts(plain(texts), rows) == [texts[int(row)] for row in rows]
    )


@given(st.lists(numbers, max_size=4))
def test_those_of_the_same_spellings_are_joined_as_such(parts):
    texts = [Interned(SPELLINGS, part) for part in parts]
    found = join_texts(texts)
    assert list(found) == [text for part in texts for text in part]
    assert isinstance(found, Interned) == bool(parts)


def test_others_are_joined_as_texts():
    one, other = Interned(SPELLINGS, np.array([0])), Interned(["x"], np.array([0]))
    assert join_texts([one, other]) == join_texts([["a"], ["x"]]) == ["a", "x"]
    assert join_texts([["a"], one]) == ["a", "a"]


@given(numbers)
def test_each_is_one_of_the_distinct_ones(given_numbers):
    texts = Interned(SPELLINGS, given_numbers)
    for given_texts in (texts, plain(texts)):
        found, index = distinct_texts(given_texts)
        assert len(found) == len(set(found)) and set(found) == set(plain(texts))
        assert [found[i] for i in index] == plain(texts)


def test_lists_keep_them():
    lists = CandidateLists.from_texts([("a", "an"), ("the",), ("", "a")])
    rows = np.array([0, 2, 3, 1, 0])
    own = CandidateLists(lists.offsets, Interned(SPELLINGS, rows), lists.scores, lists.ranks, lists.costs)
    some = own.take(np.array([2, 0]))
    assert (
        isinstance(some.texts, Interned)
        and some.instance_candidates(0) == ("", "a")
        and some.instance_candidates(1) == ("a", "an")
    )
    both = CandidateLists.joined([own, some])
    assert isinstance(both.texts, Interned) and both.instance_candidates(4) == ("a", "an")
