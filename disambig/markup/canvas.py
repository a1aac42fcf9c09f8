"""A text in which spans are painted over, so that every offset stays the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

BLANK = " "
OPAQUE = "\ufffc"
BREAK = "\u2029"

Span = tuple[int, int]
_LINE_ENDS = "\r\n"
_LINES = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_UNITS = re.compile("(?:\r\n|\r(?!\n)|\n)[^\\S\r\n\u2029]*(?:\r\n|\r|\n)|\u2029")


class Canvas:
    """A text to paint on.

    Parameters
    ----------
    text : str
        The text as it stands in its file.

    Attributes
    ----------
    comments : list of (start, end)
        What the format calls comments, their marks included, for those who talk to us in them.
    """

    def __init__(self, text: str) -> None:
        self.original = text
        self.comments: list[Span] = []
        self._characters = list(text)
        self._cut_words: list[Span] = []

    @property
    def text(self) -> str:
        """The text as painted so far, of the same length."""
        return "".join(self._characters)

    def fill(self, start: int, end: int, character: str = BLANK) -> None:
        """Paint ``start:end`` over; line ends stay."""
        self._characters[start:end] = [
            old if old in _LINE_ENDS else character for old in self._characters[start:end]
        ]

    def put(self, start: int, replacement: str) -> None:
        """Write `replacement` over as many characters at `start`."""
        self._characters[start : start + len(replacement)] = replacement

    def end_sentence(self, end: int) -> None:
        """Let the line end at `end` end a sentence: the one case where a line end is painted over."""
        if end < len(self._characters):
            self._characters[end] = BREAK

    def comment(self, start: int, end: int, character: str = BLANK) -> None:
        """Paint a comment over and remember it."""
        self.fill(start, end, character)
        self.comments.append((start, end))

    def mark(self, start: int, end: int, character: str = BLANK) -> None:
        """Paint a mark over; where it stands inside a word, `finish` hides the whole word."""
        self.fill(start, end, character)
        text = self.original
        if start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum():
            self._cut_words.append((start, end))

    def hide_word(self, start: int, end: int) -> None:
        """Let `finish` hide ``start:end`` with all letters and digits that touch it."""
        self._cut_words.append((start, end))

    def finish(self) -> None:
        """Hide the words that marks cut, and take away lines that only markup made blank.

        A blank line ends a sentence; a line with nothing but a label or a comment does not.
        """
        text = self.original
        for start, end in self._cut_words:
            while start > 0 and text[start - 1].isalnum():
                start -= 1
            while end < len(text) and text[end].isalnum():
                end += 1
            self.fill(start, end, OPAQUE)
        for start, end, stop in iterate_lines(text):
            if start < end and not text[start:end].isspace():
                painted = "".join(self._characters[start:end])
                if painted.isspace() and BREAK not in painted:
                    self._characters[end:stop] = BLANK * (stop - end)


def iterate_lines(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and the end with the line end of each line."""
    for match in _LINES.finditer(text):
        stop = match.end()
        end = stop
        while end > match.start() and text[end - 1] in _LINE_ENDS:
            end -= 1
        yield match.start(), end, stop


def iterate_units(text: str) -> Iterator[Span]:
    """Yield the parts of a painted text that blank lines and `BREAK` leave between them."""
    start = 0
    for match in _UNITS.finditer(text):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)
