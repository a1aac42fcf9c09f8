"""CSV, TSV and Parquet: reading rows as documents, writing decisions as rows."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import chain
from typing import IO, Any

from disambig.errors import UserError
from disambig.files import read_within, too_large_error, without_compression
from disambig.formats.documents import (
    FILE_LIMIT,
    LINE_LIMIT,
    Document,
    FileLine,
    Kind,
    UnreadableDocument,
    decode_line,
    document_id,
    escape_unencodable,
    find_field,
    is_no_text,
    read_lines,
    take_field,
    text_problem,
)
from disambig.formats.jsonl import AnnotatedDocument, records
from disambig.formatting import on_one_line, pluralize

DECISION_COLUMNS = {
    "document": str,
    "path": str,
    "line": int,
    "start": int,
    "end": int,
    "left": str,
    "observed": str,
    "right": str,
    "task": str,
    "group": str,
    "chosen": str,
    "replacement": str,
    "probability": float,
    "margin": float,
    "flagged": bool,
    "gloss": str,
    "rule": str,
    "precision": float,
}
"""Name and type of each column.

`line` is the line in which the decision begins, from 1; if the document is a line, row, Doc or part of a
CoNLL-U file, the line in which that begins. `left` and `right` are the surrounding text, with white space
collapsed. `replacement` is what is proposed, also for decisions that are not `flagged`, where the text should
stay as it is; `gloss` is a reference to the meaning of the chosen candidate, empty if unknown. `rule` is the
rule of a flag and `precision` the measured share of such flags that are right; they are empty for other
decisions.
"""
_CONTEXT_CHARACTERS = 50


def decision_columns(*, text: bool) -> tuple[str, ...]:
    """Return the names of the columns, with or without the text around a decision."""
    return tuple(name for name in DECISION_COLUMNS if text or name not in ("left", "right"))


def decision_rows(result: AnnotatedDocument, *, text: bool) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each decision of a document, in text order, with the columns of `decision_columns`."""
    document = result.document
    names = decision_columns(text=text)
    line, counted = 1, 0
    for record in records(result, kept=1):
        start, end = record["start"], record["end"]
        if not document.line:
            line, counted = line + document.text.count("\n", counted, start), start
        record.update(document=document.id, path=document.path, line=document.line or line)
        record.setdefault("gloss", "")
        record.setdefault("rule", "")
        if record.get("precision", -1.0) < 0:
            record["precision"] = None
        if text:
            record["left"] = on_one_line(document.text[max(start - _CONTEXT_CHARACTERS, 0) : start])
            record["right"] = on_one_line(document.text[end : end + _CONTEXT_CHARACTERS])
        yield tuple(record[name] for name in names)


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED_FORMULA = re.compile(r"'+[=+\-@\t\r]")


def escape_formula(cell: str) -> str:
    """Prefix a cell that a spreadsheet would evaluate as a formula with an apostrophe."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescape_formula(cell: str) -> str:
    """Undo `escape_formula`."""
    return cell[1:] if _ESCAPED_FORMULA.match(cell) else cell


def is_decision_table(names: Sequence[str]) -> bool:
    """Return True if a table with these columns was written by `CsvFormat`."""
    return tuple(names) in (decision_columns(text=True), decision_columns(text=False))


COMMA, TAB = ",", "\t"
DELIMITERS = (COMMA, ";", TAB, "|")


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """The column names and the delimiter of a file, and whether all names are quoted."""

    columns: tuple[str, ...]
    delimiter: str
    all_quoted: bool = False


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A row: number of its first line, start of the next row (byte, line), and its fields or an error."""

    number: int
    following: tuple[int, int]
    cells: list[str] | UserError


class _DecodedLines:
    """Decoded lines for ``csv``, with the current position; reading continues after an invalid line."""

    def __init__(self, lines: Iterator[FileLine], path: str) -> None:
        self._lines, self._path = lines, path
        self.following = (0, 1)
        self.first: int | None = None  # first line of the current row

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.following = line.following
        self.first = self.first or line.number
        return _line_text(line, self._path)


_CSV_PROBLEMS = {
    "unexpected end of data": "a quoted field that never ends",
    "new-line character seen in unquoted field": "a carriage return inside the line; end lines with LF",
}
"""Clearer words for errors of the module `csv`."""


def read_rows(
    lines: Iterator[FileLine],
    path: str,
    *,
    delimiter: str,
    width: int | None = None,
    all_quoted: bool | None = None,
) -> Iterator[CsvRow]:
    """Yield the rows of a file, skipping empty lines.

    `width`: number of columns; by default that of the first row.
    `all_quoted`: whether all fields of a file with TABs are quoted; by default whether those of the first row
    are.
    """
    csv.field_size_limit(LINE_LIMIT)
    if delimiter == TAB:
        yield from _tab_rows(lines, path, width, all_quoted)
        return
    source = _DecodedLines(lines, path)
    reader = csv.reader(source, delimiter=delimiter, strict=True)
    while True:
        source.first = None
        cells: list[str] | UserError
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            reason = str(problem).partition(" - ")[0]
            message = _CSV_PROBLEMS.get(reason, reason)
            n_lines = source.following[1] - (source.first or 1)
            if n_lines > 1:
                message += f", so that {pluralize(n_lines, 'line')} are not read"
            cells = UserError("D326", path=path, line=source.first, problem=message)
        except UserError as error:
            cells = error
        if cells:
            yield CsvRow(source.first or 1, source.following, cells)
        if isinstance(cells, UserError) and is_no_text(cells):
            return


_LINES_AHEAD = 1_000


def _tab_rows(
    lines: Iterator[FileLine], path: str, width: int | None, all_quoted: bool | None
) -> Iterator[CsvRow]:
    """Yield the rows of a file with TABs.

    A quote is an ordinary character in most such files, but others quote fields as in CSV. Fields count as
    quoted if the line is valid CSV by itself, or together with the next ones if these are not rows. If all
    fields of the first row are quoted, those of the others are.
    """
    waiting: deque[FileLine] = deque()
    while (line := waiting.popleft() if waiting else next(lines, None)) is not None:
        following = line.following
        try:
            text = _tab_text(line, path)
        except UserError as error:
            yield CsvRow(line.number, following, error)
            if is_no_text(error):
                return
            continue
        if not text:
            continue
        cells = text.split(TAB)
        if all_quoted is None:
            all_quoted = _are_quoted(cells)
        if '"' in text and any(cell.startswith('"') for cell in cells):
            # Read the line once more by the rules of CSV, in which a quoted cell may contain line ends: then
            # `ahead` has the lines that were read with it. Take them as one row only if the number of cells
            # is right, unless these lines are just as well rows with ordinary quotes.
            ahead: list[FileLine] = []
            joined = _quoted_cells(line, _LookAhead(lines, waiting, ahead), path)
            n_columns = width or len(cells)
            is_row = joined and (not ahead or not width or len(joined) == width)
            ahead_are_rows = (
                ahead and is_row and all(_tab_text(item, path).count(TAB) + 1 == n_columns for item in ahead)
            )
            if joined and is_row and (all_quoted or not (ahead_are_rows and len(cells) == n_columns)):
                cells = joined
                for _ in ahead:
                    waiting.popleft()
                if ahead:
                    following = ahead[-1].following
        width = width or len(cells)
        yield CsvRow(line.number, following, cells)


def _are_quoted(cells: Sequence[str]) -> bool:
    return all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)


def _tab_text(line: FileLine, path: str) -> str:
    return _line_text(line, path).rstrip("\r\n")


def _line_text(line: FileLine, path: str) -> str:
    """Return a line of a file, without a byte order mark."""
    text = decode_line(line, path)
    return text.removeprefix("\ufeff") if line.number == 1 else text


class _LookAhead:
    """Reads some lines ahead, and keeps them in `waiting`; `taken` are those that were read."""

    def __init__(self, lines: Iterator[FileLine], waiting: deque[FileLine], taken: list[FileLine]) -> None:
        self._lines, self._waiting, self._taken = lines, waiting, taken

    def __iter__(self) -> Iterator[FileLine]:
        while len(self._taken) < _LINES_AHEAD:
            if len(self._taken) == len(self._waiting):
                line = next(self._lines, None)
                if line is None:
                    return
                self._waiting.append(line)
            self._taken.append(self._waiting[len(self._taken)])
            yield self._taken[-1]


def _quoted_cells(line: FileLine, ahead: _LookAhead, path: str) -> list[str] | None:
    """Return the cells of a row by the rules of CSV, or None if it does not follow them."""
    texts = (_line_text(item, path) for item in chain([line], ahead))  # cells keep the line ends of the file
    try:
        return next(csv.reader(texts, delimiter=TAB, strict=True))
    except (csv.Error, UserError):
        return None


def read_header(lines: Iterator[FileLine], path: str, *, field: str) -> tuple[CsvHeader, Iterator[FileLine]]:
    """Read the first row, with the first of `DELIMITERS` that gives a column called `field`.

    If a line such as ``sep=;`` stands before it, as in files for Excel, that delimiter is used.

    Raises D302 if there is no row, D326 or D303 to D305 for a first row that cannot be read, D327 if no
    column has that name.

    Returns the header and the lines after it.
    """
    delimiters = (TAB,) if without_compression(path).lower().endswith(".tsv") else DELIMITERS
    named, lines = _delimiter_line(lines, path)
    delimiters = (named,) if named else delimiters
    read_so_far: list[FileLine] = []

    def from_start() -> Iterator[FileLine]:
        yield from list(read_so_far)
        for line in lines:
            read_so_far.append(line)
            yield line

    headers: list[CsvHeader] = []
    failure: UserError | None = None
    for delimiter in delimiters:
        row = next(read_rows(from_start(), path, delimiter=delimiter), None)
        if row is None:
            raise UserError("D302", path=path)
        if isinstance(row.cells, UserError):
            failure = failure or row.cells
            continue
        first = next((_tab_text(line, path) for line in read_so_far if line.number == row.number), "")
        all_quoted = delimiter == TAB and _are_quoted(first.split(TAB))
        header = CsvHeader(tuple(cell.strip() for cell in row.cells), delimiter, all_quoted)
        if field in _unique_names(header.columns):
            unused = [line for line in read_so_far if line.number >= row.following[1]]
            return header, chain(unused, lines)
        headers.append(header)
    # every first line is a row with TABs
    if failure and all(len(header.columns) == 1 for header in headers):
        raise failure
    widest = max(headers, key=lambda header: len(header.columns))
    raise missing_column_error(path, field, tuple(_unique_names(widest.columns)))


_DELIMITER_LINE = re.compile(r'"?sep=([^\w\s"]|\t)"?', re.IGNORECASE)


def _delimiter_line(lines: Iterator[FileLine], path: str) -> tuple[str, Iterator[FileLine]]:
    """Return the delimiter that the first line names for Excel, or "", and the lines without that line."""
    first = next(lines, None)
    if first is None:
        return "", lines
    with suppress(UserError):  # whoever reads the line raises it
        if match := _DELIMITER_LINE.fullmatch(_tab_text(first, path)):
            return match[1], lines
    return "", chain([first], lines)


def missing_column_error(path: str, field: str, columns: tuple[str, ...]) -> UserError:
    """Return the error for a table without the required column."""
    shown = ", ".join(repr(column[:40]) for column in columns[:20]) + (" ..." if len(columns) > 20 else "")
    return UserError("D327", path=path, field=field, columns=shown or "none")


def csv_documents(
    lines: Iterator[FileLine], path: str, header: CsvHeader, *, field: str
) -> Iterator[Document | UnreadableDocument]:
    """Yield one document per row, also if its text is empty, and report invalid rows by line.

    In a table of decisions written by `CsvFormat`, the escaping of formulas is undone.

    Raises D331 if several columns are called `field`.
    """
    names = _unique_names(header.columns)
    same = [name for name, column in zip(names, header.columns, strict=True) if column == field]
    if len(same) > 1:
        problem = f"{len(same)} columns are called {field!r} (rename one, or read the second as {same[1]!r})"
        raise UserError("D331", path=path, problem=problem)
    index, is_escaped = names.index(field), is_decision_table(header.columns)
    for number, cells in table_rows(lines, path, header):
        if isinstance(cells, UserError):
            yield UnreadableDocument(path, cells)
            continue
        if is_escaped:
            cells = [unescape_formula(cell) for cell in cells]
        meta = dict(zip(names, cells, strict=True))
        del meta[field]
        name = document_id(meta.get("id"), path, number)
        yield Document(name, cells[index], path, number, "csv", meta=meta)


def _unique_names(columns: Sequence[str]) -> list[str]:
    """Return the columns with a number on each that has the name of an earlier one: ``note``, ``note.2``."""
    names: list[str] = []
    for column in columns:
        taken, name, n = {*columns, *names}, column, 1
        while name in (taken if n > 1 else names):
            n += 1
            name = f"{column}.{n}"
        names.append(name)
    return names


def table_rows(
    lines: Iterator[FileLine], path: str, header: CsvHeader
) -> Iterator[tuple[int, list[str] | UserError]]:
    """Yield the number of the first line of each row, and its cells, one per column, or an error."""
    width = len(header.columns)
    for row in read_rows(lines, path, delimiter=header.delimiter, width=width, all_quoted=header.all_quoted):
        cells = row.cells
        if not isinstance(cells, UserError) and len(cells) != width:
            n = len(cells)
            problem = f"{n} {'field' if n == 1 else 'fields'}, but the first row has {width}"
            cells = UserError("D326", path=path, line=row.number, problem=problem)
        yield row.number, cells


def csv_cuts(file: IO[bytes], path: str, size: int, *, field: str) -> list[tuple[int, int]]:
    """Return the starts of parts of about `size` bytes, as (byte, line number), at starts of rows."""
    cuts = [(0, 1)]
    try:
        header, lines = read_header(read_lines(file), path, field=field)
    except UserError:
        return cuts
    width = len(header.columns)
    for row in read_rows(lines, path, delimiter=header.delimiter, width=width, all_quoted=header.all_quoted):
        if row.following[0] - cuts[-1][0] >= size:
            cuts.append(row.following)
    return cuts


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """A header and one row per decision; ``flagged`` is ``true`` or ``false``."""

    text: bool = True  # whether the text around a decision is included
    # whether cells that a spreadsheet would evaluate are escaped (see `escape_formula`)
    safe_cells: bool = False
    name: str = "csv"
    suffix: str = ".csv"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the rows of some documents."""
        return self._encode(row for result in results for row in decision_rows(result, text=self.text))

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the header and the chunks returned by `encode`."""
        write(self._encode([decision_columns(text=self.text)]))
        for chunk in chunks:
            write(chunk)

    def _encode(self, rows: Iterable[Sequence[Any]]) -> bytes:
        sink = io.StringIO(newline="")
        table = csv.writer(sink, delimiter="\t" if self.name == "tsv" else ",", lineterminator="\n")
        for row in rows:
            table.writerow([self._cell(cell) for cell in row])
        return sink.getvalue().encode(errors="backslashreplace")

    def _cell(self, cell: Any) -> Any:
        if isinstance(cell, bool):
            return str(cell).lower()
        return escape_formula(cell) if self.safe_cells and isinstance(cell, str) else cell


_ROWS_READ = 512


def pyarrow() -> Any:
    """Import pyarrow, which is an optional dependency. Raises D328 if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError("D328") from None
    return pyarrow


def parquet_documents(
    source: IO[bytes], path: str, *, field: str, limit: int = FILE_LIMIT
) -> Iterator[Document | UnreadableDocument]:
    """Yield one document per row; a null is an empty text.

    Text columns are read dictionary-encoded, so that a repeated value is in memory once.

    Raises D327 without the column, D328 without pyarrow, D329 for a file that is not Parquet, D331 for a
    column that is not text, D872 for a row group that needs more than `limit` bytes.
    """
    arrow = pyarrow()
    problems = (arrow.ArrowException, OSError, ValueError, MemoryError)
    try:
        table = arrow.parquet.ParquetFile(source)
        columns, texts = _columns_to_read(arrow, table.schema_arrow, path, field)
        for group in range(table.metadata.num_row_groups):
            if table.metadata.row_group(group).total_byte_size > limit:
                raise too_large_error(path, limit)
        source.seek(0)
        table = arrow.parquet.ParquetFile(source, read_dictionary=texts)
        number = 0
        for number, row in enumerate(_parquet_rows(table, columns), 1):
            place = find_field(row, field)
            text = (take_field(row, place) if place else None) or ""  # a structure may be null
            if invalid_text := text_problem(text):
                error = UserError("D329", path=path, problem=f"row {number:,} has {invalid_text}")
                yield UnreadableDocument(path, error)
                continue
            meta = {key: _json_value(value) for key, value in row.items()}
            name = document_id(meta.get("id"), path, number)
            yield Document(name, text, path, number, "parquet", meta=meta, source=place)
        if number != table.metadata.num_rows:
            problem = f"it should have {table.metadata.num_rows:,} rows, and {number:,} can be read"
            yield UnreadableDocument(path, UserError("D329", path=path, problem=problem))
    except UserError:
        raise
    except problems as problem:
        text = on_one_line(problem)[:200] or type(problem).__name__
        raise UserError("D329", path=path, problem=text) from None


def _columns_to_read(arrow: Any, schema: Any, path: str, field: str) -> tuple[list[str], list[str]]:
    """Return the names of the columns that JSON can hold, and those of text.

    Raises D327 without the column of the text, D331 if it is not text, or several columns have its name.
    """
    types: dict[str, list[Any]] = {}  # columns may have the same name
    for column in schema:
        types.setdefault(column.name, []).append(column.type)
    nested = {} if field in types else dict(_nested_columns(arrow, schema))
    if field not in types and field not in nested:
        raise missing_column_error(path, field, tuple(nested))
    kinds = types.get(field) or [nested[field]]
    if len(kinds) > 1:
        raise UserError("D331", path=path, problem=f"{len(kinds)} columns are called {field!r} (rename one)")
    if not _is_text(arrow, kinds[0]):
        raise UserError("D331", path=path, problem=f"the column {field!r} holds {kinds[0]}, not text")
    columns = [name for name in types if all(_fits_json(arrow, kind) for kind in types[name])]
    texts = [name for name in columns if all(_is_text(arrow, kind) for kind in types[name])]
    if nested:
        texts.append(field)
        if not any(field.startswith(f"{name}.") for name in columns):
            columns.append(field)
    return columns, texts


def _parquet_rows(table: Any, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows with some columns; of several columns with one name, the later ones get a number."""
    for group in range(table.metadata.num_row_groups):
        # pyarrow cannot read a text in a structure if a batch lies in two row groups with dictionaries
        for batch in table.iter_batches(batch_size=_ROWS_READ, row_groups=[group], columns=columns):
            names = _unique_names(batch.schema.names)
            for row in range(len(batch)):
                yield {name: batch.column(i)[row].as_py() for i, name in enumerate(names)}


def _nested_columns(arrow: Any, columns: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the name and type of each column; a field ``b`` of a structure ``a`` is called ``a.b``."""
    for column in columns:
        name = before + column.name
        if arrow.types.is_struct(column.type):
            inner = [column.type.field(i) for i in range(column.type.num_fields)]
            yield from _nested_columns(arrow, inner, f"{name}.")
        else:
            yield name, column.type


def make_seekable(source: IO[bytes], path: str, *, limit: int = FILE_LIMIT) -> IO[bytes]:
    """Return a seekable file, as Parquet requires; a compressed one is read into memory.

    Raises D302 for an empty file, D872 for more than `limit` bytes.
    """
    if isinstance(source, BufferedReader) and source.seekable():
        return source
    return BytesIO(read_within(source, path, limit))


def _is_text(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _fits_json(arrow: Any, kind: Any) -> bool:
    """Return True if values of this type can be written as JSON: not bytes, nor anything that holds them."""
    types = arrow.types
    if kind.num_fields:  # a list, a map or a structure
        return all(_fits_json(arrow, kind.field(i).type) for i in range(kind.num_fields))
    return bool(
        _is_text(arrow, kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_temporal(kind)
    )


def _json_value(value: Any) -> Any:
    """Convert a value of a row for JSON: dates and decimals to text, NaN and infinity to null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


_ROWS_WRITTEN = 100_000  # rows in memory, and per row group


@dataclass(frozen=True, slots=True)
class ParquetFormat:
    """A Parquet table with one row per decision."""

    text: bool = True
    name: str = "parquet"
    suffix: str = ".parquet"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the rows of some documents, as an Arrow stream."""
        arrow = pyarrow()
        schema = self._schema(arrow)
        rows = [row for result in results for row in decision_rows(result, text=self.text)]
        arrays = [
            arrow.array(list(map(escape_unencodable, values)), field.type)
            for values, field in zip(
                zip(*rows, strict=True) if rows else [()] * len(schema), schema, strict=True
            )
        ]
        sink = io.BytesIO()
        with arrow.ipc.new_stream(sink, schema) as stream:
            stream.write_batch(arrow.record_batch(arrays, schema=schema))
        return sink.getvalue()

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the rows of all `chunks` in row groups."""
        arrow = pyarrow()
        schema = self._schema(arrow)
        with arrow.parquet.ParquetWriter(_Sink(write), schema) as table:
            batches: list[Any] = []
            for chunk in chunks:
                batches.extend(arrow.ipc.open_stream(chunk))
                if sum(len(batch) for batch in batches) >= _ROWS_WRITTEN:
                    table.write_table(arrow.Table.from_batches(batches, schema))
                    batches = []
            table.write_table(arrow.Table.from_batches(batches, schema))

    def _schema(self, arrow: Any) -> Any:
        types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
        return arrow.schema(
            [(name, types[DECISION_COLUMNS[name]]) for name in decision_columns(text=self.text)]
        )


class _Sink(io.RawIOBase):
    """A write-only file that passes its data to a function."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write, self._written = write, 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: Any) -> int:
        data = bytes(data)
        self._write(data)
        self._written += len(data)
        return len(data)
