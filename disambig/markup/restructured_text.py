r"""Read reStructuredText, including the directives and roles of Sphinx.

Blocks: titles, list items, fields, definitions and table cells end a sentence. Comments, targets, literal and
doctest blocks, options of directives, and the content of directives that contain code or data are left out.
The content of admonitions, figures, version notes and descriptions of objects is prose. So are titles of
tables, captions, alternative texts and the text of ``replace::``. Other content of a directive that this
module does not know is left out. The cells of a ``csv-table`` are read up to the first error, unless it sets
``:quote:``, ``:escape:`` or ``:keepspace:``. In other tables, a cell of several lines is read only if no
other cell is beside its lines, since its lines are otherwise interleaved with those of other cells.

Within a paragraph: the marks of emphasis and the targets of links become blank. Literals, interpreted text
and roles (except the title of a reference, ``:ref:`title <label>```), substitutions and addresses become
`OPAQUE`.

docutils is not used: it gives the line of a block but no position within it, it does not know the directives
and roles of Sphinx or of a project, and it reads included files. The rules for the start and the end of
inline markup are those of its specification. The running time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from disambig.markup.canvas import (
    BREAK,
    OPAQUE,
    Canvas,
    InlineReader,
    Layout,
    TableCell,
    Title,
    grid_cells,
    iterate_lines,
    match_end,
    names,
    strip_span,
)

_ADMONITIONS = names(
    "attention caution danger error hint important note tip warning seealso todo compound container glossary"
    " only ifconfig figure list-table table hlist tabs tab-set grid aside details footer header compare"
)
"""Directives whose content is prose, which may begin in the line of the directive."""
_UNREAD_ARGUMENTS = names("figure only ifconfig tabs grid hlist container")
"""Directives of `_ADMONITIONS` whose argument is not prose."""
_TITLED = names(
    "admonition topic sidebar rubric centered tab tab-item dropdown card grid-item-card versionadded"
    " versionchanged versionremoved deprecated deprecated-removed collapse title group-tab"
)
"""Directives whose argument is a title or text, and whose content is prose."""
_VERSIONS = names("versionadded versionchanged versionremoved deprecated deprecated-removed")
_OBJECTS = names(
    "function method classmethod staticmethod class exception attribute data module property decorator"
    " decoratormethod option cmdoption envvar describe object confval macro type var member enum enumerator"
    " struct union program setting directive role event hook fixture fieldlookup templatetag templatefilter"
    " django-admin django-admin-option command variable opcode pdbcommand 2to3fixer autofunction automethod"
    " autoclass automodule autoexception autodata autoattribute signature globalvar audit-event impl-detail"
    " program-output index describe-option generic cfunction cmember ctype cvar cmacro"
)
"""Descriptions of objects: the argument is a signature, the content is prose."""
_DOMAINS = names("py c cpp js rst std django cmake setuptools http")
_REFERENCES = names("ref doc term any numref download external std:ref std:doc std:term abbr")
"""Roles whose text may be a title: ``:ref:`title <label>```."""
_TEXT_ROLES = names("emphasis strong term std:term dfn title-reference title t")
"""Roles whose text belongs to the sentence."""
_TYPES = re.compile(r"(?:type|rtype|vartype|ytype|kwtype|vartype)\b|.*\btype$")
_DOCUMENT = names("author authors organization address contact version status date copyright revision")

_BLANKS = re.compile(r"[ \t]*")
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")  # a line under a title: -----
_BORDER = re.compile(r"=+(?:[ \t]+=+)+[ \t]*")  # the border of a simple table: ===  =====
_SPANS = re.compile(r"-+(?:[ \t]+-+)*[ \t]*")  # columns that are joined: -----  ---
_GRID = re.compile(r"\+(?:[-=]+\+)+[ \t]*")  # the border of a grid table: +---+=====+
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+|$)")  # explicit markup: a directive, a comment
_TARGET = re.compile(r"_(?:`[^`\n]{1,500}`|(?:\\.|[^:\\\n]){1,500}|_):(?:[ \t]|$)")  # _name: address
# A footnote or citation: [1], [#], [Knuth84].
_NOTE = re.compile(r"\[(?:\d+|#[\w.-]*|\*|[\w.-]+)\](?:[ \t]+|$)")
_SUBSTITUTION = re.compile(r"\|[^|\n]{1,200}\|[ \t]+([\w:+.-]+)::(?:[ \t]+|$)?")  # |name| replace:: text
_DIRECTIVE = re.compile(r"([A-Za-z0-9][\w:+.-]*?)[ \t]?::(?:[ \t]+|$)")
_ITEM = re.compile(r"(?:[-*+\u2022\u2023\u2043]|\(?(?:\d{1,4}|#|[A-Za-z]|[ivxlcdm]{2,6})[.)])(?:[ \t]+|$)")
_LETTER_ITEM = re.compile(r"\(?[A-Za-z][.)]")  # an item, or the initial of a name
_FIELD = re.compile(r":((?:\\.|[^:\\\n]|:(?=[^\s`])){1,200}):(?:[ \t]+|$)")  # :param name: text
# Options of a command before their description, such as `-o FILE, --output=FILE  text`.
_OPTION = re.compile(
    r"(?:-{1,2}|\+|/)[\w?#@-]+(?:[ =]?(?:<[^<>\n]+>|[A-Za-z][\w-]*))?"
    r"(?:,[ ](?:-{1,2}|\+|/)[\w?#@-]+(?:[ =]?(?:<[^<>\n]+>|[A-Za-z][\w-]*))?){0,5}(?:[ ]{2,}|$)"
)
_OPTION_LINE = re.compile(r":[A-Za-z][\w -]*:(?:[ \t]|$)")  # an option of a directive
_TEXT_OPTION = re.compile(r":(?:caption|alt|subtitle|description):[ \t]+", re.IGNORECASE)
"""Options of directives whose value is prose."""
_CSV_OPTION = re.compile(r":([A-Za-z][\w -]*):[ \t]*")
_CLASSIFIER = re.compile(r"\S[ \t]+:[ \t]+\S")  # a term with its classifier: term : classifier
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line: where it and its text begin and end, and its indentation as a column."""

    start: int
    at: int
    end: int
    indent: int

    @property
    def blank(self) -> bool:
        """Whether the line has no text."""
        return self.at >= self.end


def read_rst(text: str, suffix: str = ".rst") -> Canvas:
    """Paint over the markup of a reStructuredText document."""
    return _Inline.finish(_Blocks(text).read())


def rst_layout(text: str) -> Layout:
    """Return the cells of grid tables and simple tables, and the section titles."""
    blocks = _Blocks(text)
    blocks.read()
    return Layout(text, blocks.cells, blocks.titles())


class _Blocks:
    """Reader of blocks, line by line."""

    def __init__(self, text: str) -> None:
        self.text, self.canvas = text, Canvas(text)
        self.lines = [_line(text, start, end) for start, end, _ in iterate_lines(text)]
        self.paragraph = -1  # indentation of the paragraph that the previous line belongs to; -1 for none
        self.listed = False  # whether the previous line belongs to a list, whose items need no blank line
        self.options = -1  # indentation of a directive, directly after its first lines
        self.document = True  # whether only titles and fields were read so far
        self.cells: list[TableCell] = []  # each line of the cells of tables, except of CSV tables

    def read(self) -> Canvas:
        """Paint over the marks of blocks and return the canvas."""
        number = 0
        while number < len(self.lines):
            line = self.lines[number]
            if line.blank:
                self.paragraph, self.listed, self.options = -1, False, -1
                number += 1
            else:
                number = max(self._block(number, line.at, line.indent), number + 1)
        return self.canvas

    def titles(self) -> Iterator[Title]:
        """Yield what looks like a title: a line between lines of marks, or with one under it."""
        for number, title in enumerate(self.lines[:-1]):
            below = self.lines[number + 1]
            if title.blank or not self._is_marks(below):
                continue
            above = self.lines[number - 1] if number else None
            start = title.start + self.text.startswith("\ufeff", title.start, title.at)
            if below.end - below.at < min(_SHORTEST_UNDERLINE, title.end - start):
                continue  # ordinary text, such as a line of three dots
            if above is None or above.blank:
                yield Title(start, title.end, ((below.at, below.end),))
            elif self.text[above.at : above.end] == self.text[below.at : below.end]:
                yield Title(start, title.end, ((above.at, above.end), (below.at, below.end)))

    def _is_marks(self, line: _Line) -> bool:
        return not line.blank and line.indent == 0 and bool(_LINE.fullmatch(self.text, line.at, line.end))

    def _block(self, number: int, at: int, indent: int) -> int:
        """Read a block that begins in a line at a position; return the number of the next line."""
        line, canvas = self.lines[number], self.canvas
        if self.options >= 0 and indent > self.options and _OPTION_LINE.match(self.text, at, line.end):
            return self._option(number)
        if self.paragraph >= 0 and indent < self.paragraph:
            self.paragraph = -1
        if self.paragraph >= 0 and not (self.listed and self._item(number, at, line)):
            return self._continue(number, at, line)
        for _ in range(_DEEPEST):
            item = self._item(number, at, line)
            if not item:
                break
            canvas.fill(at, item, BREAK)
            self.listed, self.document = True, False
            indent += item - at
            at = item
            if at >= line.end:
                self.paragraph = -1
                return number + 1
        return self._start(number, at, line, indent)

    def _start(self, number: int, at: int, line: _Line, indent: int) -> int:
        """Read a line that begins a block; return the number of the line at which reading continues."""
        text, canvas, end = self.text, self.canvas, line.end
        self.paragraph = -1
        if match := _EXPLICIT.match(text, at, end):
            return self._explicit(number, at, match.end(), line, indent)
        if text.startswith("__ ", at) or text.startswith(">>>", at):
            stop = number + 1
            if not text.startswith("__ ", at):  # a doctest, up to the next blank line
                stop = self._block_end(stop, -1, blank=False)
            self._hide(number, stop, at)
            return stop
        if _GRID.fullmatch(text, at, end) and indent == line.indent:
            return self._grid_table(number)
        if _BORDER.fullmatch(text, at, end) and (stop := self._table_end(number)):
            return self._simple_table(number, stop)
        if _LINE.fullmatch(text, at, end) and (end - at > 1 or not text[at].isalnum()):
            if text.startswith("::", at) and end - at == 2:
                canvas.fill(at, end)
                return self._literal(number + 1, indent)
            canvas.fill(at, end, BREAK)
            return number + 1
        if match := _FIELD.match(text, at, end):
            return self._field(number, at, match, line, indent)
        if match := _OPTION.match(text, at, end):
            canvas.fill(at, match.end(), BREAK)
            self.paragraph = indent
            return self._finish_paragraph(number, line)
        if text.startswith("| ", at) or text[at:end] == "|":
            canvas.fill(at, at + 1, BREAK)
            return number + 1
        self.document = self.document and self._is_title(number)
        if self._indent_below(number) > indent:
            self._term(at, line)
        else:
            self.paragraph = indent
        return self._finish_paragraph(number, line)

    def _continue(self, number: int, at: int, line: _Line) -> int:
        """Read a further line of a paragraph."""
        if _LINE.fullmatch(self.text, at, line.end) and line.end - at > 1:
            if self.text[at : line.end].strip() == "::":
                self.canvas.fill(at, line.end)
                return self._literal(number + 1, self.paragraph)
            self.canvas.fill(at, line.end, BREAK)
            self.paragraph = -1
            return number + 1
        return self._finish_paragraph(number, line)

    def _finish_paragraph(self, number: int, line: _Line) -> int:
        """Look at what follows a line of a paragraph: a literal block, or the end of a list item."""
        below = self._indent_below(number)
        base = self.paragraph if self.paragraph >= 0 else line.indent
        if below != base and self.text.endswith("::", line.at, line.end):
            self.canvas.fill(line.end - 1, line.end)
            return self._literal(number + 1, base)
        if 0 <= below < base:
            self.canvas.end_sentence(line.end)
        return number + 1

    def _indent_below(self, number: int) -> int:
        """Return the indentation of the line below a line; -1 if that is blank or missing."""
        if number + 1 == len(self.lines) or self.lines[number + 1].blank:
            return -1
        return self.lines[number + 1].indent

    def _item(self, number: int, at: int, line: _Line) -> int:
        """Return the position of the text of a list item; 0 if none begins at a position."""
        match = _ITEM.match(self.text, at, line.end)
        if not match:
            return 0
        if _LETTER_ITEM.match(match[0]) and 0 <= self._indent_below(number) <= line.indent:
            following = self.lines[number + 1]
            if not _ITEM.match(self.text, following.at, following.end):
                return 0  # a paragraph that begins with an initial
        return match.end()

    def _is_title(self, number: int) -> bool:
        following = self.lines[number + 1] if number + 1 < len(self.lines) else None
        return following is not None and bool(_LINE.fullmatch(self.text, following.at, following.end))

    def _term(self, at: int, line: _Line) -> None:
        """Read the term of a definition list; a term with a classifier is the name of a parameter."""
        if _CLASSIFIER.search(self.text, at, line.end):
            self.canvas.leave_out(at, line.end)
        self.canvas.end_sentence(line.end)

    def _field(self, number: int, at: int, match: re.Match[str], line: _Line, indent: int) -> int:
        name = match[1].strip().lower()
        self.canvas.fill(at, match.end(), BREAK)
        if _TYPES.match(name) or (self.document and name in _DOCUMENT):
            self.canvas.fill(match.end(), line.end)
            return self._leave_out(number + 1, indent, blank=False)
        if (below := self._indent_below(number)) > indent:
            self.paragraph = below
        self.listed = True
        if match.end() >= line.end:
            return number + 1
        return self._finish_paragraph(number, line)

    def _explicit(self, number: int, at: int, after: int, line: _Line, indent: int) -> int:
        """Read explicit markup: a directive, a comment, a target, a footnote or a substitution."""
        text, canvas, end = self.text, self.canvas, line.end
        if match := _SUBSTITUTION.match(text, after, end):
            if match[1].lower() == "replace":
                return self._text_after(number, at, match.end(), line, indent)
            self._hide(number, number + 1, at)
            return self._options(number + 1, indent)
        if _TARGET.match(text, after, end):
            canvas.leave_out(at, end)
            return self._leave_out(number + 1, indent, blank=False)
        if match := _NOTE.match(text, after, end):
            return self._text_after(number, at, match.end(), line, indent)
        if match := _DIRECTIVE.match(text, after, end):
            self.document = False
            return self._directive(number, at, match, line, indent)
        stop = number + 1
        if after < end or self._indent_below(number) >= 0:
            stop = self._block_end(stop, indent, blank=True)
        last = max(row for row in range(number, stop) if row == number or not self.lines[row].blank)
        canvas.comment(at, self.lines[last].end)
        canvas.fill(at, at + 1, BREAK)
        return stop

    def _text_after(self, number: int, at: int, after: int, line: _Line, indent: int) -> int:
        """Read the paragraph that begins after a mark, such as the text of a footnote."""
        self.canvas.fill(at, after, BREAK)
        below = self._indent_below(number)
        self.paragraph = below if below > indent else after - at + indent
        return number + 1 if after >= line.end else self._finish_paragraph(number, line)

    def _option(self, number: int) -> int:
        """Read an option of a directive, which is prose if it is a caption or an alternative text."""
        line = self.lines[number]
        match = _TEXT_OPTION.match(self.text, line.at, line.end)
        stop = self._block_end(number + 1, line.indent, blank=False)
        if match is None:
            self.canvas.fill(line.at, line.end)
            self._hide(number + 1, stop)
        else:
            self.canvas.fill(line.at, match.end(), BREAK)
            self.canvas.end_sentence(self.lines[stop - 1].end)
        return stop

    def _options(self, number: int, indent: int) -> int:
        """Read the lines below a directive, up to a blank line; all but its options are left out."""
        stop = self._block_end(number, indent, blank=False)
        while number < stop:
            line = self.lines[number]
            if _OPTION_LINE.match(self.text, line.at, line.end):
                number = self._option(number)
            else:
                self._hide(number, number + 1)
                number += 1
        return stop

    def _directive(self, number: int, at: int, match: re.Match[str], line: _Line, indent: int) -> int:
        """Read a directive and return the number of the line at which reading continues.

        `at` is the offset of the directive in line `number`, `match` its name, `indent` its indentation.
        Contents that are text are read by the caller; other contents are skipped here.
        """
        canvas, text = self.canvas, self.text
        name = match[1].lower()
        domain, _, short = name.rpartition(":")
        canvas.fill(at, match.end(), BREAK)
        argument = match.end()
        stop = self._block_end(number + 1, indent, blank=False)  # its argument and options
        if name in _TITLED:
            if name in _VERSIONS:
                version = re.compile(r"[^\s:,]+(?:[ \t]+[\d.]+\w*)?(?:[ \t]*[:,])?").match(
                    text, argument, line.end
                )
                if version:
                    canvas.fill(argument, version.end(), BREAK)
            self.options, self.paragraph = indent, -1
            if argument < line.end and (below := self._indent_below(number)) > indent:
                following = self.lines[number + 1]
                if name in _VERSIONS and not _OPTION_LINE.match(text, following.at, following.end):
                    self.paragraph = below
                else:
                    canvas.end_sentence(line.end)
            return number + 1
        if name in _ADMONITIONS:
            if name in _UNREAD_ARGUMENTS:
                canvas.fill(argument, line.end)
            elif argument < line.end and (below := self._indent_below(number)) > indent:
                self.paragraph = below
            self.options = indent
            return number + 1
        if (not domain and short in _OBJECTS) or (short != "example" and domain.split(":")[0] in _DOMAINS):
            self._hide(number, stop, argument)
            return stop
        if name == "csv-table":
            return self._csv_table(number, stop, indent)
        self._hide(number, number + 1, argument)
        return self._leave_out(self._options(number + 1, indent), indent, blank=True)

    def _literal(self, number: int, indent: int) -> int:
        """Leave out the literal block after a paragraph that ends in ``::``."""
        self.paragraph = -1
        first = number
        while first < len(self.lines) and self.lines[first].blank:
            first += 1
        if first >= len(self.lines):
            return first
        line = self.lines[first]
        if line.indent > indent:
            return self._leave_out(number, indent, blank=True)
        mark = self.text[line.at]
        if mark.isalnum() or mark.isspace() or line.indent < indent or first == number:
            return number
        stop = first
        while stop < len(self.lines) and self.text.startswith(
            mark, self.lines[stop].at, self.lines[stop].end
        ):
            stop += 1
        if stop - first < 2 and mark in ".:*-+|#=~^_`":
            return number  # nothing quoted: other markup begins
        self._hide(first, stop, line.at)
        return stop

    def _block_end(self, number: int, indent: int, *, blank: bool) -> int:
        """Return the number of the line after a block, which does not include blank lines at its end.

        `number`: first line of the block.
        `indent`: all lines of the block are indented by more columns than this.
        `blank`: whether the block may contain blank lines; if not, the first one ends it.
        """
        stop = number
        while number < len(self.lines):
            line = self.lines[number]
            if line.blank:
                if not blank:
                    break
            elif line.indent <= indent:
                break
            else:
                stop = number + 1
            number += 1
        return stop

    def _leave_out(self, number: int, indent: int, *, blank: bool) -> int:
        """Leave out the indented lines from a line on; return the number of the next line."""
        stop = self._block_end(number, indent, blank=blank)
        self._hide(number, stop)
        return stop

    def _hide(self, number: int, stop: int, first: int = -1) -> None:
        """Paint over lines, the first one from a position on."""
        for row in range(number, stop):
            line = self.lines[row]
            start = first if row == number and first >= 0 else line.at
            if start < line.end:
                self.canvas.leave_out(start, line.end)

    def _table_end(self, number: int) -> int:
        """Return the number of the line after a simple table; 0 if it has no end."""
        width = self.lines[number].end - self.lines[number].at
        borders, row = 1, number + 1
        while row < len(self.lines):
            line = self.lines[row]
            if not line.blank and _BORDER.fullmatch(self.text, line.at, line.end):
                borders += 1
                following = self.lines[row + 1] if row + 1 < len(self.lines) else None
                if following is None or (following.blank and borders > 1):
                    return row + 1
            elif not line.blank and line.indent < self.lines[number].indent:
                return 0
            row += 1
            if row - number > _LONGEST_TABLE or width > _LONGEST_TABLE:
                return 0
        return 0

    def _simple_table(self, number: int, stop: int) -> int:
        """Read a simple table that begins in line `number`, and return the line after it."""
        border = self.lines[number]
        indent = border.at - border.start
        columns = [(match.start() + indent, match.end() + indent)
                   for match in re.finditer("=+", self.text[border.at : border.end])]  # fmt: skip
        group: list[list[tuple[int, int]]] = []
        for row in range(number, stop):
            line = self.lines[row]
            is_border = not line.blank and (
                _BORDER.fullmatch(self.text, line.at, line.end)
                or (_SPANS.fullmatch(self.text, line.at, line.end) and line.end - line.at > 2)
            )
            cells = [] if is_border or line.blank else self._cells(line, columns)
            if group and (not cells or cells[0][0] < cells[0][1]):
                self._row(group)
                group = []
            if is_border:
                self.canvas.fill(line.at, line.end, BREAK)
            elif cells:
                group.append(cells)
        self._row(group)
        return stop

    def _cells(self, line: _Line, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the span of the text of each cell in a line of a simple table."""
        starts = [min(line.start + column, line.end) for column, _ in columns]
        cells = []
        for start, end in zip(starts, [*starts[1:], line.end], strict=True):
            cells.append(strip_span(self.text, start, max(start, end)))
        for (start, end), (_, column_end) in zip(cells[:-1], columns[:-1], strict=True):
            if start < end:  # a cell that spans columns already extends beyond its own
                self.cells.append(
                    TableCell(start, end, max(end, line.start + column_end), is_last=end == line.end)
                )
        return cells

    def _grid_table(self, number: int) -> int:
        """Read a grid table, whose first line marks columns by "+"; return the number of the next line."""
        border = self.lines[number]
        places = [offset for offset in range(border.at - border.start, border.end - border.start)
                  if self.text[border.start + offset] == "+"]  # fmt: skip
        group: list[list[tuple[int, int]]] = []
        row = number
        while row < len(self.lines) and not self.lines[row].blank and self.text[self.lines[row].at] in "+|":
            line = self.lines[row]
            if self.text[line.at] == "+" or _GRID_PART.search(self.text, line.at, line.end):
                self._row(group)
                group = []
                self.canvas.fill(line.at, line.end, BREAK)
            else:
                cells = grid_cells(self.text, line.start, line.end, places)
                if not cells:
                    self.canvas.fill(line.at, line.end, BREAK)
                else:
                    spans = dict.fromkeys(places[:-1], (0, 0))
                    for start, end in cells:
                        self.canvas.fill(start - 1, start)
                        self.canvas.fill(end, end + 1)
                        spans[start - 1 - line.start] = text_span = strip_span(self.text, start, end)
                        self.cells.append(TableCell(*text_span, end))
                    group.append(list(spans.values()))
            row += 1
        self._row(group)
        return row

    def _csv_table(self, number: int, stop: int, indent: int) -> int:
        """Read the title, the header and the cells of a table of values separated by commas.

        `stop` is the number of the line after its title and options.
        """
        row, delimiter = number + 1, ","
        while row < stop and not _OPTION_LINE.match(self.text, self.lines[row].at, self.lines[row].end):
            row += 1
        self.canvas.end_sentence(self.lines[row - 1].end)
        header = -1
        for option in range(row, stop):
            line = self.lines[option]
            match = _CSV_OPTION.match(self.text, line.at, line.end)
            name = match[1].lower() if match else ""
            if match and name == "delim":
                value = self.text[match.end() : line.end]
                delimiter = {"tab": "\t"}.get(value, value if len(value) == 1 else "")
            elif name in ("quote", "escape", "keepspace"):
                delimiter = ""
            header = option if name == "header" else header
        while row < stop:
            after = self._block_end(row + 1, self.lines[row].indent, blank=False)
            if row == header and delimiter:
                at = self.text.index(":", self.lines[row].at + 1) + 1
                self.canvas.fill(self.lines[row].at, at, BREAK)
                self._csv_cells(at, self.lines[after - 1].end, delimiter)
            else:
                self._hide(row, after)
            row = after
        while row < len(self.lines) and self.lines[row].blank:
            row += 1
        stop = self._block_end(row, indent, blank=True)
        if stop > row and delimiter:
            self._csv_cells(self.lines[row].at, self.lines[stop - 1].end, delimiter)
        else:
            self._hide(row, stop)
        return stop

    def _csv_cells(self, at: int, end: int, delimiter: str) -> None:
        """Read cells; those after an error are left out."""
        text, canvas, pattern = self.text, self.canvas, _csv_cell(delimiter)
        while at < end:
            cell = pattern.match(text, at, end)
            if cell is None:
                canvas.leave_out(at, end)
                return
            start, stop = cell.span("plain" if cell["quoted"] is None else "quoted")
            canvas.fill(cell.start(), start, BREAK)
            canvas.fill(stop, cell.end(), BREAK)
            canvas.hide_single_word(start, stop)
            if item := _ITEM.match(text, start, stop):
                canvas.fill(start, item.end(), BREAK)
            for quote in _TWO_QUOTES.finditer(text, start, stop):
                canvas.fill(quote.start(), quote.start() + 1)
            at = cell.end()
            if at < end and text[at] == delimiter:
                canvas.fill(at, at + 1, BREAK)
                at += 1
            elif at < end:
                canvas.end_sentence(at)
                while at < end and text[at].isspace():
                    at += 1

    def _row(self, lines: Sequence[Sequence[tuple[int, int]]]) -> None:
        """Read the cells of one row of a table: the span of each cell in each of its lines."""
        filled = [
            (i, k) for i, cells in enumerate(lines) for k, (start, end) in enumerate(cells) if start < end
        ]
        rows: dict[int, list[int]] = {}
        for i, k in filled:
            rows.setdefault(k, []).append(i)
        order = {cell: place for place, cell in enumerate(filled)}
        for k, places in rows.items():
            first, last = order[places[0], k], order[places[-1], k]
            if last - first != len(places) - 1:  # the lines of another cell are between its lines
                for i in places:
                    self.canvas.fill(*lines[i][k])
            start = lines[places[0]][k][0]
            if len(places) == 1:
                self.canvas.hide_single_word(*lines[places[0]][k])
            if start > 0:
                self.canvas.fill(start - 1, start, BREAK)
            for i in places:
                cell_start, cell_end = lines[i][k]
                if _LINE.fullmatch(self.text, cell_start, cell_end):
                    self.canvas.fill(cell_start, cell_end, BREAK)
                elif item := _ITEM.match(self.text, cell_start, cell_end):
                    self.canvas.fill(cell_start, item.end(), BREAK)
            stop = lines[places[-1]][k][1]
            if stop < len(self.text):
                self.canvas.end_sentence(stop)


_SHORTEST_UNDERLINE = 4  # a shorter one must be as long as the title
_DEEPEST = 16  # maximum number of lists that one line opens
_LONGEST_TABLE = 10_000
_TWO_QUOTES = re.compile('""')
_GRID_PART = re.compile(r"\+[-=]{3,}\+")


def _line(text: str, start: int, end: int) -> _Line:
    at = start + (1 if start == 0 and text.startswith("\ufeff") else 0)
    begin = match_end(_BLANKS, text, at, end)
    while end > begin and text[end - 1].isspace():
        end -= 1
    column = 0
    for character in text[at:begin]:
        column += 8 - column % 8 if character == "\t" else 1
    return _Line(start, begin, max(end, begin), column)


@cache
def _csv_cell(delimiter: str) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    return re.compile(
        rf' *(?:"(?P<quoted>[^"]*(?:""[^"]*)*)" *(?={mark}|[\r\n]|\Z)|(?P<plain>(?![ "])[^{mark}\r\n]*))'
    )


# Marks of inline markup: emphasis, literals, references, footnotes, addresses and roles.
_MARKS = re.compile(
    r"\\|\*\*|\*|``|`|\||_`|\[(?=[\w#*])|(?:https?|ftp)://|:[A-Za-z][\w:+.-]{0,60}:(?=`)|_{1,2}(?![\w`])"
)
_BEFORE = "-:/'\"<([{"
_AFTER = "-.,:;!?\\/'\")]}>"
_ENDS = {
    "*": re.compile(r"(?<=[^\s\\])\*(?![\w*])"),
    "**": re.compile(r"(?<=[^\s\\])\*\*(?!\w)"),
    "``": re.compile(r"(?<=\S)``(?!\w)"),
    "`": re.compile(r"(?<=[^\s\\])`(?!`)"),
    "|": re.compile(r"(?<=[^\s\\])\|_{0,2}(?!\w)"),
}
_FOOTNOTE = re.compile(r"\[(?:\d+|#[\w.-]*|\*|[\w.+-]+)\]_")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>`]*")
_ROLE = re.compile(r":([A-Za-z][\w:+.-]{0,60}):")
_AFTER_ADDRESS = ".,;:!?'\"*_)"


class _Inline(InlineReader):
    """Reader of the inline markup of reStructuredText."""

    marks, ends = _MARKS, _ENDS

    def read_mark(self, mark: str, at: int, after: int) -> int:
        """Read the markup that may begin at a mark, and return the position at which to continue."""
        canvas, text = self.canvas, self.text
        if mark == "\\":
            after = min(after + 1, self.end)
            if text[at + 1 : after].isspace():  # it joins what is on both sides of it to one word
                canvas.fill(at, after)
                canvas.hide_word(at, after)
            else:
                canvas.mark(at, at + 1)
            return after
        if mark[0] == "_" and mark != "_`":
            if at > self.start and (text[at - 1].isalnum() or text[at - 1] == OPAQUE):
                canvas.fill(at, after)
            return after
        if mark == "[":
            if note := _FOOTNOTE.match(text, at, self.end):
                canvas.fill(at, note.end())
                return note.end()
            return after
        if mark.endswith("://"):
            address = _ADDRESS.match(text, at, self.end)
            stop = at + len(address[0].rstrip(_AFTER_ADDRESS)) if address else after
            canvas.fill(at, stop, OPAQUE)
            return max(stop, after)
        if not self._may_start(at, after):
            return after
        if mark == "_`":
            match = self.find_end("`", after)
            if match is None:
                return after
            canvas.fill(at, after)
            canvas.fill(match.end() - 1, match.end())
            return max(match.end(), after)
        if mark[0] == ":":
            return self._interpreted(at, after, mark[1:-1].lower())
        if mark == "`":
            return self._interpreted(at, at, "")
        match = self.find_end(mark, after)
        if match is None:
            return after
        stop = match.end()
        if mark in ("``", "|"):
            while stop < self.end and text[stop] == "_":
                stop += 1
            canvas.fill(at, stop, OPAQUE)
            return stop
        canvas.mark(at, after)
        canvas.mark(stop - len(mark), stop)
        return after if mark == "**" else stop

    def _may_start(self, at: int, after: int) -> bool:
        """Return True if inline markup may start between the characters before and after a mark."""
        text = self.text
        if after >= self.end:
            return False
        before = text[at - 1] if at > self.start else " "
        if text[after].isspace():
            return False
        if before.isalnum() or before == "\\" or (before in "*`_|" and before == text[at]):
            return False
        pairs = {'"': '"', "'": "'", "(": ")", "[": "]", "{": "}", "<": ">"}
        return pairs.get(before) != text[after]

    def _interpreted(self, at: int, tick: int, role: str) -> int:
        """Read interpreted text or a link; `tick` is the position of its opening mark."""
        canvas, text = self.canvas, self.text
        inside = tick + 1
        match = self.find_end("`", inside)
        if match is None:
            return inside
        after = stop = match.end()
        while after < self.end and text[after] == "_" and after - stop < 2:
            after += 1
        is_link = after > stop
        if not role and not is_link and (suffixed := _ROLE.match(text, after, self.end)):
            role, after = suffixed[1].lower(), suffixed.end()
        close = stop - 1
        target = text.rfind("<", inside, close) if text[close - 1] == ">" else -1
        if target >= 0 and text[target - 1] == "\\":
            target = -1
        if is_link or (role in _REFERENCES and target >= 0):
            title_end = inside + len(text[inside:target].rstrip()) if target >= 0 else close
            if title_end <= inside:
                canvas.fill(at, after, OPAQUE)
                return after
            canvas.mark(at, inside)
            canvas.mark(title_end, after)
            return after
        if role in _TEXT_ROLES:
            canvas.mark(at, inside)
            canvas.mark(close, after)
            return after
        canvas.fill(at, after, OPAQUE)
        if after < self.end and text[after].isalnum():
            canvas.hide_word(at, after)
        return after
