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
    """Offsets of one text, converted from characters to UTF-16 code units.

    Parameters
    ----------
    text : str
    """

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
    """A piece of a text.

    Attributes
    ----------
    shown : str
        The piece as the user sees it.
    read : str or None
        Text that stands for a piece of markup, often ""; None for a piece of text.
    """

    shown: str
    read: str | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text in two versions: as it is checked, and as the user sees it.

    Attributes
    ----------
    read : str
        The text that is checked, with markup replaced by its meaning.
    shown : str
        The text as the user sees it, with markup.
    comments : tuple of (start, end)
        Comments in `shown` that may hold directives for the checker.
    starts : tuple of int
        Start of each run of text in `read`, in ascending order.
    runs : tuple of (start, end, by)
        The runs of text: offsets into `read`, and what to add to them for offsets into `shown`.
    """

    read: str
    shown: str
    comments: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    runs: tuple[tuple[int, int, int], ...]

    @classmethod
    def from_pieces(cls, pieces: Iterable[AnnotatedPiece]) -> AnnotatedText:
        """Join pieces to a text; adjacent pieces of text form one run."""
        read: list[str] = []
        shown: list[str] = []
        runs: list[tuple[int, int, int]] = []
        comments: list[tuple[int, int]] = []
        at = shown_at = 0
        for piece in pieces:
            taken = piece.shown if piece.read is None else piece.read
            if piece.read is not None:
                matches = _LINE_COMMENT.finditer(piece.shown)
                comments += [(shown_at + match.start(), shown_at + match.end()) for match in matches]
            elif runs and runs[-1][1:] == (at, shown_at - at):
                runs[-1] = (runs[-1][0], at + len(taken), shown_at - at)
            elif taken:
                runs.append((at, at + len(taken), shown_at - at))
            read.append(taken)
            shown.append(piece.shown)
            at, shown_at = at + len(taken), shown_at + len(piece.shown)
        whole = "".join(shown)
        comments += read_markup("text", whole).comments
        return cls("".join(read), whole, tuple(sorted(comments)), tuple(run[0] for run in runs), tuple(runs))

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the offsets of ``read[start:end]`` in `shown`; None if it is not inside one run of text."""
        index = bisect_right(self.starts, start) - 1
        if index < 0 or end > self.runs[index][1]:
            return None
        by = self.runs[index][2]
        return start + by, end + by


def plain_annotated(text: str) -> AnnotatedText:
    """Return a text without markup."""
    return AnnotatedText.from_pieces((AnnotatedPiece(text),))


def parse_annotation(annotation: Sequence[object]) -> list[AnnotatedPiece]:
    """Return the pieces of an annotation that a client sent.

    Raises
    ------
    ValueError
        If an item is not a valid piece; the message gives the reason.
    """
    pieces = []
    for number, entry in enumerate(annotation):
        if not isinstance(entry, dict):
            raise ValueError(f"annotation {number} is not an object")
        text, markup, meant = (entry.get(key) for key in ("text", "markup", "interpretAs"))
        if any(value is not None and not isinstance(value, str) for value in (text, markup, meant)):
            raise ValueError(f"text, markup or interpretAs of annotation {number} is not a string")
        if text is not None and markup is not None:
            raise ValueError(f"annotation {number} has both text and markup")
        if text is not None and meant is not None:
            raise ValueError(f"annotation {number} has text and interpretAs, which is only for markup")
        if text is None and markup is None:
            raise ValueError(f"annotation {number} has neither text nor markup")
        pieces.append(AnnotatedPiece(text) if text is not None else AnnotatedPiece(markup or "", meant or ""))
    return pieces
