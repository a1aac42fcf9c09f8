"""Flags, their places, their choice, and what comments say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from fake_models import annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.checking import Flag, TextLines, choose, corrected, find_flags
from disambig.data import Decisions, Group
from disambig.markup import PlainText, read_markup

QUIET = "a quite place"


def check(text, path="x.md", **settings):
    plain = read_markup(path, text)
    return find_flags(path, text, plain, annotate_texts([plain.text]), **settings)


def flag(start, end, new, probability=0.5, task="t", observed="x"):
    return Flag(start, end, 1, start + 1, observed, new, task, probability, (start, end, new))


def one_decision(start, end, candidates, observed, chosen):
    group = Group("g", candidates)
    number = np.zeros(1, np.int32)
    return Decisions(
        task="t", model="m 1", table=(group,), documents=number, starts=number + start, ends=number + end,
        groups=number, observed=number + observed, chosen=number + chosen,
        offsets=np.array([0, len(candidates)]), scores=np.arange(len(candidates), dtype=np.float32),
        margins=np.ones(1, np.float32), probabilities=np.full(1, 0.9, np.float32),
        flagged=np.ones(1, bool), found=number, asked=number,
    )  # fmt: skip


def test_places_are_those_of_editors():
    text = "\ufeffab\r\nc\U0001f600d\re\n\nf"
    places = TextLines(text)
    found = [places.line_and_column(text.index(letter)) for letter in "abcdef"]
    assert found == [(1, 1), (1, 2), (2, 1), (2, 3), (3, 1), (5, 1)]
    assert text[slice(*places.line_around(text.index("d")))] == "c\U0001f600d\r"
    assert text[slice(*places.line_around(text.index("f")))] == "f"


def test_columns_are_counted_in_each_unit():
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
def test_lines_are_those_that_line_ends_make(text):
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert TextLines(text).line_and_column(len(text))[0] == len(lines)


def test_flags_have_their_places_in_the_file():
    (found,) = check(f"# Title\n\nIt is **{QUIET}**.\n").flags
    assert (found.line, found.column, found.observed, found.replacement) == (3, 11, "quite", "quiet")
    assert (found.task, round(found.probability, 2)) == ("spelling", 0.9)


def test_flags_come_in_text_order_over_all_tasks():
    found = check(f"It was {QUIET} during 1997. A Quite place.").flags
    assert [f.observed for f in found] == ["quite", "during", "Quite"]
    assert found[2].replacement == "Quiet"


def test_words_to_ignore():
    assert not check(QUIET, ignore={"quite"}).flags


@pytest.mark.parametrize(("most", "shown"), [(None, 5), (0, 0), (1, 1), (34, 2), (1000, 5)])
def test_at_most_so_many_flags_are_shown(most, shown):
    found = check(f"{QUIET}. " * 5 + "word " * 15, most_per_1000=most)
    assert found.words == 30
    assert len(found.flags) == shown
    assert found.left_out == 5 - shown


def test_the_surest_flags_are_shown():
    text = "in of in of"
    decisions = [one_decision(0, 2, ("in", "of"), 0, 1), one_decision(3, 5, ("of", "to"), 0, 1)]
    decisions[1].probabilities[:] = 0.95
    found = find_flags("x.txt", text, PlainText(text), decisions, most_per_1000=1)
    assert [f.start for f in found.flags] == [3]


def test_labels_are_no_flags():
    text = "it rains"
    labels = one_decision(0, 2, ("referential", "not"), -1, 1)
    assert not find_flags("x.txt", text, PlainText(text), [labels]).flags


def test_a_candidate_with_markup_inside_is_left_alone():
    text = "it may **be** so"
    plain = read_markup("x.md", text)
    decision = one_decision(3, 11, ("may be", "maybe"), 0, 1)
    assert not find_flags("x.md", text, plain, [decision]).flags


def test_apostrophes_are_those_of_the_text():
    decision = one_decision(0, 3, ("its", "it's"), 0, 1)
    for text, expected in (("its can\u2019t", "it\u2019s"), ("its can't", "it's")):
        assert find_flags("x.txt", text, PlainText(text), [decision]).flags[0].edit == (0, 3, expected)


def test_a_word_too_many_goes_with_its_space():
    text = "He went to the home."
    (found,) = find_flags("x", text, PlainText(text), [one_decision(11, 14, ("the", ""), 0, 1)]).flags
    assert (found.observed, found.replacement) == ("the", "")
    assert corrected(text, [found]) == "He went to home."


def test_a_missing_word_comes_with_its_space():
    text = "He saw dog."
    (found,) = find_flags("x", text, PlainText(text), [one_decision(7, 7, ("", "a"), 0, 1)]).flags
    assert (found.observed, found.replacement, found.column) == ("", "a", 8)
    assert corrected(text, [found]) == "He saw a dog."


def test_of_two_corrections_of_one_word_the_surer_is_taken():
    taken, left = choose([flag(5, 7, "a", 0.4), flag(5, 7, "b", 0.6), flag(7, 9, "c", 0.1)])
    assert [f.replacement for f in taken] == ["b", "c"]
    assert [f.replacement for f in left] == ["a"]


def test_a_correction_over_a_line_end_is_left():
    taken, left = choose([flag(0, 6, "maybe", observed="may\nbe"), flag(2, 3, "x", 0.1)])
    assert [f.replacement for f in taken] == ["x"]
    assert [f.replacement for f in left] == ["maybe"]


SPANS = st.tuples(st.integers(0, 20), st.integers(0, 3), st.floats(0, 1))


@given(st.lists(SPANS, max_size=12))
def test_what_is_taken_does_not_overlap_and_what_is_left_does(spans):
    flags = [flag(start, start + width, "x", p) for start, width, p in spans]
    taken, left = choose(flags)
    assert len(taken) + len(left) == len(flags)
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
    new = corrected(text, taken)
    assert len(new) == len(text) + sum(1 - (f.end - f.start) for f in taken)
