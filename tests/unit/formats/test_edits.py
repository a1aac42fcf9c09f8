"""What a correction changes: words put in, taken out and replaced, with their spaces and capitals."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.data import record_edit


def edited(text, word, replacement, *, at=None):
    start = text.index(word) if at is None else at
    end = start + len(word)
    record = {"start": start, "end": end, "observed": word, "replacement": replacement}
    made = record_edit(record, text)
    return text[: made["start"]] + made["replacement"] + text[made["end"] :]


@pytest.mark.parametrize(
    ("text", "word", "replacement", "after"),
    [
        ("It was quite here.", "quite", "quiet", "It was quiet here."),
        ("We saw the dogs.", "the", "", "We saw dogs."),
        ("The life is short.", "The", "", "Life is short."),
        ("A \u00e9tude, she said", "A", "", "\u00c9tude, she said"),
        ("THE LIFE", "THE", "", "LIFE"),
        ("The 3 dogs", "The", "", "3 dogs"),
        ("what for the?", "the", "", "what for?"),
        ("at end the", "the", "", "at end"),
        ("in the\nhouse", "the", "", "in\nhouse"),
        ("here. The\nhouse", "The", "", "here.\nHouse"),
        ("the", "the", "", ""),
        ("see (the) one", "the", "", "see () one"),
    ],
)
def test_words(text, word, replacement, after):
    assert edited(text, word, replacement) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("in\nthe\nhouse", "in\nhouse"),
        ("in\r\nthe\r\nhouse", "in\r\nhouse"),
        ("in\rthe\rhouse", "in\rhouse"),
        ("  in\n  the\n  house", "  in\n  house"),
        ("in\nthe \nhouse", "in\nhouse"),
        ("in\nthe", "in"),
        ("in\r\nthe", "in"),
        ("in\nthe\n", "in\n"),
        ("the\nhouse", "house"),
        ("the\n\nOne.", "One."),
        ("One.\n\nthe\n\nTwo.", "One.\n\nTwo."),
        ("One.\n \nthe\n \nTwo.", "One.\n \nTwo."),
        ("One.\r\n\r\nthe\r\n\r\nTwo.", "One.\r\n\r\nTwo."),
        ("One.\nthe\n\nTwo.", "One.\n\nTwo."),
        ("One.\n\nthe\nhouse.", "One.\n\nhouse."),
        ("One.\n\nthe\n\n", "One.\n\n"),
        ("the\n", ""),
        ("\tthe\n", ""),
    ],
)
def test_a_word_alone_on_its_line_takes_the_line(text, after):
    assert edited(text, "the", "") == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("in  the\nhouse", "in\nhouse"),
        ("in\tthe\nhouse", "in\nhouse"),
        ("in the\r\nhouse", "in\r\nhouse"),
        ("in the  \nhouse", "in  \nhouse"),
        ("in the ", "in "),
        ("  the  house", "  house"),
        ("so.\nthe  house", "so.\nhouse"),
        ("so.  the house", "so.  house"),
        ("in the  house", "in house"),
        ("in\tthe\thouse", "in\thouse"),
        ("in the, house", "in, house"),
        ("in  the, house", "in, house"),
        ("in\n  the, house", "in\n  , house"),
        ("(the house)", "(house)"),
        ("(in the)", "(in)"),
        ("in\u00a0the\u00a0house", "in\u00a0house"),
    ],
)
def test_blanks_around_a_word_that_is_taken_out(text, after):
    assert edited(text, "the", "") == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("So.\nThe\nhouse.", "So.\nHouse."),
        ("The\r\n  house.", "  House."),
        ("Of The\n\nhouse.", "Of\n\nhouse."),
        ("Of\n\nThe\n\nhouse.", "Of\n\nhouse."),
    ],
)
def test_a_capital_goes_to_the_next_word_of_the_paragraph(text, after):
    assert edited(text, "The", "") == after


@given(st.text("a \t\r\n.,("), st.text("a \t\r\n.,)"))
def test_taking_a_word_out_changes_no_other_and_makes_no_blank_lines(before, after):
    text = edited(before + "X" + after, "X", "", at=len(before)).replace("A", "a")
    assert "".join(text.split()) == "".join((before + after).split())
    words = re.findall(r"\S+", f"{before}X{after}")
    if "X" in words:  # blanks were on both sides, or none: no two words grow together
        assert text.split() == [word for word in words if word != "X"]
    lines = (before + "X" + after).splitlines()
    blank = sum(not line.strip() for line in lines)
    assert sum(not line.strip() for line in text.splitlines()) <= blank  # no new paragraphs


def test_a_word_put_in():
    assert edited("We saw dog.", "", "the ", at=7) == "We saw the dog."
