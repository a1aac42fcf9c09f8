"""Classes and folding of characters, hashes of words and keys of n-grams."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from disambig.text import characters as ch, hash_word, hash_words, ngram_keys


def test_the_table_equals_the_functions():
    table = ch.table(ch.ALL)
    for code in [*range(0x3000), *range(0xD7F0, 0xE010), *range(0xFE00, 0x10500), *range(0x1D400, 0x1D800),
                 *range(0x1F000, 0x1FB00), 0xE0001, 0xE0100, 0xF0000, 0x10FFFF]:  # fmt: skip
        character = chr(code)
        assert table[code] >> ch.CLASS_SHIFT == ch.character_class(character), hex(code)
        assert table[code] & ch.CODE_MASK == ord(ch.fold_character(character)), hex(code)


def test_no_assigned_character_is_outside_the_crowded_planes():
    """All assigned characters beyond plane 0 are in the two ranges that the table covers."""
    outside = [*range(0x33480, 0xE0000), *range(0xE01F0, 0xF0000)]
    assert {unicodedata.category(chr(code)) for code in outside} == {"Cn"}


@pytest.mark.parametrize("size", [ch.ASCII, ch.ALPHABETS, ch.PLANE_0])
def test_small_tables_are_prefixes(size):
    assert np.array_equal(ch.table(size), ch.table(ch.ALL)[:size])


def test_folding_keeps_word_boundaries():
    """Folding never changes whether a character is a word character, so it cannot move a boundary."""
    table = ch.table(ch.ALL)
    classes = table >> np.uint32(ch.CLASS_SHIFT)
    inside = classes >= ch.FIRST_WORD
    folded = table & np.uint32(ch.CODE_MASK)
    apostrophe = classes == ch.APOSTROPHE
    digits = classes == ch.DIGIT
    assert (folded[digits] == ord("0")).all()
    assert (classes[folded[inside & ~digits]] >= ch.FIRST_LETTER).all()
    assert (folded[apostrophe] == ord("'")).all()


WORDS = ["mark", "root", "number", "the", "it's", "a", "<S>", "</S>", "Übermut", "naïve", "straße", "東京",
         "🙂", "👩‍🚀", "0", "...", "x" * 7, "x" * 8, "x" * 9, "x" * 255]  # fmt: skip


def test_hashes_are_those_of_spacy():
    from spacy.strings import hash_string

    assert [hash_word(word) for word in WORDS] == [hash_string(word) for word in WORDS]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(deadline=None)  # the first call imports spaCy
def test_any_text_has_the_hash_of_spacy(text):
    from spacy.strings import hash_string

    assert hash_word(text) == hash_string(text)


def test_the_kernel_mixes_like_the_reference():
    from disambig.text import fmix, fmix64

    keys = hash_words(WORDS)
    assert [int(fmix64(key)) for key in keys] == fmix(keys).tolist()


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["the"], 1591514523251476171),
        (["in", "the"], 7850330892135404283),
        (["in", "the", "old", "red", "house"], 5279739841991216300),
    ],
)
def test_keys_of_ngrams_are_fixed_and_are_the_formula(words, key):
    """Count tables on disk contain these numbers, so they must never change; compare with the formula."""
    mask = 2**64 - 1
    places = (
        0xA24BAED4963EE407,
        0x9FB21C651E98DF25,
        0xD6E8FEB86659FD93,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
    )
    seed = hash_word("disambig.words.v1")
    value = seed + len(words) * 0x9E3779B97F4A7C15
    value = (value + sum(place * hash_word(word) for place, word in zip(places, words, strict=False))) & mask
    for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ (value >> 33)) * multiplier & mask
    value ^= value >> 33
    assert value == key
    assert ngram_keys(hash_words(words)[None, :], seed).tolist() == [key]


@given(st.lists(st.text(max_size=40), min_size=32, max_size=60))
def test_many_words_hash_like_single_ones(words):
    assert hash_words(words).tolist() == [hash_word(word) for word in words]
