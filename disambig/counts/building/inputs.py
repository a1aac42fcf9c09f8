"""Text to be counted: files, directories and standard input as a stream of paragraphs. No n-grams here."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.opening import READ_ERRORS, STDIN, decode, read_error
from disambig.files.zstd import unpack_zstd

ENDINGS = (".txt", ".gz", ".xz", ".zst")
"""What a file in a directory must end in to be read; a named file may be called anything."""
_BLOCK = 1 << 20
LONGEST = 1 << 20
"""Bytes of a line that are kept together: a longer one is cut, at the end of a sentence if it has one."""
_SENTENCE_END = re.compile(rb"[.!?]['\")\]]*\s")
_BOM = b"\xef\xbb\xbf"


class TextFiles:
    """The paragraphs (lines) of some files, to be read once.

    Parameters
    ----------
    paths : sequence of str
        Files, directories (searched recursively for `ENDINGS`; hidden names are left out, and empty
        files), and ``-`` for standard input. Names in ``.gz``, ``.xz`` and ``.zst`` are unpacked.

    Attributes
    ----------
    paths : list of str
        The files.
    total, done : int
        Bytes to read, and those read so far, on disk (standard input counts nothing).
    sources : list of dict
        Name and size of each file, for the header of a table.

    Raises
    ------
    UserError
        D300 (missing), D301 (a directory without text), D302 (empty); while reading D303 (binary),
        D304 (not UTF-8; the offset is that in the unpacked text), D308 (cannot be read, cut short).
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = [file for path in paths for file in _found(path)]
        sizes = [os.path.getsize(file) if file != STDIN else 0 for file in self.paths]
        self.total = sum(sizes)
        self.done = 0
        self.sources = [
            {
                "name": os.path.basename(file) if file != STDIN else "<stdin>",
                "bytes": size,
            }
            for file, size in zip(self.paths, sizes, strict=True)
        ]

    def __iter__(self) -> Iterator[str]:
        for file in self.paths:
            before = self.done
            for line, done in paragraphs(file):
                if file != STDIN:
                    self.done = before + done
                yield line


def paragraphs(path: str, start: int = 0, end: int | None = None) -> Iterator[tuple[str, int]]:
    """Yield the paragraphs (lines) of a file, each with the bytes of it that are read by then.

    Parameters
    ----------
    path : str
    start, end : int
        Of a file that is not packed, the stretch to read: from the beginning of a line to that of another.

    Raises
    ------
    UserError
        D300, D303, D304, D308; see `TextFiles`.
    """
    name = "<stdin>" if path == STDIN else path
    try:
        with _opened(path) as raw, unpacked(raw, path) as stream:
            if start:
                stream.seek(start)
            for line in _lines(stream, name, start, end):
                yield line, 0 if path == STDIN else raw.tell() - start
    except READ_ERRORS as problem:
        raise read_error(name, problem) from problem


def unpacked(raw: IO[bytes], path: str) -> Any:
    """Return the file `raw` unpacked as the ending of `path` says."""
    if path.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if path.endswith(".zst"):
        return unpack_zstd(raw)
    return lzma.LZMAFile(raw) if path.endswith(".xz") else raw


def _opened(path: str) -> IO[bytes]:
    if path == STDIN:
        stream: IO[bytes] = os.fdopen(os.dup(sys.stdin.fileno()), "rb") if _has_stdin() else io.BytesIO()
        return stream
    return open(path, "rb")


def _has_stdin() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.fileno() >= 0
    except (OSError, ValueError):
        return False


def _found(path: str) -> list[str]:
    if path == STDIN:
        return [path]
    if not os.path.exists(path):
        raise UserError("D300", path=path)
    if not os.path.isdir(path):
        if os.path.isfile(path) and not os.path.getsize(path):
            raise UserError("D302", path=path)
        return [path]
    inside = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = [os.path.join(folder, name) for name in sorted(names) if not name.startswith(".")]
        inside += [file for file in files if file.endswith(ENDINGS) and os.path.getsize(file)]
    if not inside:
        raise UserError("D301", path=path, endings=", ".join(ENDINGS))
    return inside


def _lines(stream: Any, name: str, start: int = 0, end: int | None = None) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream, never more than `LONGEST` bytes together.

    The stream is at byte `start`. Blocks end at the same bytes wherever it begins: long lines are cut alike.
    """
    held, offset, at = b"", start, start
    while True:
        size = _BLOCK - at % _BLOCK
        block = stream.read(size if end is None else min(size, end - at))
        at += len(block)
        if offset == 0 and not held and block.startswith(_BOM):
            block, offset = block[len(_BOM) :], len(_BOM)
        held += block
        cut = held.rfind(b"\n") + 1 if block else len(held)
        if not cut and len(held) >= LONGEST:
            cut = _cut(held)
        if cut:
            text = decode(held[:cut], name, start=offset)
            if "\r" in text:
                text = text.replace("\r\n", "\n").replace("\r", "\n")
            for line in text.split("\n"):
                if line:
                    yield line
            held = held[cut:]
            offset += cut
        if not block:
            return


def _cut(data: bytes) -> int:
    """Return where to cut a line without an end: after its last sentence, word or at least character."""
    tail = data[len(data) // 2 :]
    start = len(data) - len(tail)
    for match in reversed(list(_SENTENCE_END.finditer(tail))):
        return start + match.end()
    space = tail.rfind(b" ")
    if space >= 0:
        return start + space + 1
    cut = len(data)
    while cut > start + 1 and data[cut - 1] & 0xC0 == 0x80:
        cut -= 1
    return cut - 1 if data[cut - 1] >= 0xC0 else len(data)
