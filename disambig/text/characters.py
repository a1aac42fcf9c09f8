"""Character classes and case folding of the tokenisation `disambig.words.v1`.

The tables are derived from Python's own Unicode data when they are first needed. The rules for words and
sentences are in `disambig.text.tokenisations`.
"""

from __future__ import annotations

import functools
import unicodedata

import numpy as np
from numpy.typing import NDArray

SPACE, LINE_FEED, CARRIAGE_RETURN, PARAGRAPH = 0, 1, 2, 3
SYMBOL, OPENING, CLOSING, QUOTE, QUOTE_OPENING, APOSTROPHE, DOT, COMMA, STOP, WIDE_STOP = range(4, 14)
DIGIT, LETTER, UPPER, CASELESS = range(14, 18)
LAST_SPACE = PARAGRAPH
FIRST_WORD = DIGIT
FIRST_LETTER = LETTER

HIDDEN = "\x1f"
"""The character that replaces hidden markup: white space for every rule, without width (`visible_width`)."""

SPOKEN_VOWEL, SPOKEN_CONSONANT = "\ue000", "\ue001"
"""Replacements of a hidden word after "a" or "an" whose first sound is known; see `disambig.markup`."""

OPAQUE = "\ufffc"
"""The character that replaces each character of code and of other hidden words; see `disambig.markup`."""
CODE_SIGNS = f"{OPAQUE}{SPOKEN_VOWEL}{SPOKEN_CONSONANT}"
"""The characters of which hidden code consists."""

ASCII, ALPHABETS, PLANE_0, ALL = 0x80, 0x3000, 0x10000, 0x110000
"""Possible sizes of a table, in code points. Most texts need one of the first two, which are built quickly.

`ALPHABETS` contains the alphabets of Europe and typographic punctuation, but no characters of East Asia.
"""

CLASS_SHIFT = 24
CODE_MASK = (1 << CLASS_SHIFT) - 1

_CLASS_BY_CATEGORY = {
    **dict.fromkeys(("Zs", "Zl", "Zp", "Cc", "Cf", "Cs"), SPACE),
    **dict.fromkeys(("Ll", "Lm", "Mn", "Mc", "Me", "Nl", "No"), LETTER),
    **dict.fromkeys(("Lu", "Lt"), UPPER),
    "Lo": CASELESS,
    "Nd": DIGIT,
    "Ps": OPENING,
    "Pe": CLOSING,
    "Pi": QUOTE_OPENING,
    "Pf": QUOTE,
}
_CLASS_BY_CHARACTER = {
    "\n": LINE_FEED,
    "\r": CARRIAGE_RETURN,
    "\u2029": PARAGRAPH,
    '"': QUOTE,
    **dict.fromkeys("'\u2019\u02bc", APOSTROPHE),
    ".": DOT,
    **dict.fromkeys(",:", COMMA),
    **dict.fromkeys("!?\u2026", STOP),
    **dict.fromkeys("\u3002\uff61\uff01\uff1f", WIDE_STOP),
    **dict.fromkeys("\u00bf\u00a1", OPENING),
}
_FOLDED = {**dict.fromkeys("\u201c\u201d\u201e\u201f", '"'), **dict.fromkeys("\u2018\u2019\u201b\u02bc", "'")}
_UNIFORM = (
    (range(0x3400, 0x4DC0), CASELESS),  # Chinese characters
    (range(0x4E00, 0x9FF0), CASELESS),
    (range(0xAC00, 0xD7A4), CASELESS),  # Korean syllables
    (range(0xD800, 0xE000), SPACE),  # surrogates
    (range(0x20000, 0x2A6D7), CASELESS),
)
"""Long ranges of characters of one class that are their own folded forms; others need Unicode's tables."""
_MIXED = (
    range(0x3400), range(0x4DC0, 0x4E00), range(0x9FF0, 0xAC00), range(0xD7A4, 0xD800),
    range(0xF900, 0x20000), range(0x2A6D7, 0x33480), range(0xE0000, 0xE01F0),
)  # fmt: skip
"""All other ranges with assigned code points that are not for private use (a test checks this)."""


def visible_width(gap: str) -> int:
    """Return the number of characters of the gap between two words, without hidden markup."""
    return len(gap) - gap.count(HIDDEN)


def character_class(character: str) -> int:
    """Return the class of one character."""
    kind = _CLASS_BY_CHARACTER.get(character)
    return _CLASS_BY_CATEGORY.get(unicodedata.category(character), SYMBOL) if kind is None else kind


def fold_character(character: str) -> str:
    """Return the form of one character in a normalised word, always a single character."""
    if unicodedata.category(character) == "Nd":
        return "0"
    lower = character.lower()
    return _FOLDED.get(character, lower if len(lower) == 1 else character)


def size_for(maximum: int) -> int:
    """Return the size of the smallest table that contains the code point `maximum`."""
    return next(size for size in (ASCII, ALPHABETS, PLANE_0, ALL) if maximum < size)


@functools.lru_cache(maxsize=4)
def table(size: int) -> NDArray[np.uint32]:
    """Return ``class << 24 | folded code point`` of the first `size` code points, shape ``(size,)``."""
    entries = np.arange(size, dtype=np.uint32) | np.uint32(SYMBOL << CLASS_SHIFT)
    for codes, kind in _UNIFORM:
        entries[codes.start : codes.stop] &= np.uint32(CODE_MASK)
        entries[codes.start : codes.stop] |= np.uint32(kind << CLASS_SHIFT)
    for codes in _MIXED:
        characters = list(map(chr, codes[: max(size - codes.start, 0)]))
        kinds = np.array([_CLASS_BY_CATEGORY.get(category, SYMBOL) for category in
                            map(unicodedata.category, characters)], dtype=np.uint32)  # fmt: skip
        lower = np.array(
            [ord(small) if len(small) == 1 else ord(character) for character, small in
             zip(characters, map(str.lower, characters), strict=True)], dtype=np.uint32)  # fmt: skip
        lower[kinds == DIGIT] = ord("0")
        entries[codes.start : codes.stop] = kinds << np.uint32(CLASS_SHIFT) | lower
    for character in {*_CLASS_BY_CHARACTER, *_FOLDED}:
        if ord(character) < size:
            entries[ord(character)] = character_class(character) << CLASS_SHIFT | ord(
                fold_character(character)
            )
    entries.flags.writeable = False
    return entries


def code_points(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, shape ``(len(text),)``: offsets into the text index the array."""
    # UTF-32 has one code unit per character; broken input may contain lone surrogates
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return codes.astype(np.uint32, copy=False)


def table_for(codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the smallest table that contains some code points (see `table`)."""
    return table(size_for(int(codes.max(initial=0))))


@functools.lru_cache(maxsize=4)
def classes(size: int) -> NDArray[np.uint8]:
    """Return the classes of the first `size` code points, without their folded forms, shape ``(size,)``."""
    return (table(size) >> np.uint32(CLASS_SHIFT)).astype(np.uint8)


def character_set(size: int, *members: int) -> str:
    """Return the inside of a regular expression's ``[...]`` that matches the characters of some classes."""
    member = np.isin(classes(size), members)
    edges = np.flatnonzero(np.diff(member, prepend=False, append=False))
    runs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in runs)
