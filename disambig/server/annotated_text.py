"""Texts whose markup the client marked, and offsets in UTF-16 code units."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from disambig.markup import read_markup

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Utf16Offsets:
    """Offsets of one text.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self._astral = [] if text.isascii() else [match.start() for match in _ASTRAL.finditer(text)]

    def count(self, offset: int) -> int:
        """Return how many code units are before the character at `offset`."""
        return offset + bisect_left(self._astral, offset)


def utf16_length(text: str) -> int:
    """Return the length of a text in code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_LINE_COMMENT = re.compile(r"%+[^\S\n]*disambig\s*:[^\n]*")


class AnnotatedPiece(NamedTuple):
    """A piece of a text.

    Attributes
    ----------
    shown : str
        As the user has it.
    read : str or None
        What markup is read as, often ""; None for text.
    """

    shown: str
    read: str | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text as it is read and as the user has it.

    Attributes
    ----------
    read, shown : str
    comments : tuple of (start, end)
        Comments in `shown` that may be meant for the checker.
    starts : tuple of int
        Where each run of text begins in `read`, rising.
    runs : tuple of (start, end, by)
        Those runs: offsets into `read`, and what is added for those into `shown`.
    """

    read: str
    shown: str
    comments: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    runs: tuple[tuple[int, int, int], ...]

    @classmethod
    def from_pieces(cls, pieces: Iterable[AnnotatedPiece]) -> AnnotatedText:
        """Return the text of some pieces; text that follows text is one run."""
        read: list[str] = []
        shown: list[str] = []
        runs: list[tuple[int, int, int]] = []
        comments: list[tuple[int, int]] = []
        at = there = 0
        for piece in pieces:
            taken = piece.shown if piece.read is None else piece.read
            if piece.read is not None:
                found = _LINE_COMMENT.finditer(piece.shown)
                comments += [(there + match.start(), there + match.end()) for match in found]
            elif runs and runs[-1][1:] == (at, there - at):
                runs[-1] = (runs[-1][0], at + len(taken), there - at)
            elif taken:
                runs.append((at, at + len(taken), there - at))
            read.append(taken)
            shown.append(piece.shown)
            at, there = at + len(taken), there + len(piece.shown)
        whole = "".join(shown)
        comments += read_markup("text", whole).comments
        return cls("".join(read), whole, tuple(sorted(comments)), tuple(run[0] for run in runs), tuple(runs))

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where ``read[start:end]`` stands in `shown`; None where that is not text alone."""
        index = bisect_right(self.starts, start) - 1
        if index < 0 or end > self.runs[index][1]:
            return None
        by = self.runs[index][2]
        return start + by, end + by


def plain_annotated(text: str) -> AnnotatedText:
    """Return a text without markup."""
    return AnnotatedText.from_pieces((AnnotatedPiece(text),))


def parse_annotation(annotation: Sequence[object]) -> list[AnnotatedPiece]:
    """Return the pieces that a client sent.

    Raises
    ------
    ValueError
        For what is no piece: the message says why.
    """
    found = []
    for number, each in enumerate(annotation):
        if not isinstance(each, dict):
            raise ValueError(f"annotation {number} is no object")
        text, markup, meant = (each.get(key) for key in ("text", "markup", "interpretAs"))
        if any(value is not None and not isinstance(value, str) for value in (text, markup, meant)):
            raise ValueError(f"text, markup or interpretAs of annotation {number} is no string")
        if text is not None and markup is not None:
            raise ValueError(f"annotation {number} has both text and markup")
        if text is not None and meant is not None:
            raise ValueError(f"annotation {number} has interpretAs, which goes with markup, and text")
        if text is None and markup is None:
            raise ValueError(f"annotation {number} has neither text nor markup")
        found.append(AnnotatedPiece(text) if text is not None else AnnotatedPiece(markup or "", meant or ""))
    return found
