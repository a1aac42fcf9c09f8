"""A piece of a table: the parts of its index for a range of keys, with ranks of its own.

Its file holds, one after the other: the parts, the keys if they are wanted, the directory, the counts in the
order of their ranks, the n-grams without a rank. Its record says how many of each there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.batch.manifest import drafts_of, seen_from_here
from disambig.batch.records import ShardRecord, load_record, save_record
from disambig.batch.work import Function, Tell
from disambig.counts.building.merging import Merged
from disambig.counts.building.runs import SLICES
from disambig.counts.index.layout import KEY_PARTS, RECORDS
from disambig.counts.index.ranks import Ranks
from disambig.counts.index.stored_keys import StoredKeys
from disambig.counts.index.writing import Span, write_index
from disambig.counts.jobs.sources import Opened, Source
from disambig.files.saving import saved
from disambig.files.seals import Seal

_BITS = SLICES.bit_length() - 1
_DIRECTORY = 5  # numbers a part
_SAID = {"index", "n_ngrams", "parts", "counts", "overflow", "edges", "seen", "distinct", "kept"}


@dataclass(frozen=True, slots=True)
class Range:
    """The slices ``first:stop`` of keys, with about `size` n-grams; `index` is among all items of the job."""

    index: int
    first: int
    stop: int
    size: int


def ranges(edges: NDArray[np.int64], bits: int, number: int, *, index: int) -> list[Range]:
    """Cut all slices into so many ranges of whole parts, with about as many n-grams each; some may be empty.

    Parameters
    ----------
    edges : array, shape ``(SLICES + 1,)``
        How many n-grams lie before each slice.
    bits : int
        Of the key, that choose the part.
    index : int
        Of the first range.
    """
    step = max(1, SLICES >> bits)
    wanted = edges[-1] * np.arange(1, number) // number
    inner = np.searchsorted(edges[:-1:step], wanted) * step
    bounds = [0, *np.minimum(inner, SLICES).tolist(), SLICES]
    return [
        Range(index + n, bounds[n], bounds[n + 1], int(edges[bounds[n + 1]] - edges[bounds[n]]))
        for n in range(number)
    ]


@dataclass(frozen=True, slots=True)
class PieceWork:
    """The work of a job on its ranges.

    Attributes
    ----------
    bits : int
        Of the key, that choose the part.
    ranked : array of uint64, or None
        The counts that have a rank, ascending, where there are too many counts for all to have one.
    inputs : tuple of str
        Folders in which files are read.
    """

    directory: Path
    source: Source
    record: str
    keys: bool
    bits: int
    ranked: NDArray[np.uint64] | None = None
    inputs: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the job and the folders of its inputs, as they are seen where this is asked."""
        return seen_from_here(self.directory, self.inputs)

    def start(self) -> Function:
        """Open the source and return the function that writes a piece."""
        opened = self.source.open()
        return lambda item, tell: write_piece(item, opened, tell, self)

    def what(self, item: Range) -> dict[str, Any]:
        """Return what a piece must say of itself to be that of this item."""
        return {"slices": [item.first, item.stop], "bits": self.bits, "final": self.ranked is not None}


def finished_piece(work: PieceWork, item: Range) -> ShardRecord | None:
    """Return the record of a piece that is there and is that of this item."""
    record = load_record(work.directory, item.index)
    if record is None or not record.said.keys() >= _SAID or len(record.files) != 1:
        return None
    return record if record.said.items() >= work.what(item).items() else None


def write_piece(item: Range, opened: Opened, tell: Tell, work: PieceWork) -> ShardRecord:
    """Write a piece and its record into the job's directory.

    Raises
    ------
    UserError
        D877 for a shard that is not what was written, D105 for such a table; D309.
    """
    began = time.monotonic()
    form, stretch = RECORDS[work.record], opened.stretch()
    ranks = Ranks(form) if work.ranked is None else Ranks.given(form, work.ranked)
    name, seal = f"part-{item.index:05}.piece", Seal()
    with (
        saved(work.directory / name, drafts=drafts_of(work.directory), seal=seal) as write,
        StoredKeys(work.directory, wanted=work.keys) as stored,
    ):
        file = _File(write)
        chunks = stored.following(_told(stretch.chunks(item.first, item.stop), tell))
        directory, n_ngrams = write_index(file, chunks, form, ranks, _span(item, work.bits))  # type: ignore[arg-type]
        index = file.size
        stored.copy_to(file.write)
        appeared, overflow = ranks.appeared(), ranks.overflow()
        for array in (directory, appeared, overflow):
            file.write(array.tobytes())
    said = {
        **work.what(item),
        "index": index,
        "n_ngrams": n_ngrams,
        "parts": len(directory),
        "counts": len(appeared),
        "overflow": len(overflow),
        "edges": stored.edges,
        "seen": stretch.seen,
        "distinct": stretch.distinct,
        "kept": stretch.kept,
    }
    record = ShardRecord(said=said, seconds=time.monotonic() - began)
    record.seal(name, seal)
    save_record(work.directory, item.index, record)
    return record


def _span(item: Range, bits: int) -> Span:
    """Return the parts of a range; `ranges` cuts between parts only."""
    if bits >= _BITS:
        return Span(bits, item.first << (bits - _BITS), item.stop << (bits - _BITS))
    return Span(bits, item.first >> (_BITS - bits), item.stop >> (_BITS - bits))


def _told(chunks: Iterator[Merged], tell: Tell) -> Iterator[Merged]:
    done = 0
    for chunk in chunks:
        yield chunk
        done += len(chunk[0])
        tell(done)


class _File:
    """What `write_index` needs of a file."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.size, self._write = 0, write

    def write(self, data: Any) -> None:
        size = memoryview(data).nbytes
        if size:
            self._write(data)
            self.size += size

    def tell(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished piece, to be read.

    Attributes
    ----------
    sealed : (int, str)
        Size and digest.
    said : dict
        What its record says.
    keys : bool
        Whether it holds the keys.
    old : bool
        Whether an earlier process wrote it.
    """

    path: Path
    sealed: tuple[int, str]
    said: dict[str, Any]
    keys: bool
    old: bool

    @classmethod
    def of(cls, directory: Path, record: ShardRecord, *, keys: bool, old: bool) -> Piece:
        """Return the piece that a record tells of."""
        ((name, sealed),) = record.files.items()
        return cls(directory / name, sealed, record.said, keys, old)

    def is_whole(self) -> bool:
        """Read the file and tell whether it is what was written."""
        seal = Seal.of(self.path)
        return (seal.size, seal.digest()) == self.sealed

    def directory(self) -> NDArray[np.uint64]:
        """Return of each part: place, slots, place of the pilots, buckets, seed."""
        parts = self.said["parts"]
        return self._array(parts * _DIRECTORY, self._behind_keys()).reshape(parts, _DIRECTORY)

    def appeared(self) -> NDArray[np.uint64]:
        """Return the counts in the order of their ranks."""
        return self._array(self.said["counts"], self._behind_keys() + 8 * _DIRECTORY * self.said["parts"])

    def overflow(self) -> NDArray[np.uint64]:
        """Return the n-grams without a rank: rows ``(key, count)``."""
        size = 2 * self.said["overflow"]
        return self._array(size, self.sealed[0] - 8 * size).reshape(-1, 2)

    def edges(self) -> NDArray[np.int64]:
        """Return where the keys with each value of their three top bits begin, shape ``(KEY_PARTS + 1,)``."""
        return np.array(self.said["edges"], dtype=np.int64).reshape(KEY_PARTS + 1)

    def _behind_keys(self) -> int:
        return int(self.said["index"]) + (8 * int(self.said["n_ngrams"]) if self.keys else 0)

    def _array(self, size: int, offset: int) -> NDArray[np.uint64]:
        return np.fromfile(self.path, np.uint64, size, offset=offset)
