"""Stream inputs as documents; errors are yielded as `UnreadableDocument`, never raised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import IO

from disambig.errors import UserError
from disambig.files import READ_ERRORS, open_bytes, read_error, too_large_error
from disambig.formats.conllu import conllu_documents
from disambig.formats.docbin import docbin_documents
from disambig.formats.documents import (
    FILE_LIMIT,
    LINE_LIMIT,
    Document,
    FileLine,
    Input,
    UnreadableDocument,
    decode_line,
    file_document,
    line_documents,
    part_documents,
    read_lines,
    text_parts,
)
from disambig.formats.jsonl import json_documents
from disambig.formats.tables import csv_documents, make_seekable, parquet_documents, read_header

FIELD = "text"


def read(
    source: Input,
    *,
    field: str = FIELD,
    start: int = 0,
    end: int | None = None,
    line: int = 1,
    limit: int = FILE_LIMIT,
) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of one file that begin between byte `start` and byte `end`.

    Parameters
    ----------
    field : str
        Key of the text in JSONL, or its column in CSV and Parquet.
    start, end, line : int
        A range of whole documents in an uncompressed file, and the number of its first line.
    limit : int
        Maximum number of bytes in memory for a file that cannot be streamed; a larger file is an error. Plain
        text, lines, JSONL, CSV and CoNLL-U are streamed.

    Yields
    ------
    Document or UnreadableDocument
        A file that is empty, missing or not text yields one `UnreadableDocument`. So does an invalid line,
        after which reading continues.
    """
    path = source.shown
    try:
        with open_bytes(source.path) as handle:
            if source.kind == "file":
                yield from _text(source, handle, limit, start, end, line)
                return
            if source.kind == "spacy":
                yield from docbin_documents(handle, path, limit=limit)
                return
            if source.kind == "parquet":
                yield from parquet_documents(
                    make_seekable(handle, path, limit=limit), path, field=field, limit=limit
                )
                return
            if source.kind == "csv":
                yield from _csv(handle, path, field, start, end, line)
                return
            if start:
                handle.seek(start)
            lines = read_lines(handle, start=start, end=end, number=line)
            first = next(lines, None)
            if first is None:
                raise UserError("D302", path=path)
            lines = chain([first], lines)
            if source.kind == "json":
                yield from json_documents(lines, path, field=field)
            elif source.kind == "conllu":
                yield from conllu_documents(lines, path)
            else:
                yield from line_documents(lines, path)
    except UserError as error:
        yield UnreadableDocument(path, error)
    except READ_ERRORS as problem:
        yield UnreadableDocument(path, read_error(path, problem))


def _text(
    source: Input, handle: IO[bytes], limit: int, start: int, end: int | None, line: int
) -> Iterator[Document]:
    """Yield a file as one document, or a large file of plain text in parts.

    All parts are checked first, so that nothing is written for a file that is not a text. Standard input
    cannot be read twice, and markup may extend over any distance: these are never cut.
    """
    path = source.shown
    if not source.may_be_cut:
        yield file_document(handle, path, limit=limit)
        return
    longest = min(LINE_LIMIT, limit)

    def parts_of(stream: IO[bytes]) -> Iterator[FileLine]:
        if start:
            stream.seek(start)
        return text_parts(stream, start=start, end=end, number=line, longest=longest)

    parts = parts_of(handle)
    first, second = next(parts, FileLine(1, 0, b"")), next(parts, None)
    if first.data is not None and second is None and not start and end is None:
        yield file_document(BytesIO(first.data), path, limit=limit)
        return
    for part in chain([first], [] if second is None else [second], parts):
        if part.data is None and longest < LINE_LIMIT:
            raise too_large_error(path, limit)
        decode_line(part, path)
    with open_bytes(source.path) as again:
        yield from part_documents(parts_of(again), path)


def _csv(
    handle: IO[bytes], path: str, field: str, start: int, end: int | None, line: int
) -> Iterator[Document | UnreadableDocument]:
    lines = read_lines(handle, end=None if start else end)
    header, lines = read_header(lines, path, field=field)
    if start:
        handle.seek(start)
        lines = read_lines(handle, start=start, end=end, number=line)
    yield from csv_documents(lines, path, header, field=field)


def read_all(
    sources: Iterable[Input], *, field: str = FIELD, limit: int = FILE_LIMIT
) -> Iterator[Document | UnreadableDocument]:
    """Yield the documents of all `sources` in order; `limit` as for `read`."""
    for source in sources:
        yield from read(source, field=field, limit=limit)
