r"""Read subtitles (SRT and WebVTT): only the words that are shown remain.

A sentence goes on over cues, unless the text of a cue ends like a sentence or the next one begins with a
dash or the name of a speaker (``ANN:``). Numbers, names and times of cues, tags (``<i>``, ``<v Ann>``,
``{\an8}``), sounds (``[music]``), and blocks of styles, regions and notes are left out. The running time is
linear in the length of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from disambig.markup.canvas import BLANK, BREAK, ENTITY, OPAQUE, Canvas, Span, iterate_lines

_TIME = r"(?:\d{1,4}:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,3})?"
_TIMES = re.compile(rf"[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}")
_BLOCK = re.compile(r"\ufeff?(?:WEBVTT|NOTE|STYLE|REGION)(?=\s|\Z)")
_MARK = re.compile(r"<[^<>\r\n]{0,200}>|\{[^{}\r\n]{0,200}\}|\[[^\[\]\r\n]{0,200}\]|[\u266a\u266b]+")
_SPEAKER = re.compile(r"[ \t]*(?:[-\u2013\u2014>]+[ \t]*(?:[A-Z][A-Z .'\d]{1,40}:)?|[A-Z][A-Z .'\d]{1,40}:)")
_SENTENCE_END = re.compile(r"[.!?\u2026:;][ \t\"'\u201d\u2019)*\u001f]*\Z")
_LAST = 40
"""Number of characters in which the end of a sentence is searched."""


def read_subtitles(text: str, suffix: str = ".srt") -> Canvas:
    """Paint over everything in subtitles but their words."""
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    last = -1  # end of the words of the last cue
    for cue in _cues(canvas):
        for number, (start, end) in enumerate(cue):
            _write_line(canvas, start, end)
            if number == 0 and last >= 0:
                is_end = _SENTENCE_END.search(canvas.painted(max(0, last - _LAST), last))
                canvas.put(last, BREAK if is_end else BLANK * (start - last))
            last = end
    canvas.finish()
    return canvas


def _cues(canvas: Canvas) -> Iterator[list[Span]]:
    """Yield the lines of words of each cue; record notes as comments."""
    text = canvas.original
    lines = [(start, end) for start, end, _ in iterate_lines(text)]
    is_times = [_TIMES.match(text, start, end) is not None for start, end in lines] + [False]
    number = 0
    while number < len(lines):
        first = number
        is_block = not is_times[number] and _BLOCK.match(text, *lines[number])
        while number < len(lines) and text[slice(*lines[number])].strip():
            number += 1
            if is_times[number]:
                break
        if is_block:
            if text.startswith("NOTE", lines[first][0]):
                canvas.comments.append((lines[first][0], lines[number - 1][1]))
        elif is_times[first]:
            # the line before the next times is the number of the next cue
            last = number - 1 if is_times[number] else number
            if first + 1 < last:
                yield lines[first + 1 : last]
        number = max(number, first + 1)


def _write_line(canvas: Canvas, start: int, end: int) -> None:
    """Write a line of words without its marks."""
    text = canvas.original
    canvas.put(start, text[start:end])
    for mark in _MARK.finditer(text, start, end):
        canvas.mark(*mark.span())
    for entity in ENTITY.finditer(text, start, end):
        meant = html.unescape(entity[0])
        if not canvas.shorten(*entity.span(), meant):
            canvas.fill(*entity.span(), BLANK if meant.isspace() else OPAQUE)
    if speaker := _SPEAKER.match(text, start, end):
        canvas.fill(*speaker.span())
        canvas.put(start, BREAK)
