"""Corrections in a list of words to ignore: ``written -> meant``, maybe with a neighbouring word."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "model"))

from overlapping import ToyModel

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


RULES = {
    "form": ((r"\b(quite)\b", "quite", "quiet", 0.9), (r"\b(seen)\b", "seen", "saw", 0.8)),
    "phrase": ((r"\b(a quite)\b", "a quite", "quite a", 0.6), (r"I ()seen", "", "have", 0.7)),
}


@pytest.mark.parametrize(
    ("ignore", "shown"),
    [
        ((), ["quite -> quiet", "seen -> saw"]),
        (("quite",), ["seen -> saw"]),
        (("quite -> quiet",), ["seen -> saw"]),
        (("seen -> saw",), ["quite -> quiet"]),
        (("a quite -> quite a", "-> have"), ["quite -> quiet", "seen -> saw"]),
    ],
)
def test_nothing_speaks_in_the_place_of_what_is_ignored(ignore, shown):
    """The same in both: an overlapping flag, which was less certain, does not show up instead."""
    from disambig.checking import find_flags
    from disambig.markup import PlainText
    from disambig.models import ModelSet, annotate

    text = "It was a quite place, and I seen it."
    models = [ToyModel.of(task, *rules) for task, rules in RULES.items()]
    checked = find_flags(
        "a.txt", text, PlainText(text), ModelSet(tuple(models)).annotate([text]), ignore=ignore
    )
    assert [f"{flag.observed} -> {flag.replacement}" for flag in checked.flags] == shown
    decisions = annotate([text], models, ignore=ignore)
    records = [of_task.record(int(i), text) for of_task in decisions for i in of_task.flagged.nonzero()[0]]
    records.sort(key=lambda record: record["start"])
    assert [f"{record['observed']} -> {record['replacement']}" for record in records] == shown
