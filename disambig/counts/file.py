"""The file of a count table: sections with checksums below a header with a checksum.

Layout: a preamble of 4096 bytes (magic, version, file size, place and digest of the header), the sections,
each at a multiple of 4096 bytes and padded with zeros, and a JSON header that lists the sections with their
digests (BLAKE2b-256 of the section and its padding). Numbers are little-endian. The file is written under a
temporary name in the same directory, and the preamble is written last. The meaning of the sections is
defined in other modules.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import struct
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.files import (
    TempFiles,
    follow_links,
    is_special,
    lock_file,
    parse_json,
    remove_temp,
    sync_directory,
)

MAGIC = b"DISAMBIG-COUNTS\n"
VERSION = 2
"""Version that is written. A file of version 1 has one tokenisation and at most its first four sections."""
READABLE = (1, VERSION)
PAGE = 4096
# magic, version, unused, file size, offset and size of the header, digest of the header
_PREAMBLE = struct.Struct("<16sIIQQQ32s")
_COPY_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Section:
    """Place and digest of a section."""

    offset: int
    size: int
    digest: str


def padded(size: int) -> int:
    """Return `size` rounded up to whole pages."""
    return -(-size // PAGE) * PAGE


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` (or the target of that link) at the end.

    Temporary files that a killed writer of the same file left behind are deleted.

    Raises D107 if the disk is full or the directory is not writable.
    """
    temporary = None
    try:
        target = follow_links(path)
        if is_special(path):
            raise UserError("D107", path=path, problem="it is not a regular file")
        temp_files = TempFiles.for_target(target)
        temp_files.clean()
        temporary = temp_files.new()
        with open(temporary, "x+b") as file:
            lock_file(file.fileno())
            yield file
            file.flush()
            # on disk before the rename: after a power failure the name must not refer to an empty file
            os.fsync(file.fileno())
        os.replace(temporary, target)
        sync_directory(target.parent)
    except OSError as error:
        raise write_error(error, path) from error
    finally:
        if temporary is not None:
            remove_temp(temporary)


def write_error(error: OSError, path: Path) -> UserError:
    """Return the error for a failed write."""
    problem = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    return UserError("D107", path=path, problem=problem)


def append_section(file: BinaryIO, array: NDArray[Any]) -> tuple[int, int]:
    """Append an array as a section; return its place and size in bytes."""
    offset = fill_page(file)
    file.write(np.ascontiguousarray(array).data)
    return offset, array.nbytes


def fill_page(file: BinaryIO) -> int:
    """Append zeros up to the next page; return the new end of the file."""
    end = file.seek(0, os.SEEK_END)
    file.write(bytes(padded(end) - end))
    return padded(end)


class Digest:
    """The digest of a section, computed in a thread while the section is being written."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=32)
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def __enter__(self) -> Digest:
        return self

    def __exit__(self, *raised: object) -> None:
        self._thread.shutdown()

    def add(self, data: memoryview) -> None:
        """Add the next bytes, which must not change afterwards; wait until the previous ones are done."""
        self._wait()
        self._last = self._thread.submit(self._hash.update, data)

    def section_digest(self, size: int) -> str:
        """Return the digest of a section of `size` bytes with its padding."""
        self._wait()
        self._hash.update(bytes(padded(size) - size))
        return self._hash.hexdigest()

    def _wait(self) -> None:
        if self._last is not None:
            self._last.result()


def finish(
    file: BinaryIO,
    header: dict[str, Any],
    sections: dict[str, tuple[int, int]],
    digests: Mapping[str, str] | None = None,
) -> None:
    """Compute the missing digests, append the header and write the preamble.

    The preamble comes last: without it, a file that was cut short is not a table.
    """
    digests_by_name = digests or {}
    table = {}
    fill_page(file)
    for name, (offset, size) in sections.items():
        table[name] = {
            "offset": offset,
            "size": size,
            "digest": digests_by_name.get(name) or _digest(file, offset, padded(size)),
        }
    data = json.dumps(header | {"sections": table}, ensure_ascii=False).encode()
    at = fill_page(file)
    file.write(data)
    file.seek(0)
    file.write(_preamble(at, data))


def _preamble(at: int, data: bytes, version: int = VERSION) -> bytes:
    """Return the first page of a file whose header `data` is at byte `at`."""
    digest = hashlib.blake2b(data, digest_size=32).digest()
    return _PREAMBLE.pack(MAGIC, version, 0, at + len(data), at, len(data), digest).ljust(PAGE, b"\0")


def _digest(file: BinaryIO, offset: int, size: int) -> str:
    """Return the digest of a range of bytes; a text that equals no digest if the file ends before."""
    digest = hashlib.blake2b(digest_size=32)
    file.seek(offset)
    while size:
        block = file.read(min(size, _COPY_BYTES))
        if not block:
            return "cut short"
        digest.update(block)
        size -= len(block)
    return digest.hexdigest()


def map_file(path: Path) -> tuple[mmap.mmap, dict[str, Any], dict[str, Section]]:
    """Map a table into memory and read its header, touching as few pages as possible.

    Raises D100 to D105: no file, empty, not a table, another version, cut short, damaged header.
    """
    try:
        with open(path, "rb") as file:
            preamble = file.read(PAGE)
            size = os.fstat(file.fileno()).st_size
            if not size:
                raise UserError("D101", path=path)
            if preamble[: len(MAGIC)] != MAGIC[: len(preamble)]:
                raise UserError("D102", path=path)
            if len(preamble) < PAGE:
                raise UserError("D104", path=path, size=size, expected=f"at least {PAGE:,}")
            _, version, _, expected, at, header_size, digest = _PREAMBLE.unpack_from(preamble)
            if version not in READABLE:
                readable = " and ".join(map(str, READABLE))
                raise UserError("D103", path=path, version=version, known=readable)
            if size != expected:
                raise UserError("D104", path=path, size=size, expected=f"{expected:,}")
            if not (PAGE <= at <= size and header_size == size - at):
                raise UserError("D105", path=path, section="preamble")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise UserError("D100", path=path, problem=error.strerror or error) from error
    data = mapped[at:]
    if hashlib.blake2b(data, digest_size=32).digest() != digest:
        raise UserError("D105", path=path, section="header")
    try:
        header = parse_json(data)
        sections = {name: Section(**entry) for name, entry in header.pop("sections").items()}
        for section in sections.values():
            if not (section.offset >= PAGE and section.size >= 0 and section.offset + section.size <= at):
                raise ValueError("section outside the file")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError("D105", path=path, section="header") from error
    return mapped, header, sections


def verify(path: Path) -> None:
    """Check every byte of a table.

    Raises `UserError` as for `map_file`, and D105 with the name of the damaged section.
    """
    mapped, _, sections = map_file(path)
    _, version, _, _, at, size, _ = _PREAMBLE.unpack_from(mapped)
    if mapped[:PAGE] != _preamble(at, mapped[at : at + size], version):
        raise UserError("D105", path=path, section="preamble")
    mapped.close()
    with open(path, "rb") as file:
        for name, section in sections.items():
            if _digest(file, section.offset, padded(section.size)) != section.digest:
                raise UserError("D105", path=path, section=name)


def identity(mapped: mmap.mmap) -> str:
    """Return the digest of the header in hexadecimal; it identifies the table."""
    return bytes(_PREAMBLE.unpack_from(mapped, 0)[-1]).hex()
