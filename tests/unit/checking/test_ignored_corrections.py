"""Corrections in a list of words to ignore: ``written -> meant``, maybe with a neighbouring word."""

from __future__ import annotations

import pytest

from disambig.data import ignore_entries, pair_to_ignore, plain_entry


def test_entries_are_compared_in_lower_case_with_single_spaces():
    assert plain_entry(" Quite ") == "quite"
    assert plain_entry("Login->log  in") == plain_entry("login -> log in") == "login -> log in"
    assert plain_entry("it\u2019s -> its") == "it's -> its"
    assert (pair_to_ignore("", "the"), pair_to_ignore("The", "")) == ("-> the", "the ->")


@pytest.mark.parametrize(
    ("text", "written", "meant", "wanted"),
    [
        ("Use an SQL table.", "an", "a", ("an", "an -> a", "an sql -> a sql", "use an -> use a")),
        ("Open the the door.", "the", "", ("the", "the ->", "the the -> the", "open the -> open")),
        ("An end.", "end", "and", ("end", "end -> and", "an end -> an and")),
        ("Then, we go.", "Then", "Than", ("then", "then -> than")),
    ],
)
def test_the_entries_of_a_flag(text, written, meant, wanted):
    start = text.index(written)
    assert ignore_entries(text, start, start + len(written), meant) == wanted


def test_the_entries_of_a_missing_word():
    assert ignore_entries("It helps write text.", 9, 9, "to") == (
        "-> to",
        "write -> to write",
        "helps -> helps to",
    )


TEXT = "It was hard to find a quite place."


@pytest.mark.parametrize(
    ("ignore", "flagged"), [("quite -> quiet", False), ("a quite -> a quiet", False), ("quite -> quit", True)]
)
def test_check_and_annotate_leave_a_correction_alone(ignore, flagged):
    import disambig
    from disambig.models import annotate, load

    assert bool(disambig.check(TEXT, models="spelling", ignore=[ignore])) is flagged
    (decisions,) = annotate([TEXT], [load("spelling")], ignore=[ignore])
    assert bool(decisions.flagged.any()) is flagged
