"""Write a count table, with or without the keys of its n-grams."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.counts import file as files
from disambig.counts.index import Chunk, CountRanks, renumber, write_index
from disambig.counts.layout import EXACT, HASHES, KEY_PARTS, RECORD_FORMS, Record
from disambig.counts.runs import Merged
from disambig.errors import UserError, nearest_first
from disambig.text import hashing

if TYPE_CHECKING:
    from typing_extensions import Self

    from disambig.counts.table import CountTable


_COPY_BYTES = 1 << 22
_THREE = np.uint64(3)
_SEVEN = np.uint64(7)
_S61 = np.uint64(61)


class StoredKeys:
    """Stores the keys of an iterable of chunks in a temporary file; use it in a ``with`` statement.

    Attributes
    ----------
    edges : list of int
        Where the keys with each value of the three top bits begin; complete after the last chunk.
    """

    def __init__(self, directory: Path, *, enabled: bool) -> None:
        self.edges = [0] * (KEY_PARTS + 1)
        self._file: Any = None
        if enabled:
            self._file = tempfile.TemporaryFile(dir=directory, prefix=".disambig-keys-")  # noqa: SIM115

    def storing(self, chunks: Iterable[Chunk | Merged]) -> Iterator[Chunk]:
        """Yield the chunks without their kinds; store keys and kinds if this is enabled."""
        for keys, counts, *kinds in chunks:
            if self._file is not None:
                top = np.arange(1, KEY_PARTS, dtype=np.uint64) << _S61
                begins = np.searchsorted(keys, top).tolist()
                self.edges = [n + new for n, new in zip(self.edges, [0, *begins, len(keys)], strict=True)]
                self._file.write(((keys << _THREE) | (kinds[0].astype(np.uint64) - np.uint64(1))).data)
            yield keys, counts

    def append_to(self, file: BinaryIO) -> tuple[int, int]:
        """Append the stored keys to the table as a section; return its offset and size."""
        offset = files.fill_page(file)
        self.copy_to(file.write)
        return offset, file.tell() - offset

    def copy_to(self, write: Callable[[bytes], object]) -> None:
        """Write the stored keys."""
        if self._file is not None:
            self._file.seek(0)
            while block := self._file.read(_COPY_BYTES):
                write(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def entries(table: CountTable, first: int, last: int) -> Merged:
    """Return the n-grams from index `first` to `last` of a table with keys, in ascending order of keys.

    Raises D105 if the stored keys do not ascend or do not belong to the table.
    """
    stored = table.stored_keys[first:last]
    top_bits = np.searchsorted(table.key_edges, np.arange(first, last), side="right") - 1
    keys = (stored >> _THREE) | (top_bits.astype(np.uint64) << _S61)
    counts = table.counts(keys)
    if not (np.all(keys[1:] > keys[:-1]) and np.all(counts)):
        raise UserError("D105", path=table.path, section="keys")
    return keys, counts, ((stored & _SEVEN) + np.uint64(1)).astype(np.uint8)


def first_key_index(table: CountTable, key: int) -> int:
    """Return the index of the first stored key that is not less than `key`."""
    top_bits = key >> 61
    begin, end = int(table.key_edges[top_bits]), int(table.key_edges[top_bits + 1])
    lowest = np.uint64(key << 3 & 0xFFFFFFFFFFFFFFFF)
    return begin + int(np.searchsorted(table.stored_keys[begin:end], lowest))


def write_table(
    path: str | os.PathLike[str],
    chunks: Iterable[Chunk | Merged],
    *,
    tokenisations: Sequence[str],
    gaps: Sequence[str] = (),
    orders: int = hashing.MAX_ORDER,
    record: str = "exact",
    keys: bool = False,
    info: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Path:
    """Write a count table; the file appears only when it is complete.

    Parameters
    ----------
    path : path
    chunks : iterable of (keys, counts) or (keys, counts, kinds)
        Arrays of uint64: n-gram keys, ascending and distinct over all chunks, and their counts, none zero.
        The kinds (uint8, see `layout.PATTERN`) are needed for stored keys only.
    tokenisations : sequence of str
        Registry names of the tokenisations; the hash of each name seeds the keys of its n-grams.
    gaps : sequence of str, optional
        Those tokenisations for which the table contains patterns with a gap.
    orders : int
        Number of words of the longest n-grams.
    record : {"exact", "compact", "small"}
    keys : bool
        Also store the keys and kinds, so that the table can be merged and pruned.
    info : mapping, optional
        Other header entries (plain JSON values): licence, sources, thresholds, totals. Read after the
        last chunk, so it may be filled while `chunks` is iterated.
    force : bool
        Replace an existing file.

    Raises
    ------
    UserError
        D106 (exists), D107 (cannot be written), D108 (unknown record), D119 (keys with rounded counts).
    """
    target, form = Path(path), record_form(record, keys=keys)
    refuse_existing(target, force=force)
    ranks = CountRanks(form)
    with files.replacing(target) as file, StoredKeys(target.parent, enabled=keys) as stored:
        file.write(bytes(files.PAGE))
        directory, n_ngrams, size = write_index(file.write, stored.storing(chunks), form, ranks)
        final_ranks = ranks.final_ranks()
        if form is EXACT and final_ranks is not None:
            renumber(file, files.PAGE, directory, final_ranks)
        header = {
            "tokenisations": list(tokenisations),
            "gaps": list(gaps),
            "record": record,
            "orders": orders,
            "n_ngrams": n_ngrams,
            "info": dict(info or {}),
        }
        arrays = {"directory": directory, "values": ranks.values(), "overflow": ranks.overflow()}
        finish_table(file, size, arrays, header, stored if keys else None)
    return target


class KeysSection(Protocol):
    """The keys that are stored with a table (see `StoredKeys`)."""

    edges: list[int]

    def append_to(self, file: BinaryIO) -> tuple[int, int]:
        """Append the keys as a section; return its offset and size."""
        ...


def finish_table(
    file: BinaryIO,
    size: int,
    arrays: Mapping[str, NDArray[Any]],
    header: Mapping[str, Any],
    stored: KeysSection | None,
    digest: files.Digest | None = None,
) -> None:
    """Append all sections after the index, which takes `size` bytes from the first page on.

    Parameters
    ----------
    arrays : mapping of str to array
        The sections ``directory``, ``values`` and ``overflow``.
    header : mapping
        Tokenisations, gaps, record, orders, number of n-grams, info.
    digest : files.Digest, optional
        Digest of the index, if it was computed while the index was written.
    """
    sections = {"index": (files.PAGE, size)}
    for name in ("directory", "values", "overflow"):
        sections[name] = files.append_section(file, arrays[name])
    names = ("tokenisations", "gaps", "hashes", "record", "orders", "n_ngrams", "info")
    table_header = {name: HASHES if name == "hashes" else header[name] for name in names}
    if stored is not None:
        sections["keys"] = stored.append_to(file)
        table_header["key_edges"] = stored.edges
    files.finish(
        file, table_header, sections, {} if digest is None else {"index": digest.section_digest(size)}
    )


def record_form(record: str, *, keys: bool) -> Record:
    """Return a record format by name; D108 if it is unknown, D119 if it rounds counts and `keys` is set."""
    if record not in RECORD_FORMS:
        raise UserError("D108", name=record, names=nearest_first(record, RECORD_FORMS))
    if keys and RECORD_FORMS[record] is not EXACT:
        raise UserError("D119", record=record)
    return RECORD_FORMS[record]


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise D106 if `path` exists (unless `force` is set), D107 if its directory does not exist."""
    if path.is_dir() or (path.exists() and not force):
        raise UserError("D106", path=path)
    if not path.parent.is_dir():
        raise UserError("D107", path=path, problem=f"there is no directory {path.parent}")
