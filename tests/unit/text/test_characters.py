from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from disambig.text import characters as ch


def test_the_table_says_what_the_functions_say():
    table = ch.table(ch.ALL)
    for code in [*range(0x3000), *range(0xD7F0, 0xE010), *range(0xFE00, 0x10500), *range(0x1D400, 0x1D800),
                 *range(0x1F000, 0x1FB00), 0xE0001, 0xE0100, 0xF0000, 0x10FFFF]:  # fmt: skip
        character = chr(code)
        assert table[code] >> ch.CLASS_SHIFT == ch.character_class(character), hex(code)
        assert table[code] & ch.CODE_MASK == ord(ch.fold_character(character)), hex(code)


def test_no_assigned_character_is_outside_the_crowded_planes():
    """What Python's Unicode tables know beyond plane 0 is in the two ranges that the table reads."""
    outside = [*range(0x33480, 0xE0000), *range(0xE01F0, 0xF0000)]
    assert {unicodedata.category(chr(code)) for code in outside} == {"Cn"}


@pytest.mark.parametrize("size", [ch.ASCII, ch.ALPHABETS, ch.PLANE_0])
def test_small_tables_are_beginnings_of_the_whole(size):
    assert np.array_equal(ch.table(size), ch.table(ch.ALL)[:size])


def test_folding_keeps_words_words():
    """A folded character never leaves or joins the word characters, so folding cannot move a boundary."""
    table = ch.table(ch.ALL)
    classes = table >> np.uint32(ch.CLASS_SHIFT)
    inside = classes >= ch.FIRST_WORD
    folded = table & np.uint32(ch.CODE_MASK)
    apostrophe = classes == ch.APOSTROPHE
    digits = classes == ch.DIGIT
    assert (folded[digits] == ord("0")).all()
    assert (classes[folded[inside & ~digits]] >= ch.FIRST_LETTER).all()
    assert (folded[apostrophe] == ord("'")).all()
