"""Decisions as CSV or TSV: a row a decision (see `decision_rows`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.formats.documents import Kind
from disambig.formats.results import Annotated
from disambig.formats.tables.cells import harmless
from disambig.formats.tables.decision_rows import columns, rows


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """A header and a row a decision; numbers as they are, ``true`` or ``false`` for flagged.

    Attributes
    ----------
    text : bool
        Whether the text around a decision is there.
    safe_cells : bool
        Whether text that a spreadsheet would take for a formula is written as text (see `cells`).
    """

    text: bool = True
    safe_cells: bool = False
    name: str = "csv"
    suffix: str = ".csv"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the rows of some documents."""
        return self._encode(row for result in results for row in rows(result, text=self.text))

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the header, and what `encode` returned."""
        write(self._encode([columns(text=self.text)]))
        for chunk in chunks:
            write(chunk)

    def _encode(self, found: Iterable[Sequence[Any]]) -> bytes:
        sink = io.StringIO(newline="")
        table = csv.writer(sink, delimiter="\t" if self.name == "tsv" else ",", lineterminator="\n")
        for row in found:
            table.writerow([self._cell(cell) for cell in row])
        return sink.getvalue().encode(errors="backslashreplace")

    def _cell(self, cell: Any) -> Any:
        if isinstance(cell, bool):
            return str(cell).lower()
        return harmless(cell) if self.safe_cells and isinstance(cell, str) else cell
