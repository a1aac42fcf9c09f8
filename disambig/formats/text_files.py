"""A whole file as one document."""

from __future__ import annotations

from typing import IO

from disambig.errors import UserError
from disambig.files.memory import read_within
from disambig.files.opening import decode
from disambig.formats.documents import Document
from disambig.formats.lines import LINE_LIMIT

FILE_LIMIT = 1 << 30


def file_document(source: IO[bytes], path: str, *, limit: int = FILE_LIMIT) -> Document:
    """Read one document.

    Raises
    ------
    UserError
        D302 to D305 for what is no text, D872 for a file of more than `limit` bytes.
    """
    data = read_within(source, path, limit)
    if not data:
        raise UserError("D302", path=path)
    text = decode(data, path)
    if len(data) > LINE_LIMIT:
        _check_lines(data, path)
    return Document(path, text, path)


def _check_lines(data: bytes, path: str) -> None:
    start, number = 0, 1
    while len(data) - start > LINE_LIMIT:
        end = data.find(b"\n", start, start + LINE_LIMIT + 1)
        if end < 0:
            raise UserError("D305", path=path, line=number, limit=LINE_LIMIT)
        start, number = end + 1, number + 1
