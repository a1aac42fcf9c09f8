"""Decisions as Parquet: a row a decision (see `decision_rows`). Needs pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from disambig.formats.documents import Kind, encodable
from disambig.formats.results import Annotated
from disambig.formats.tables.decision_rows import COLUMNS, columns, rows
from disambig.formats.tables.parquet_rows import pyarrow

_ROWS = 100_000  # in memory, and in a row group


@dataclass(frozen=True, slots=True)
class ParquetFormat:
    """A table with a row a decision."""

    text: bool = True
    name: str = "parquet"
    suffix: str = ".parquet"
    mirrors: tuple[Kind, ...] = ()

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return the rows of some documents, as an Arrow stream."""
        arrow = pyarrow()
        schema = self._schema(arrow)
        found = [row for result in results for row in rows(result, text=self.text)]
        arrays = [
            arrow.array(list(map(encodable, values)), field.type)
            for values, field in zip(
                zip(*found, strict=True) if found else [()] * len(schema), schema, strict=True
            )
        ]
        sink = io.BytesIO()
        with arrow.ipc.new_stream(sink, schema) as stream:
            stream.write_batch(arrow.record_batch(arrays, schema=schema))
        return sink.getvalue()

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the rows of all `chunks`, some at a time."""
        arrow = pyarrow()
        schema = self._schema(arrow)
        with arrow.parquet.ParquetWriter(_Sink(write), schema) as table:
            held: list[Any] = []
            for chunk in chunks:
                held.extend(arrow.ipc.open_stream(chunk))
                if sum(len(batch) for batch in held) >= _ROWS:
                    table.write_table(arrow.Table.from_batches(held, schema))
                    held = []
            table.write_table(arrow.Table.from_batches(held, schema))

    def _schema(self, arrow: Any) -> Any:
        types = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
        return arrow.schema([(name, types[COLUMNS[name]]) for name in columns(text=self.text)])


class _Sink(io.RawIOBase):
    """A file that can only be written, by a function."""

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
