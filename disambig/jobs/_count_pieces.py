"""Steps of a counting job: count shards of text, write pieces of the table, assemble the table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.counts import (
    EXACT,
    KEY_PARTS,
    RECORD_FORMS,
    SLICES,
    BuildOptions,
    Counted,
    CountRanks,
    CountTable,
    DiskRun,
    Merge,
    Merged,
    PrunedChunks,
    Record,
    Run,
    RunFile,
    Span,
    StoredKeys,
    count_texts,
    file as files,
    finish_table,
    make_counter,
    merge_ngrams,
    ngram_kinds,
    open_table,
    paragraphs,
    slice_places,
    write_index,
)
from disambig.errors import UserError
from disambig.files import Checksum, read_json, save_json
from disambig.jobs.manifest import RECORDS_FOLDER, Shard, job_temp_files, resolve_inputs
from disambig.jobs.records import BROKEN, ShardRecord, Totals, load_record, save_record
from disambig.jobs.work import Function, ProgressCallback
from disambig.text import Tokenisation, tokenisation_named
from disambig.type_aliases import Ints, no_progress


@dataclass(frozen=True, slots=True)
class CountWork:
    """Count shards of text; `inputs` are folders that every worker must be able to read."""

    directory: Path
    tokenisations: tuple[str, ...]
    gaps: bool
    choices: BuildOptions
    inputs: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the job and its input folders as seen by this process."""
        return resolve_inputs(self.directory, self.inputs)

    def start(self) -> Function:
        """Load the tokenisations and return the function that counts a shard."""
        tokenisations = [tokenisation_named(name) for name in self.tokenisations]
        return lambda shard, report_progress: count_shard(shard, tokenisations, report_progress, self)


def count_shard(
    shard: Shard, tokenisations: Sequence[Tokenisation], report_progress: ProgressCallback, work: CountWork
) -> ShardRecord:
    """Count a shard and write its runs and its record into the job's directory.

    Raises D303, D304, D308 for the text, D319 for a file that changed, D309 if something cannot be written.
    """
    began = time.monotonic()
    name, record = f"part-{shard.index:05}.runs", ShardRecord()
    with record.writing_file(work.directory, name) as write:
        file = RunFile(work.directory / name, write)  # type: ignore[arg-type]
        with make_counter(work.tokenisations, gaps=work.gaps, runs_to=file, **work.choices) as counter:
            n_texts = count_texts(counter, _texts(shard, report_progress), *tokenisations)
            runs = [
                [row, run.offset, run.counts.itemsize, file.add(run.edges)]
                for row, kind_runs in enumerate(counter.spill())
                for run in kind_runs
                if isinstance(run, DiskRun)
            ]
    record.totals = Totals(n_texts, counter.totals[0])
    record.details = {"runs": runs, "totals": counter.totals}
    record.seconds = time.monotonic() - began
    save_record(work.directory, shard.index, record)
    return record


def finished_shard(work: CountWork, shard: Shard, kinds: int) -> ShardRecord | None:
    """Return the record of a shard that is finished, with the given number of kinds of n-grams."""
    record = load_record(work.directory, shard.index)
    if record is None or not isinstance(record.details.get("runs"), list):
        return None
    totals = record.details.get("totals")
    # `type`, since isinstance would accept booleans, which JSON can contain
    is_valid = isinstance(totals, list) and [type(total) for total in totals] == [int] * kinds
    return record if is_valid else None


def _texts(shard: Shard, report_progress: ProgressCallback) -> Iterator[str]:
    before = reported = 0
    for part in shard.parts:
        if part.has_changed:
            raise UserError("D319", path=part.path)
        for line, done in paragraphs(part.path, part.start, part.end):
            yield line
            if before + done > reported:
                reported = before + done
                report_progress(reported)
        before += part.length


class KeptRun(DiskRun):
    """A run that an earlier process may have written, and that is therefore checked."""

    def read(self, first: int, last: int) -> Counted:
        """Return the n-grams of the slices ``first:last``; raise D877 if they are damaged."""
        keys, counts = DiskRun.read(self, first, last)
        size = int(self.edges[last] - self.edges[first])
        is_valid = len(keys) == len(counts) == size and bool(np.all(keys[1:] > keys[:-1]) and np.all(counts))
        # the first 12 bits of a key are the number of its slice (`SLICES` is 2 ** 12)
        if not is_valid or (size and not (first <= int(keys[0]) >> 52 and int(keys[-1]) >> 52 < last)):
            raise UserError("D877", path=self.path)
        return keys, counts


def find_runs(directory: Path, shards: int, kinds: int) -> list[list[Run]]:
    """Return the runs of all shards, for each kind.

    Raises D877 for a shard with a damaged record or damaged runs.
    """
    runs: list[list[Run]] = [[] for _ in range(kinds)]
    for index in range(shards):
        path = directory / f"part-{index:05}.runs"
        record = load_record(directory, index)
        try:
            if record is None:
                raise ValueError("no record")
            for row, offset, size, at in record.details["runs"]:
                edges = np.fromfile(path, np.int64, SLICES + 1, offset=at)
                if edges[0] or np.any(edges[1:] < edges[:-1]):
                    raise ValueError("edges that do not ascend")
                runs[row].append(KeptRun(path, offset, edges, np.dtype(f"u{size}")))
        except BROKEN as problem:
            raise UserError("D877", path=path) from problem
    return runs


class OpenNgramSource(NamedTuple):
    """A source with open files."""

    edges: Ints  # int64 (SLICES + 1,): number of n-grams before each slice
    stretch: Callable[[], Merge | _MergedStretch]  # returns a new one whose counts start at 0


@dataclass(frozen=True, slots=True)
class ShardSource:
    """The runs of the shards of a job."""

    directory: Path
    shards: int
    orders: int
    gaps: bool
    min_counts: Mapping[int, int] | None

    def open(self) -> OpenNgramSource:
        """Read the positions of the runs; raise D877 for a damaged shard."""
        kinds = ngram_kinds(self.orders, gaps=self.gaps)
        runs = find_runs(self.directory, self.shards, len(kinds))
        stretch = partial(Merge, self.orders, kinds, runs, self.min_counts)
        return OpenNgramSource(stretch().edges, stretch)


@dataclass(frozen=True, slots=True)
class TableSource:
    """Tables with stored keys."""

    paths: tuple[str, ...]
    orders: int
    gaps: bool
    min_counts: Mapping[int, int] | None

    def open(self) -> OpenNgramSource:
        """Open the tables."""
        tables = [open_table(path) for path in self.paths]
        return OpenNgramSource(slice_places(tables).sum(axis=0), lambda: _MergedStretch(self, tables))


CountSource = ShardSource | TableSource
"""A small picklable description of n-grams, which a worker opens."""


class _MergedStretch:
    def __init__(self, source: TableSource, tables: list[CountTable]) -> None:
        self._tables = tables
        self._pruned = PrunedChunks(source.orders, source.gaps, source.min_counts)
        self.seen, self.distinct, self.kept = self._pruned.seen, self._pruned.distinct, self._pruned.kept

    def chunks(self, first: int = 0, stop: int = SLICES) -> Iterator[Merged]:
        stretch = merge_ngrams(self._tables, self._pruned.kinds, first, stop)
        return self._pruned.chunks(stretch, 0, no_progress)


_BITS = SLICES.bit_length() - 1
_PART_NUMBERS = 5  # numbers per part
_REQUIRED_DETAILS = {"index", "n_ngrams", "parts", "counts", "overflow", "edges", "seen", "distinct", "kept"}


@dataclass(frozen=True, slots=True)
class KeyRange:
    """The slices ``first:stop`` of keys, with about `size` n-grams; `index` is among all items of the job."""

    index: int
    first: int
    stop: int
    size: int


def ranges(edges: Ints, bits: int, number: int, *, index: int) -> list[KeyRange]:
    """Divide all slices into `number` ranges of whole parts with similar numbers of n-grams.

    `edges` (shape (SLICES + 1,)): number of n-grams before each slice.
    `bits`: number of bits of the key that select the part.
    """
    step = max(1, SLICES >> bits)
    targets = edges[-1] * np.arange(1, number) // number
    # a range consists of whole parts, since a part of the index is built by one worker
    inner = np.searchsorted(edges[:-1:step], targets) * step
    bounds = [0, *np.minimum(inner, SLICES).tolist(), SLICES]
    return [
        KeyRange(index + n, bounds[n], bounds[n + 1], int(edges[bounds[n + 1]] - edges[bounds[n]]))
        for n in range(number)
    ]


@dataclass(frozen=True, slots=True)
class PieceWork:
    """Write the pieces of a table, one per range of keys."""

    directory: Path
    source: CountSource
    record: str
    keys: bool
    bits: int  # number of bits of the key that select the part
    # the counts that have a rank, ascending, if there are too many different counts to rank all
    ranked: NDArray[np.uint64] | None = None
    inputs: tuple[str, ...] = ()  # folders that every worker must be able to read

    def describe(self) -> dict[str, Any]:
        """Return the job and its input folders as seen by this process."""
        return resolve_inputs(self.directory, self.inputs)

    def start(self) -> Function:
        """Open the source and return the function that writes a piece."""
        opened = self.source.open()
        return lambda item, report_progress: write_piece(item, opened, report_progress, self)

    def range_details(self, item: KeyRange) -> dict[str, Any]:
        """Return the details that a piece of this item must have in its record."""
        return {"slices": [item.first, item.stop], "bits": self.bits, "final": self.ranked is not None}


def finished_piece(work: PieceWork, item: KeyRange) -> ShardRecord | None:
    """Return the record of the piece of this item if it is finished."""
    record = load_record(work.directory, item.index)
    if record is None or not record.details.keys() >= _REQUIRED_DETAILS or len(record.files) != 1:
        return None
    return record if record.details.items() >= work.range_details(item).items() else None


def write_piece(
    item: KeyRange, opened: OpenNgramSource, report_progress: ProgressCallback, work: PieceWork
) -> ShardRecord:
    """Write a piece and its record into the job's directory.

    Raises D877 for a damaged shard, D105 for a damaged table, D309 if something cannot be written.
    """
    began = time.monotonic()
    form, stretch = RECORD_FORMS[work.record], opened.stretch()
    ranks = CountRanks(form) if work.ranked is None else CountRanks.given(form, work.ranked)
    record = ShardRecord()
    with (
        record.writing_file(work.directory, f"part-{item.index:05}.piece") as write,
        StoredKeys(work.directory, enabled=work.keys) as stored,
    ):
        chunks = stored.storing(_with_progress(stretch.chunks(item.first, item.stop), report_progress))
        # `TablePiece` computes offsets from this order: index, keys, directory, ranked counts, overflow
        directory, n_ngrams, index_size = write_index(write, chunks, form, ranks, _span(item, work.bits))
        stored.copy_to(write)
        counts_by_rank, overflow = ranks.counts_by_rank(), ranks.overflow()
        write(directory.tobytes() + counts_by_rank.tobytes() + overflow.tobytes())
    record.details = {
        **work.range_details(item),
        "index": index_size,
        "n_ngrams": n_ngrams,
        "parts": len(directory),
        "counts": len(counts_by_rank),
        "overflow": len(overflow),
        "edges": stored.edges,
        "seen": stretch.seen,
        "distinct": stretch.distinct,
        "kept": stretch.kept,
    }
    record.seconds = time.monotonic() - began
    save_record(work.directory, item.index, record)
    return record


def _span(item: KeyRange, bits: int) -> Span:
    """Return the parts of a range; ranges consist of whole parts."""
    if bits >= _BITS:
        return Span(bits, item.first << (bits - _BITS), item.stop << (bits - _BITS))
    return Span(bits, item.first >> (_BITS - bits), item.stop >> (_BITS - bits))


def _with_progress(chunks: Iterator[Merged], report_progress: ProgressCallback) -> Iterator[Merged]:
    done = 0
    for chunk in chunks:
        yield chunk
        done += len(chunk[0])
        report_progress(done)


@dataclass(frozen=True, slots=True)
class TablePiece:
    """A finished piece of a table."""

    path: Path
    size_and_digest: tuple[int, str]  # size and digest
    details: dict[str, Any]  # details in its record
    keys: bool  # whether it contains the keys
    old: bool  # whether an earlier process wrote it

    @classmethod
    def from_record(cls, directory: Path, record: ShardRecord, *, keys: bool, old: bool) -> TablePiece:
        """Return the piece that a record describes."""
        ((name, size_and_digest),) = record.files.items()
        return cls(directory / name, size_and_digest, record.details, keys, old)

    def is_whole(self) -> bool:
        """Read the file and return True if it is unchanged."""
        checksum = Checksum.from_file(self.path)
        return (checksum.size, checksum.digest()) == self.size_and_digest

    def directory(self) -> NDArray[np.uint64]:
        """Return position, slots, position of the pilots, buckets and seed of each part."""
        parts = self.details["parts"]
        return self._array(parts * _PART_NUMBERS, self._end_of_keys()).reshape(parts, _PART_NUMBERS)

    def counts_by_rank(self) -> NDArray[np.uint64]:
        """Return the counts in the order of their ranks."""
        return self._array(
            self.details["counts"], self._end_of_keys() + 8 * _PART_NUMBERS * self.details["parts"]
        )

    def overflow(self) -> NDArray[np.uint64]:
        """Return the n-grams without a rank: rows ``(key, count)``."""
        size = 2 * self.details["overflow"]
        return self._array(size, self.size_and_digest[0] - 8 * size).reshape(-1, 2)

    def edges(self) -> Ints:
        """Return the start of the keys for each value of their top three bits, shape ``(KEY_PARTS + 1,)``."""
        return np.array(self.details["edges"], dtype=np.int64).reshape(KEY_PARTS + 1)

    def _end_of_keys(self) -> int:
        return int(self.details["index"]) + (8 * int(self.details["n_ngrams"]) if self.keys else 0)

    def _array(self, size: int, offset: int) -> NDArray[np.uint64]:
        return np.fromfile(self.path, np.uint64, size, offset=offset)


_COPY_BYTES = 1 << 22
_RANKED = "ranked.json"


def ranked_counts(pieces: Sequence[TablePiece]) -> tuple[NDArray[np.uint64], bool]:
    """Return the counts that have a rank, in order of appearance, and whether all counts have one."""
    merged, all_ranked = np.empty(0, dtype=np.uint64), True
    for piece in pieces:
        counts = piece.counts_by_rank()
        more = counts[~np.isin(counts, merged)]
        n_free = files.OVERFLOW - 1 - len(merged)
        all_ranked &= len(more) <= n_free and not piece.details["overflow"]
        merged = np.concatenate([merged, more[:n_free]])
    return merged, all_ranked


def save_ranked(directory: Path, ranked: NDArray[np.uint64]) -> None:
    """Save the counts that have a rank in a job, whose pieces are then written for these ranks."""
    save_json(directory / RECORDS_FOLDER / _RANKED, ranked.tolist(), temp_files=job_temp_files(directory))


def load_ranked(directory: Path) -> NDArray[np.uint64] | None:
    """Return the counts of `save_ranked`, or None if they cannot be read."""
    try:
        counts = np.array(read_json(directory / RECORDS_FOLDER / _RANKED), dtype=np.uint64)
    except BROKEN:
        return None
    is_valid = counts.shape == (files.OVERFLOW - 1,) and bool(np.all(counts[1:] > counts[:-1]))
    return counts if is_valid else None


def assemble(
    output: Path,
    pieces: Sequence[TablePiece],
    *,
    form: Record,
    ranked: NDArray[np.uint64],
    header: Mapping[str, Any],
    keys: bool,
    consume: bool = False,
    written: Callable[[os.stat_result], None] | None = None,
) -> None:
    """Assemble the table from all pieces.

    Raises D107; D877 for a damaged piece.

    `pieces`: in order of their keys.
    `ranked`: the counts that have a rank, in ascending order. Only exact records need them.
    `header`: tokenisations, gaps, record, orders, info.
    `consume`: remove each piece after it was copied, to save disk space.
    `written`: called with the status of the complete file before it gets its name.
    """
    directories, overflow = [], []
    n_ngrams = 0
    with files.replacing(output) as file, files.Digest() as digest:
        file.write(bytes(files.PAGE))  # room for the preamble, which is written last
        for piece in pieces:
            if piece.old and not piece.is_whole():
                raise UserError("D877", path=piece.path)
            directory = piece.directory()
            position = np.uint64((file.tell() - files.PAGE) // 2)  # in 16-bit words, as in the directory
            for words in _piece_parts(piece, directory, form, ranked):
                file.write(words.data)
                digest.add(words.data)
            directory[:, 0] += position
            directory[:, 2] += position
            directories.append(directory)
            overflow.append(piece.overflow())
            n_ngrams += piece.details["n_ngrams"]
            if consume and not keys:  # with keys, the piece is read once more, by `_PieceKeys`
                piece.path.unlink()
        values = CountRanks(form).values() if form is not EXACT else np.append(np.uint64(0), ranked)
        arrays = {
            "directory": np.concatenate(directories),
            "values": values,
            "overflow": np.concatenate(overflow),
        }
        stored = _PieceKeys(pieces, consume) if keys else None
        size = file.tell() - files.PAGE
        finish_table(file, size, arrays, {**header, "n_ngrams": n_ngrams}, stored, digest)
        file.flush()
        if written is not None:
            written(os.fstat(file.fileno()))


def _piece_parts(
    piece: TablePiece, directory: NDArray[np.uint64], form: Record, ranked: NDArray[np.uint64]
) -> Iterator[NDArray[np.uint16]]:
    """Yield the parts of a piece with its ranks mapped to those of the table."""
    new_ranks = None
    if form is EXACT and not piece.details["final"]:
        new_ranks = np.zeros(1 << 16, dtype=np.uint16)
        table_ranks = np.searchsorted(ranked, piece.counts_by_rank()) + 1
        new_ranks[1 : len(table_ranks) + 1] = table_ranks
    with open(piece.path, "rb") as source:
        for _, slots, pilots, buckets, _ in directory.tolist():
            words = np.fromfile(source, np.uint16, pilots + buckets - source.tell() // 2)
            if new_ranks is not None:
                # a record is a fingerprint of 32 bits and a rank; `ranks` is a view, so `words` changes
                ranks = words[2 : slots * form.width : form.width]
                ranks[:] = new_ranks[ranks]
            yield words


class _PieceKeys:
    """The keys of all pieces as a section of the table."""

    def __init__(self, pieces: Sequence[TablePiece], consume: bool) -> None:
        self._pieces, self._consume = pieces, consume
        self.edges: list[int] = np.sum([piece.edges() for piece in pieces], axis=0).tolist()

    def append_to(self, file: BinaryIO) -> tuple[int, int]:
        offset = files.fill_page(file)
        for piece in self._pieces:
            left = 8 * piece.details["n_ngrams"]
            with open(piece.path, "rb") as source:
                source.seek(piece.details["index"])
                while left and (block := source.read(min(left, _COPY_BYTES))):
                    file.write(block)
                    left -= len(block)
            if self._consume:
                piece.path.unlink()
        return offset, file.tell() - offset
