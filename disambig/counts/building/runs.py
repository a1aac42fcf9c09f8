"""Sorted runs of n-grams, in memory or on disk, and their merge. What an n-gram is is not known here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building import build_arrays
from disambig.counts.file import write_error
from disambig.engine import use_numba

Counted = tuple[NDArray[np.uint64], NDArray[np.uint64]]
"""Distinct keys, ascending, and their counts."""
SLICES = 4096
"""Runs can be read by ranges of the keys' top twelve bits."""
_BLOCK = 1 << 20
_EDGES = np.arange(SLICES, dtype=np.uint64) << np.uint64(52)


def edges_of(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return where each slice begins in sorted `keys`, and their number, shape ``(SLICES + 1,)``."""
    return np.append(np.searchsorted(keys, _EDGES), len(keys)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RawRun:
    """Sorted keys in memory, one for each occurrence; `edges` as by `edges_of`."""

    keys: NDArray[np.uint64]
    edges: NDArray[np.int64]

    def read(self, first: int, last: int) -> Counted:
        """Return the n-grams of the slices ``first:last``."""
        return added_up(self.keys[self.edges[first] : self.edges[last]])


@dataclass(frozen=True, slots=True, eq=False)
class DiskRun:
    """Distinct keys and their counts in a file, from byte `offset` on: first all counts, then all keys."""

    path: Path
    offset: int
    edges: NDArray[np.int64]
    counts: np.dtype[np.unsignedinteger]

    def read(self, first: int, last: int) -> Counted:
        """Return the n-grams of the slices ``first:last``."""
        begin, end, n = int(self.edges[first]), int(self.edges[last]), int(self.edges[-1])
        size = self.counts.itemsize
        counts = np.fromfile(self.path, self.counts, end - begin, offset=self.offset + size * begin)
        keys = np.fromfile(self.path, np.uint64, end - begin, offset=self.offset + size * n + 8 * begin)
        return keys, counts.astype(np.uint64)


Run = RawRun | DiskRun


def added_up(keys: NDArray[np.uint64]) -> Counted:
    """Return the distinct keys of sorted `keys` and how often each is there."""
    if not use_numba(len(keys)):
        return build_arrays.add_up(keys)
    from disambig.counts.building.build_kernels import add_up

    distinct, counts = np.empty_like(keys), np.empty_like(keys)
    n = add_up(keys, distinct, counts)
    return distinct[:n], counts[:n]


class RunFile:
    """A file that takes one run after the other.

    Parameters
    ----------
    path : Path
        What the file is called when the runs are read.
    write : callable
        Writes bytes at its end.

    Attributes
    ----------
    size : int
        Bytes so far.
    """

    def __init__(self, path: Path, write: Callable[[memoryview], object]) -> None:
        self.path, self.size = path, 0
        self._write = write

    def add_keys(self, keys: NDArray[np.uint64]) -> DiskRun:
        """Append sorted keys, one for each occurrence, as a run; they are used up, little memory beside."""
        from disambig.counts.building.build_kernels import add_up

        offset = self.size
        n = begin = 0
        while begin < len(keys):  # distinct keys gather at the front of `keys`
            last = keys[min(begin + _BLOCK, len(keys)) - 1]
            end = int(np.searchsorted(keys, last, side="right"))
            counts = np.empty(end - begin, dtype=np.uint32)
            size = add_up(keys[begin:end], keys[n : n + end - begin], counts)
            self.add(counts[:size])
            n += size
            begin = end
        self.add(keys[:n])
        return DiskRun(self.path, offset, edges_of(keys[:n]), np.dtype(np.uint32))

    def add_counts(self, keys: NDArray[np.uint64], counts: NDArray[np.uint64]) -> DiskRun:
        """Append distinct keys, ascending, with their counts as a run."""
        offset = self.size
        self.add(counts)
        self.add(keys)
        return DiskRun(self.path, offset, edges_of(keys), np.dtype(np.uint64))

    def add(self, array: NDArray[Any]) -> int:
        """Append an array as it is; return where it begins."""
        begin = self.size
        if array.size:
            self._write(np.ascontiguousarray(array).data)
            self.size += array.nbytes
        return begin


@contextmanager
def run_file(path: Path) -> Iterator[RunFile]:
    """Give a new file for runs, which can be read at once; D107 where the disk is full."""
    with open(path, "wb", buffering=0) as file:

        def write(data: memoryview) -> None:
            left = data.cast("B")
            try:
                while left:  # a system writes two gigabytes at a time
                    left = left[file.write(left) :]
            except OSError as error:
                raise write_error(error, path) from error

        yield RunFile(path, write)


def merged(parts: Sequence[Counted]) -> Counted:
    """Merge lists of n-grams, adding the counts of those in several."""
    todo = [part for part in parts if len(part[0])]
    if not todo:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint64)
    if len(todo) > 1 and not use_numba(sum(len(keys) for keys, _ in todo)):
        return build_arrays.merge(todo)
    from disambig.counts.building.build_kernels import merge

    while len(todo) > 1:
        (keys_a, counts_a), (keys_b, counts_b) = todo.pop(0), todo.pop(0)
        keys = np.empty(len(keys_a) + len(keys_b), dtype=np.uint64)
        counts = np.empty(len(keys), dtype=np.uint64)
        n = merge(keys_a, counts_a, keys_b, counts_b, keys, counts)
        todo.append((keys[:n], counts[:n]))
    return todo[0]


def interleaved(parts: Sequence[Counted]) -> Counted:
    """Merge lists of keys with payloads instead of counts; nothing is added up."""
    if not use_numba(sum(len(keys) for keys, _ in parts)):
        return build_arrays.interleave(list(parts))
    from disambig.counts.building.build_kernels import interleave

    todo = list(parts)
    while len(todo) > 1:
        (keys_a, payload_a), (keys_b, payload_b) = todo.pop(0), todo.pop(0)
        keys = np.empty(len(keys_a) + len(keys_b), dtype=np.uint64)
        payload = np.empty(len(keys), dtype=np.uint64)
        interleave(keys_a, payload_a, keys_b, payload_b, keys, payload)
        todo.append((keys, payload))
    return todo[0]
