"""Lists that say the words of their candidates: read, refused, kept by the writer, found by columns."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import Decisions
from disambig.errors import UserError
from disambig.formats import format_lines, parse_line, to_candidate_lists

WORD = st.text(st.characters(codec="utf8", exclude_characters="\0"), min_size=1, max_size=4)
CANDIDATES = st.lists(
    st.lists(st.tuples(WORD, st.sampled_from(["N", "V"])), max_size=4), min_size=1, max_size=4
)


def said(candidates, tags=True):
    kept = [{"text": "".join(w for w, _ in c), "words": [w for w, _ in c]} for c in candidates]
    if tags:
        kept = [{**each, "tags": [t for _, t in c]} for each, c in zip(kept, candidates, strict=True)]
    return {"candidates": kept}


@given(CANDIDATES, st.booleans())
def test_words_and_tags_are_read(candidates, tags):
    found = parse_line(json.dumps(said(candidates, tags)), "here:1")
    assert found.words == tuple(tuple(w for w, _ in c) for c in candidates)
    assert found.tags == (tuple(tuple(t for _, t in c) for c in candidates) if tags else None)
    words = to_candidate_lists([found]).words
    for row, each in enumerate(candidates):
        assert words.candidate_words(row) == tuple(w for w, _ in each)
        assert words.candidate_tags(row) == (tuple(t for _, t in each) if tags else ())


@pytest.mark.parametrize(
    ("candidates", "problem"),
    [
        ([{"text": "a", "words": ["a"]}, {"text": "b"}], "1 of 2 candidates have 'words'"),
        ([{"text": "a", "words": ["a"], "tags": ["N"]}, {"text": "b", "words": ["b"]}], "have 'tags'"),
        ([{"text": "a", "words": "a"}], "candidate 1: 'words' is not a list of non-empty texts"),
        ([{"text": "a", "words": [""]}], "non-empty texts"),
        ([{"text": "a", "words": [None]}], "'words' is not a list of non-empty texts"),
        ([{"text": "a", "words": [1]}], "'words' is not a list of non-empty texts"),
        ([{"text": "a", "words": ["\ud800"]}], "surrogate"),
        ([{"text": "a", "words": ["a", "b"], "tags": ["N"]}], "1 'tags' for 2 'words'"),
        ([{"text": "a", "tags": ["N"]}], "1 'tags' for 0 'words'"),
        ([{"text": "a", "tags": "N", "words": ["a"]}], "'tags' is not a list of non-empty texts"),
    ],
)
def test_words_that_cannot_be_are_said(candidates, problem):
    with pytest.raises(UserError, match="D334") as caught:
        parse_line(json.dumps({"candidates": candidates}), "lists.jsonl:3")
    assert problem in str(caught.value).replace('"', "'") and "lists.jsonl:3" in str(caught.value)


def test_lists_without_words_are_cut_where_others_have_some():
    plain = parse_line('{"candidates": [{"text": "a  b"}]}', "x:1")
    full = parse_line(json.dumps(said([[("b", "N"), ("c", "V")]])), "x:2")
    words = to_candidate_lists([plain, full]).words
    assert [words.candidate_words(row) for row in (0, 1)] == [("a", "b"), ("b", "c")]
    assert words.tags is None  # one of them says none
    assert to_candidate_lists([plain]).words is None


def test_words_are_written_again():
    item = parse_line(json.dumps(said([[("a", "N")], [("b", "V")]])), "x:1")
    one, none = np.zeros(1, np.int32), np.zeros(1, bool)
    decisions = Decisions(
        "rerank", "m", (), one, one, one, one, one, one + 1, np.array([0, 2]), np.array([0, 1], np.float32),
        one.astype(np.float32), one.astype(np.float32), none, one, one,
    )  # fmt: skip
    (line,) = format_lines([item], decisions)
    best, other = json.loads(line)["candidates"]
    assert (best["words"], best["tags"], other["words"]) == (["b"], ["V"], ["a"])
    assert parse_line(line, "y:1").words == (("b",), ("a",))
