""" "Its" and "it's": the next word tells which of them is meant; both mistakes are common."""

from __future__ import annotations

import numpy as np
import pytest
from disambig_variance_svm.pronoun_it import (
    APOSTROPHES,
    It,
    NextWords,
    NormalisedWords,
    count_next_words,
    next_words,
)
from disambig_variance_svm.pronoun_it.apostrophes import FILE
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.text import hash_words


def decided(text):
    view = NormalisedWords()([text])
    positions = It().instances(view).positions
    return [text[start:end] for start, end in zip(view.starts[positions], view.ends[positions], strict=True)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Its raining, and its not fair.", ["Its", "its"]),
        ("The bird broke its wing.", []),
        ("The bird broke it's wing.", ["it"]),  # seldom seen after either: the text is believed
        ("It does this in it's own way.", ["It"]),
        ("It\u2019s mine.", ["It"]),
        ("Its", []),
        ("it's", ["it"]),
        ("Itself it is.", ["it"]),
    ],
)
def test_where_a_pronoun_is_meant(text, places):
    assert decided(text) == places


@given(st.text(st.sampled_from("it's \u2019 a\n."), max_size=30))
def test_any_text_has_its_places(text):
    assert {place.lower() for place in decided(text)} <= {"it", "its"}


def test_what_follows_is_counted(tmp_path):
    texts = ["It's red. It's red. It's red, and its roof is its roof, its roof."]
    counted = count_next_words(texts, sources=["made"])
    red, roof, other = counted.log_odds(hash_words(["red", "roof", "green"]))
    assert red > 0 > roof and other == 0
    counted.save(tmp_path / "words")
    again = NextWords.load(tmp_path / "words")
    assert np.array_equal(again.words, counted.words) and np.array_equal(again.odds, counted.odds)


def test_a_folder_that_holds_no_words_is_refused(tmp_path):
    next_words().save(tmp_path)
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(UserError, match="D498"):
        NextWords.load(tmp_path)
    assert APOSTROPHES.is_dir()
