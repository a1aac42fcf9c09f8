"""Write a count table, with or without the keys of its n-grams."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.counts import file as files
from disambig.counts.file import EXACT, HASHES, KEY_PARTS, RECORD_FORMS, Record
from disambig.counts.runs import Merged
from disambig.data import HashVocabulary
from disambig.errors import UserError, nearest_first
from disambig.text import MAX_ORDER

if TYPE_CHECKING:
    from typing_extensions import Self

    from disambig.counts.table import CountTable

_COPY_BYTES = 1 << 22
_THREE = np.uint64(3)
_SEVEN = np.uint64(7)
_S61 = np.uint64(61)


class StoredKeys:
    """Stores the keys of an iterable of chunks in a temporary file; use it in a ``with`` statement.

    Attribute `edges`: where the keys with each value of the three top bits begin; complete after the last
    chunk.
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
                starts = np.searchsorted(keys, top).tolist()
                self.edges = [n + new for n, new in zip(self.edges, [0, *starts, len(keys)], strict=True)]
                # the top three bits follow from the place in the file (`edges`): they make room for the kind
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
    start, end = int(table.key_edges[top_bits]), int(table.key_edges[top_bits + 1])
    lowest = np.uint64(key << 3 & 0xFFFFFFFFFFFFFFFF)
    return start + int(np.searchsorted(table.stored_keys[start:end], lowest))


def write_table(
    path: str | os.PathLike[str],
    chunks: Iterable[Chunk | Merged],
    *,
    tokenisations: Sequence[str],
    gaps: Sequence[str] = (),
    orders: int = MAX_ORDER,
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
        The kinds (uint8, see `file.PATTERN`) are needed for stored keys only.
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

    `arrays`: the sections ``directory``, ``values`` and ``overflow``.
    `header`: tokenisations, gaps, record, orders, number of n-grams, info.
    `digest`: files.Digest; digest of the index, if it was computed while the index was written.
    """
    sections = {"index": (files.PAGE, size)}
    for name in ("directory", "values", "overflow"):
        sections[name] = files.append_section(file, arrays[name])
    names = ("tokenisations", "gaps", "hashes", "record", "orders", "n_ngrams", "info")
    table_header = {name: HASHES if name == "hashes" else header[name] for name in names}
    if stored is not None:
        sections["keys"] = stored.append_to(file)
        table_header["key_edges"] = stored.edges
    digests = {} if digest is None else {"index": digest.section_digest(size)}
    files.finish(file, table_header, sections, digests)


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


_N_SMALL = 1 << 16


class CountRanks:
    """Assigns ranks to counts; counts without a rank are kept with their keys.

    Rounding records have fixed ranks. Exact records get ranks in the order in which counts appear;
    `final_ranks` gives the final ranks.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self._fixed = files.rounded_values(record) if record.growth else None
        self._counts = np.empty(0, dtype=np.uint64)  # ascending
        self._ranks = np.empty(0, dtype=np.uint16)
        self._small = np.zeros(_N_SMALL, dtype=np.uint16)  # ranks of small counts; 0: not seen yet
        self._overflow: list[NDArray[np.uint64]] = []

    @classmethod
    def given(cls, record: Record, counts: NDArray[np.uint64]) -> CountRanks:
        """Return final ranks: the places of counts among `counts`, ascending and not more than ranks."""
        ranks = cls(record)
        ranks._counts = counts
        ranks._ranks = np.arange(1, len(counts) + 1).astype(np.uint16)
        is_small = counts < _N_SMALL
        ranks._small[counts[is_small].astype(np.intp)] = ranks._ranks[is_small]
        return ranks

    def rank_counts(self, keys: NDArray[np.uint64], counts: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Return the ranks of `counts` (provisional for exact records), shape ``(n,)``."""
        if self._fixed is not None:
            return files.rounded_ranks(counts, self._fixed)
        is_small = counts < _N_SMALL
        ranks = self._small[np.where(is_small, counts, 0).astype(np.intp)]
        unranked = np.flatnonzero(ranks == 0)
        if len(unranked):
            ranks[unranked] = self._rank_any_counts(counts[unranked])
            overflowing = np.flatnonzero(ranks == files.OVERFLOW)
            if len(overflowing):
                self._overflow.append(np.stack([keys[overflowing], counts[overflowing]], axis=1))
        return ranks

    def _rank_any_counts(self, counts: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Return the ranks of exact counts; new counts get the next ranks, as long as there are any."""
        distinct, inverse = np.unique(counts, return_inverse=True)
        new = np.setdiff1d(distinct, self._counts)[: files.OVERFLOW - 1 - len(self._counts)]
        ranks = np.arange(len(self._counts) + 1, len(self._counts) + 1 + len(new)).astype(np.uint16)
        self._small[new[new < _N_SMALL].astype(np.intp)] = ranks[new < _N_SMALL]
        all_counts = np.concatenate([self._counts, new])
        order = np.argsort(all_counts)
        self._counts = all_counts[order]
        self._ranks = np.concatenate([self._ranks, ranks])[order]
        vocabulary = HashVocabulary(self._counts)
        return vocabulary.get(distinct, self._ranks, np.uint16(files.OVERFLOW)).astype(np.uint16)[inverse]

    def counts_by_rank(self) -> NDArray[np.uint64]:
        """Return the counts by provisional rank, from rank 1; empty if ranks are fixed."""
        return self._counts[np.argsort(self._ranks)]

    def values(self) -> NDArray[np.uint64]:
        """Return the counts by final rank, from rank 0 (absent, 0)."""
        if self._fixed is not None:
            return self._fixed
        return np.concatenate([np.zeros(1, dtype=np.uint64), self._counts])

    def final_ranks(self) -> NDArray[np.uint16] | None:
        """Return the final rank of each provisional one, shape ``(65536,)``; None if ranks are fixed."""
        if self._fixed is not None:
            return None
        ranks = np.zeros(1 << 16, dtype=np.uint16)
        ranks[self._ranks] = np.arange(1, len(self._ranks) + 1)
        ranks[files.OVERFLOW] = files.OVERFLOW
        return ranks

    def overflow(self) -> NDArray[np.uint64]:
        """Return the n-grams whose exact count has no rank: rows ``(key, count)``, keys ascending."""
        return np.concatenate([np.empty((0, 2), dtype=np.uint64), *self._overflow])


Chunk = tuple[NDArray[np.uint64], NDArray[np.uint64]]
"""Keys, ascending and distinct, and their counts, none zero."""
_REWRITE_SLOTS = 3 << 20


@dataclass(frozen=True, slots=True)
class Span:
    """The parts ``first:stop`` of an index of ``2**bits`` parts: all n-grams in a range of keys."""

    bits: int
    first: int
    stop: int


def write_index(
    write: Callable[[Any], object],
    chunks: Iterable[Chunk],
    record: Record,
    ranks: CountRanks,
    span: Span | None = None,
) -> tuple[NDArray[np.uint64], int, int]:
    """Write an index; return its directory, the number of n-grams, and its size in bytes.

    With `span`, only these parts are written, and `chunks` holds their n-grams only.
    """
    rows: list[tuple[int, int, int, int, int]] = []
    n_ngrams = n_words = 0
    for bits, keys, counts in _parts(chunks, span):
        words, slots, buckets, seed = _build_part(keys, ranks.rank_counts(keys, counts), bits, record)
        rows.append((n_words, slots, n_words + slots * record.width, buckets, seed))
        write(words.data)
        n_words += len(words)
        n_ngrams += len(keys)
    return np.array(rows, dtype=np.uint64).reshape(-1, 5), n_ngrams, 2 * n_words


def renumber(
    file: BinaryIO, start: int, directory: NDArray[np.uint64], new_ranks: NDArray[np.uint16]
) -> None:
    """Replace each rank r in an index of exact records by ``new_ranks[r]``."""
    for records, slots, *_ in directory.tolist():
        for begin in range(0, slots, _REWRITE_SLOTS):
            size = min(slots - begin, _REWRITE_SLOTS) * files.EXACT.width * 2
            at = start + 2 * (records + begin * files.EXACT.width)
            file.seek(at)
            words = np.frombuffer(bytearray(file.read(size)), dtype=np.uint16)
            # an exact record is two words of fingerprint and one of rank
            words[2::3] = new_ranks[words[2::3]]
            file.seek(at)
            file.write(words.data)
    file.seek(0, os.SEEK_END)


def bits_for(chunks: Iterable[Chunk | Merged]) -> tuple[int, list[Chunk]]:
    """Return how many top bits of the key select the part, and the chunks that were read for the estimate.

    Reads chunks until at least one part is full and estimates the number of parts from its last key. That
    key does not depend on how the chunks are cut, so the same n-grams always give the same file.
    """
    pending: list[Chunk] = []
    n_pending = 0
    for keys, counts, *_ in chunks:
        pending.append((keys, counts))
        n_pending += len(keys)
        if n_pending > files.KEYS_PER_PART:
            share = (int(_concatenate(pending)[0][files.KEYS_PER_PART]) + 1) / 2**64
            return files.part_bits((files.KEYS_PER_PART + 1) / share), pending
    return files.part_bits(n_pending), pending


def _parts(
    chunks: Iterable[Chunk], span: Span | None
) -> Iterator[tuple[int, NDArray[np.uint64], NDArray[np.uint64]]]:
    """Cut the chunks into parts of the index: ``(bits, keys, counts)``; parts may be empty."""
    stream = _check_chunks(chunks)
    pending: list[Chunk] = []
    if span is None:
        bits, pending = bits_for(stream)
        span = Span(bits, 0, 1 << bits)
    bits, part = span.bits, span.first
    shift = np.uint64(64 - bits)
    while part < span.stop:
        last = int(pending[-1][0][-1] >> shift) if pending else 0
        chunk = next(stream, None) if last <= part else None
        if chunk is not None:
            pending.append(chunk)
            continue
        keys, counts = _concatenate(pending)
        # parts before `last` are complete; at the end of the stream all parts are
        ends = np.arange(part + 1, last + 1 if last > part else span.stop, dtype=np.uint64) << shift
        cuts = np.searchsorted(keys, ends).tolist()
        if last <= part:
            cuts.append(len(keys))
        for start, end in zip([0, *cuts], cuts, strict=False):
            yield bits, keys[start:end], counts[start:end]
        part += len(cuts)
        pending = [(keys[cuts[-1] :], counts[cuts[-1] :])]
        if not len(pending[0][0]):
            pending = []


def _concatenate(chunks: list[Chunk]) -> Chunk:
    none = np.empty(0, dtype=np.uint64)
    keys = np.concatenate([none, *(keys for keys, _ in chunks)])
    return keys, np.concatenate([none, *(counts for _, counts in chunks)])


def _check_chunks(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks that are not empty; raise ValueError for keys or counts that break the contract."""
    last = -1
    for keys, counts in chunks:
        if not len(keys):
            continue
        if int(keys[0]) <= last or not bool(np.all(keys[1:] > keys[:-1])):
            raise ValueError("the keys of a count table must ascend")
        if not bool(np.all(counts)):
            raise ValueError("the counts of a count table must not be zero")
        last = int(keys[-1])
        yield keys, counts


def _build_part(
    keys: NDArray[np.uint64], ranks: NDArray[np.uint16], bits: int, record: Record
) -> tuple[NDArray[np.uint16], int, int, int]:
    """Return the words of a part (records, then pilots), its numbers of slots and buckets, and its seed."""
    from disambig.counts._kernels import find_pilots

    n_slots, n_buckets = files.n_slots(len(keys), record), files.n_buckets(len(keys), record)
    words = np.zeros(n_slots * record.width + n_buckets, dtype=np.uint16)
    pilots = words[n_slots * record.width :]
    slots = np.empty(len(keys), dtype=np.uint64)
    for seed in range(files.SEEDS):
        if find_pilots(keys, np.uint64(bits), np.uint64(seed), np.uint64(n_slots), pilots, slots):
            break
    else:
        raise ValueError("no perfect hash was found: the keys are not hashes")
    at = slots.astype(np.intp) * record.width
    low, high = keys.astype(np.uint16), (keys >> np.uint64(16)).astype(np.uint16)
    if record is files.SMALL:
        words[at] = (low & np.uint16(0x3FF)) | (ranks << np.uint16(10))
    elif record is files.COMPACT:
        words[at] = low
        words[at + 1] = (high & np.uint16(0xFF)) | (ranks << np.uint16(8))
    else:
        words[at] = low
        words[at + 1] = high
        words[at + 2] = ranks
    return words, n_slots, n_buckets, seed
