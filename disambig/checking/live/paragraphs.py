"""Where a text without its markup is cut, so that each part can be decided with few words around it.

A part ends at a blank line, at a list item, a heading or a row of a table: sentences and blocks of lines
end there as well. It does not end inside code, a comment or a tag that goes on behind them.

No sentence goes over the end of a part. What models see beyond are up to `REACH` words of the document on
each side, and whether there are other paragraphs at all. So a part is decided with so many words around it,
and this comes out as in the whole text. A model that would see further sees no more than these, and none sees
over more than `FAR` parts, as over a long list of code.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise

from disambig.text.markup.canvas import BREAK
from disambig.text.protected import connected_spans

REACH = 26
"""Words; the networks of the English models see 25 to each side."""
FAR = 64
"""Parts to each side beyond which no words are looked for: most of these have none."""
_BLANK = re.compile(r"\n\s*\n")
_ITEM = re.compile(rf"\n[^\S\r\n{BREAK}]*(?={BREAK})")
_INDENTED_ON = re.compile(r"\n(?: {4}|\t)[^\S\n]*\n(?: {4}|\t)[^\S\n]*\S")
"""Code that is indented goes on over blank lines which are indented, too."""
_MARK = re.compile("[`<>]|~~~")
"""What may begin or end code: a piece of it is no code."""
_WORD = re.compile(r"[^\W_]+(?:[\u2019'.,:][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, and what it is decided with.

    Attributes
    ----------
    start, end : int
        Offsets into the text.
    first, last : int
        Offsets of the part with the words around it.
    """

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a part: how many, where the first `REACH` of them end, and where the last ones begin.

    Where it may not be cut these are its own end and begin.
    """

    number: int
    head: int
    tail: int


class Paragraphs:
    """Cuts one text again and again; it keeps what it found between the blank lines of the last time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[int], list[_Words]]] = {}

    def of(self, text: str) -> list[Part]:
        """Return the parts of a text, which follow each other without a gap."""
        bounds, words = self._cut(text)
        n = len(words)
        before = [0, *accumulate(each.number for each in words)]  # words before each part
        parts = []
        for at in range(n):
            low = max(bisect_right(before, before[at] - REACH) - 1, at - FAR, 0)
            high = min(bisect_left(before, before[at + 1] + REACH), at + 1 + FAR, n)
            first = bounds[low] + (words[low].tail if low < at else 0)
            last = bounds[high - 1] + words[high - 1].head if high > at + 1 else bounds[high]
            parts.append(Part(bounds[at], bounds[at + 1], first, last))
        return parts

    def _cut(self, text: str) -> tuple[list[int], list[_Words]]:
        """Return where the parts begin, and where the last one ends; and the words of each."""
        bounds, words = [0], []
        known: dict[str, tuple[list[int], list[_Words]]] = {}
        for start, end in pairwise(_stretches(text)):
            stretch = text[start:end]
            found = known.get(stretch) or self._known.get(stretch)
            if found is None:
                ends = _ends(stretch)
                found = ends, [_words(stretch[one:other]) for one, other in pairwise([0, *ends])]
            known[stretch] = found
            bounds += [start + own for own in found[0]]
            words += found[1]
        self._known = known
        return bounds, words


def _stretches(text: str) -> list[int]:
    """Return where a text can be cut at blank lines, its begin and its end; [0] of nothing."""
    places = [match.end() for match in _BLANK.finditer(text)]
    if "```" in text or "~~~" in text or "<" in text or _INDENTED_ON.search(text):
        _leave_out(places, text)
    return sorted({0, *places, len(text)})


def _ends(stretch: str) -> list[int]:
    """Return where the parts of a stretch without a blank line, or with code that has some, end."""
    places = [match.end() for match in _ITEM.finditer(stretch)]
    if places:
        _leave_out(places, stretch)
    return sorted({*places, len(stretch)} - {0})


def _leave_out(places: list[int], text: str) -> None:
    """Leave out the places within code."""
    for start, end in connected_spans(text):
        del places[bisect_right(places, start) : bisect_left(places, end)]


def _words(part: str) -> _Words:
    spans = [match.span() for match in _WORD.finditer(part)]
    if len(spans) < REACH or _MARK.search(part):
        return _Words(len(spans), len(part), 0)
    return _Words(len(spans), spans[REACH - 1][1], spans[-REACH][0])
