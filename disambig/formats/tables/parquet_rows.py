"""Parquet: rows as documents, one column their text; other columns are kept where they are plain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.memory import read_within, too_large
from disambig.formats.documents import Bad, Document, id_of, unfit
from disambig.formats.tables.csv_rows import no_column
from disambig.formats.text_files import FILE_LIMIT

_ROWS = 512


def pyarrow() -> Any:
    """Import pyarrow, which is an extra.

    Raises
    ------
    UserError
        D328 where it is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UserError("D328") from None
    return pyarrow


def parquet_documents(
    source: IO[bytes], path: str, *, field: str, limit: int = FILE_LIMIT
) -> Iterator[Document | Bad]:
    """Yield one document a row; rows with an empty text are passed over.

    Columns of text are read as their different values, each held once however many rows have it.

    Raises
    ------
    UserError
        D327 without the column, D328 without pyarrow, D329 for what is no Parquet, D331 for a column
        that holds no text, D872 for a group of rows that takes more than `limit` bytes.
    """
    arrow = pyarrow()
    problems = (arrow.ArrowException, OSError, ValueError, MemoryError)
    try:
        table = arrow.parquet.ParquetFile(source)
        schema = table.schema_arrow
        names = tuple(schema.names)
        if field not in names:
            raise no_column(path, field, names)
        if names.count(field) > 1 or not _is_text(arrow, schema.field(field).type):
            kind = f"{names.count(field)} columns" if names.count(field) > 1 else schema.field(field).type
            raise UserError("D331", path=path, field=field, kind=kind)
        wanted = [column.name for column in schema if _is_plain(arrow, column.type)]
        _check_sizes(table.metadata, path, limit)
        texts = [name for name in wanted if _is_text(arrow, schema.field(name).type)]
        source.seek(0)
        table = arrow.parquet.ParquetFile(source, read_dictionary=texts)
        number = 0
        for batch in table.iter_batches(batch_size=_ROWS, columns=wanted):
            for at in range(len(batch)):
                row = {name: batch.column(i)[at].as_py() for i, name in enumerate(batch.schema.names)}
                number += 1
                text = row.pop(field)
                if not text or text.isspace():
                    continue
                unfitness = unfit(text)
                if unfitness:
                    yield Bad(path, UserError("D329", path=path, problem=f"row {number:,} has {unfitness}"))
                    continue
                meta = {key: _plain(value) for key, value in row.items()}
                yield Document(id_of(meta.get("id"), path, number), text, path, number, "parquet", meta=meta)
    except UserError:
        raise
    except problems as problem:
        text = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise UserError("D329", path=path, problem=text) from None


def _check_sizes(metadata: Any, path: str, limit: int) -> None:
    """Refuse a file whose columns, unpacked, take too much in one group of rows.

    What a damaged file says of its single columns is not asked for: pyarrow ends the process over it.
    """
    for group in range(metadata.num_row_groups):
        if metadata.row_group(group).total_byte_size > limit:
            raise too_large(path, limit)


def seekable(source: IO[bytes], path: str, *, limit: int = FILE_LIMIT) -> IO[bytes]:
    """Return a file in which Parquet can be read from its end: one that is packed is held in memory.

    Raises
    ------
    UserError
        D302 for an empty one, D872 for more than `limit` bytes.
    """
    if isinstance(source, BufferedReader) and source.seekable():
        return source
    data = read_within(source, path, limit)
    if not data:
        raise UserError("D302", path=path)
    return BytesIO(data)


def _is_text(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_plain(arrow: Any, kind: Any) -> bool:
    """Tell whether values of this type can stand in JSON: no bytes, lists or structures."""
    types = arrow.types
    return bool(
        _is_text(arrow, kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_temporal(kind)
    )


def _plain(value: Any) -> Any:
    """Return a value of a row as JSON has it; dates and decimals as text, what is no number as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
