"""Files of code: what their comments and docstrings say is text, all else is not.

Pygments finds the comments (`lexing`), consecutive ones make a block of lines without their marks
(`blocks`); what in it is no prose is painted over (`prose`), and the rest is read as Markdown.
"""

from __future__ import annotations

import re

from disambig.text.markup.canvas import BLANK, BREAK, Canvas
from disambig.text.markup.code.blocks import Block, blocks_of
from disambig.text.markup.code.lexing import LANGUAGES, Comment, comments_of, without_long_lines
from disambig.text.markup.code.prose import painted

__all__ = ["SUFFIXES", "read_code"]
SUFFIXES = tuple(LANGUAGES)
_PRAGMA = re.compile(r"(?<=\s)(?:#|//)\s*disambig\s*:", re.IGNORECASE)
_MARGIN = "\u00a0"
"""What code becomes: a blank that no rule takes for the indentation of a block of code."""


def read_code(text: str, suffix: str) -> Canvas:
    """Return `text` with all that is no prose in its comments and docstrings painted over.

    Parameters
    ----------
    suffix : str
        Of the file's name, one of `SUFFIXES`.
    """
    canvas = Canvas(text)
    canvas.fill(0, len(text), _MARGIN)
    read = without_long_lines(text)
    found = comments_of(read, suffix)
    for block in blocks_of(read, found):
        _put(canvas, block)
    canvas.comments += [span for each in found if not each.docstring for span in _said(text, each)]
    return canvas


def _said(text: str, comment: Comment) -> list[tuple[int, int]]:
    """Return a comment; of one that ends in what is said to the checker, as pragmas stand, both parts."""
    inner = _PRAGMA.search(text, comment.start + 1, comment.end)
    if inner is None:
        return [(comment.start, comment.end)]
    return [(comment.start, inner.start()), (inner.start(), comment.end)]


def _put(canvas: Canvas, block: Block) -> None:
    """Write the prose of a block into its place; its sentences go on into no other."""
    whole, comments = painted(block)
    canvas.fill(block.start, block.start + 1, BREAK)
    at = 0
    for line in block.lines:
        length = line.end - line.start
        canvas.put(line.start, whole[at : at + length])
        canvas.comments += [
            (line.start + start - at, line.start + end - at)
            for start, end in comments
            if at <= start and end <= at + length
        ]
        at += length + 1
        if whole[at - 1 : at] == BREAK:
            canvas.end_sentence(line.end)
        elif whole[at - 1 : at] == BLANK:
            canvas.put(line.end, BLANK * (line.stop - line.end))
