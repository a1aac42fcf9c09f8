"""Words of candidates go where their candidates go, and keep their spelling in any vocabulary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import CandidateLists, CandidateWords, Instances

WORDS = st.lists(st.sampled_from(["the", "cat", "猫", "が", "いる", "."]), max_size=4)
SOME_LISTS = st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=5)


def tags_of(words):
    """A tag that the word alone decides, so that it can be told where it went."""
    return [f"{len(word)} letters" for word in words]


def made(lists, tagged=True):
    """Lists of candidates with their words; the vocabulary is theirs alone."""
    words = [each for candidates in lists for each in candidates]
    said = CandidateWords.from_words(words, [tags_of(each) for each in words] if tagged else None)
    own = CandidateLists.from_texts([[" ".join(each) for each in candidates] for candidates in lists])
    return replace(own, words=said)


def shown(own):
    """The words and tags of every candidate, spelt out, and the texts beside them."""
    words = own.words
    return [
        (own.texts[row], words.candidate_words(row), words.candidate_tags(row)) for row in range(len(words))
    ]


def test_columns_of_a_small_list():
    words = CandidateWords.from_words([["a", "b", "a"], [], ["b"]], [["x", "y", "x"], [], ["z"]])
    assert words.ids.tolist() == [0, 1, 0, 1] and words.ids.dtype == np.int32
    assert words.offsets.tolist() == [0, 3, 3, 4] and words.offsets.dtype == np.int64
    assert list(words.spellings) == ["a", "b"] and words.tag_names == ("x", "y", "z")
    assert words.tags.tolist() == [0, 1, 0, 2] and len(words) == 3
    assert words.candidate_words(1) == () and words.candidate_tags(2) == ("z",)
    bare = CandidateWords.from_words([["a"]])
    assert bare.tags is None and bare.candidate_tags(0) == ()


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="a tag for each word"):
        CandidateWords.from_words([["a", "b"]], [["x"]])
    with pytest.raises(ValueError, match="a tag for each word"):
        CandidateWords(np.zeros(2, np.int32), np.array([0, 2]), ["a"], np.zeros(1, np.int16), ("x",))
    with pytest.raises(ValueError, match="offsets of words"):
        CandidateWords(np.zeros(2, np.int32), np.array([0, 1]), ["a"])
    with pytest.raises(ValueError, match="words of 1 candidates, and there are 2"):
        replace(CandidateLists.from_texts([["a", "b"]]), words=CandidateWords.from_words([["a"]]))


@given(SOME_LISTS, st.data())
def test_words_go_with_their_candidates(lists, data):
    own = made(lists)
    order = data.draw(st.lists(st.integers(0, len(lists) - 1), max_size=6)) if lists else []
    expected = [row for i in order for row in range(own.offsets[i], own.offsets[i + 1])]
    taken = own.take(np.array(order, np.int64))
    assert shown(taken) == [shown(own)[row] for row in expected]
    assert taken.words.spellings is own.words.spellings


@given(st.lists(SOME_LISTS, min_size=1, max_size=4))
def test_parts_of_different_vocabularies_are_joined(parts):
    owns = [made(lists) for lists in parts]
    joined = CandidateLists.joined(owns)
    expected = [row for own in owns for row in shown(own)]
    if not expected:  # nothing is there that could have words
        assert joined.words is None or not len(joined.words)
        return
    assert shown(joined) == expected
    assert len(set(joined.words.spellings)) == len(joined.words.spellings)
    assert joined.words.ids.dtype == np.int32 and joined.words.offsets.dtype == np.int64


@given(SOME_LISTS, st.integers(0, 5))
def test_what_was_cut_is_joined_again(lists, at):
    own = made(lists)
    again = CandidateLists.joined([own.take(slice(0, at)), own.take(slice(at, None))])
    if lists:
        assert shown(again) == shown(own) and again.words.spellings is own.words.spellings


def test_some_parts_share_a_vocabulary_and_others_do_not():
    one, two = made([[["a", "b"]], [["b"]]]), made([[["b", "c"]]])
    joined = CandidateLists.joined([one.take([1]), two, one.take([0])])
    assert [joined.words.candidate_words(row) for row in range(3)] == [("b",), ("b", "c"), ("a", "b")]


def test_words_and_tags_are_all_or_none():
    tagged, bare, none = made([[["a"]]]), made([[["b"]]], tagged=False), CandidateLists.from_texts([["c"]])
    assert CandidateLists.joined([tagged, none]).words is None
    both = CandidateLists.joined([tagged, bare]).words
    assert both.tags is None and both.candidate_words(1) == ("b",)
    empty = CandidateLists.from_texts([])
    assert CandidateLists.joined([empty, tagged]).words.candidate_tags(0) == ("1 letters",)
    no_words = made([[[]]], tagged=False)  # a candidate without a word says nothing against tags
    assert CandidateLists.joined([no_words, tagged]).words.candidate_tags(1) == ("1 letters",)


def test_instances_keep_the_words():
    own, zeros = made([[["a"], ["b"]], [["c"]]]), np.zeros(2, np.int32)
    instances = Instances(np.arange(2), zeros, zeros, zeros, own)
    assert instances.take(np.array([1])).without_labels().own.words.candidate_words(0) == ("c",)
