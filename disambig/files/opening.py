"""Open, unpack and decode files, with a limit of memory."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from disambig.errors import UserError

ErrorCallback = Callable[[str], None]
"""Gets one line, with its code."""
ErrorSink = Callable[[str, str], None]
"""Gets file and line, and what is broken there."""


def error_sink(*, strict: bool, tell: ErrorCallback | None) -> ErrorSink:
    """Return what to do with a broken place: raise D488, or tell of it, if there is someone to tell."""

    def say(where: str, problem: str) -> None:
        error = UserError("D488", where=where, problem=problem)
        if strict:
            raise error
        if tell is not None:
            tell(str(error))

    return say


_WINDOW = 1 << 29
"""Bytes that unpacking may look back, and hold: what `zstd --long=29` writes."""
_AT_ONCE = 1 << 12
"""Packed bytes taken at a time: few, since each may unpack to many thousand."""


class ZstdFile(io.RawIOBase):
    """Unpacks a zstd file of one frame or several.

    Reading raises EOFError where the file is cut short and OSError where it is damaged.

    Parameters
    ----------
    raw : binary file
    owned : bool
        Close `raw` as well when this is closed.

    Raises
    ------
    UserError
        D123, where the package is missing.
    """

    def __init__(self, raw: IO[bytes], *, owned: bool = False) -> None:
        self._raw = raw
        self._owned = owned  # before the package, which may be missing: what was begun is closed all the same
        self._zstd = package()
        self._frame: Any = None
        self._held = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with unpacked bytes; return how many, 0 at the end."""
        while not self._held:
            packed = self._raw.read(_AT_ONCE)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the zstd file ends before its end is marked")
                return 0
            self._held = memoryview(self._unpacked(packed))
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size

    def _unpacked(self, packed: bytes) -> bytes:
        pieces = []
        while packed:
            if self._frame is None:
                unpacker = self._zstd.ZstdDecompressor(max_window_size=_WINDOW)
                self._frame = unpacker.decompressobj()
            try:
                pieces.append(self._frame.decompress(packed))
            except self._zstd.ZstdError as problem:
                raise OSError(f"damaged, or no zstd file: {problem}") from problem
            packed = b""
            if self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
        return b"".join(pieces)

    def close(self) -> None:
        """Close this, and the packed file if it is owned."""
        if self._owned:
            self._raw.close()
        super().close()


def unpack_zstd(raw: IO[bytes], *, owned: bool = False) -> IO[bytes]:
    """Return a buffered file that unpacks `raw`."""
    return io.BufferedReader(ZstdFile(raw, owned=owned), 1 << 17)


def pack_zstd(sink: IO[bytes]) -> IO[bytes]:
    """Return a file that packs into `sink`, which stays open; the same bytes every time."""
    packed: IO[bytes] = package().ZstdCompressor(write_checksum=True).stream_writer(sink, closefd=False)
    return packed


def package() -> Any:
    """Return the package `zstandard`; D123 where it is missing."""
    try:
        import zstandard
    except ImportError:
        raise UserError("D123") from None
    return zstandard


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


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when another file is written under the same name."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def decode_as(data: bytes, path: str, encoding: str) -> str:
    """Return the text of a file, a byte order mark left out.

    Raises
    ------
    UserError
        D303 for a NUL byte or sign, D308 and D469 for bytes that are not of this encoding, D470 for an
        unknown one.
    """
    try:
        text = data.decode(encoding)
    except UnicodeError as problem:
        raise _decoding_error(path, data, encoding, problem) from None
    except (LookupError, ValueError):
        raise UserError("D470", where=f"{path}: ", name=encoding) from None
    if "\0" in text:
        raise UserError("D303", path=path, offset=text.index("\0"), hint="")
    return text.removeprefix("\ufeff")


def nul_error(path: str, data: bytes) -> UserError:
    """Return the message for a file with a NUL byte."""
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    hint = "; it looks like UTF-16: name that, --encoding utf-16" if utf16 else ""
    return UserError("D303", path=path, offset=data.index(b"\0"), hint=hint)


def _decoding_error(path: str, data: bytes, encoding: str, problem: UnicodeError) -> UserError:
    """Return the message for bytes that cannot be decoded."""
    if b"\0" in data and b"\0" not in "a".encode(encoding):
        return nul_error(path, data)
    if isinstance(problem, UnicodeDecodeError):
        at = problem.start
        return UserError("D469", path=path, encoding=encoding, byte=f"0x{data[at : at + 1].hex()}", offset=at)
    return UserError("D308", path=path, problem=f"not {encoding}: {problem}")


MOST = 512_000_000
_SHARE = 10
_BLOCK = 1 << 20
_LEAST = 16_000_000


def memory_limit() -> int:
    """Return the usual bound: a tenth of the machine's memory, 512 MB at most."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return MOST
    return max(_LEAST, min(MOST, memory // _SHARE))


def too_large_error(path: str, limit: int) -> UserError:
    """Return the message for an input that would take more than `limit` bytes."""
    return UserError("D872", path=path, limit=limit)


def read_within(handle: IO[bytes], path: str, limit: int) -> bytes:
    """Return all of an input, opened under its `path`.

    A packed file is unpacked once more beforehand, and nothing of it held: what unfolds to gigabytes takes no
    memory before it is refused.

    Raises
    ------
    UserError
        D872 for one of more than `limit` bytes.
    """
    if path.endswith(COMPRESSED):
        with open_bytes(path) as packed:
            size = 0
            while block := packed.read(_BLOCK):
                size += len(block)
                if size > limit:
                    raise too_large_error(path, limit)
    data = handle.read(limit + 1)
    if len(data) > limit:
        raise too_large_error(path, limit)
    return data


MAX_BYTES = 20_000_000
"""Maximum size of a file of words."""


def read_words(path: str) -> tuple[str, ...]:
    """Return the words of a file, one a line; ``#`` begins a comment.

    Raises
    ------
    UserError
        D300, D303, D304 or D308 where it cannot be read, D975 where it is too large.
    """
    return tuple(word for _, word in _lines(path))


def _lines(path: str) -> Iterator[tuple[int, str]]:
    text = decode(read_small(path, limit=MAX_BYTES), path)
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            yield number, line
