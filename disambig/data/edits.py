"""The edit of a text that a flagged record describes, and texts with such edits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_LINE_ENDS = "\r\n"
_OPENING = re.compile("(?:[*_~\"'(\\[\u2018\u201c]|<[a-zA-Z][^<>]{0,200}>)*")
"""Marks, quotation marks and tags before a word."""


def surrounding_space(text: str, offset: int) -> tuple[int, int]:
    """Return the start and end of the white space around an offset."""
    start = end = offset
    while start > 0 and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    return start, end


def record_edit(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a flagged record as an edit: ``text[start:end]`` becomes ``replacement``.

    Records that replace or insert words are edits already. One that removes a word (its replacement is
    empty) also removes the blanks after it, or those before it if there are none after it or the line ends;
    a word alone on its line is removed with the line. If the word had a capital, the next word of the
    paragraph gets it, unless the word repeats the one before it ("I I am").

    Parameters
    ----------
    record : dict
        As returned by `Decisions.record`.
    text : str
        The document's original text.
    """
    start, end = record["start"], record["end"]
    if record["replacement"] or start == end:
        return record
    start, end = _with_blanks(text, start, end)
    kept, following = "", end
    while following < len(text) and text[following].isspace():
        following += 1
    opened = _OPENING.match(text, following)
    letter = opened.end() if opened else following
    # The next word gets the capital only within the paragraph; an empty line would begin another one.
    between = text[record["end"] : following]
    if (
        record["observed"][:1].isupper()
        and not _repeats(text, record["start"], record["observed"])
        and between
        and between.replace("\r\n", "\n").count("\n") < 2
        and text[letter : letter + 1].islower()
    ):
        kept, end = text[end:letter] + text[letter].upper(), letter + 1
    return {**record, "start": start, "end": end, "replacement": kept}


def _repeats(text: str, start: int, word: str) -> bool:
    """Return True if the same word stands before one, with only blanks between them."""
    end = start
    while end and text[end - 1].isspace():
        end -= 1
    first = end - len(word)
    return end < start and text[max(first, 0) : end] == word and not text[max(first - 1, 0) : first].isalnum()


def edited_text(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with edits (start, end, new text), which are in its order and do not overlap."""
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _with_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span that is removed together with a word."""
    first, last = _blanks_before(text, start), _blanks_after(text, end)
    begins = first == 0 or text[first - 1] in _LINE_ENDS
    ends = last == len(text) or text[last] in _LINE_ENDS
    if begins and ends:
        return _line(text, first, last)
    if ends or last == end:  # blanks at the end of a line stay: two of them are a line break in Markdown
        return (start if begins else first), end
    return start, last


def _line(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the span that is removed together with a line; blank lines before it stay."""
    after = _next_line(text, last)
    if after == last:  # the last line, without an end
        return _line_before(text, first), last
    before = _line_before(text, first)
    before = _blanks_before(text, before)
    if first == 0 or before == 0 or text[before - 1] in _LINE_ENDS:
        while (blank := _blanks_after(text, after)) < len(text) and text[blank] in _LINE_ENDS:
            after = _next_line(text, blank)
    return first, after


def _blanks_before(text: str, at: int) -> int:
    while at > 0 and text[at - 1].isspace() and text[at - 1] not in _LINE_ENDS:
        at -= 1
    return at


def _blanks_after(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace() and text[at] not in _LINE_ENDS:
        at += 1
    return at


def _next_line(text: str, at: int) -> int:
    """Return the start of the line after the line end at `at`; `at` if there is no line end."""
    if text.startswith("\r\n", at):
        return at + 2
    return at + 1 if text[at : at + 1] in ("\r", "\n") else at


def _line_before(text: str, at: int) -> int:
    """Return the position of the line end before `at`, which is the start of a line."""
    if text.endswith("\r\n", 0, at):
        return at - 2
    return max(at - 1, 0)
