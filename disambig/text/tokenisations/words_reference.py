"""`disambig.words.v1` with regular expressions: what runs on little text, and what the kernel is held to.

The patterns are made from `characters`, in three sizes: most texts need only the smallest.
"""

from __future__ import annotations

import functools
import re

import numpy as np
from numpy.typing import NDArray

from disambig.text import characters as ch
from disambig.text.hashing import UNKNOWN, hash_word
from disambig.text.tokenisations.boundaries import Arrays, with_boundaries

LONGEST = 255
"""Bytes of the longest word that has a hash of its own."""
_REMEMBERED = 200_000
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_SINGLE = "."


@functools.lru_cache(maxsize=3)
def _patterns(size: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of a word and the pattern of what ends a sentence, for characters below `size`."""

    def of(*classes: int) -> str:
        return "[" + ch.character_set(size, *classes) + "]"

    word = of(ch.DIGIT, ch.LETTER, ch.UPPER, ch.CASELESS)
    letter = of(ch.LETTER, ch.UPPER, ch.CASELESS)
    digit = of(ch.DIGIT)
    space = of(ch.SPACE, ch.LINE_FEED, ch.CARRIAGE_RETURN, ch.PARAGRAPH)
    other = of(*range(ch.SYMBOL, ch.DIGIT))
    inside = f"(?<={letter}){of(ch.APOSTROPHE)}(?={letter})|(?<={digit})[.,:](?={digit})"
    words = re.compile(f"({word}+(?:(?:{inside}){word}+)*|({other})\\2*)")

    line = r"(?:\r\n|\r(?!\n)|\n)"
    blank = f"\u2029|{line}{space}*?{line}"
    closing = of(ch.CLOSING, ch.QUOTE, ch.APOSTROPHE)
    closing_any = of(ch.CLOSING, ch.QUOTE, ch.QUOTE_OPENING, ch.APOSTROPHE)
    opening = of(ch.DIGIT, ch.UPPER, ch.CASELESS, ch.OPENING, ch.QUOTE, ch.QUOTE_OPENING, ch.APOSTROPHE)
    narrow = f"({of(ch.DOT, ch.STOP)}+){closing_any}*(?={space}+{opening})"
    wide = ""
    if size > ch.ASCII:
        stop = of(ch.DOT, ch.STOP, ch.WIDE_STOP)
        wide = f"|{stop}*{of(ch.WIDE_STOP)}{stop}*{closing}*"
        narrow = narrow.replace("+)", f"+)(?!{of(ch.WIDE_STOP)})", 1)
    return words, re.compile(f"{blank}{wide}|{narrow}")


def normalised(raw: str) -> str:
    """Return the normal form of one raw word: lower case, digits as 0, plain quotes."""
    return "".join(map(ch.folded, raw))


class _Hashes(dict[str, int]):
    """The hash of each raw word seen so far."""

    def __missing__(self, raw: str) -> int:
        word = normalised(raw).encode("utf8", "surrogatepass")
        value = hash_word(word) if len(word) <= LONGEST else UNKNOWN
        if len(self) >= _REMEMBERED:
            self.clear()
        if len(word) <= LONGEST:
            self[raw] = value
        return value


_hashes = _Hashes()


def _patterns_for(text: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    if text.isascii():
        return _patterns(ch.ASCII)
    return _patterns(ch.ALL if _ASTRAL.search(text) else ch.PLANE_0)


def raw_words(text: str) -> list[str]:
    """Return the words of `text` as they are written, without boundary words."""
    return _patterns_for(text)[0].split(text)[1::3]


def tokenise(text: str, offsets: NDArray[np.int64]) -> Arrays:
    """Return the arrays of documents that lie in `text` at `offsets`, with a blank line between each two."""
    words, breaks = _patterns_for(text)
    parts = words.split(text)
    raw = parts[1::3]
    n = len(raw)
    hashes = np.fromiter(map(_hashes.__getitem__, raw), dtype=np.uint64, count=n)
    length = np.fromiter(map(len, raw), dtype=np.int64, count=n)
    gap = np.fromiter(map(len, parts[:-1:3]), dtype=np.int64, count=n)
    ends = np.cumsum(length + gap)
    starts = ends - length

    found = list(breaks.finditer(text))
    at = np.fromiter((match.end() for match in found), dtype=np.int64, count=len(found))
    dots = [(i, match.start()) for i, match in enumerate(found) if match[1] == _SINGLE]
    if dots:
        which, dot = np.array(dots, dtype=np.int64).T
        before = np.searchsorted(starts, dot) - 1
        adjacent = (before >= 0) & (ends[before] == dot)
        keep = np.ones(len(found), dtype=bool)
        for i, start, long in zip(
            which[adjacent], starts[before[adjacent]], length[before[adjacent]], strict=True
        ):
            kind = ch.class_of(text[start])
            keep[i] = not ((long == 1 and kind >= ch.FIRST_LETTER) or (long <= 3 and kind == ch.UPPER))
        at = at[keep]
    first = np.unique(np.concatenate(([0], np.searchsorted(starts, at))))
    documents = np.append(np.searchsorted(starts, offsets), n)
    shift = np.repeat(offsets, np.diff(documents))
    first = first[first < n]
    return with_boundaries(hashes, starts - shift, ends - shift, sentences=first, documents=documents)
