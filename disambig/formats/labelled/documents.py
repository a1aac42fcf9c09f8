"""Whole documents with a label each: a folder a label, or the rows of a table."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from disambig.errors import UserError
from disambig.files.opening import read_error, without_compression
from disambig.formats.lines import read_lines
from disambig.formats.tables.csv_rows import TAB, cells_of, read_header, read_rows

TEXT, LABEL, DOCUMENT, WORD = "text", "label", "document", "word"
Whole = tuple[str, str, str, str]
"""Text, label, document and where it stands."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; `word` is None where the table has no such column."""

    text: str
    label: str
    document: str
    where: str
    word: str | None


def is_table(path: str, text: str) -> bool:
    """Tell whether a file is a table of labelled documents: a .csv, or a .tsv that names its columns."""
    name = without_compression(path)
    first = [cell.strip().strip('"') for cell in text.partition("\n")[0].split(TAB)]
    return name.endswith(".csv") or (name.endswith(".tsv") and TEXT in first and LABEL in first)


def table_documents(path: str, text: str) -> Iterator[Row]:
    """Yield the rows, of columns ``text``, ``label`` and, if there are such, ``document`` and ``word``.

    Raises
    ------
    UserError
        D471 where a column is missing, D460 where it stands twice, D302 and D326 for what is no table.
    """
    lines = read_lines(io.BytesIO(text.encode("utf8", "surrogatepass")))
    try:
        header, lines = read_header(lines, path, field=TEXT)
    except UserError as error:
        if error.code != "D327":
            raise
        raise UserError("D471", **error.values) from None
    if LABEL not in header.columns:
        shown = ", ".join(repr(column[:40]) for column in header.columns[:20])
        raise UserError("D471", path=path, field=LABEL, columns=shown)
    for column in (TEXT, LABEL, DOCUMENT, WORD):
        if header.columns.count(column) > 1:
            raise UserError("D460", where=path, problem=f"names the column {column!r} twice: leave one")
    for row in read_rows(lines, path, delimiter=header.delimiter):
        cells = cells_of(row, header, path)
        if isinstance(cells, UserError):
            raise cells
        said = dict(zip(header.columns, cells, strict=True))
        where = f"{path}, line {row.number}"
        yield Row(said[TEXT], said[LABEL], said.get(DOCUMENT, ""), where, said.get(WORD))


def folder_documents(path: str, read: Callable[[str], str]) -> Iterator[Whole]:
    """Yield each file under each folder of `path`: the folder's name is its label.

    Hidden files and folders are left out, and files beside the folders.

    Raises
    ------
    UserError
        D468 where there is no folder, D461 for one without a document, D308 for what cannot be read or is
        no regular file; whatever `read` raises.
    """
    try:
        with os.scandir(path) as entries:
            labels = sorted(entry.name for entry in entries if entry.is_dir() and entry.name[0] != ".")
        if not labels:
            raise UserError("D468", path=path)
        for label in labels:
            files = list(_files(os.path.join(path, label)))
            if not files:
                raise UserError("D461", path=os.path.join(path, label), hint="")
            for file in files:
                if os.path.exists(file) and not os.path.isfile(file):  # a pipe would be waited for
                    raise UserError("D308", path=file, problem="no regular file")
                yield read(file), label, file, file
    except OSError as problem:
        raise read_error(path, problem) from problem


def _files(folder: str) -> Iterator[str]:
    def fail(problem: OSError) -> None:
        raise problem

    for inside, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        yield from (os.path.join(inside, name) for name in sorted(files) if name[0] != ".")
