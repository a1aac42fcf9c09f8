"""The file of a count table: its layout, and sections with checksums below a header with a checksum."""

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
from itertools import groupby
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
from disambig.text import MAX_ORDER, ORDER, PLACES, WORD_SEED
from disambig.text.view import FMIX

KEYS_PER_PART = 1 << 17
"""Maximum number of keys a part is planned for; a part holds between half of this and all of it."""
PILOTS = 1 << 16
SEEDS = 256
C1 = 0x9E3779B97F4A7C15
C2 = 0xD6E8FEB86659FD93
"""Odd multipliers that mix keys with pilots; they are part of the format."""
MAX_BITS = 30


@dataclass(frozen=True, slots=True)
class Record:
    """A record format."""

    name: str
    width: int  # size in units of 16 bits, by which compiled functions distinguish the formats
    # stored bits of the key: an absent n-gram is mistaken for another with probability ``2**-fingerprint``
    fingerprint: int
    n_ranks: int  # number of ranks, including rank 0 (absent)
    growth: float  # ratio of neighbouring counts, once their difference exceeds one; 0 if counts are exact
    load: float = 0.99  # keys per slot
    keys_per_bucket: int = 4


EXACT = Record("exact", 3, 32, 1 << 16, 0.0)
"""32-bit fingerprint and 16-bit rank."""
COMPACT = Record("compact", 2, 24, 1 << 8, 1.1)
"""24-bit fingerprint and 8-bit rank: counts above ten are rounded to within 6 %."""
SMALL = Record("small", 1, 10, 1 << 6, 1.24, keys_per_bucket=5)
"""10-bit fingerprint and 6-bit rank: counts above seven are rounded to within 14 %."""
RECORD_FORMS = {record.name: record for record in (EXACT, COMPACT, SMALL)}
OVERFLOW = (1 << 16) - 1
"""Rank of an exact count that has no rank of its own; the count is stored in the overflow section."""

PATTERN = 3
"""The *kind* of an n-gram is its order, 1 to 5; the kind of a pattern with a gap is its order plus this."""


def ngram_order(kind: int) -> int:
    """Return the number of words of an n-gram of this kind; the gap of a pattern counts as a word."""
    return kind if kind <= MAX_ORDER else kind - PATTERN


HASHES = {
    "word": "MurmurHash64A",
    "word_seed": WORD_SEED,
    "order": ORDER,
    "places": list(PLACES),
    "fmix": list(FMIX),
}
"""Constants of the key hash; a table that was made with other constants is refused."""


def part_bits(n_ngrams: float) -> int:
    """Return how many top bits of the key select the part (at least one)."""
    return next((bits for bits in range(1, MAX_BITS) if n_ngrams <= KEYS_PER_PART << bits), MAX_BITS)


def n_slots(n_keys: int, record: Record) -> int:
    """Return the number of slots of a part with `n_keys` keys: even, to keep 32-bit records aligned."""
    slots = int(n_keys / record.load) + 1
    return slots + slots % 2


def n_buckets(n_keys: int, record: Record) -> int:
    """Return the number of buckets of a part with `n_keys` keys: even, to keep 32-bit records aligned."""
    return 2 * (n_keys // (2 * record.keys_per_bucket) + 1)


def rounded_values(record: Record) -> NDArray[np.uint64]:
    """Return the counts that a rounding record can hold, by rank from 0 (absent), shape ``(n_ranks,)``."""
    values = [0]
    while len(values) < record.n_ranks:
        values.append(max(values[-1] + 1, round(values[-1] * record.growth)))
    return np.array(values, dtype=np.uint64)


def rounded_ranks(counts: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return the rank of the value with the nearest ratio to each count; larger counts get the last rank."""
    exact = values.astype(np.float64)
    edges = np.sqrt(exact[:-1] * exact[1:])[1:]  # between rank r and r + 1, for r >= 1
    ranks = np.searchsorted(edges, counts.astype(np.float64), side="right") + 1
    return np.where(counts > 0, ranks, 0).astype(np.uint16)


KEY_PARTS = 8
"""Number of parts of the stored keys, by their three top bits."""


def checked_edges(stored: Any, n_stored: int) -> NDArray[np.int64]:
    """Return the header's `key_edges`; raise ValueError if they do not fit the section."""
    edges = np.array([int(edge) for edge in stored], dtype=np.int64)
    ends = [*edges[:1], *edges[-1:]]
    if len(edges) != KEY_PARTS + 1 or ends != [0, n_stored] or not np.all(edges[1:] >= edges[:-1]):
        raise ValueError("the edges of the keys do not fit")
    return edges


def least_counts(min_counts: Mapping[int, int] | None, *, orders: int) -> dict[int, int]:
    """Return the minimum count of each order from 1 to `orders`.

    A threshold holds for its order and all longer ones, up to the next given order: with ``{3: 2}``, n-grams
    of three or more words must occur twice; ``{1: 200, 2: 40}`` is the rule of Web 1T.
    """
    minimums, minimum = {}, 1
    for order in range(1, orders + 1):
        minimum = (min_counts or {}).get(order, minimum)
        minimums[order] = minimum
    return minimums


def describe_least_counts(minimum: Mapping[int, int]) -> str:
    """Describe the minimum counts of all orders in words; an empty string if nothing is left out."""
    parts = []
    for count, run in groupby(sorted(minimum), key=lambda order: minimum[order]):
        orders = list(run)
        if count > 1:
            words = f"{orders[0]} to {orders[-1]} words" if len(orders) > 1 else f"{orders[0]} words"
            parts.append(f"n-grams of {words} seen less than {count:,} times")
    return ", ".join(parts).replace(" 1 words", " 1 word")


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
