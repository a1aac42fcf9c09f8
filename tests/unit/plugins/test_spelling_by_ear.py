"""What stands before numbers and capitals is decided by the ear, not by counts of words."""

from __future__ import annotations

import pytest
from disambig_variance_svm import Spelling
from disambig_variance_svm.prepositions import Preposition

from disambig.data import Group
from disambig.text import Words


def found(task, text):
    view = Words()([text])
    return [text[view.starts[p] : view.ends[p]] for p in task.instances(view).positions]


def articles(task, text):
    return [word for word in found(task, text) if word in ("a", "an")]


@pytest.mark.parametrize(
    "text", ["It is an 18-year-old.", "An 8 GB card", "We use a SQL query, an LSTM.", "a 5"]
)
def test_a_and_an_before_numbers_and_capitals_are_left(text):
    assert articles(Spelling(), text) == []


def test_before_words_they_are_decided_and_so_are_other_sets():
    assert articles(Spelling(), "It is an apple, a Pear, an I and a 5.") == ["an", "a", "an"]
    assert found(Spelling(), "It is their 18 peace.") == ["their", "peace"]
    other = Spelling().with_groups([Group("an/and", ("an", "and"))])
    assert articles(other, "It is an 18 day trip.") == ["an"]


def test_prepositions_that_stand_twice_are_left():
    assert found(Preposition(), "We went in in the evening, to go on on and in it") == ["in"]
