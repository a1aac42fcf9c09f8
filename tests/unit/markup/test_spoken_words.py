"""Behind "a" and "an" a hidden word keeps its sound, where the letters tell it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.markup import read_markup
from disambig.text import SPOKEN_CONSONANT, SPOKEN_VOWEL

OPAQUE = "\ufffc"


@pytest.mark.parametrize(
    "code", ["int", "Option", "aria-label", "element", "hour_of_day", "unknown", "update"]
)
def test_names_that_begin_with_a_vowel(code):
    assert read_markup("x.md", f"Use a `{code}` here.").text.count(SPOKEN_VOWEL) == len(code) + 2


@pytest.mark.parametrize(
    "code", ["string", "user_id", "unit", "useState", "one", "Float", "header", "euro", "json"]
)
def test_names_that_begin_with_a_consonant(code):
    assert read_markup("x.md", f"Use an `{code}` here.").text.count(SPOKEN_CONSONANT) == len(code) + 2


@pytest.mark.parametrize(
    "code", ["str", "hr", "html", "href", "ul", "x", "--ha", "@objc", ".env", "$x", "URL", "a b"]
)
def test_what_may_be_spoken_in_two_ways_stays_unknown(code):
    text = read_markup("x.md", f"Use an `{code}` here.").text
    assert SPOKEN_VOWEL not in text and SPOKEN_CONSONANT not in text


def test_only_behind_an_article():
    assert read_markup("x.md", "Use the `int` of data `int`.").text.count(OPAQUE) == 10


@given(st.text(alphabet="aAn `in\ue000<>\n*.", max_size=40))
def test_lengths_never_change(text):
    assert len(read_markup("x.md", text).text) == len(text)
