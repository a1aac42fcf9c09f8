"""Flags: their positions, selection and identity; ignored words, corrections and names of the document."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from fake_models import annotate_texts
from hypothesis import given, strategies as st
from made_decisions import make_decisions
from overlapping import ToyModel

import disambig
from disambig.checking import (
    DocumentWords,
    Flag,
    TextLines,
    apply_corrections,
    find_flags,
    flag_identity,
    number_fingerprints,
    select_compatible,
    sentence_around,
)
from disambig.data import Group, ignore_entries, pair_to_ignore, plain_word
from disambig.markup import PlainText, read_markup
from disambig.models import ModelSet, ModelSource, annotate, load

QUIET = "a quite place"


def check_fake(text, path="x.md", **settings):
    plain = read_markup(path, text)
    return find_flags(path, text, plain, annotate_texts([plain.text]), **settings)


def flag(start, end, new, probability=0.5, task="t", observed="x"):
    return Flag(start, end, 1, start + 1, observed, new, task, probability, (start, end, new))


def one_decision(start, end, candidates, observed, chosen):
    return make_decisions([Group("g", candidates)], [(0, start, end, 0, observed, chosen)])


def test_columns_in_characters_utf16_and_utf8():
    text = "\ufeffab\r\nc\U0001f600d\re\n\nf"
    places = TextLines(text)
    result = [places.line_and_column(text.index(letter)) for letter in "abcdef"]
    assert result == [(1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (5, 1)]
    assert text[slice(*places.line_around(text.index("d")))] == "c\U0001f600d\r"
    assert text[slice(*places.line_around(text.index("f")))] == "f"
    text = "\ufeffe\u0301\U0001f600x\r\ne\u0301\U0001f600y\r\n"
    places = TextLines(text)
    first, second = text.index("x"), text.index("y")
    assert [places.line_and_column(at) for at in (first, second)] == [(1, 4), (2, 4)]
    assert [places.in_utf16(at) for at in (first, second)] == [(1, 5), (2, 5)]
    assert [places.in_utf8(at) for at in (first, second)] == [
        (1, 11),
        (2, 8),
    ]  # the mark is bytes of the file
    assert places.in_utf16(0) == places.line_and_column(0) == (1, 1)


@given(st.text(alphabet="a\r\n\ufeff", max_size=20))
def test_lines_are_separated_by_any_line_end(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert TextLines(text).line_and_column(len(text))[0] == len(lines)


def test_flags_of_all_tasks_are_in_text_order():
    (result,) = check_fake(f"# Title\n\nIt is **{QUIET}**.\n").flags
    assert (result.line, result.column, result.observed, result.replacement) == (3, 11, "quite", "quiet")
    assert (result.task, round(result.probability, 2)) == ("spelling", 0.9)
    result = check_fake(f"It was {QUIET} during 1997. A Quite place.").flags
    assert [f.observed for f in result] == ["quite", "during", "Quite"]
    assert result[2].replacement == "Quiet"
    assert not check_fake(QUIET, ignore={"quite"}).flags


@pytest.mark.parametrize(("most", "shown"), [(None, 5), (0, 0), (1, 1), (34, 2), (1000, 5)])
def test_the_number_of_flags_can_be_limited(most, shown):
    result = check_fake(f"{QUIET}. " * 5 + "word " * 15, most_per_1000=most)
    assert result.words == 30
    assert len(result.flags) == shown
    assert result.left_out == 5 - shown


def test_the_most_certain_flags_are_shown():
    text = "in of in of"
    decisions = [one_decision(0, 2, ("in", "of"), 0, 1), one_decision(3, 5, ("of", "to"), 0, 1)]
    decisions[1].probabilities[:] = 0.95
    result = find_flags("x.txt", text, PlainText(text), decisions, most_per_1000=1)
    assert [f.start for f in result.flags] == [3]


def flags_of(text, *decision, path="x.txt"):
    """Return the flags of one decision."""
    return find_flags(path, text, read_markup(path, text), [one_decision(*decision)]).flags


def test_labels_are_not_flags_and_corrections_match_the_text():
    assert not flags_of("it rains", 0, 2, ("referential", "not"), -1, 1)
    assert not flags_of("it may **be** so", 3, 11, ("may be", "maybe"), 0, 1, path="x.md")
    for text, expected in (("its can\u2019t", "it\u2019s"), ("its can't", "it's")):
        assert flags_of(text, 0, 3, ("its", "it's"), 0, 1)[0].edit == (0, 3, expected)
    text = "He went to the home."
    (result,) = flags_of(text, 11, 14, ("the", ""), 0, 1)
    assert (result.observed, result.replacement) == ("the", "")
    assert apply_corrections(text, [result]) == "He went to home."
    text = "He saw dog."
    (result,) = flags_of(text, 7, 7, ("", "a"), 0, 1)
    assert (result.observed, result.replacement, result.column) == ("", "a", 8)
    assert apply_corrections(text, [result]) == "He saw a dog."


def test_the_more_certain_correction_is_chosen_and_none_across_lines():
    taken = select_compatible([flag(5, 7, "a", 0.4), flag(5, 7, "b", 0.6), flag(7, 9, "c", 0.1)])
    assert [f.replacement for f in taken] == ["b", "c"]
    taken = select_compatible([flag(0, 6, "maybe", observed="may\nbe"), flag(2, 3, "x", 0.1)])
    assert [f.replacement for f in taken] == ["x"]


SPANS = st.tuples(st.integers(0, 20), st.integers(0, 3), st.floats(0, 1))


@given(st.lists(SPANS, max_size=12))
def test_chosen_flags_do_not_overlap(spans):
    flags = [flag(start, start + width, "x", p) for start, width, p in spans]
    taken = select_compatible(flags)
    left = list(flags)
    for one in taken:
        left.remove(one)
    for one, other in pairwise(taken):
        assert one.end <= other.start
        assert (one.start, one.end) != (other.start, other.end)
    for one in left:
        assert any(
            other.probability >= one.probability
            and (other.start == one.start or (one.start < other.end and other.start < one.end))
            for other in taken
        )
    text = "." * 25
    new = apply_corrections(text, taken)
    assert len(new) == len(text) + sum(1 - (f.end - f.start) for f in taken)


PLACE_TEXT = "# Title\n\nAll is well. It was a quite place,\nfar away. The end.\n"


def identities(text, path="a.md"):
    plain = read_markup(path, text)
    return [flag_identity(path, plain.text, flag) for flag in check_fake(text, path).flags]


def test_the_identity_has_the_sentence_and_survives_moved_lines():
    (before,) = identities(PLACE_TEXT)
    assert (before.path, before.task, before.observed) == ("a.md", "spelling", "quite")
    assert before.sentence == "It was a quite place, far away."
    assert before.digest == "27228bfaad2e95b8c967b97265eccdd6"
    moved = "More.\r\n\r\n" + PLACE_TEXT.replace("place,\n", "place,   ").replace("\n", "\r\n")
    assert identities(moved) == [before]
    assert identities(PLACE_TEXT.replace("The end", "No end")) == [before]
    assert identities(PLACE_TEXT.replace("far", "not far")) != [before]
    assert identities(PLACE_TEXT, "b.md") != [before]
    result = identities("A quite place. A quite place and a quite place. A quite place.")
    fingerprints = number_fingerprints(result)
    assert len(set(fingerprints)) == 4
    assert [item.rpartition(":")[2] for item in fingerprints] == ["1", "1", "2", "2"]


@given(st.text(alphabet="ab.!? \n\u2029", max_size=60), st.data())
def test_a_sentence_contains_its_flag(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    inside = " ".join(text[start:end].split())
    assert inside in sentence_around(text, start, end)


def test_entries_are_compared_in_lower_case_with_single_spaces():
    assert plain_word(" Quite ") == "quite"
    assert plain_word("Login->log  in") == plain_word("login -> log in") == "login -> log in"
    assert plain_word("it\u2019s -> its") == "it's -> its"
    assert (pair_to_ignore("", "the"), pair_to_ignore("The", "")) == ("-> the", "the ->")


@pytest.mark.parametrize(
    ("text", "word", "meant", "expected"),
    [
        (
            *("Use an SQL table.", "an", "a"),
            ("an", "an -> a", "an sql -> a sql", "use an -> use a", "an sql", "use an"),
        ),
        (
            *("Open the the door.", "the", ""),
            ("the", "the ->", "the the -> the", "open the -> open", "the the", "open the"),
        ),
        ("An end.", "end", "and", ("end", "end -> and", "an end -> an and", "an end")),
        ("Then, we go.", "Then", "Than", ("then", "then -> than")),
    ],
)
def test_the_entries_of_a_flag(text, word, meant, expected):
    start = text.index(word)
    assert ignore_entries(text, start, start + len(word), meant) == expected
    missing = ("-> to", "write -> to write", "helps -> helps to")
    assert ignore_entries("It helps write text.", 9, 9, "to") == missing


TEXT = "It was hard to find a quite place."


@pytest.mark.parametrize(
    ("ignore", "flagged"), [("quite -> quiet", False), ("a quite -> a quiet", False), ("quite -> quit", True)]
)
def test_check_and_annotate_leave_a_correction_alone(ignore, flagged):
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
def test_ignoring_a_flag_does_not_show_its_alternative(ignore, shown):
    """In `check` and `annotate`, a less certain overlapping flag is not shown in its place."""
    text = "It was a quite place, and I seen it."
    models = [ToyModel.of(task, *rules) for task, rules in RULES.items()]
    decisions = ModelSet(tuple(models)).annotate([text])
    checked = find_flags("a.txt", text, PlainText(text), decisions, ignore=ignore)
    assert [f"{flag.observed} -> {flag.replacement}" for flag in checked.flags] == shown
    decisions = annotate([text], models, ignore=ignore)
    records = [of_task.record(int(i), text) for of_task in decisions for i in of_task.flagged.nonzero()[0]]
    records.sort(key=lambda record: record["start"])
    assert [f"{record['observed']} -> {record['replacement']}" for record in records] == shown


@pytest.fixture(scope="module")
def flagged():
    """Return a function that returns the words that the models of the pack flag in a text."""
    models = ModelSource().load()

    def words(text):
        plain = read_markup("x.md", text)
        return [flag.observed for flag in find_flags("x.md", text, plain, models([plain.text])).flags]

    return words


def names(text: str, path: str = "x.md") -> frozenset[str]:
    return DocumentWords(text, read_markup(path, text)).names


def test_names_come_from_code_only():
    text = (
        "Prose *here* with `lat` and [a page](target.md) or <kbd>key</kbd>, https://host.example/path.\n\n"
        "```\nfor alias in max_size:\n```\n\n<!-- comment -->\n"
    )
    result = names(text)
    assert {"lat", "alias", "max_size"} <= result
    assert not result & {"Prose", "here", "page", "target", "comment", "host", "path", "for", "in"}
    assert {"decimals", "round_to"} <= names("def round_to(decimals):\n    # all of them\n    pass\n", "x.py")
    assert names("the word lat", "x.txt") == frozenset()


def test_a_name_is_not_flagged_and_no_word_is_missing_before_it(flagged):
    text = "Steps along lat at a time are averaged."
    assert flagged(text) == ["lat"]
    assert flagged(f"{text}\n\nA `lat` is a number.\n") == []
    often = "Each lat lies behind a lat. The lat has a door, and every lat a fan."
    assert flagged(f"{text}\n\n{often}") == []  # a word that is repeated
    text = "If you do not declare message in the schema, it is dropped."
    assert flagged(text) == [""]
    assert flagged(f"{text}\n\nThe `message` is a string.\n") == []


@pytest.mark.parametrize("sentence", ["If {} is true, it is read.", "Make sure that {} isn't set."])
def test_names_in_the_plural(flagged, sentence):
    text = sentence.format("the slots")
    assert len(flagged(text)) == 1
    assert flagged(f"{text}\n\n```\n__slots__ = slots\n```\n") == []
    assert len(flagged(f"{text}\n\n```\nslot\n```\n")) == 1


def test_repeated_and_certain_mistakes_are_flagged(flagged):
    text = "The server allow it. " * 9 + "It is better then that. " * 9
    words = DocumentWords(text, read_markup("x.txt", text))
    assert not words.is_document_word("allow", "allows", 16)
    assert not words.is_document_word("then", "than", 200)
    text = "It depends on there choice.\n\nA `there` is a `choice` `their`.\n"
    assert flagged(text) == ["there"]


def test_long_code_takes_linear_time():
    def seconds(n: int) -> float:
        text = "Prose.\n\n```\n" + "a_b(c) " * n + "\n```\n\n" + "`x` and " * n
        plain = read_markup("x.md", text)
        start = time.process_time()
        assert {"a_b", "c", "x"} <= DocumentWords(text, plain).names
        return time.process_time() - start

    assert seconds(40_000) < 12 * seconds(10_000)
