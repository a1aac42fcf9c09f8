"""Marks in texts: what is wrong with them is said; whole texts keep theirs until a task decides at places."""

from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.formats import Labelled, place_at_mark, read_labelled, remove_marks


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("The bank.", r"no place is marked: put one place between \[\[ and \]\]"),
        ("The bank]].", "no place is marked"),
        ("The [[bank]] and a [[bank]].", "2 places are marked .*repeat the text for each"),
        ("The [[bank.", r"a \[\[ has no \]\] after it: put one place"),
        ("The [[bank [[bank]].", r"a \[\[ has no \]\]"),
        ("The [[bank]] and a [[bank.", r"a \[\[ has no \]\]"),
        ("The [[[[bank]]]].", r"a \[\[ has no \]\]"),
        ("The [[bank]] x]].", r"a \]\] has no \[\["),
    ],
)
def test_what_is_wrong_with_marks_is_said(text, problem):
    with pytest.raises(UserError, match=rf"D460.*a\.tsv, line 1: {problem}"):
        remove_marks(text, "a.tsv, line 1")


@given(st.text("[]a", max_size=12))
def test_one_place_or_an_error_and_no_second_reading(text):
    example = Labelled(text, 0, len(text), "x", text)
    try:
        read = place_at_mark(example)
    except UserError as error:
        assert error.code == "D460" and "[[" in text
        return
    if "[[" not in text:
        assert read is example
        return
    assert read.document == read.text
    assert read.text[: read.start] + "[[" + read.text[read.start : read.end] + "]]" in text
    assert len(read.text) == len(text) - 4


def test_a_mark_in_a_whole_text_is_that_of_its_place(tmp_path):
    rows = [("The [[bank]].", "shore"), ("No mark.", "money")]
    with open(tmp_path / "a.csv", "w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    (tmp_path / "a.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in [("text", "label"), *rows]))
    (tmp_path / "a.jsonl").write_text(
        "\n".join(json.dumps({"text": text, "label": label, "word": "bank.n"}) for text, label in rows)
    )
    for name, word in (("a.csv", ""), ("a.tsv", ""), ("a.jsonl", "bank.n")):
        first, second = read_labelled(tmp_path / name)
        assert (first.text, first.start, first.end) == ("The [[bank]].", 0, 13)  # a document keeps it
        found = place_at_mark(first)
        assert found == Labelled("The bank.", 4, 8, "shore", "The bank.", first.where, word)
        assert place_at_mark(found) is found and place_at_mark(second) is second
        assert second.word == ""
    own = Labelled("The [[bank]].", 0, 13, "shore", "mine")
    assert place_at_mark(own).document == "mine"
    part = Labelled("The [[bank]].", 6, 10, "shore", "")
    assert place_at_mark(part) is part


def test_a_word_beside_a_whole_text_may_be_anything(tmp_path):
    for text in ("A ball.", "A [[ball]]."):
        (tmp_path / "a.jsonl").write_text(json.dumps({"text": text, "label": "sport", "word": 3}))
        assert read_labelled(tmp_path / "a.jsonl")[0].word == ""
