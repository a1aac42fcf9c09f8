"""Cells of tables and titles, where a correction must change more than the word.

In some formats the characters of a line must stand in fixed columns: the cells of a grid table end at a bar,
and the line under a title must be as long as the title. A correction that changes the length of such a text
takes blanks from the cell or adds them, and changes the length of the line. If a cell has too few blanks, the
correction cannot be made.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from disambig.markup.canvas import Span, iterate_lines

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


class Layout:
    """The cells and titles of a text."""

    def __init__(self, text: str, cells: Iterable[TableCell] = (), titles: Iterable[Title] = ()) -> None:
        self._text = text
        self._cells = sorted(cells, key=lambda cell: cell.start)
        self._titles = sorted(titles, key=lambda title: title.start)
        self._cell_starts = [cell.start for cell in self._cells]
        self._title_starts = [title.start for title in self._titles]

    def fits(self, edits: Sequence[Edit]) -> list[bool]:
        """Return for each edit whether its cell has room for it and for the edits before it that fit.

        An edit that fits also fits if some of the others are not made.

        Parameters
        ----------
        edits : sequence of Edit
            In the order of the text, without overlaps.
        """
        room: dict[TableCell, int] = {}
        results = []
        for edit in edits:
            start, end, _ = edit
            cell = self._cell(start)
            if cell is None:
                results.append(True)
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

    def _cell(self, offset: int) -> TableCell | None:
        number = bisect_right(self._cell_starts, offset) - 1
        return self._cells[number] if number >= 0 and offset <= self._cells[number].stop else None

    def _title(self, offset: int) -> Title | None:
        number = bisect_right(self._title_starts, offset) - 1
        return self._titles[number] if number >= 0 and offset <= self._titles[number].end else None


def grid_cells(text: str, start: int, end: int, columns: Sequence[int]) -> list[Span]:
    """Return the spans between the bars in a line of a grid table; none if it has fewer than two bars.

    Parameters
    ----------
    start, end : int
        The line.
    columns : sequence of int
        Columns of the crosses in the first border.
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
