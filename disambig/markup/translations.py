r"""Read files that contain Markdown in strings: Jupyter notebooks, and translation files (PO, POT).

Of a notebook, the text of its Markdown cells remains, and the comments in its code cells if its metadata name
a known language; cells that begin with a magic for another language are left out. The JSON is checked by the
parser of the standard library, which gives no positions, and then scanned for the strings of the cells. The
lines of a cell are joined and read as Markdown. An escape (``\n``, ``\"``, ``\u00e9``) counts as its
character, at the position of the escape; a word that contains one becomes `OPAQUE`, so that no correction
writes into an escape. Raw cells, outputs and metadata are left out.

Of a translation file, the strings and the comments for translators remain. The strings of ``msgid``,
``msgid_plural`` and ``msgstr`` are read as Markdown, each as a text of its own; the lines of a string are
joined. An escape (``\n``, ``\"``) counts as its character, and a word that contains one, or extends over two
lines, becomes `OPAQUE`. So do placeholders (``%s``, ``{name}``). The comments ``# `` and ``#.`` are text as
well. Contexts, references, flags, previous and obsolete strings and the header are left out, and so is every
``msgstr`` if the header names another language than English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from disambig.markup.canvas import (
    APOSTROPHES,
    BLANK,
    BREAK,
    OPAQUE,
    Canvas,
    ShortenedWord,
    Span,
    iterate_between,
    iterate_lines,
    iterate_units,
)
from disambig.markup.markdown import paint_inline, read_markdown

_TOKENS = re.compile(r'[{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+', re.DOTALL)
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.")
_TEXT_CELLS = ("markdown", "heading")
_CODE = "\u00a0"  # replacement for code, which must not look like a mark of emphasis
_OTHER_LANGUAGE = re.compile(r"\s*%%(?!time|timeit|capture|prun)")
"""A magic of IPython in the first line of a cell, most of which name another language."""


def read_notebook(text: str, suffix: str = ".ipynb") -> Canvas:
    """Paint over everything in a notebook but the prose of its cells.

    In a text that is not a notebook everything is painted over, and the canvas has a `problem`.
    """
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    canvas.problem, language = _notebook_language(text)
    if not canvas.problem:
        read_comments = _code_reader(language)
        for kind, strings in _cell_sources(text):
            cell = EscapedText(text, strings)
            if kind in _TEXT_CELLS:
                cell.write(canvas)
            elif kind == "code" and read_comments and not _OTHER_LANGUAGE.match(cell.content):
                cell.write(canvas, read_comments)
    return canvas


def _notebook_language(text: str) -> tuple[str, str]:
    """Return why a text is not a notebook, "" if it is one, and the language of its code, "" if unknown."""
    try:
        notebook = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as problem:
        return f"line {problem.lineno}, column {problem.colno}: {problem.msg}", ""
    except (RecursionError, ValueError) as problem:
        return str(problem), ""
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        return "it has no cells", ""
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        values = notebook.get("metadata")
        values = values.get(section) if isinstance(values, dict) else None
        language = values.get(key) if isinstance(values, dict) else None
        if isinstance(language, str):
            return "", language
    return "", ""


def _code_reader(language: str) -> Callable[[str], Canvas] | None:
    """Return the reader of comments of a language; None if it is unknown."""
    from disambig.markup.code import LANGUAGES, read_code  # these modules import this one
    from disambig.markup.reading import language_suffix

    suffix = language_suffix(language)
    return partial(read_code, suffix=suffix) if suffix in LANGUAGES else None


def _cell_sources(text: str) -> Iterator[tuple[str, list[Span]]]:
    """Yield the kind of each cell and its strings, as spans without the quotes."""
    # For each open object or array: whether it is an object, its key in its parent, and the last key in it.
    # A value inside an array has the key of the array.
    frames: list[tuple[bool, str]] = []
    key, is_key = "", False
    kind, sources = "", list[Span]()
    cell = -1  # depth of the current cell
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in "{[":
            in_array = bool(frames) and not frames[-1][0]
            frames.append((token == "{", frames[-1][1] if in_array else key))
            is_key = token == "{"
            if token == "{" and in_array and frames[-1][1] == "cells" and cell < 0:
                cell, kind, sources = len(frames), "", []
        elif token in "}]":
            if len(frames) == cell:
                if sources:
                    yield kind, sources
                cell = -1
            frames.pop()
            is_key = False
        elif token == ",":
            is_key = bool(frames) and frames[-1][0]
        elif token == ":":
            is_key = False
        elif token[0] == '"':
            if is_key:
                key = token[1:-1]
            elif len(frames) == cell and key == "cell_type":
                kind = token[1:-1]
            elif (len(frames) == cell and key == "source") or (
                len(frames) == cell + 1 and not frames[-1][0] and frames[-1][1] == "source"
            ):
                sources.append((match.start() + 1, match.end() - 1))


class EscapedText:
    """A text in several strings with escapes, and the position of each of its characters in the file.

    `text`: the text of the file.
    `strings` (sequence of (start, end)): the strings without their quotes.
    `escape`: matches the escapes; by default, those of JSON.
    `unescape`: returns the one character for which an escape stands.
    """

    def __init__(
        self,
        text: str,
        strings: Sequence[Span],
        escape: re.Pattern[str] = _ESCAPE,
        unescape: Callable[[str], str] | None = None,
    ) -> None:
        unescape = unescape or unescape_json
        self.text = text
        self.starts: list[int] = []
        self.ends: list[int] = []
        parts: list[str] = []
        for start, end in strings:
            at = start
            for match in [*escape.finditer(text, start, end), None]:
                first, last = match.span() if match else (end, end)
                parts.append(text[at:first])
                self.starts += range(at, first)
                self.ends += range(at + 1, first + 1)
                if match:
                    parts.append(unescape(match[0]))
                    self.starts.append(first)
                    self.ends.append(last)
                at = last
        self.content = "".join(parts)

    def write(self, canvas: Canvas, read: Callable[[str], Canvas] = read_markdown) -> None:
        """Write the prose of the text to its position; its sentences end with it.

        `read`: paints over what is not prose.
        """
        if not self.content:
            return
        inner = read(self.content)
        painted = list(inner.text)
        for start, end in iterate_between(0, len(painted), iterate_units(inner.text)):  # paragraph ends
            painted[start:end] = BREAK * (end - start)
        apostrophes = self._hide_escapes(painted)
        for i, character in enumerate(painted):
            start, end = self.starts[i], self.ends[i]
            if character in "\r\n":
                following = self.starts[i + 1] if i + 1 < len(painted) else end
                is_line = "\n" in self.text[end:following]  # the file has a line end here as well
                character = BLANK if is_line else " "
            if character in (OPAQUE, _CODE):
                canvas.fill(start, end, character)
            else:
                canvas.put(start, character)
        for at, last in apostrophes:
            start, after, end = self.starts[at], self.ends[at], self.ends[last - 1]
            blanks = after - start - 1
            canvas.put(start, "".join(painted[at:last]) + BLANK * blanks)
            canvas.shortened.append(ShortenedWord(start, end - blanks, end))
        for at in (self.starts[0] - 1, self.ends[-1]):
            if 0 <= at < len(self.text):
                canvas.put(at, BREAK)
        canvas.shortened += [
            ShortenedWord(self.starts[word.start], self.ends[word.painted_end - 1], self.ends[word.end - 1])
            for word in inner.shortened
            if painted[word.start] != OPAQUE
        ]
        canvas.comments += [(self.starts[start], self.ends[end - 1]) for start, end in inner.comments]

    def _hide_escapes(self, painted: list[str]) -> list[Span]:
        """Hide each word that contains an escape, or is in two strings.

        Returns the positions of escaped apostrophes in words that have no other escape, and the ends of these
        words.
        """
        apostrophes: list[Span] = []
        i = 0
        while i < len(painted):
            is_split = i > 0 and self.ends[i - 1] < self.starts[i] and _in_word(painted, i - 1)
            is_whole = self.ends[i] - self.starts[i] == 1 and not is_split
            if is_whole or not _in_word(painted, i):
                i += 1
                continue
            first = i
            while first > 0 and _in_word(painted, first - 1):
                first -= 1
            while i < len(painted) and _in_word(painted, i):
                i += 1
            escaped = [n for n in range(first, i) if self.ends[n] - self.starts[n] > 1]
            is_joined = all(self.ends[n] == self.starts[n + 1] for n in range(first, i - 1))
            if (
                len(escaped) == 1
                and is_joined
                and painted[escaped[0]] == self.content[escaped[0]] in APOSTROPHES
            ):
                apostrophes.append((escaped[0], i))
            else:
                painted[first:i] = OPAQUE * (i - first)
        return apostrophes


def _in_word(painted: Sequence[str], i: int) -> bool:
    """Return True for a letter or digit, and for a mark between two of them."""
    if painted[i].isalnum():
        return True
    return (
        painted[i] not in (BLANK, BREAK, OPAQUE)
        and not painted[i].isspace()
        and 0 < i < len(painted) - 1
        and painted[i - 1].isalnum()
        and painted[i + 1].isalnum()
    )


def unescape_json(escape: str) -> str:
    """Return the character of an escape in JSON; `OPAQUE` for an invalid one."""
    try:
        character = str(json.loads(f'"{escape}"'))
    except json.JSONDecodeError:
        return OPAQUE
    return OPAQUE if "\ud800" <= character <= "\udfff" else character


# A line of a PO file: a keyword and a string, or a string that continues the one before.
_STRING = re.compile(
    r'[ \t]*(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[\d{1,3}\])?[ \t]*)?"((?:[^"\\]|\\.)*)"[ \t]*'
)
_COMMENT = re.compile(r"#(?:\.|(?=[ \t]))[ \t]*")
_DIRECTIVE = re.compile(r"disambig[ \t]*:", re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:^|\\n)Language:[ \t]*([A-Za-z]{2,3})(?![A-Za-z])")
_PLACEHOLDER = re.compile(
    r"%#@\w{1,60}@|%(?:\([\w. -]{1,60}\)|\d{1,2}\$)?[-+#0']?\d{0,4}(?:\.\d{1,4})?(?:hh?|ll?|[jztLq])?"
    r"[diouxXeEfFgGaAcspn%@]"
    r"|%\d{1,2}|\{\{[^{}\n]{0,80}\}\}|[$%]?\{[^{}\n]{0,80}\}|\$t\([^()\n]{0,80}\)|\$[A-Za-z_]\w+\$?"
    r"|<(?P<tag>xliff:g|ph)\b[^<>]*(?:/>|>[^<>]*</(?P=tag)>)|<(?:bpt|ept|it)\b[^<>]*(?:/>|>[^<>]*</(?:bpt|ept|it)>)"
    r"|<(?:x|bx|ex|sc|ec|sm|em)\b[^<>]*/>"
)
"""What stands for words that the program inserts: ``%1$s``, ``{name}``, ``%{name}``, elements of XLIFF."""
_OWN_TAG = re.compile(
    r"</?(?!(?:br|p|div|[uo]l|li|h\d|hr|pre|code|kbd|table|t[rdh])\b)([A-Za-z\d][\w:.-]*)(?:\s[^<>]*)?/?>"
)
"""A tag within a sentence, also one that only the program knows: ``<link>``, ``<0>``."""
_CLOSED_TAG = re.compile(r"</([A-Za-z\d][\w:.-]*)")
_CHOICE = re.compile(r"\{\s{0,9}[\w.-]{1,80}\s{0,9},\s{0,9}(?:plural|select|selectordinal)\s{0,9},")
_LONE_WORD = re.compile(r"\s{0,9}([^\W\d_]{1,40})[\s.!?]{0,9}(?=[{}]|\Z)")
"""The only word after a choice, which has no context."""
_CHOICE_MARK = re.compile(rf"{_CHOICE.pattern}|[{{}}]|(?<!\w)#(?!\w)")
_ACCELERATOR = re.compile(r"(?<!\w)([^\W_]*)(?:_|&(?!#?\w{1,31};))(?=[^\W_])\w*")
"""A word with a mark before the letter that selects a menu item: ``_Open``, ``Save &as``, ``Sa_ve``."""


@dataclass(slots=True)
class _Entry:
    """The strings of an entry by their keyword, each a list of lines, and the lines of its comments."""

    strings: list[tuple[str, list[Span]]] = field(default_factory=list)
    comments: list[tuple[str, Span]] = field(default_factory=list)

    def lines(self, keyword: str) -> list[Span]:
        """Return the lines of the first string with a keyword."""
        return next((lines for name, lines in self.strings if name == keyword), [])


def read_po(text: str, suffix: str = ".po") -> Canvas:
    """Paint over everything in a translation file but its strings and comments."""
    canvas = Canvas(text)
    canvas.fill(0, len(text))
    language = "en"
    for entry in _entries(text):
        canvas.comments += [(text.rfind("#", 0, start), end) for _, (start, end) in entry.comments]
        source, context = entry.lines("msgid"), entry.lines("msgctxt")
        if not source:  # an obsolete entry
            continue
        if not context and all(start == end for start, end in source):
            header = "".join(text[start:end] for start, end in entry.lines("msgstr"))
            language = match[1].lower() if (match := _LANGUAGE.search(header)) else language
            continue
        _write_comments(canvas, entry)
        for keyword, lines in entry.strings:
            if keyword != "msgctxt" and (keyword != "msgstr" or language in ("en", "eng")):
                EscapedText(text, lines).write(canvas, read_message)
    canvas.finish()
    return canvas


def _entries(text: str) -> Iterator[_Entry]:
    """Yield the entries; one begins with its comments, its context or its ``msgid``."""
    entry = _Entry()
    is_open = False  # whether the line before belongs to a string
    for start, end, _ in iterate_lines(text):
        match = _STRING.fullmatch(text, start, end)
        is_comment = text.startswith("#", start)
        if is_comment or (match and match[1] in ("msgctxt", "msgid")):
            keywords = {keyword for keyword, _ in entry.strings}
            if (is_comment and keywords) or "msgstr" in keywords or (match and match[1] in keywords):
                yield entry
                entry = _Entry()
        if match and match[1]:
            entry.strings.append((match[1], [match.span(2)]))
        elif match and is_open:
            entry.strings[-1][1].append(match.span(2))
        elif comment := _COMMENT.match(text, start, end):
            entry.comments.append((text[start : start + 2], (comment.end(), end)))
        is_open = match is not None and bool(match[1] or is_open)
    yield entry


def _write_comments(canvas: Canvas, entry: _Entry) -> None:
    """Write the comments of an entry; adjacent lines of one kind are one text."""
    text, last = canvas.original, ""
    for kind, (start, end) in entry.comments:
        if _DIRECTIVE.match(text, start, end):
            continue
        canvas.put(start, text[start:end])
        paint_inline(canvas, text, start, end, labels=())
        for match in _PLACEHOLDER.finditer(text, start, end):
            canvas.fill(*match.span(), OPAQUE)
        if kind != last:
            mark = text.rfind("#", 0, start)
            canvas.fill(mark, mark + 1, BREAK)
        last = kind


def read_message(content: str) -> Canvas:
    """Return the text of a string of a program without placeholders, marks of access keys and markup."""
    characters = list(content)
    if _CHOICE.search(content):
        _separate_choices(characters, content)
    for match in _PLACEHOLDER.finditer("".join(characters)):
        characters[match.start() : match.end()] = OPAQUE * len(match[0])
    closed = set(_CLOSED_TAG.findall(content))
    for match in _OWN_TAG.finditer("".join(characters)) if "<" in content else ():
        character = BLANK if match[1] in closed and not match[0].endswith("/>") else OPAQUE
        characters[match.start() : match.end()] = character * len(match[0])
    for match in _ACCELERATOR.finditer("".join(characters)):
        if match[1]:  # a mark inside a word: without it the offsets of the letters would change
            characters[match.start() : match.end()] = OPAQUE * len(match[0])
        else:
            characters[match.start()] = BLANK
    return read_markdown("".join(characters))


def _separate_choices(characters: list[str], content: str) -> None:
    """Separate the texts of choices by number or gender, ``{n, plural, one {...} other {...}}`` (ICU).

    Each text ends its sentences; in the sentence around it, `OPAQUE` stands for the choice. A text of a
    single word, and a lone word after the choice, have no context and are hidden.
    """
    opened: list[str] = []  # "choice", "text" in it, or "" for a placeholder
    syntax = 0  # where the syntax of the current choice begins
    begin = 0  # where the last text begins
    for mark in _CHOICE_MARK.finditer(content):
        start, end = mark.span()
        innermost = opened[-1] if opened else "text"
        if mark[0] == "#":  # the number, in a text of a plural
            if opened and innermost == "text":
                characters[start] = OPAQUE
        elif mark[0] == "}":
            closed = opened.pop() if opened else ""
            if closed == "choice":
                # the sentence around the choice goes on: `OPAQUE` stands for the choice in it
                characters[syntax:end] = [*BREAK * (end - syntax - 1), OPAQUE]
                if lone := _LONE_WORD.match(content, end):
                    characters[slice(*lone.span(1))] = OPAQUE * len(lone[1])
            elif closed == "text":
                syntax = start
                if content[begin:start].strip().isalpha():
                    characters[begin:start] = OPAQUE * (start - begin)
        elif innermost == "choice":
            before = OPAQUE if characters[syntax] == OPAQUE else BREAK  # what ends the sentence around it
            characters[syntax:end] = [before, *BREAK * (end - syntax - 1)]
            opened.append("text")
            begin = end
        elif len(mark[0]) > 1 and innermost == "text":
            characters[start] = OPAQUE
            syntax = start
            opened.append("choice")
        else:  # a placeholder such as ``{name}``
            opened.append("")
