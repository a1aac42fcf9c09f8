"""What in a block of comment is no prose, and is painted over; what is left is read as Markdown."""

from __future__ import annotations

import re

from disambig.text.markup.canvas import BLANK, BREAK, OPAQUE, Canvas
from disambig.text.markup.code import marks
from disambig.text.markup.code.blocks import Block
from disambig.text.markup.code.commented_out import paint_code
from disambig.text.markup.code.docstrings import paint_docstring
from disambig.text.markup.markdown import read_markdown

Span = tuple[int, int]
_SESSION = re.compile(r"^[ \t]*(?:>>>|In \[\d*\]:)[^\n]*(?:\n[ \t]*\S[^\n]*)*|^[ \t]*\$ [^\n]*", re.MULTILINE)
"""A doctest with what comes out; a line of a shell."""

_SOME_WORD = "x"


def painted(block: Block) -> tuple[str, list[Span]]:
    """Return what a block says with all that is no prose painted over, and the comments within it.

    Both are by offsets into ``block.text``, and the text has its length.
    """
    if marks.LICENCE.search(block.text):
        return "".join(each if each == "\n" else BLANK for each in block.text), []
    canvas = Canvas(block.text)
    labels: list[Span] = []
    _paint(canvas, marks.PRAGMA, BREAK)
    _paint(canvas, _SESSION, BREAK)
    if block.docstring:
        labels += paint_docstring(canvas, canvas.text, block.lines)
    else:
        for match in marks.ANEW.finditer(canvas.text):
            canvas.end_sentence(match.start(1))
    paint_code(canvas, canvas.text)
    _paint(canvas, marks.LINK, OPAQUE)
    labels += [m.span() for mark in (marks.TAG, marks.FIELD, marks.NOTE) for m in mark.finditer(canvas.text)]
    for start, end in labels:
        canvas.fill(start, end, _SOME_WORD)  # for Markdown the line begins there
    found = read_markdown(canvas.text)
    for start, end in labels:
        found.fill(start, end)
        found.fill(start, start + 1, BREAK)
    for mark in (marks.CALL, marks.FORMULA, marks.CAPITALS, marks.KEYWORD, marks.TYPE):
        _paint(found, mark, OPAQUE)
    for chunk in marks.CHUNK.finditer(found.text):
        if len(chunk[0]) > marks.LONGEST or marks.NAME.search(chunk[0]):
            found.fill(*chunk.span(), OPAQUE)
    for match in marks.FIRST.finditer(found.text):
        found.fill(*match.span("word"), OPAQUE)
    if any(match[0] != "a" for match in marks.LETTER.finditer(found.text)):
        _paint(found, marks.LETTER, OPAQUE)
    return found.text, found.comments


def _paint(canvas: Canvas, mark: re.Pattern[str], character: str) -> None:
    """Paint over what a pattern finds; of `BREAK` there is one, at the start."""
    for match in mark.finditer(canvas.text):
        if character == BREAK:
            canvas.fill(match.start(), match.end())
            canvas.fill(match.start(), match.start() + 1, BREAK)
        else:
            canvas.fill(match.start(), match.end(), character)
