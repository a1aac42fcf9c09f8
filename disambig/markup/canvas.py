"""A text whose spans can be painted over without changing any offset; cells of tables and titles.

A painted span becomes `BLANK` (invisible to what stands on both sides of it), `OPAQUE` (a word that is in no
count table, so that no n-gram crosses it) or `BREAK` (the end of a sentence).

In some formats the characters of a line must stand in fixed columns: the cells of a grid table end at a bar,
and the line under a title must be as long as the title. A correction that changes the length of such a text
takes blanks from the cell or adds them, and changes the length of the line. If a cell has too few blanks, the
correction cannot be made, nor can one that writes an apostrophe into a value between apostrophes.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from disambig.text import HIDDEN, OPAQUE as OPAQUE

BLANK = HIDDEN
BREAK = "\u2029"

Span = tuple[int, int]
ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""A character reference of HTML."""


def names(text: str) -> frozenset[str]:
    """Return the names in a text between blanks."""
    return frozenset(text.split())


_LINE_ENDS = "\r\n"
APOSTROPHES = ("'", "\u2019")
_SENTENCE_ENDS = ".!?:;"
_LINES = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_UNITS = re.compile("(?:\r\n|\r(?!\n)|\n)[^\\S\r\n\u2029]*(?:\r\n|\r|\n)|\u2029")


@dataclass(frozen=True, slots=True)
class ShortenedWord:
    """A word that contains a reference to an apostrophe, such as ``it&#39;s``.

    In the painted text, the apostrophe is at the start of the reference, the letters after it have moved up
    to it, and blanks fill the rest.
    """

    start: int  # start of the reference
    painted_end: int  # end of the word in the painted text
    end: int  # end of the word in the file

    def moved(self, by: int) -> ShortenedWord:
        """Return the word with all its offsets increased by `by`."""
        return ShortenedWord(self.start + by, self.painted_end + by, self.end + by)

    @property
    def reference(self) -> tuple[int, int]:
        """The span of the reference in the file."""
        return self.start, self.start + 1 + self.end - self.painted_end


class Canvas:
    """A text on which readers of markup paint.

    `text`: the text as it is in its file.
    Attribute `comments` (list of (start, end)): offsets of the format's comments, including their marks; they
    can contain instructions to disambig.
    Attribute `apostrophes` (list of (start, end, str)): spans, and how an apostrophe is written in them.
    Attribute `problem`: why the text is not in its format and was not read; empty if it was read.
    Attribute `shortened`: the words in which letters have moved; complete after `finish`.
    """

    def __init__(self, text: str) -> None:
        self.original = text
        self.comments: list[Span] = []
        self.apostrophes: list[tuple[int, int, str]] = []
        self.problem = ""
        self._characters = list(text)
        self._cut_words: list[Span] = []
        self._references: list[tuple[int, int, str]] = []
        self.shortened: list[ShortenedWord] = []

    @property
    def text(self) -> str:
        """The text as painted so far; its length never changes."""
        return "".join(self._characters)

    def painted(self, start: int, end: int) -> str:
        """Return a part of the text as painted so far."""
        return "".join(self._characters[start:end])

    def hide_single_word(self, start: int, end: int, *, is_painted: bool = False) -> None:
        """Hide the text of a table cell if it is one word, which has no context.

        `is_painted`: whether what was painted over does not count as text of the cell.
        """
        cell = self.painted(start, end) if is_painted else self.original[start:end]
        words = cell.split(maxsplit=1)  # `BLANK` and `BREAK` are white space for `str.split`
        if len(words) == 1 and words[0].isalpha():
            at = start + cell.index(words[0])
            self.fill(at, at + len(words[0]), OPAQUE)

    def fill(self, start: int, end: int, character: str = BLANK) -> None:
        """Paint over ``start:end``; line ends are kept."""
        self._characters[start:end] = [
            old if old in _LINE_ENDS else character for old in self._characters[start:end]
        ]

    def leave_out(self, start: int, end: int) -> None:
        """Paint over a span between sentences: one sentence ends there and another begins."""
        self.fill(start, end)
        self.fill(start, min(start + 1, end), BREAK)

    def put(self, start: int, replacement: str) -> None:
        """Overwrite the characters at `start` with `replacement`."""
        self._characters[start : start + len(replacement)] = replacement

    def keep(self, start: int, end: int, text: str) -> None:
        """Restore ``text[start:end]``, which was painted over, as a sentence of its own; not a blank one."""
        if text[start:end].strip():
            self.put(start, text[start:end])
            self.fill(start - 1, start, BREAK)
            self.fill(end, end + 1, BREAK)

    def end_sentence(self, end: int) -> None:
        """End a sentence at the line end `end`; line ends are painted over only here and in `finish`."""
        if end < len(self._characters):
            self._characters[end] = BREAK

    def comment(self, start: int, end: int, character: str = BLANK) -> None:
        """Paint over a comment and record its offsets."""
        self.fill(start, end, character)
        self.comments.append((start, end))

    def mark(self, start: int, end: int, character: str = BLANK) -> None:
        """Paint over a mark; if it is inside a word, `finish` hides the whole word."""
        self.fill(start, end, character)
        text = self.original
        if start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum():
            self._cut_words.append((start, end))

    def hide_word(self, start: int, end: int) -> None:
        """Make `finish` hide ``start:end`` together with all adjacent letters and digits."""
        self._cut_words.append((start, end))

    def shorten(self, start: int, end: int, apostrophe: str) -> bool:
        """Replace a reference to an apostrophe between two letters when the canvas is finished.

        Returns False elsewhere, and if the character is not an apostrophe.
        """
        text = self.original
        if apostrophe not in APOSTROPHES or not 0 < start < end < len(text):
            return False
        if not (text[start - 1].isalpha() and text[end].isalpha()):
            return False
        self.fill(start, end, OPAQUE)
        self._references.append((start, end, apostrophe))
        return True

    def _shorten_words(self) -> None:
        """Move the letters after references; hide a word that has two, or is painted over in part."""
        text = self.original
        starts = {start for start, _, _ in self._references}
        ends = {end for _, end, _ in self._references}
        for start, end, apostrophe in self._references:
            first, last = word_around(text, start, end)
            before, letters = list(text[first:start]), list(text[end:last])
            unpainted = self._characters[first:start] == before and self._characters[end:last] == letters
            if unpainted and first not in ends and last not in starts:
                blanks = end - start - 1
                self._characters[start:last] = [apostrophe, *letters, *BLANK * blanks]
                self.shortened.append(ShortenedWord(start, last - blanks, last))
            else:
                self.fill(first, last, OPAQUE)

    def finish(self) -> None:
        """Hide the words that marks cut, and remove lines that are blank only because of markup.

        A blank line ends a sentence, but a line that contained only a label or a comment must not.
        """
        text = self.original
        for start, end in self._cut_words:
            self.fill(*word_around(text, start, end), OPAQUE)
        self._shorten_words()
        for start, end, stop in iterate_lines(text):
            if start < end and not text[start:end].isspace():
                painted = "".join(self._characters[start:end])
                if painted.isspace() and BREAK not in painted:
                    self._characters[end:stop] = BLANK * (stop - end)


def iterate_lines(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the start of each line, its end without the line end, and its end with the line end."""
    for match in _LINES.finditer(text):
        stop = match.end()
        end = stop
        while end > match.start() and text[end - 1] in _LINE_ENDS:
            end -= 1
        yield match.start(), end, stop


def word_around(text: str, start: int, end: int) -> Span:
    """Return ``start:end`` with all letters and digits directly before and after it."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end


def match_end(pattern: re.Pattern[str], text: str, at: int, end: int = sys.maxsize) -> int:
    """Return the end of a match at a position; the position if there is none."""
    match = pattern.match(text, at, end)
    return match.end() if match else at


def search(text: str, pattern: str, at: int, failed: set[str]) -> re.Match[str] | None:
    """Return the first match of a pattern from a position on; `failed` gets the patterns that have none.

    A reader goes through its text from left to right, so what was not found once is not there later. Without
    `failed`, a text with many opening marks but no closing one would be searched to its end for each of them.
    """
    match = re.compile(pattern).search(text, at) if pattern not in failed else None
    if match is None:
        failed.add(pattern)
    return match


def iterate_between(start: int, end: int, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts of ``start:end`` before, between and after spans in it; they may be empty."""
    for first, last in sorted(spans):
        yield start, first
        start = last
    yield start, end


def iterate_units(text: str) -> Iterator[Span]:
    """Yield the spans of a painted text between blank lines and `BREAK` characters."""
    for start, end in iterate_between(0, len(text), (match.span() for match in _UNITS.finditer(text))):
        if start < end:
            yield start, end


def brace_pairs(tokens: Iterable[re.Match[str]]) -> dict[int, int]:
    """Return the position of the closing brace for the position of each opening brace among `tokens`."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for token in tokens:
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}" and opened:
            pairs[opened.pop()] = token.start()
    return pairs


class InlineReader(ABC):
    """Reader of the inline markup of a paragraph, from left to right.

    Searches that failed are remembered, so that many opening marks without an end take linear time.

    `text`: the text in which the marks of blocks are painted over.
    `start` and `end`: the span of the paragraph in it.
    """

    marks: ClassVar[re.Pattern[str]]
    """Matches everything that may begin markup."""
    ends: ClassVar[Mapping[str, re.Pattern[str]]]
    """The pattern of the end of each mark that has one."""

    def __init__(self, canvas: Canvas, text: str, start: int, end: int) -> None:
        self.canvas, self.text, self.start, self.end = canvas, text, start, end
        self.failed: set[str] = set()
        self._last_ends: dict[str, re.Match[str]] = {}

    @classmethod
    def finish(cls, canvas: Canvas) -> Canvas:
        """Paint over the inline markup of all paragraphs and return the finished canvas."""
        for start, end in iterate_units(painted := canvas.text):
            cls(canvas, painted, start, end).paint()
        canvas.finish()
        return canvas

    def paint(self) -> None:
        """Paint over the marks."""
        at = self.start
        while match := self.marks.search(self.text, at, self.end):
            at = max(self.read_mark(match[0], match.start(), match.end()), match.start() + 1)

    def separate_footnote(self, at: int, start: int, end: int) -> None:
        """Separate the text of a footnote as a sentence, and paint over the markup around it.

        In the sentence with the footnote, `OPAQUE` stands for it, so that the words before and after it are
        not read as neighbours. After the end of a sentence, nothing does.

        `at`: where the markup of the footnote begins.
        `start` and `end`: the span of its text; a closing bracket follows.
        """
        canvas, text, after = self.canvas, self.text, end + 1
        canvas.fill(at, start - 1)
        canvas.put(start - 1, BREAK)
        canvas.put(end, BREAK)
        if at > self.start and text[at - 1] in _SENTENCE_ENDS:
            return
        canvas.put(at, OPAQUE)
        if after < self.end and text[after] in " \t":
            canvas.put(after, OPAQUE)

    @abstractmethod
    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""

    def find_end(self, mark: str, at: int) -> re.Match[str] | None:
        """Return the end of the markup whose opening mark ends at `at`; None if it does not end.

        At least one character is between them.
        """
        return self._search(mark, self.ends[mark], at + 1)

    def find(self, pattern: str, at: int) -> int:
        """Return the end of the first match of a pattern, in any case, from `at` on; -1 if there is none."""
        match = self._search(pattern, re.compile(pattern, re.IGNORECASE), at)
        return match.end() if match else -1

    def _search(self, key: str, pattern: re.Pattern[str], at: int) -> re.Match[str] | None:
        """Return the first match from `at` on; the last match and failures are remembered by `key`."""
        if key in self.failed:
            return None
        match = self._last_ends.get(key)
        if match is None or match.start() < at:
            match = pattern.search(self.text, at, self.end)
        if match is None:
            self.failed.add(key)
        else:
            self._last_ends[key] = match
        return match


Edit = tuple[int, int, str]
"""Start, end and new text."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """One line of a cell in a table of fixed columns."""

    # the text of the cell, without blanks around it
    start: int
    end: int
    # Up to where the text may extend. Blanks are between `end` and `stop`, or nothing at all if `is_last`
    stop: int
    is_last: bool = False  # whether nothing follows in the line, so that blanks are neither taken nor added


@dataclass(frozen=True, slots=True)
class Title:
    """A title with a line under it, and perhaps one above it."""

    # the line of the title, without blanks at its end
    start: int
    end: int
    lines: tuple[Span, ...]  # the lines of marks, which must be at least as long as the title
    is_exact: bool = False  # whether a line of marks must not be longer than the title either


_SHORTEST_LINE = 2
"""Minimum number of marks of an exact line."""


_VALUE_IN_APOSTROPHES = re.compile(
    r"(?<==)[ \t]{0,9}\{?'[^']*'"
    r"|^[ \t-]*[\w.\"'-]+:[ \t]+'(?:[^']|'')*'(?=[ \t]*(?:#.*)?$)"
    r"|(?<=\])(?:\([^()\s]*|:[ \t]+\S+)[ \t]+'[^']*'",
    re.MULTILINE,
)
"""The value of an attribute or of a field in YAML, and the title of a link in Markdown."""
_LONGEST_VALUE = 2_000


class Layout:
    """The cells and titles of a text, and its values between apostrophes."""

    def __init__(self, text: str, cells: Iterable[TableCell] = (), titles: Iterable[Title] = ()) -> None:
        self._text = text
        self._cells = sorted(cells, key=lambda cell: cell.start)
        self._titles = sorted(titles, key=lambda title: title.start)
        self._cell_starts = [cell.start for cell in self._cells]
        self._title_starts = [title.start for title in self._titles]

    def fits(self, edits: Sequence[Edit]) -> list[bool]:
        """Return for each edit whether its cell has room for it and for the edits before it that fit.

        An edit that fits also fits if some of the others are not made.

        `edits`: in the order of the text, without overlaps.
        """
        room: dict[TableCell, int] = {}
        results = []
        for edit in edits:
            start, end, new = edit
            cell = self._cell(start)
            if cell is None:
                written = new.replace("''", "")  # YAML writes an apostrophe twice between apostrophes
                results.append("'" not in written or not self._is_between_apostrophes(start, end))
                continue
            # blanks that an edit removes together with a word are not there for others
            left = room.get(cell, cell.stop - cell.end) - max(0, min(end, cell.stop) - cell.end)
            growth = max(0, _growth(edit))
            results.append(end <= cell.stop and growth <= left)
            if results[-1]:
                room[cell] = left - growth
        return results

    def further(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return the additional edits that keep the layout when `edits` are made.

        `edits` are the edits that fit, in the order of the text and without overlaps.
        """
        in_cells: dict[TableCell, list[Edit]] = {}
        in_titles: dict[Title, list[Edit]] = {}
        for edit in edits:
            if cell := self._cell(edit[0]):
                in_cells.setdefault(cell, []).append(edit)
            elif title := self._title(edit[0]):
                in_titles.setdefault(title, []).append(edit)
        results = []
        for cell, changes in in_cells.items():
            at, growth = max(cell.end, changes[-1][1]), sum(map(_growth, changes))
            if growth and not cell.is_last:
                results.append((at, at + max(0, growth), " " * -growth))
        for title, changes in in_titles.items():
            growth = sum(map(_growth, changes))
            for start, end in title.lines:
                if title.is_exact:
                    shorter = max(end + growth, start + _SHORTEST_LINE)
                    results += [(end, end, self._text[start] * growth)] if growth > 0 else []
                    results += [(shorter, end, "")] if shorter < end else []
                elif growth > 0 and (missing := title.end - title.start + growth - (end - start)) > 0:
                    results.append((end, end, self._text[start] * missing))
        return sorted(results)

    def complete(self, edit: Edit) -> Edit | None:
        """Return an edit that also keeps the layout; None if the edit does not fit."""
        if not all(self.fits([edit])):
            return None
        edits = sorted([edit, *self.further([edit])], key=lambda item: item[:2])
        at = start = edits[0][0]
        parts = []
        for first, last, new in edits:
            parts += [self._text[at:first], new]
            at = last
        return start, at, "".join(parts)

    def _is_between_apostrophes(self, start: int, end: int) -> bool:
        """Return True if a span is in a value between apostrophes, which another one would end."""
        first, last = max(0, start - _LONGEST_VALUE), end + _LONGEST_VALUE
        first = self._text.rfind("\n", 0, first) + 1
        values = _VALUE_IN_APOSTROPHES.finditer(self._text, first, last)
        return any(value.start() < start and end < value.end() for value in values)

    def _cell(self, offset: int) -> TableCell | None:
        number = bisect_right(self._cell_starts, offset) - 1
        return self._cells[number] if number >= 0 and offset <= self._cells[number].stop else None

    def _title(self, offset: int) -> Title | None:
        number = bisect_right(self._title_starts, offset) - 1
        return self._titles[number] if number >= 0 and offset <= self._titles[number].end else None


def grid_cells(text: str, start: int, end: int, columns: Sequence[int]) -> list[Span]:
    """Return the spans between the bars in a line of a grid table; none if it has fewer than two bars.

    `start` and `end`: the line.
    `columns`: columns of the crosses in the first border.
    """
    places = (start + column for column in columns)
    bars = [place for place in places if place < end and text[place] == "|"]
    return [(bar + 1, following) for bar, following in pairwise(bars)]


_COLUMNS = re.compile(r" {0,3}-{2,}(?: +-+)+ *")
_DASHES = re.compile(r"-+")
_FULL_LINE = re.compile(r" {0,3}-{3,} *")
_MAX_HEADER, _MAX_ROWS = 20, 2_000
"""Maximum numbers of lines of a table above and below the dashes of its columns."""


def dashed_cells(text: str) -> list[TableCell]:
    """Return the cells of Pandoc's simple and multiline tables, whose columns are marked by dashes.

    A header is above the dashes. A simple table ends at a blank line; one with rows of several lines, which
    blank lines separate, begins and ends with a line of dashes, as one without a header does.
    """
    spans = [(start, end) for start, end, _ in iterate_lines(text)]
    lines = [text[start:end] for start, end in spans]
    cells: list[TableCell] = []
    number = 0
    while number < len(lines):
        number += 1
        if not _COLUMNS.fullmatch(lines[number - 1]):
            continue
        border = number - 1
        header = _header(lines, border)
        stop = None if header is None else _table_end(lines, border, header)
        if header is None or stop is None:
            continue
        columns = [match.span() for match in _DASHES.finditer(lines[border])]
        for row in (*header, *range(border + 1, stop)):
            cells += _row_cells(text, spans[row], columns, is_header=row < border)
        number = stop
    return cells


def _header(lines: Sequence[str], border: int) -> range | None:
    """Return the lines of the header above a border, if any; None if they are not a header."""
    first = border
    while first and border - first < _MAX_HEADER and lines[first - 1].strip():
        first -= 1
        if _FULL_LINE.fullmatch(lines[first]):
            return range(first + 1, border)
    return range(first, border) if border - first <= 1 else None


def _table_end(lines: Sequence[str], border: int, header: range) -> int | None:
    """Return the number of the line after the last row of a table; None if it does not end."""
    following = range(border + 1, min(len(lines), border + 1 + _MAX_ROWS))
    has_top = header.start > 0 and _FULL_LINE.fullmatch(lines[header.start - 1])
    if header and not has_top:
        return next((number for number in following if not lines[number].strip()), following.stop)
    closing = _FULL_LINE if has_top else _COLUMNS
    for number in following:
        is_end = number + 1 == len(lines) or not lines[number + 1].strip()
        if is_end and closing.fullmatch(lines[number]):
            return number
    return None


def _row_cells(text: str, line: Span, columns: Sequence[Span], *, is_header: bool) -> Iterator[TableCell]:
    """Yield the cells of one line of a table whose columns are marked by dashes.

    The last cell may extend as far as it needs, except in the header: the place of a header over its dashes
    determines the alignment of the column.
    """
    start, end = line
    bounds = [0, *(first for first, _ in columns[1:]), end - start]
    for (low, high), (_, last_dash) in zip(pairwise(bounds), columns, strict=True):
        first, last = strip_span(text, min(start + low, end), min(start + high, end))
        is_free = high == bounds[-1] and not is_header
        if first < last and not is_free and not text[last : last + 1].strip():
            stop = start + (last_dash if is_header else high - 1)
            yield TableCell(first, last, max(last, stop), is_last=not text[last:end].strip())


def strip_span(text: str, start: int, end: int) -> Span:
    """Return the span without the blanks at its start and end."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _growth(edit: Edit) -> int:
    start, end, new = edit
    return len(new) - (end - start)
