"""Edits: of what kind they are, and what changes from one word to the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.decision import _rivals as edits
from disambig.decision import edit_change, edit_kind


@pytest.mark.parametrize(
    ("written", "meant", "kind"),
    [
        ("its", "it's", edits.MARK),
        ("everyday", "every day", edits.MARK),
        ("loose", "lose", edits.LETTER),
        ("form", "from", edits.LETTER),
        ("than", "then", edits.LETTER),
        ("lead", "led", edits.LETTER),
        ("affect", "effect", edits.LETTER),
        ("to", "for", edits.OTHER),
        ("diary", "dairy", edits.LETTER),
        ("weather", "whether", edits.OTHER),
        ("", "to", edits.INSERTION),
        ("to", "", edits.DELETION),
    ],
)
def test_kinds_of_edits(written, meant, kind):
    assert edit_kind(written, meant) == kind


@pytest.mark.parametrize(
    ("pair", "other", "same"),
    [
        (("walks", "walk"), ("Uses", "use"), True),
        (("walks", "walk"), ("walk", "walks"), False),
        (("walked", "walking"), ("used", "using"), True),
        (("was", "were"), ("has", "have"), False),
        (("its", "it's"), ("ones", "one's"), True),
    ],
)
def test_changes_are_what_two_words_do_not_begin_with(pair, other, same):
    assert (edit_change(*pair) == edit_change(*other)) == same
    assert edit_change(*pair) != edits.NO_CHANGE


@pytest.mark.parametrize("pair", [("", "to"), ("to", ""), ("organise", "organisation")])
def test_nothing_changes_between_words_and_none_or_far_ones(pair):
    assert edit_change(*pair) == edits.NO_CHANGE


@given(st.text("abc", min_size=1, max_size=5), st.text("abc", min_size=1, max_size=5))
def test_kinds_but_missing_words_are_the_same_both_ways(a, b):
    assert edit_kind(a, b) == edit_kind(b, a)
