from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disambig.errors import UserError
from disambig.lsp import ProtocolLines
from disambig.lsp import documents as lines_module

WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
CHARACTERS = [
    "a",
    "b ",
    "\u00e9",
    "e\u0301",
    "\U0001f600",
    FAMILY,
    "\n",
    "\r\n",
    "\r",
    "\u2028",
    "\x0c",
    "\x85",
    "\u4e2d",
]
texts = st.lists(st.sampled_from(CHARACTERS), max_size=20).map("".join)
encodings = st.sampled_from(sorted(WIDTHS))


def units(text: str, encoding: str) -> int:
    codec, width = WIDTHS[encoding]
    return len(text.encode(codec)) // width


@given(texts, encodings)
def test_every_offset_has_one_place(text, encoding):
    lines = ProtocolLines(text, encoding)
    split = re.split("\r\n|\r|\n", text)
    assert len(lines) == len(split)
    for offset in range(len(text) + 1):
        line, column = lines.position(offset)
        if text[offset - 1 : offset + 1] == "\r\n":  # between the two there is no place
            continue
        before = text[:offset]
        assert column == units(re.split("\r\n|\r|\n", before)[-1], encoding)
        assert line == len(re.findall("\r\n|\r|\n", before))
        assert lines.offset(line, column) == offset


@given(texts, encodings, st.integers(0, 30), st.integers(0, 60))
def test_a_place_outside_is_the_end_of_its_line_or_an_error(text, encoding, line, column):
    lines = ProtocolLines(text, encoding)
    if line > len(lines):
        with pytest.raises(UserError, match="D842"):
            lines.offset(line, column)
    else:
        found = lines.offset(line, column)
        assert 0 <= found <= len(text)
        assert lines.position(found)[1] <= column or line == len(lines)


@given(texts, st.integers(0, 25), st.integers(0, 6), texts, encodings)
def test_what_changed_has_the_lines_of_the_new_text(text, start, taken, put, encoding):
    start, end = min(start, len(text)), min(start + taken, len(text))
    lines = ProtocolLines(text, encoding).changed(start, end, put)
    anew = ProtocolLines(text[:start] + put + text[end:], encoding)
    assert lines.text == anew.text
    assert len(lines) == len(anew)
    assert [lines.line_at(number) for number in range(len(anew))] == [
        anew.line_at(number) for number in range(len(anew))
    ]
    assert len(ProtocolLines(text, encoding)) == len(re.split("\r\n|\r|\n", text))  # as it was


def test_a_change_finds_line_ends_only_in_the_lines_it_touches(monkeypatch):
    seen: list[int] = []
    text = "It was so.\n" * 1000
    before = ProtocolLines(text, "utf-16")
    real = lines_module._line_ends
    monkeypatch.setattr(
        lines_module,
        "_line_ends",
        lambda text, *place: seen.append(place[1] - place[0]) or real(text, *place),
    )
    after = before.changed(5504, 5506, "is")
    assert seen[0] <= 2 * len("It was so.\n")
    assert (len(seen), len(after)) == (1, 1001)


def test_a_column_of_a_long_line_is_found_without_looking_at_each_character(monkeypatch):
    asked: list[int] = []
    lines = ProtocolLines("a \U0001f600 b" * 1000, "utf-16")
    real = ProtocolLines._units
    monkeypatch.setattr(
        ProtocolLines, "_units", lambda self, text: asked.append(len(text)) or real(self, text)
    )
    assert lines.offset(0, 6 * 900 + 4) == 5 * 900 + 3
    assert sum(asked) < 3 * len(lines.text)
    assert len(asked) < 30


def test_columns_of_one_line_in_three_encodings():
    text = "e\u0301 \U0001f600 then"
    at = text.index("then")
    assert ProtocolLines(text, "utf-8").position(at) == (0, 9)
    assert ProtocolLines(text, "utf-16").position(at) == (0, 6)
    assert ProtocolLines(text, "utf-32").position(at) == (0, 5)
    assert ProtocolLines(text, "utf-16").offset(0, 4) == text.index("\U0001f600")  # within the character


def test_half_of_a_character_that_some_editor_sends():
    assert ProtocolLines("\ud83d then", "utf-16").position(2) == (0, 2)
    assert ProtocolLines("\ud83d then", "utf-8").position(2) == (0, 4)
