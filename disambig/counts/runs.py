"""Sorted runs of n-grams in memory or on disk, merging them, and count thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.counts.file import least_counts, ngram_order, write_error
from disambig.type_aliases import Ints

Keys = NDArray[np.uint64]


def sum_sorted_keys(keys: Keys) -> tuple[Keys, Keys]:
    """Return the distinct keys of sorted `keys` and the number of occurrences of each."""
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.intp)
    return keys[first], np.diff(first, append=len(keys)).astype(np.uint64)


Counted = tuple[NDArray[np.uint64], NDArray[np.uint64]]
"""Distinct keys, ascending, and their counts."""
SLICES = 4096
"""Number of slices of a run, by the top twelve bits of the keys; runs can be read by slice."""
_BLOCK = 1 << 20
_EDGES = np.arange(SLICES, dtype=np.uint64) << np.uint64(52)


def slice_edges(keys: NDArray[np.uint64]) -> Ints:
    """Return where each slice begins in sorted `keys`, and the total number, shape ``(SLICES + 1,)``."""
    return np.append(np.searchsorted(keys, _EDGES), len(keys)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RawRun:
    """Sorted keys in memory, one per occurrence; `edges` as from `slice_edges`."""

    keys: NDArray[np.uint64]
    edges: Ints

    def read(self, first: int, last: int) -> Counted:
        """Return the n-grams in the slices ``first:last``."""
        return sum_sorted_keys(self.keys[self.edges[first] : self.edges[last]])


@dataclass(frozen=True, slots=True, eq=False)
class DiskRun:
    """Distinct keys and their counts in a file from byte `offset` on: all counts, then all keys."""

    path: Path
    offset: int
    edges: Ints
    counts: np.dtype[np.unsignedinteger]

    def read(self, first: int, last: int) -> Counted:
        """Return the n-grams in the slices ``first:last``."""
        start, end, n = int(self.edges[first]), int(self.edges[last]), int(self.edges[-1])
        size = self.counts.itemsize
        counts = np.fromfile(self.path, self.counts, end - start, offset=self.offset + size * start)
        keys = np.fromfile(self.path, np.uint64, end - start, offset=self.offset + size * n + 8 * start)
        return keys, counts.astype(np.uint64)


Run = RawRun | DiskRun


class RunFile:
    """A file to which runs are appended.

    `path`: name of the file when the runs are read.
    `write`: appends bytes to the file.
    Attribute `size`: bytes written so far.
    """

    def __init__(self, path: Path, write: Callable[[memoryview], object]) -> None:
        self.path, self.size = path, 0
        self._write = write

    def add_keys(self, keys: NDArray[np.uint64]) -> DiskRun:
        """Append sorted keys, one per occurrence, as a run. `keys` is overwritten to save memory."""
        offset = self.size
        n = start = 0
        while start < len(keys):  # distinct keys are collected at the front of `keys`
            # extend the block to the last occurrence of its last key, so that no key is counted in two blocks
            last = keys[min(start + _BLOCK, len(keys)) - 1]
            end = int(np.searchsorted(keys, last, side="right"))
            distinct, counts = sum_sorted_keys(keys[start:end])
            self.add(counts.astype(np.uint32))
            keys[n : n + len(distinct)] = distinct
            n += len(distinct)
            start = end
        self.add(keys[:n])
        return DiskRun(self.path, offset, slice_edges(keys[:n]), np.dtype(np.uint32))

    def add_counts(self, keys: NDArray[np.uint64], counts: NDArray[np.uint64]) -> DiskRun:
        """Append distinct keys, ascending, and their counts as a run."""
        offset = self.size
        self.add(counts)
        self.add(keys)
        return DiskRun(self.path, offset, slice_edges(keys), np.dtype(np.uint64))

    def add(self, array: NDArray[Any]) -> int:
        """Append an array unchanged; return where it begins."""
        start = self.size
        if array.size:
            self._write(np.ascontiguousarray(array).data)
            self.size += array.nbytes
        return start


@contextmanager
def run_file(path: Path) -> Iterator[RunFile]:
    """Create a file for runs, which can be read immediately; D107 if the disk is full."""
    with open(path, "wb", buffering=0) as file:

        def write(data: memoryview) -> None:
            unwritten = data.cast("B")
            try:
                while unwritten:  # Linux writes at most two gigabytes per call
                    unwritten = unwritten[file.write(unwritten) :]
            except OSError as error:
                raise write_error(error, path) from error

        yield RunFile(path, write)


def merge_counts(parts: Sequence[Counted]) -> Counted:
    """Merge lists of n-grams; the counts of an n-gram in several lists are added up."""
    queue = [part for part in parts if len(part[0])]
    if len(queue) < 2:
        return queue[0] if queue else (np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64))
    from disambig.counts._kernels import merge

    return _merge_pairs(queue, merge)


def _merge_pairs(queue: list[Counted], merge: Callable[..., int]) -> Counted:
    """Merge lists with a compiled function that merges two and returns the length of the result."""
    while len(queue) > 1:
        (keys_a, values_a), (keys_b, values_b) = queue.pop(0), queue.pop(0)
        keys = np.empty(len(keys_a) + len(keys_b), dtype=np.uint64)
        values = np.empty(len(keys), dtype=np.uint64)
        n = merge(keys_a, values_a, keys_b, values_b, keys, values)
        queue.append((keys[:n], values[:n]))  # at the end, so that lists of similar length are merged
    return queue[0]


_AT_ONCE = 1 << 19
"""Number of n-grams merged at a time."""

Merged = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]
"""Distinct keys, ascending, with their counts and their kinds (see `file.PATTERN`)."""


class Merge:
    """Merges the n-grams of several runs and counts them.

    `kinds`: kinds of n-grams (see `file.PATTERN`).
    `min_counts`: see `least_counts`.
    Attribute `edges` (int64 (SLICES + 1,)): number of n-grams of all runs before each slice; those in several
    runs count several times.
    Attributes `seen`, `distinct`, `kept`: number of n-grams per kind: occurrences, different ones, and those
    that were not left out.
    """

    def __init__(
        self,
        orders: int,
        kinds: Sequence[int],
        runs: Sequence[Sequence[Run]],
        min_counts: Mapping[int, int] | None = None,
    ) -> None:
        minimum = least_counts(min_counts, orders=orders)
        self._least = [minimum[ngram_order(kind)] for kind in kinds]
        self._kinds = np.array(kinds, dtype=np.uint8)
        self._runs = runs
        all_edges = (run.edges for kind_runs in runs for run in kind_runs)
        self.edges = sum(all_edges, np.zeros(SLICES + 1, np.int64))
        self.seen, self.distinct, self.kept = ([0] * len(kinds) for _ in range(3))

    def chunks(self, first: int = 0, stop: int = SLICES) -> Iterator[Merged]:
        """Yield the n-grams in the slices ``first:stop``, about half a million at a time."""
        for start, end in spans(self.edges, first, stop, _AT_ONCE):
            parts = []
            for row, kind_runs in enumerate(self._runs):
                keys, counts = merge_counts([run.read(start, end) for run in kind_runs])
                self.seen[row] += int(counts.sum(dtype=np.uint64))
                self.distinct[row] += len(keys)
                if self._least[row] > 1:
                    is_kept = counts >= np.uint64(self._least[row])
                    keys, counts = keys[is_kept], counts[is_kept]
                self.kept[row] += len(keys)
                parts.append((keys, (counts << np.uint64(3)) | np.uint64(row)))
            from disambig.counts._kernels import interleave

            keys, payload = _merge_pairs(list(parts), interleave)
            if len(keys):
                yield keys, payload >> np.uint64(3), self._kinds[(payload & np.uint64(7)).astype(np.intp)]


def spans(edges: Ints, first: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of the slices ``first:stop`` with about `size` n-grams, at least one slice each."""
    while first < stop:
        last = int(np.searchsorted(edges, edges[first] + size, side="right")) - 1
        last = min(max(last, first + 1), stop)
        yield first, last
        first = last
