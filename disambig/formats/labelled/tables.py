"""Labelled examples in columns: tables of texts and labels, and lines with a marked place.

Two or three columns (.tsv)
    the text with the place marked ``[[it]]`` (``[[]]`` for an empty place), the label, and the document.
Tables (.csv, or .tsv whose first line names its columns)
    of columns ``text``, ``label`` and, if there is one, ``document``; the label is that of the whole text, or
    of the place marked in it. With a column ``word`` it is that of a place, marked as above, and the column
    names its group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from disambig.formats.labelled.contract import Source
from disambig.formats.labelled.documents import Row, is_table, table_documents
from disambig.formats.labelled.example import Labelled
from disambig.formats.labelled.marks import unmarked
from disambig.formats.labelled.whole import refused, whole


@dataclass(frozen=True, slots=True)
class MarkedTables:
    """Rows of a table, or lines of two or three columns; also files whose names no reader knows."""

    suffixes = (".csv", ".tsv")

    def read(self, source: Source) -> Iterator[Labelled]:
        """Yield the examples.

        Raises
        ------
        UserError
            D460 for a line that is no example, D471 for a table without its columns; those of `Source.text`.
        """
        if is_table(source.path, source.text):
            yield from map(_of_row, table_documents(source.path, source.text))
            return
        for number, line in enumerate(source.text.split("\n"), 1):
            if line.strip():
                yield _of_columns(line, f"{source.path}, line {number}")


def _of_row(row: Row) -> Labelled:
    """Return the example in a row: a whole text, or where the table has words a marked place."""
    if row.word is None:
        return whole(row.text, row.label, row.document or row.text, row.where)
    text, start, end = unmarked(row.text, row.where)
    return Labelled(text, start, end, row.label.strip(), row.document or text, row.where, row.word.strip())


def _of_columns(line: str, where: str) -> Labelled:
    columns = line.rstrip("\r").split("\t")
    if len(columns) not in (2, 3):
        n = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
        problem = f"{n}, not two or three (text, label, document) with TABs between"
        raise refused(where, problem)
    text, start, end = unmarked(columns[0], where)
    document = "".join(columns[2:]) or text
    return Labelled(text, start, end, columns[1].strip(), document, where)
