"""Comments as blocks of lines without their marks: consecutive line comments are one paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from disambig.text.markup.code.lexing import Comment

_LINES = re.compile("[^\r\n]*(?:\r\n|\r|\n|$)")
_LINE_MARK = re.compile("(?:#+[:!]?|//+[!]?<?)")
_OPENING = re.compile(r"/\*+!?<?|[rRuU]?(?:\"\"\"|'''|\"|')")
_CLOSING = re.compile(r"\*+/$|\"\"\"$|'''$|\"$|'$")
_GUTTER = re.compile(r"[ \t]*\*+(?![*/])")
_SPACE = re.compile("[ \t\f]*")
_BETWEEN = re.compile("[ \t\f]*(?:\r\n|\r|\n)[ \t\f]*")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a block.

    Attributes
    ----------
    start, end : int
        Offsets of what it says into the text of the file.
    stop : int
        The end with what is between it and the next line.
    indent : int
        Blanks before it, beyond those of the block.
    """

    start: int
    end: int
    stop: int
    indent: int


@dataclass(frozen=True, slots=True)
class Block:
    """One docstring, one comment, or several line comments below each other.

    Attributes
    ----------
    start : int
        Where its first mark stands.
    text : str
        What its lines say, with a line feed between them.
    lines : tuple of Line
    docstring : bool
    """

    start: int
    text: str
    lines: tuple[Line, ...]
    docstring: bool


def blocks_of(text: str, comments: Sequence[Comment]) -> Iterator[Block]:
    """Yield the blocks of some comments, in text order."""
    run: list[Comment] = []
    for comment in comments:
        if run and not _follows(text, run[-1], comment):
            yield _block(text, run)
            run = []
        run.append(comment)
    if run:
        yield _block(text, run)


def _follows(text: str, last: Comment, comment: Comment) -> bool:
    """Tell whether a line comment stands below another, with nothing but blanks between them."""
    return (
        _is_line(text, last)
        and _is_line(text, comment)
        and _BETWEEN.fullmatch(text, last.end, comment.start) is not None
        and _column(text, last.start) == _column(text, comment.start)
    )


def _is_line(text: str, comment: Comment) -> bool:
    return not comment.docstring and text.startswith(("#", "//"), comment.start)


def _column(text: str, at: int) -> int:
    return at - 1 - max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))


def _block(text: str, run: Sequence[Comment]) -> Block:
    rough = [line for comment in run for line in _lines(text, comment)]
    docstring = run[0].docstring
    margin = _margin(text, rough[1:] if docstring or len(run) == 1 else rough)
    lines = []
    for number, (start, end) in enumerate(rough):
        cut = len(margin) if text.startswith(margin, start, end) else 0
        space = _blanks(text, start + cut, end)
        first = number == 0 and len(run) == 1
        begin = start + cut + (space if docstring or first else 0)
        following = rough[number + 1][0] if number + 1 < len(rough) else end
        lines.append(Line(begin, end, _line_end(text, end, following), 0 if first else space))
    whole = "\n".join(text[line.start : line.end] for line in lines)
    return Block(run[0].start, whole, tuple(lines), docstring)


def _lines(text: str, comment: Comment) -> list[tuple[int, int]]:
    """Return what each line of a comment says, without marks and without blanks at its end."""
    found: list[tuple[int, int]] = []
    for match in _LINES.finditer(text, comment.start, comment.end):
        start, end = match.start(), match.start() + len(match[0].rstrip())
        if start < match.end() or not found:
            found.append((start, max(start, end)))
    if _is_line(text, comment):
        marks = [_LINE_MARK.match(text, start, end) for start, end in found]
        return [(mark.end() if mark else start, end) for mark, (start, end) in zip(marks, found, strict=True)]
    start, end = found[-1]
    if closing := _CLOSING.search(text[start:end]):
        found[-1] = start, start + len(text[start : start + closing.start()].rstrip())
    start, end = found[0]
    opening = _OPENING.match(text, start, comment.end)
    found[0] = (min(opening.end(), end) if opening else start), end
    inner = [(at, end) for at, end in found[1:] if text[at:end].strip()]
    if not comment.docstring and inner and all(_GUTTER.match(text, at, end + 2) for at, end in inner):
        found[1:] = [(_after(text, at, end), end) for at, end in found[1:]]
    return found


def _after(text: str, at: int, end: int) -> int:
    match = _GUTTER.match(text, at, end)
    return match.end() if match else end


def _margin(text: str, lines: Sequence[tuple[int, int]]) -> str:
    """Return the blanks that all lines begin with, but for those that are empty."""
    spaces = [text[at : at + _blanks(text, at, end)] for at, end in lines if text[at:end].strip()]
    first, last = min(spaces, default=""), max(spaces, default="")
    return first[: next((i for i, mark in enumerate(first) if mark != last[i : i + 1]), len(first))]


def _blanks(text: str, at: int, end: int) -> int:
    match = _SPACE.match(text, at, max(at, end))
    return match.end() - at if match else 0


def _line_end(text: str, end: int, following: int) -> int:
    """Return where the line end behind `end` stops."""
    match = _LINES.match(text, end, max(end, following))
    return match.end() if match else end
