"""Find text in YAML and TOML: comments, and the values of fields that are prose.

Both formats are read line by line and in linear time. What is not valid YAML or TOML gives other spans, but
never an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from disambig.markup.canvas import BREAK, Canvas, Span, iterate_lines, names

FRONT_MATTER_FIELDS = names(
    "title subtitle description summary abstract excerpt about tagline lead intro teaser"
)
"""Fields of front matter that readers of the page see as text."""
CAPTION_FIELDS = names(
    "fig-cap fig-alt fig-scap tbl-cap lst-cap code-summary fig.cap fig.alt fig.scap tbl.cap tab.cap"
)
"""Options of code cells that readers of the page see as text."""
_CELL_OPTIONS = re.compile(r"(?:(?:\r\n|\r|\n)[ \t]*(?:#|//|--|%%)\|[^\r\n]*)+")
_CELL_MARK = re.compile(r"^[ \t]*(?:#|//|--|%%)\|", re.MULTILINE)
_CAPTION_ENTRY = re.compile(
    r"^[ \t]+-[ \t]+(?P<mark>[\"'])(?P<value>[^\"'\s][^\"\s]*[ \t][^\"\r\n]*)(?P=mark)[ \t]*(?=[\r\n]|\Z)",
    re.MULTILINE,
)
"""A text in quotes in a list, which is a caption of a part of a figure."""
# A key of YAML, also in an entry of a list, with the colon after it: `- "key":`.
_KEY = re.compile(
    r"""[ \t]*(?:-[ \t]+)*(?P<key>"[^"\\\n]+"|'[^'\n]+'|[^\s\-#"'\[\]{},&*!|>%@`:][^\s:]*)[ \t]*:(?=\s|$)"""
)
_ENTRY = re.compile(r"[ \t]*-(?=[ \t])")
_BLOCK_SCALAR = re.compile(r"[ \t]*(?:[&!]\S*[ \t]+)*[|>][-+\d]{0,2}[ \t]*(?:#.*)?$")
# Strings are matched too, so that `#` in them begins no comment.
_COMMENT = re.compile(
    r"""(?<![^\s\[{,:])(?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*')|(?P<comment>(?<!\S)\#[^\r\n]*)"""
)
_PLAIN_END = re.compile(r"[ \t]+#.*|[ \t]+$")
_TOML_FIELD = re.compile(r"[ \t]*(?P<key>[\w-]+)[ \t]*=[ \t]*")
_TOML_VALUE = re.compile(r"\"\"\"|'''|\"((?:[^\"\\\r\n]|\\.)*)\"|'([^'\r\n]*)'")
_MARK_WIDTH = 3


def find_yaml_text(text: str, start: int, end: int, fields: Collection[str]) -> tuple[list[Span], list[Span]]:
    """Return the comments of the YAML in ``text[start:end]``, and the values of `fields` in it.

    Values are returned without quotes; a value over several lines is one span. ``*`` in `fields` stands for
    all fields.
    """
    comments: list[Span] = []
    values: list[Span] = []
    lines = [(start + a, start + b) for a, b, _ in iterate_lines(text[start:end])]
    number = 0
    while number < len(lines):
        at, stop = lines[number]
        number += 1
        key = _KEY.match(text, at, stop)
        wanted = key is not None and ("*" in fields or key["key"].strip("\"'").lower() in fields)
        after = key.end() if key else at
        if key is None and (entry := _ENTRY.match(text, at, stop)):
            after = entry.end()
        column = (key.start("key") if key else at + _width(text, at, stop)) - at
        # A value in the next lines: after ``|`` or ``>``, all lines that are indented further than the key.
        if after > at and _BLOCK_SCALAR.match(text, after, stop):
            following = _deeper_lines(text, lines, number, column)
            if wanted and following > number:
                values.append((lines[number][0], lines[following - 1][1]))
            number = following
            continue
        comments += [m.span("comment") for m in _COMMENT.finditer(text, at, stop) if m["comment"]]
        if not wanted:
            continue
        after += _width(text, after, stop)
        value = text[after : after + 1] if after < stop else ""
        if value in "\"'" and value:
            number = _quoted(text, value, after, lines, number, values)
        elif value and value not in "[{&*!|>%@`#":  # the special characters of YAML
            last = _plain_lines(text, lines, number, column)
            close = lines[last - 1][1]
            if last == number and (cut := _PLAIN_END.search(text, after, stop)):
                close = cut.start()
            values.append((after, close))
            number = last
    return comments, values


def _plain_lines(text: str, lines: list[Span], number: int, column: int) -> int:
    """Return the number of the first line that does not continue a value without quotes."""
    while number < len(lines) and not _KEY.match(text, *lines[number]):
        width = _width(text, *lines[number])
        if width <= column or lines[number][0] + width == lines[number][1]:
            break
        number += 1
    return number


def _width(text: str, at: int, end: int) -> int:
    width = 0
    while at + width < end and text[at + width] in " \t":
        width += 1
    return width


def _deeper_lines(text: str, lines: list[Span], number: int, column: int) -> int:
    """Return the number of the first line that is indented by `column` or less; blank lines do not count."""
    last = number
    while number < len(lines):
        at, stop = lines[number]
        width = _width(text, at, stop)
        number += 1
        if at + width < stop:
            if width <= column:
                break
            last = number
    return last


def _quoted(text: str, quote: str, at: int, lines: list[Span], number: int, values: list[Span]) -> int:
    """Add a quoted value that begins at `at`, and return the number of the line after it."""
    pattern = re.compile(r'\\.|"' if quote == '"' else "''|'", re.DOTALL)
    place, last = at + 1, number - 1
    while last < len(lines):
        stop = lines[last][1]
        for mark in pattern.finditer(text, place, stop):
            if mark[0] == quote:
                values.append((at + 1, mark.start()))
                return last + 1
        last += 1
        if last == len(lines) or not text[slice(*lines[last])].strip():
            break
        place = lines[last][0]
    return number


def find_toml_text(text: str, start: int, end: int, fields: Collection[str]) -> tuple[list[Span], list[Span]]:
    """Return the comments of the TOML in ``text[start:end]``, and the values of `fields` in it."""
    comments: list[Span] = []
    values: list[Span] = []
    resume = start
    for line_start, line_end, _ in iterate_lines(text[start:end]):
        at, stop = start + line_start, start + line_end
        if at < resume:
            continue
        key = _TOML_FIELD.match(text, at, stop)
        value = _TOML_VALUE.match(text, key.end(), stop) if key else None
        if value is not None and len(value[0]) == _MARK_WIDTH and value[1] is None and value[2] is None:
            close = text.find(value[0], value.end(), end)
            span = value.end(), close
            resume = close + _MARK_WIDTH if close >= 0 else end
        elif value is not None:
            span = value.start() + 1, value.end() - 1
        else:
            span = 0, -1
        if key and key["key"].lower() in fields and span[0] < span[1]:
            values.append(span)
        if resume <= at:
            comments += [m.span("comment") for m in _COMMENT.finditer(text, at, stop) if m["comment"]]
    return comments, values


def paint_front_matter(canvas: Canvas, start: int, end: int, *, is_toml: bool) -> None:
    """Paint over front matter except for the fields that are prose; each of them is a text of its own."""
    text = canvas.original
    find_text = find_toml_text if is_toml else find_yaml_text
    comments, values = find_text(text, start, end, FRONT_MATTER_FIELDS)
    canvas.fill(start, end)
    canvas.comments += comments
    _keep_values(canvas, text, values, end)


def paint_cell_options(canvas: Canvas, start: int) -> int:
    """Paint over the options at the beginning of a code cell, except for captions; return their end.

    Options are YAML in lines that begin with ``#|`` or another mark of comments.
    """
    options = _CELL_OPTIONS.match(canvas.original, start)
    if options is None:
        return start
    text = canvas.original[: options.end()]
    end = len(text)
    text = text[:start] + _CELL_MARK.sub(lambda mark: " " * len(mark[0]), text[start:])
    values = find_yaml_text(text, start, end, CAPTION_FIELDS)[1]
    values += [entry.span("value") for entry in _CAPTION_ENTRY.finditer(text, start, end)]
    values = [(at, stop) for at, stop in sorted(values) if not text.startswith("!", at)]
    canvas.fill(start, end)
    _keep_values(canvas, text, values, end)
    return end


def _keep_values(canvas: Canvas, text: str, values: Iterable[Span], end: int) -> None:
    """Write values that are prose to their places; each of them is a text of its own."""
    for at, stop in values:
        canvas.put(at, text[at:stop])
        canvas.fill(at - 1, at, BREAK)
        following = stop
        while following < end and text[following] in "\r\n":
            following += 1
        canvas.fill(following, following + 1, BREAK)
