"""Texts with markup annotated by the client, and offsets in UTF-16 code units."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from disambig.markup import read_markup

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Utf16Offsets:
    """Offsets of one text, converted from characters to UTF-16 code units."""

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [match.start() for match in _ASTRAL.finditer(text)]

    def count(self, offset: int) -> int:
        """Return the number of code units before the character at `offset`."""
        return offset + bisect_left(self._astral, offset)


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_LINE_COMMENT = re.compile(r"%+[^\S\n]*disambig\s*:[^\n]*")


class AnnotatedPiece(NamedTuple):
    """A piece of a text."""

    original: str  # the piece as the user wrote it
    # the text that a piece of markup stands for, often ""; None for a piece of text
    interpretation: str | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text with markup, and the same text without it."""

    plain: str  # the text that is checked, with markup replaced by its interpretation
    original: str  # the text as the user wrote it
    comments: tuple[tuple[int, int], ...]  # comments in `original`, which may be directives
    starts: tuple[int, ...]  # start of each run of text in `plain`, in ascending order
    # the runs of text: offsets into `plain`, and the number to add to them for offsets into `original`
    runs: tuple[tuple[int, int, int], ...]

    @classmethod
    def from_pieces(cls, pieces: Iterable[AnnotatedPiece]) -> AnnotatedText:
        """Join pieces to a text; adjacent pieces of text form one run."""
        plain: list[str] = []
        original: list[str] = []
        runs: list[tuple[int, int, int]] = []
        comments: list[tuple[int, int]] = []
        start = original_start = 0
        for piece in pieces:
            new = piece.original if piece.interpretation is None else piece.interpretation
            end, shift = start + len(new), original_start - start
            if piece.interpretation is not None:
                for match in _LINE_COMMENT.finditer(piece.original):
                    comments.append((original_start + match.start(), original_start + match.end()))
            elif runs and runs[-1][1:] == (start, shift):
                runs[-1] = (runs[-1][0], end, shift)
            elif new:
                runs.append((start, end, shift))
            plain.append(new)
            original.append(piece.original)
            start, original_start = end, original_start + len(piece.original)
        whole = "".join(original)
        comments += read_markup("text", whole).comments
        return cls("".join(plain), whole, tuple(sorted(comments)), tuple(run[0] for run in runs), tuple(runs))

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the offsets of ``plain[start:end]`` in `original`; None if it is not inside one run."""
        index = bisect_right(self.starts, start) - 1
        if index < 0 or end > self.runs[index][1]:
            return None
        shift = self.runs[index][2]
        return start + shift, end + shift


def plain_annotated(text: str) -> AnnotatedText:
    """Return a text without markup."""
    return AnnotatedText.from_pieces((AnnotatedPiece(text),))


def parse_annotation(annotation: Sequence[object]) -> list[AnnotatedPiece]:
    """Return the pieces of an annotation that a client sent.

    Raises `ValueError` if an item is not a valid piece; the message gives the reason.
    """
    pieces = []
    for number, entry in enumerate(annotation):
        if not isinstance(entry, dict):
            raise ValueError(f"annotation {number} is not an object")
        text, markup, interpretation = values = [entry.get(key) for key in ("text", "markup", "interpretAs")]
        if any(value is not None and not isinstance(value, str) for value in values):
            raise ValueError(f"text, markup or interpretAs of annotation {number} is not a string")
        if text is not None and markup is not None:
            raise ValueError(f"annotation {number} has both text and markup")
        if text is not None and interpretation is not None:
            raise ValueError(f"annotation {number} has text and interpretAs, which is only for markup")
        if text is None and markup is None:
            raise ValueError(f"annotation {number} has neither text nor markup")
        pieces.append(
            AnnotatedPiece(markup or "", interpretation or "") if text is None else AnnotatedPiece(text)
        )
    return pieces
