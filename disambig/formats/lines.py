"""Lines of a file as documents, one at a time; also the lines that JSONL is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from disambig.errors import UserError
from disambig.files.opening import decode
from disambig.formats.documents import Bad, Document

LINE_LIMIT = 50_000_000
_SKIP = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line's number, its byte offset in the (unpacked) file, its bytes; None if it is too long."""

    number: int
    offset: int
    data: bytes | None


def read_lines(
    source: IO[bytes], *, start: int = 0, end: int | None = None, number: int = 1
) -> Iterator[Line]:
    """Yield the lines of `source`, which stands at byte `start`, until byte `end`."""
    while end is None or start < end:
        data = source.readline(LINE_LIMIT + 1)
        if not data:
            return
        offset, start = start, start + len(data)
        if len(data) > LINE_LIMIT:
            start += _to_line_end(source, data)
            yield Line(number, offset, None)
        else:
            yield Line(number, offset, data)
        number += 1


def _to_line_end(source: IO[bytes], data: bytes) -> int:
    """Pass over the rest of a line without holding it; return how many bytes that were."""
    skipped = 0
    while data and not data.endswith(b"\n"):
        data = source.readline(_SKIP)
        skipped += len(data)
    return skipped


def line_documents(lines: Iterator[Line], path: str) -> Iterator[Document | Bad]:
    """Yield one document a line, blank lines too; a NUL byte ends the file: it is binary."""
    for line in lines:
        try:
            text = text_of(line, path)
        except UserError as error:
            yield Bad(path, error)
            if error.code == "D303":
                return
            continue
        body = text.removesuffix("\n")
        if body.endswith("\r") and text.endswith("\n"):
            body = body[:-1]
        yield Document(f"{path}:{line.number}", body, path, line.number, "line", text[len(body) :])


def too_long(line: Line, path: str) -> UserError:
    """Return the message for a line without its bytes."""
    return UserError("D305", path=path, line=line.number, limit=LINE_LIMIT)


def text_of(line: Line, path: str) -> str:
    """Return a line as text, its line end included.

    Raises
    ------
    UserError
        D303, D304, or D305 for a line that is too long.
    """
    if line.data is None:
        raise too_long(line, path)
    return decode(line.data, path, start=line.offset)
