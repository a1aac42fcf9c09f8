"""Open, unpack and decode files within a memory limit, and the files of a corpus."""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import re
import stat
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from disambig.errors import UserError

ErrorCallback = Callable[[str], None]
"""Called with one line of text that begins with the code of the error."""
ErrorSink = Callable[[str, str], None]
"""Called with a file and line, and the problem there."""


def error_sink(*, strict: bool, tell: ErrorCallback | None) -> ErrorSink:
    """Return a function that raises D488 for an invalid entry (`strict`), or reports it to `tell`."""

    def report(where: str, problem: str) -> None:
        error = UserError("D488", where=where, problem=problem)
        if strict:
            raise error
        if tell is not None:
            tell(str(error))

    return report


_WINDOW = 1 << 29
"""Maximum window of zstd frames in bytes, as written by `zstd --long=29`; unpacking needs as much memory."""
_PACKED_BYTES = 1 << 12
"""Compressed bytes read at a time: few, since each can unpack to thousands."""


class ZstdFile(io.RawIOBase):
    """A reader that unpacks a zstd file with one or more frames.

    Reading raises EOFError if the file is truncated and OSError if it is damaged.

    `owned` says whether to close `raw` when this reader is closed. Raises D123 if the package is missing.
    """

    def __init__(self, raw: IO[bytes], *, owned: bool = False) -> None:
        self._raw = raw
        self._owned = owned  # set before the package is imported, so that `close` works if that fails
        self._zstd = import_zstandard()
        self._frame: Any = None
        self._unread = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with unpacked bytes; return their number, 0 at the end."""
        while not self._unread:
            packed = self._raw.read(_PACKED_BYTES)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the zstd file is truncated")
                return 0
            self._unread = memoryview(self._unpacked(packed))
        size = min(len(buffer), len(self._unread))
        buffer[:size] = self._unread[:size]
        self._unread = self._unread[size:]
        return size

    def _unpacked(self, packed: bytes) -> bytes:
        """Return decompressed bytes; a file may have several frames."""
        pieces = []
        while packed:
            if self._frame is None:
                unpacker = self._zstd.ZstdDecompressor(max_window_size=_WINDOW)
                self._frame = unpacker.decompressobj()
            try:
                pieces.append(self._frame.decompress(packed))
            except self._zstd.ZstdError as problem:
                raise OSError(f"damaged, or not a zstd file: {problem}") from problem
            packed = b""
            if self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
        return b"".join(pieces)

    def close(self) -> None:
        """Close this reader, and the compressed file if it is owned."""
        if self._owned:
            self._raw.close()
        super().close()


def unpack_zstd(raw: IO[bytes], *, owned: bool = False) -> IO[bytes]:
    """Return a buffered file that unpacks `raw`."""
    return io.BufferedReader(ZstdFile(raw, owned=owned), 1 << 17)


def pack_zstd(sink: IO[bytes]) -> IO[bytes]:
    """Return a file that compresses into `sink`, which stays open; the output is reproducible."""
    packed: IO[bytes] = (
        import_zstandard().ZstdCompressor(write_checksum=True).stream_writer(sink, closefd=False)
    )
    return packed


def import_zstandard() -> Any:
    """Return the module `zstandard`; raise D123 if it is not installed."""
    try:
        import zstandard
    except ImportError:
        raise UserError("D123") from None
    return zstandard


STDIN = "-"
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)


def open_bytes(path: str) -> Any:
    """Open a file for reading bytes, unpacked according to its suffix; ``-`` is standard input."""
    if path == STDIN:
        return nullcontext(sys.stdin.buffer if sys.stdin is not None else io.BytesIO())
    name = path.lower()
    if name.endswith(".gz"):
        return gzip.open(path, "rb")
    if name.endswith(".bz2"):
        return bz2.open(path, "rb")
    if name.endswith(".xz"):
        return lzma.open(path, "rb")
    if name.endswith(".zst"):
        return unpack_zstd(open(path, "rb"), owned=True)
    return open(path, "rb")


def read_small(path: str, *, limit: int, only_regular: bool = False) -> bytes:
    """Return the bytes of a small file, unpacked according to its suffix.

    Raises D300 or D308 if it cannot be read, D975 if it is too large.

    `limit`: maximum number of bytes, for devices and files that unpack to gigabytes.
    `only_regular`: whether to reject pipes and devices; opening a pipe would wait for a writer.
    """
    with reading(path):
        if only_regular and not stat.S_ISREG(os.stat(path).st_mode):
            raise UserError("D308", path=path, problem="not an ordinary file")
        with open_bytes(path) as file:
            data: bytes = file.read(limit + 1)
    if len(data) > limit:
        raise UserError("D975", path=path, limit=limit)
    return data


def pack(sink: IO[bytes], path: str) -> IO[bytes]:
    """Return a file that compresses into `sink` according to the suffix of `path`; reproducible."""
    name = path.lower()
    if name.endswith(".gz"):
        return gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0)  # type: ignore[return-value]
    if name.endswith(".bz2"):
        return bz2.open(sink, "wb")
    if name.endswith(".xz"):
        return lzma.open(sink, "wb")
    if name.endswith(".zst"):
        return pack_zstd(sink)
    return sink


def without_compression(path: str) -> str:
    """Return `path` without a suffix of `COMPRESSED`, in any case."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in COMPRESSED else path


def drop_repeated(paths: Iterable[str]) -> list[str]:
    """Return the paths without those that lead to the same file as an earlier one."""
    first: dict[str, str] = {}
    for path in paths:
        first.setdefault(path if path == STDIN else os.path.realpath(path), path)
    return list(first.values())


def expand_patterns(paths: Iterable[str]) -> list[str]:
    """Return the paths, with those that match a pattern such as ``docs/**/*.md`` in place of the pattern.

    Patterns in quotation marks, or of a shell that does not expand them (on Windows), arrive as they were
    written. The name of an existing file is never a pattern, and a pattern without a match is kept.
    """
    expanded: list[str] = []
    for path in paths:
        is_pattern = glob.has_magic(path) and not os.path.lexists(path)
        expanded.extend((is_pattern and sorted(glob.glob(path, recursive=True))) or [path])
    return expanded


def stdin_has_data() -> bool:
    """Return True if standard input is a file or a pipe with data, which is not read here.

    Return False if this cannot be determined, as for a pipe on Windows.
    """
    try:
        descriptor = sys.stdin.fileno()
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode):
            return os.lseek(descriptor, 0, os.SEEK_CUR) < status.st_size
        if not stat.S_ISFIFO(status.st_mode):
            return False
        import fcntl
        import termios

        # the number of bytes that wait in the pipe, a C int
        waiting = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
        return int.from_bytes(waiting, sys.byteorder) > 0
    except (AttributeError, ImportError, OSError, ValueError):  # closed, replaced, or not on this system
        return False


def is_dangling(path: str) -> bool:
    """Return True if `path` is a link to a file that does not exist."""
    return os.path.islink(path) and not os.path.exists(path)


def read_error(path: str, problem: BaseException) -> UserError:
    """Return the error for a file that cannot be read."""
    if isinstance(problem, FileNotFoundError):
        return UserError("D300", path=path or "''")
    text = (isinstance(problem, OSError) and problem.strerror) or str(problem) or type(problem).__name__
    return UserError("D308", path=path, problem=text)


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Convert the errors of reading a file to D300 or D308."""
    try:
        yield
    except READ_ERRORS as problem:
        raise read_error(str(path), problem) from problem


_MAGIC_NUMBERS = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x04\x22\x4d\x18", "an LZ4 file"),
    (b"\x1f\x9d", "a file of compress"),
)
_TAR = slice(257, 262)


def packed_format(data: bytes) -> str:
    """Return the name of the packed format that a file begins with; "" for any other file."""
    if data[_TAR] == b"ustar":
        return "a tar archive"
    return next((name for magic, name in _MAGIC_NUMBERS if data.startswith(magic)), "")


def decode(data: bytes, path: str, *, start: int = 0) -> str:
    """Decode UTF-8, keeping a byte order mark and all line ends.

    `start` is the offset of `data` in its file, for the message. Raises D303 for a NUL byte, D304 if the
    bytes are not UTF-8, D349 for a packed file.
    """
    nul = data.find(b"\0")
    if nul >= 0 and start == 0 and (packed := packed_format(data)):
        raise UserError("D349", path=path, what=packed)
    if start == 0 and (wide := _wide_encoding(data)):  # its first line may have no NUL byte
        raise UserError("D304", path=path, byte=f"0x{data[0]:02x}", offset=0, encoding=wide)
    if nul >= 0:
        raise UserError("D303", path=path, offset=start + nul, hint="")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        if start == 0 and (packed := packed_format(data)):
            raise UserError("D349", path=path, what=packed) from None
        byte = f"0x{data[problem.start]:02x}"
        encoding = _ICONV_NAMES.get(likely_encoding(data), "ENCODING")
        offset = start + problem.start
        raise UserError("D304", path=path, offset=offset, byte=byte, encoding=encoding) from None


_WITH_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def decode_marked(data: bytes, path: str) -> tuple[str, str]:
    """Decode UTF-16 with a byte order mark, or UTF-8, and return the text and its encoding.

    The byte order mark and all line ends are kept. Raises D308 for invalid UTF-16, D303 for a NUL character
    in it, and otherwise the errors of `decode`.
    """
    encoding = next((encoding for mark, encoding in _WITH_MARKS if data.startswith(mark)), "")
    if not encoding or _wide_encoding(data) != "UTF-16":
        return decode(data, path), "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        reason = f"not valid UTF-16 at byte {problem.start:,}"
        raise UserError("D308", path=path, problem=reason) from None
    if "\0" in text:
        raise UserError("D303", path=path, offset=2 * text.index("\0"), hint="")
    return text, encoding


_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_NOT_ASCII = re.compile("[^\\x00-\x7f]")
_SAMPLE_BYTES = 1 << 16
_MAX_NOT_ASCII = 0.3


_C1_CONTROLS = re.compile(rb"[\x80-\x9f]")
"""Bytes that are control characters in Latin-1 and mostly quotes, dashes or letters in Windows-1252."""
_ICONV_NAMES = {"latin-1": "LATIN1", "cp1252": "WINDOWS-1252", "shift_jis": "SHIFT_JIS", "euc-jp": "EUC-JP"}


def likely_encoding(data: bytes) -> str:
    """Return the probable encoding of bytes that are not UTF-8, for messages.

    Returns ``"shift_jis"`` or ``"euc-jp"`` for text with much kana; otherwise ``"cp1252"`` if there are bytes
    that are printed only in it, else ``"latin-1"``; an empty string if too many bytes are outside ASCII for a
    Latin alphabet.
    """
    # The sample ends with a line if possible: a divided character would be invalid.
    data = data[: data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1 or None][:_SAMPLE_BYTES]
    for name, codec in (("shift_jis", "cp932"), ("euc-jp", "euc_jp")):
        text = data.decode(codec, errors="replace")
        # In Latin-1 the lead bytes of kana are a control character and the currency sign, which are rare.
        if 5 * len(_KANA.findall(text)) >= len(_NOT_ASCII.findall(text)) > 0:
            return name
    if sum(byte >= 128 for byte in data) > _MAX_NOT_ASCII * len(data):
        return ""
    if _C1_CONTROLS.search(data):
        with suppress(UnicodeDecodeError):
            data.decode("cp1252")
            return "cp1252"
    return "latin-1"


def _wide_encoding(data: bytes) -> str:
    """Return the encoding with several bytes per character that a byte order mark names, or ""."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # the first begins like UTF-16
        return "UTF-32"
    return "UTF-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return a value that changes when the file is replaced or modified."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size


def decode_as(data: bytes, path: str, encoding: str) -> str:
    """Return the text of a file without a byte order mark.

    Raises D303 for a NUL byte or character, D308 and D469 for bytes that are invalid in this encoding, D470
    for an unknown encoding.
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
    """Return the error for a file with a NUL byte."""
    if packed := packed_format(data):
        return UserError("D349", path=path, what=packed)
    wide = _wide_encoding(data)
    hint = f"; it looks like {wide}: use --encoding {wide.lower()}" if wide else ""
    return UserError("D303", path=path, offset=data.index(b"\0"), hint=hint)


def _decoding_error(path: str, data: bytes, encoding: str, problem: UnicodeError) -> UserError:
    """Return the error for bytes that cannot be decoded."""
    if b"\0" in data and b"\0" not in "a".encode(encoding):
        return nul_error(path, data)
    if isinstance(problem, UnicodeDecodeError):
        offset = problem.start
        other = _wide_encoding(data).lower() or likely_encoding(data) or "ENCODING"
        example = "utf-8" if _is_utf8(data) else other
        byte = f"0x{data[offset : offset + 1].hex()}"
        return UserError("D469", path=path, encoding=encoding, byte=byte, offset=offset, example=example)
    return UserError("D308", path=path, problem=f"not {encoding}: {problem}")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


_MAX_LIMIT = 512_000_000
_MEMORY_DIVISOR = 10
_BLOCK = 1 << 20
_MIN_LIMIT = 16_000_000


def memory_limit() -> int:
    """Return the default limit: a tenth of the machine's memory, at most 512 MB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # the system does not report its memory
        return _MAX_LIMIT
    return max(_MIN_LIMIT, min(_MAX_LIMIT, memory // _MEMORY_DIVISOR))


def too_large_error(path: str, limit: int) -> UserError:
    """Return the error for an input that would need more than `limit` bytes."""
    return UserError("D872", path=path, limit=limit)


def read_within(handle: IO[bytes], path: str, limit: int) -> bytes:
    """Return the whole content of an input, opened as `handle` from `path`.

    The size of a compressed file is determined first by unpacking it block by block, so that a file that
    unpacks to gigabytes is rejected without using memory.

    Raises D302 for an empty input, D872 for one of more than `limit` bytes.
    """
    if path.lower().endswith(COMPRESSED):
        with open_bytes(path) as packed:
            size = 0
            while block := packed.read(_BLOCK):
                size += len(block)
                if size > limit:
                    raise too_large_error(path, limit)
    data = handle.read(limit + 1)
    if not data:
        raise UserError("D302", path=path)
    if len(data) > limit:
        raise too_large_error(path, limit)
    return data


ARCHIVES = (".tar", ".tar.xz", ".tar.gz", ".tgz", ".tar.bz2")
"""Suffixes of the archives."""
MAX_BYTES = 400_000_000
"""Maximum uncompressed size of a corpus (the Penn Treebank has 100 million, NOAD-MASC 42 million)."""
MAX_FILES = 100_000
"""Maximum number of files and directories (20 Newsgroups has 18,888)."""


class CorpusFile(NamedTuple):
    """A file of a corpus, unpacked."""

    name: str  # its path in the directory or archive
    where: str  # its path for messages
    data: bytes

    @property
    def text(self) -> str:
        """Its text, without a byte order mark; raises D303, D304 and D349 for bytes that are not UTF-8."""
        return decode(self.data, self.where).removeprefix("\ufeff")

    def decoded(self, encoding: str | None) -> str:
        """Return its text in an encoding, by default UTF-8 (errors: `decode_as`, `text`)."""
        return decode_as(self.data, self.where, encoding) if encoding else self.text


def corpus_files(path: str, is_wanted: Callable[[str], bool]) -> Iterator[CorpusFile]:
    """Yield the files of a directory or tar archive whose names are wanted, or the single file at `path`.

    Members of an archive have the order in which they are stored.

    Raises D493 for a corpus that is too large, D494 for a wanted member of the archive that is not a regular
    file, D300 and D308 for a file that cannot be read.
    """
    try:
        if os.path.isdir(path):
            yield from _directory_files(path, is_wanted)
        elif path.endswith(ARCHIVES):
            yield from _archive_files(path, is_wanted)
        else:
            yield CorpusFile(path, path, _read_at_most(path, path, MAX_BYTES))
    except (*READ_ERRORS, tarfile.TarError) as problem:
        raise read_error(path, problem) from problem


def _directory_files(path: str, is_wanted: Callable[[str], bool]) -> Iterator[CorpusFile]:
    def fail(problem: OSError) -> None:
        raise problem

    n_files, left = 0, MAX_BYTES
    for folder, folders, names in os.walk(path, onerror=fail):
        folders.sort()
        n_files += len(folders) + len(names)
        _check_limit(path, "files", n_files, MAX_FILES)
        for name in sorted(names):
            file = os.path.join(folder, name)
            if is_wanted(name) and os.path.isfile(file):
                data = _read_at_most(path, file, left)
                left -= len(data)
                yield CorpusFile(os.path.relpath(file, path), file, data)


def _read_at_most(corpus: str, path: str, maximum: int) -> bytes:
    with open_bytes(path) as stream:
        data: bytes = stream.read(maximum + 1)
    _check_limit(corpus, "bytes", MAX_BYTES - maximum + len(data), MAX_BYTES)
    return data


def _archive_files(path: str, is_wanted: Callable[[str], bool]) -> Iterator[CorpusFile]:
    n_bytes = 0
    with tarfile.open(path, "r|*") as archive:  # as a stream: reading stops at the members that are read
        for number, member in enumerate(archive, start=1):
            n_bytes += member.size
            _check_limit(path, "files", number, MAX_FILES)
            _check_limit(path, "bytes", n_bytes, MAX_BYTES)
            if member.isdir() or not is_wanted(member.name):
                continue
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is None:
                raise UserError("D494", path=path, member=member.name)
            data = stream.read()
            if len(data) < member.size:
                raise EOFError("it ends in the middle of a file")
            yield CorpusFile(member.name, f"{path}: {member.name}", data)


def _check_limit(path: str, what: str, seen: int, maximum: int) -> None:
    if seen > maximum:
        raise UserError("D493", path=path, what=what, seen=f"{seen:,}", most=maximum)
