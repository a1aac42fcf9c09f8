"""Markdown that is being edited: parts between blank lines that were read before are not read again.

A part is read with what is open where it begins (`markdown.Open`), and with the labels of the whole text.
Where it opens what only a later part closes, such as a comment, it goes on up to there. So the text as a
whole is read as `markdown.read_markdown` reads it, which a test holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from disambig.text.markup.canvas import Canvas, Span, units_of
from disambig.text.markup.markdown import Blocks, Open
from disambig.text.markup.markdown_inline import paint_inline

_CUT = re.compile(r"\n[ \t]*\r?\n(?=\S)")
_Key = tuple[str, Open, bool]
"""What a part is, what is open where it begins, and whether it is the first."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A part whose blocks are painted."""

    painted: str
    comments: tuple[Span, ...]
    labels: frozenset[str]
    open: Open
    beyond: tuple[re.Pattern[str], int] | None


@dataclass(frozen=True, slots=True)
class _Painted:
    """A part that is painted altogether, its comments at offsets into it."""

    text: str
    comments: tuple[Span, ...]


class MarkdownPieces:
    """Reads one text again and again; it keeps the parts of the last time."""

    def __init__(self) -> None:
        self._blocks: dict[_Key, _Read] = {}
        self._painted: dict[tuple[_Key, frozenset[str]], _Painted] = {}

    def read(self, text: str) -> tuple[str, tuple[Span, ...]]:
        """Return `text` with its markup painted over, and where its comments are."""
        parts = self._parts(text)
        labels = frozenset().union(*(read.labels for _, read in parts))
        painted: dict[tuple[_Key, frozenset[str]], _Painted] = {}
        texts, comments, at = [], [], 0
        for key, read in parts:
            whole = key, labels
            part = painted.get(whole) or self._painted.get(whole) or _paint(key[0], read, labels)
            painted[whole] = part
            texts.append(part.text)
            comments += [(at + start, at + end) for start, end in part.comments]
            at += len(part.text)
        self._painted = painted
        return "".join(texts), tuple(comments)

    def _parts(self, text: str) -> list[tuple[_Key, _Read]]:
        cuts = [match.end() for match in _CUT.finditer(text)]
        parts: list[tuple[_Key, _Read]] = []
        known: dict[_Key, _Read] = {}
        start, begun, least = 0, Open(), _front_matter(text)
        while start < len(text):
            end = _next(cuts, max(start + 1, least), len(text))
            while True:
                key = text[start:end], begun, start == 0
                found = known.get(key) or self._blocks.get(key) or _read(*key)
                known[key] = found
                if found.beyond is None or end == len(text):
                    break
                pattern, behind = found.beyond
                closing = pattern.search(text, start + behind)
                end = _next(cuts, closing.end(), len(text)) if closing else len(text)
            parts.append((key, found))
            start, begun, least = end, found.open, 0
        self._blocks = known
        return parts


def _next(cuts: list[int], at: int, end: int) -> int:
    """Return the first of `cuts` at or behind a place, or the end."""
    i = bisect_left(cuts, at)
    return cuts[i] if i < len(cuts) else end


def _front_matter(text: str) -> int:
    """Return where the front matter of a text ends, 0 where it has none."""
    if not text.removeprefix("\ufeff").startswith(("---", "+++")):
        return 0
    reader = Blocks(text)
    reader.front_matter()
    return reader.resume


def _read(text: str, begun: Open, is_first: bool) -> _Read:
    reader = Blocks(text, begun)
    if is_first:
        reader.front_matter()
    reader.read()
    comments = tuple(reader.canvas.comments)
    return _Read(reader.canvas.text, comments, frozenset(reader.labels), reader.open, reader.beyond)


def _paint(text: str, read: _Read, labels: frozenset[str]) -> _Painted:
    canvas = Canvas(text)
    canvas.put(0, read.painted)
    canvas.comments += read.comments
    for start, end in units_of(read.painted):
        paint_inline(canvas, read.painted, start, end, labels=labels)
    canvas.finish()
    return _Painted(canvas.text, tuple(sorted(canvas.comments)))
