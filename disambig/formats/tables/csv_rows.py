"""CSV and TSV: rows as documents, one column their text; the other columns are kept.

Rows are read by Python's ``csv``, strictly: fields in double quotes may hold line ends, and a
quote that is never closed is an error and no text. The first row names the columns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO

from disambig.errors import UserError
from disambig.files.opening import without_compression
from disambig.formats.documents import Bad, Document, id_of
from disambig.formats.lines import LINE_LIMIT, Line, read_lines, text_of
from disambig.formats.tables.cells import are_ours, undone

COMMA, TAB = ",", "\t"
DELIMITERS = (COMMA, ";", TAB, "|")


@dataclass(frozen=True, slots=True)
class Header:
    """The names of a file's columns and what stands between its fields."""

    columns: tuple[str, ...]
    delimiter: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row: number of its first line, where the next one begins (byte, line), its fields or an error."""

    number: int
    following: tuple[int, int]
    cells: list[str] | UserError


class _Lines:
    """Lines as text for ``csv``, which go on after one that is no text; remembers where it stands."""

    def __init__(self, lines: Iterator[Line], path: str) -> None:
        self._lines, self._path = lines, path
        self.following = (0, 1)
        self.first: int | None = None  # of the row that is being read

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.following = (line.offset + len(line.data or b""), line.number + 1)
        self.first = self.first or line.number
        text = text_of(line, self._path)
        return text.removeprefix("\ufeff") if line.number == 1 else text


def read_rows(lines: Iterator[Line], path: str, *, delimiter: str) -> Iterator[Row]:
    """Yield the rows of a file; empty lines are passed over."""
    csv.field_size_limit(LINE_LIMIT)
    source = _Lines(lines, path)
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    while True:
        source.first = None
        cells: list[str] | UserError
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            known = {"unexpected end of data": "a quoted field that never ends"}
            said = known.get(str(problem), str(problem).partition(" - ")[0])
            cells = UserError("D326", path=path, line=source.first, problem=said)
        except UserError as error:
            cells = error
        if cells:
            yield Row(source.first or 1, source.following, cells)
        if isinstance(cells, UserError) and cells.code == "D303":
            return


def read_header(lines: Iterator[Line], path: str, *, field: str) -> tuple[Header, Iterator[Line]]:
    """Read the first row; of `DELIMITERS` the first that gives a column called `field` is taken.

    Returns
    -------
    Header, iterator of Line
        The header and the lines behind it.

    Raises
    ------
    UserError
        D302 for no row, D326 or D303 to D305 for a first row that cannot be read, D327 where no column
        has that name.
    """
    known = (TAB,) if without_compression(path).endswith(".tsv") else DELIMITERS
    held: list[Line] = []

    def again() -> Iterator[Line]:
        yield from list(held)
        for line in lines:
            held.append(line)
            yield line

    found: list[Header] = []
    failure: UserError | None = None
    for delimiter in known:
        row = next(read_rows(again(), path, delimiter=delimiter), None)
        if row is None:
            raise UserError("D302", path=path)
        if isinstance(row.cells, UserError):
            failure = failure or row.cells
            continue
        header = Header(tuple(cell.strip() for cell in row.cells), delimiter)
        if field in header.columns:
            rest = [line for line in held if line.number >= row.following[1]]
            return header, chain(rest, lines)
        found.append(header)
    if failure and not found:
        raise failure
    raise no_column(path, field, max(found, key=lambda header: len(header.columns)).columns)


def no_column(path: str, field: str, columns: tuple[str, ...]) -> UserError:
    """Return the message for a table without the column that is asked for."""
    shown = ", ".join(repr(column[:40]) for column in columns[:20]) + (" ..." if len(columns) > 20 else "")
    return UserError("D327", path=path, field=field, columns=shown or "none")


def csv_documents(
    lines: Iterator[Line], path: str, header: Header, *, field: str
) -> Iterator[Document | Bad]:
    """Yield one document a row; rows with an empty text are passed over, bad ones reported by line.

    Of a table of decisions the cells are as they were before they were made harmless to spreadsheets.
    """
    place, ours = header.columns.index(field), are_ours(header.columns)
    for row in read_rows(lines, path, delimiter=header.delimiter):
        cells = cells_of(row, header, path)
        if isinstance(cells, UserError):
            yield Bad(path, cells)
            continue
        if ours:
            cells = [undone(cell) for cell in cells]
        if cells[place].strip():
            meta = dict(zip(header.columns, cells, strict=True))
            del meta[field]
            name = id_of(meta.get("id"), path, row.number)
            yield Document(name, cells[place], path, row.number, "csv", meta=meta)


def cells_of(row: Row, header: Header, path: str) -> list[str] | UserError:
    """Return the cells of a row, one a column, or why they cannot be read."""
    if isinstance(row.cells, UserError) or len(row.cells) == len(header.columns):
        return row.cells
    n = len(row.cells)
    said = f"{n} {'field' if n == 1 else 'fields'}, the first row has {len(header.columns)}"
    return UserError("D326", path=path, line=row.number, problem=said)


def csv_cuts(file: IO[bytes], path: str, size: int, *, field: str) -> list[tuple[int, int]]:
    """Return where parts of about `size` bytes begin, as (byte, line number), always with a row."""
    cuts = [(0, 1)]
    try:
        delimiter = read_header(read_lines(file), path, field=field)[0].delimiter
    except UserError:
        return cuts
    file.seek(0)
    for row in read_rows(read_lines(file), path, delimiter=delimiter):
        if row.following[0] - cuts[-1][0] >= size:
            cuts.append(row.following)
    return cuts
