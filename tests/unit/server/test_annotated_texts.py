"""Texts with markup taken out, offsets in UTF-16, edits as whole words."""

from __future__ import annotations

import pytest
from fake_checker import Fake, FakeChecker, loaded
from fake_models import GROUPS, annotate_texts
from hypothesis import given
from hypothesis import strategies as st

from disambig.checking import Flag, flag_candidates
from disambig.formats import AnnotatedDocument, Document
from disambig.server import (
    AnnotatedPiece,
    AnnotatedText,
    Utf16Offsets,
    plain_annotated,
    shown_flags,
    utf16_length,
)
from disambig.server.languagetool import _show_flag

PIECES = st.lists(
    st.builds(AnnotatedPiece, st.text("ab \U0001f600", max_size=4), st.none() | st.text("\nx", max_size=2)),
    max_size=6,
)


@given(PIECES)
def test_what_is_read_stands_where_it_is_said_to(pieces):
    text = AnnotatedText.from_pieces(pieces)
    assert text.shown == "".join(piece.shown for piece in pieces)
    meant = [piece.shown if piece.read is None else piece.read for piece in pieces]
    assert text.read == "".join(meant)
    taken = set()
    for start in range(len(text.read)):
        place = text.place(start, start + 1)
        if place:
            assert text.shown[slice(*place)] == text.read[start]
            taken.add(place[0])
    assert len(taken) == sum(len(piece.shown) for piece in pieces if piece.read is None)


def test_runs_of_text_are_joined_and_markup_parts_them():
    text = AnnotatedText.from_pieces(
        [AnnotatedPiece("un"), AnnotatedPiece("do"), AnnotatedPiece("<b>", ""), AnnotatedPiece("ing")]
    )
    assert text.read == "undoing"
    assert text.place(0, 4) == (0, 4)
    assert text.place(4, 7) == (7, 10)
    assert text.place(3, 5) is None
    assert AnnotatedText.from_pieces([AnnotatedPiece("<b>", "")]).place(0, 0) is None


@given(st.text("a\u00e9\u0301\u05d0\U0001f600\n", max_size=20), st.integers(0, 20))
def test_offsets_count_code_units(text, offset):
    offset = min(offset, len(text))
    assert (
        Utf16Offsets(text).count(offset)
        == utf16_length(text[:offset])
        == len(text[:offset].encode("utf-16-le")) // 2
    )


def flag(text, start, end, replacement, edit, alternatives=()):
    return Flag(start, end, 1, start + 1, text[start:end], replacement, "spelling", 0.9, edit, alternatives)


@pytest.mark.parametrize(
    ("text", "made", "seen", "proposed"),
    [
        ("a quite place", (2, 7, "quiet", (2, 7, "quiet")), "quite", "quiet"),
        ("many of of them", (8, 10, "", (8, 11, "")), "of of", "of"),
        ("The the end", (0, 3, "", (0, 5, "T")), "The the", "The"),
        ("A number people", (9, 9, "of", (9, 9, "of ")), "people", "of people"),
        ("and so of", (7, 9, "", (6, 9, "")), "so of", "so"),
        ("of\nnow", (0, 2, "", (0, 3, "")), "of\nnow", "now"),
    ],
)
def test_an_edit_takes_the_word_beside_along(text, made, seen, proposed):
    shown = _show_flag(flag(text, *made), plain_annotated(text), [])
    assert text[shown.start : shown.end] == seen
    assert shown.proposals[0].text == proposed
    whole = text[: shown.start] + proposed + text[shown.end :]
    start, end, new = made[3]
    assert whole == text[:start] + new + text[end:]


def test_alternatives_come_behind_and_each_once():
    text = "It depends of it"
    others = [
        {"task": "form", "start": 11, "end": 13, "replacement": "on", "probability": 0.5},
        {"task": "form", "start": 11, "end": 13, "replacement": "off", "probability": 0.4},
        {"task": "form", "start": 3, "end": 13, "replacement": "rests on", "probability": 0.3},
    ]
    made = flag(text, 11, 13, "on", (11, 13, "on"), tuple(others))
    shown = _show_flag(made, plain_annotated(text), *flag_candidates([made], [], text, annotate_texts))
    assert [(each.text, each.share) for each in shown.proposals] == [("on", None), ("off", None)]


def test_what_has_markup_in_its_way_takes_the_other_word_or_is_left_out():
    pieces = [AnnotatedPiece("many"), AnnotatedPiece("<b>", ""), AnnotatedPiece(" of of them")]
    text = AnnotatedText.from_pieces(pieces)
    shown = _show_flag(flag(text.read, 5, 7, "", (5, 8, "")), text, [])
    assert text.shown[shown.start : shown.end] == "of of"
    alone = AnnotatedText.from_pieces(
        [AnnotatedPiece("a "), AnnotatedPiece("<b>", "x"), AnnotatedPiece(" b")]
    )
    assert _show_flag(flag(alone.read, 2, 3, "y", (2, 3, "y")), alone, []) is None


def test_of_flags_that_overlap_with_their_words_the_surer_is_shown(monkeypatch):
    text = "We had quite place during 1997."
    (found,) = [AnnotatedDocument(Document("1", text, ""), tuple(annotate_texts([text])))]
    checker = FakeChecker(loaded({name: Fake(name) for name in GROUPS}), {})
    assert [each.flag.observed for each in shown_flags(plain_annotated(text), found, checker)] == [
        "quite",
        "during",
    ]
    from disambig.server import languagetool as flags

    monkeypatch.setattr(flags, "_widen", lambda *_: [(7, 25)])
    assert len(shown_flags(plain_annotated(text), found, checker)) == 1
