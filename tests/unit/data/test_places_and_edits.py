"""Where candidates stand in a text, what replaces them, and how sets, shares and names are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from disambig.data import (
    CandidateFinder,
    CandidateLists,
    Group,
    Instances,
    PackedStrings,
    ScoreBatch,
    apart,
    check_certain_mistakes,
    confusion_set,
    edited_text,
    empty_places,
    find_instances,
    parse_share,
    record_edit,
    replacement,
    strings_from_state,
    word_tokens,
)
from disambig.errors import UserError
from disambig.text import Words
from disambig.types import Decides

GROUPS = (
    Group("quite/quiet", ("quite", "quiet")),
    Group("some/some time/any", ("some", "some time", "any")),
    Group("quiet/silent", ("quiet", "silent")),
)


def find_places(text, groups=GROUPS):
    """Return the places that a finder sees: word or words, group and candidate."""
    view = Words()([text])
    instances = CandidateFinder.from_groups(groups).find(view)
    rows = zip(instances.positions, instances.lengths, instances.groups, instances.observed, strict=True)
    return [
        (text[view.starts[at] : view.ends[at + length - 1]], int(group), int(candidate))
        for at, length, group, candidate in rows
    ]


def test_candidates_are_found_in_text_order_then_by_group():
    assert find_places("Some quiet place, some time later; any was quite silent.") == [
        ("Some", 1, 0),
        ("quiet", 0, 1),
        ("quiet", 2, 0),
        ("some time", 1, 1),
        ("any", 1, 2),
        ("quite", 0, 0),
        ("silent", 2, 1),
    ]
    assert find_places("quite-like any/some text, quiet") == [("quiet", 0, 1), ("quiet", 2, 0)]
    assert find_places("Nothing of it.") == []


def test_finders_refuse_candidates_that_are_not_one_word_or_two():
    for candidate in ("", "one two three"):
        with pytest.raises(UserError, match="D450"):
            CandidateFinder.from_groups([Group("x", ("a", candidate))])
    with_zero = (Group("x", ("", "a")),)
    assert len(CandidateFinder.from_groups(with_zero, zero=True).first) == 1


def test_empty_places_are_between_words_of_a_sentence():
    view = Words()(["We go - home now. It rained"])
    words = view.texts[0]
    assert [words[view.starts[at] : view.ends[at]] for at in empty_places(view)] == ["go", "now", "rained"]
    assert word_tokens(view).sum() == 6 and not word_tokens(view).flags.writeable


def test_places_apart_from_the_words_of_instances():
    zeros = np.zeros(2, np.int32)
    taken = Instances(np.array([3, 8]), np.array([2, 1], np.int32), zeros, zeros)  # tokens 3, 4 and 8
    places = np.arange(1, 11)
    assert places[apart(places, taken, 11)].tolist() == [1, 2, 6, 7, 10]


@pytest.mark.parametrize(
    ("certain", "problem"),
    [
        (([0], [1], [0.5]), "returned"),
        ((np.array([0]), np.array([1])), "returned"),
        ((np.array([[0]]), np.array([1]), np.array([0.5])), "returned"),
        ((np.array([0]), np.array([1, 0]), np.array([0.5])), "returned"),
        ((np.array([0.0]), np.array([1]), np.array([0.5])), "returned"),
        ((np.array([2]), np.array([1]), np.array([0.5])), "names instance 2 of 2"),
        ((np.array([-1]), np.array([1]), np.array([0.5])), "names instance -1 of 2"),
        ((np.array([1]), np.array([3]), np.array([0.5])), "proposes candidate 3 of 3"),
        ((np.array([0]), np.array([-1]), np.array([0.5])), "proposes candidate -1 of 2"),
        ((np.array([0]), np.array([1]), np.array([0.0])), "gives the probability 0"),
        ((np.array([0]), np.array([1]), np.array([1.5])), r"gives the probability 1\.5"),
        ((np.array([0]), np.array([1]), np.array([np.nan])), "gives the probability nan"),
    ],
)
def test_certain_mistakes_are_checked(certain, problem):
    class Task:
        name, groups, decides = "made", GROUPS, Decides()

    zeros = np.zeros(2, np.int32)
    instances = Instances(np.array([1, 2]), zeros + 1, np.array([0, 1], np.int32), zeros)
    right = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 1e-9])
    assert all(a is b for a, b in zip(check_certain_mistakes(Task, instances, right), right, strict=True))
    with pytest.raises(UserError, match=rf"D414.*certain_mistakes {problem}"):
        check_certain_mistakes(Task, instances, certain)
    with pytest.raises(UserError, match=r"D414.*no method instances"):
        find_instances(Task, Words()(["quite"]))


def removed(text, word, following=""):
    """Return the text without the first `word`, which has `following` in the place of nothing."""
    start = text.index(word)
    record = {"start": start, "end": start + len(word), "observed": word, "replacement": following}
    edit = record_edit(record, text)
    return edited_text(text, [(edit["start"], edit["end"], edit["replacement"])])


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("The the end.", "The", "The end."),
        ("A the end.", "A", "The end."),  # the capital goes to a letter at an even and at an odd place
        ("A *the* end.", "A", "*The* end."),
        ("An <b>end</b>.", "An", "<b>End</b>."),
        ("A 2nd end.", "A", "2nd end."),
        ("A\nthe end.", "A", "The end."),
        ("A\n\nthe end.", "A", "the end."),
        ("It is is here.", "is", "It is here."),
        ("We go to", "to", "We go"),
        ("We go to  \nthem", "to", "We go  \nthem"),
        ("One\nto\nthree", "to", "One\nthree"),
        ("(to) go", "to", "() go"),
    ],
)
def test_removed_words_take_their_blanks_and_leave_their_capital(text, word, expected):
    assert removed(text, word) == expected


def test_records_that_replace_or_insert_are_edits_already():
    assert removed("We go too far", "too", "to") == "We go to far"
    record = {"start": 2, "end": 2, "observed": "", "replacement": ""}
    assert record_edit(record, "We go") is record


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GO |ME", "TO "),
        ("I |GO", "to "),  # one capital letter is no word in capitals
        ("GO |I", "to "),
        ("GO |me", "to "),
        ("GO |", "to "),
        ("|GO", "to "),
    ],
)
def test_inserted_words_are_in_capitals_between_capitals(text, expected):
    at = text.index("|")
    assert replacement("to", text.replace("|", ""), at, at) == expected
    assert replacement("", text.replace("|", ""), at, at) == ""
    assert replacement("to", "GO", 0, 2) == "TO"


@pytest.mark.parametrize(
    ("value", "share"),
    [("4 in 5", 0.8), ("4/5", 0.8), ("80 %", 0.8), ("0.8", 0.8), (" 100% ", 1.0), (1, 1.0), (0.5, 0.5)],
)
def test_shares_are_read(value, share):
    assert parse_share(value) == share and isinstance(parse_share(value), float)


@pytest.mark.parametrize(
    "value", ["0", 0, "0 %", "101 %", 1.01, 2, "5/4", "1/0", "most", "", True, None, [1]]
)
def test_other_shares_are_refused(value):
    with pytest.raises(UserError, match="D860"):
        parse_share(value)


def test_confusion_sets():
    group = confusion_set("Quite / it\u2019s/may  be")
    assert group == Group("quite/it's/may be", ("quite", "it's", "may be"))
    assert len(confusion_set(["a" * n for n in range(1, 201)]).candidates) == 200
    for value in (
        "quite",
        "a/a",
        "a/A",
        "a/",
        "a/one two three",
        "a/well-known",
        ["a" * n for n in range(1, 202)],
    ):
        with pytest.raises(UserError, match="D411"):
            confusion_set(value)


def test_packed_strings_are_restored_from_their_state():
    words = PackedStrings.from_words(["quite", "", "pièce", "a"])
    state = words.state()
    assert list(strings_from_state(state, 4)) == list(words) == ["quite", "", "pièce", "a"]
    assert list(words.replaced({1: "new", 3: ""})) == ["quite", "new", "pièce", ""]
    assert PackedStrings.from_words([]).state() == {} and not len(strings_from_state({}, 3))
    letters, ends = state["letters"], state["ends"]
    for broken in (
        {"letters": letters.astype(np.int64), "ends": ends},
        {"letters": letters, "ends": ends.astype(float)},
        {"letters": letters[:-1], "ends": ends},
        {"letters": letters, "ends": ends[:-1]},
        {"letters": letters, "ends": ends[::-1]},
        {"letters": letters, "ends": np.append(-1, ends[1:])},
    ):
        with pytest.raises(ValueError, match="names of columns"):
            strings_from_state(broken, 4)
    with pytest.raises(KeyError):
        strings_from_state({"letters": letters}, 4)


def test_lists_without_a_right_candidate_are_counted():
    own = CandidateLists.from_texts([["a"], ["b", "c"], ["d", "e"]])
    costs = np.array([1.0, 0.5, 0.0, 2.0, np.nan], np.float32)
    zeros = np.zeros(3, np.int32)
    instances = Instances(np.arange(3), zeros + 1, zeros, zeros, replace(own, costs=costs))
    assert instances.without_right() == 1  # of the last list not all costs are known
    assert instances.take(np.zeros(0, np.int64)).without_right() == 0
    assert replace(instances, own=None).without_right() == 0


def test_one_batch_joined_is_itself():
    counts = np.zeros(2, np.int32)
    columns = np.zeros(2), np.zeros(1, np.int32), counts, counts, np.zeros(2, np.float32), None
    batch = ScoreBatch.from_group(GROUPS[0], 0, np.array([0, 2]), *columns)
    assert ScoreBatch.joined([batch]) is batch
    assert len(ScoreBatch.joined([batch, batch]).observed) == 2
