"""Opening of files, gzip, xz and zstd alike, and turning bytes into text, offsets intact."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError
from disambig.files.zstd import pack_zstd, unpack_zstd

STDIN = "-"
COMPRESSED = (".gz", ".xz", ".zst")
READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)


def open_bytes(path: str) -> Any:
    """Open a file for reading bytes, unpacked by its suffix; ``-`` is standard input (left open)."""
    if path == STDIN:
        return nullcontext(sys.stdin.buffer if sys.stdin is not None else io.BytesIO())
    if path.endswith(".gz"):
        return gzip.open(path, "rb")
    if path.endswith(".xz"):
        return lzma.open(path, "rb")
    if path.endswith(".zst"):
        return unpack_zstd(open(path, "rb"), owned=True)
    return open(path, "rb")


def read_small(path: str, *, limit: int, only_regular: bool = False) -> bytes:
    """Return the bytes of a small file, unpacked by its suffix.

    Parameters
    ----------
    limit : int
        Maximum number of bytes: a device, or a file that unpacks to gigabytes, ends here.
    only_regular : bool
        Whether to refuse pipes and devices: opening a pipe waits for whoever writes into it.

    Raises
    ------
    UserError
        D300 and D308 where it cannot be read, D975 where it is too large.
    """
    try:
        if only_regular and not stat.S_ISREG(os.stat(path).st_mode):
            raise UserError("D308", path=path, problem="not an ordinary file")
        with open_bytes(path) as file:
            data: bytes = file.read(limit + 1)
    except READ_ERRORS as problem:
        raise read_error(path, problem) from None
    if len(data) > limit:
        raise UserError("D975", path=path, limit=limit)
    return data


def pack(sink: IO[bytes], path: str) -> IO[bytes]:
    """Return a file that packs into `sink` as the suffix of `path` says; the same bytes every time."""
    if path.endswith(".gz"):
        return gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0)  # type: ignore[return-value]
    if path.endswith(".xz"):
        return lzma.open(sink, "wb")
    if path.endswith(".zst"):
        return pack_zstd(sink)
    return sink


def without_compression(path: str) -> str:
    """Return `path` without ``.gz``, ``.xz`` or ``.zst``."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix in COMPRESSED else path


def read_error(path: str, problem: BaseException) -> UserError:
    """Return the message for a file that cannot be read."""
    if isinstance(problem, FileNotFoundError):
        return UserError("D300", path=path)
    text = (isinstance(problem, OSError) and problem.strerror) or str(problem) or type(problem).__name__
    return UserError("D308", path=path, problem=text)


def decode(data: bytes, path: str, *, start: int = 0) -> str:
    """Return UTF-8 `data` as text, a byte order mark and all line ends kept.

    Parameters
    ----------
    start : int
        Offset of `data` in its file, for the message.

    Raises
    ------
    UserError
        D303 for a NUL byte, D304 where the bytes are not UTF-8.
    """
    nul = data.find(b"\0")
    if nul >= 0:
        utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        hint = "; it looks like UTF-16, convert it to UTF-8" if utf16 else ""
        raise UserError("D303", path=path, offset=start + nul, hint=hint)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        byte = f"0x{data[problem.start]:02x}"
        raise UserError("D304", path=path, offset=start + problem.start, byte=byte) from None


def stamp_of(path: Path) -> tuple[int, ...]:
    """Return what changes when another file is written under the same name."""
    try:
        said = path.stat()
    except OSError:
        return ()
    return said.st_ino, said.st_mtime_ns, said.st_size
