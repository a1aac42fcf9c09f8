"""How often each n-gram is in each candidate, by operations on arrays: no text is made of an n-gram.

Lists are gone through in blocks, so that memory does not grow with what is counted and thrown away again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.features.lists.known import KnownNgrams
from disambig.features.lists.units import Keys

Ints = NDArray[np.int64]
BLOCK = 1 << 18
"""N-grams of a block, about."""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """N-grams as they occur in some candidates, those of a candidate together.

    Attributes
    ----------
    keys : array of uint64, shape (n,)
    rows : array of int64, shape (n,)
        Rising; the candidate.
    places : array of int64, shape (n,)
        By which their source finds their names.
    """

    keys: Keys
    rows: Ints
    places: Ints


class Ngrams(Protocol):
    """A source of n-grams of candidates."""

    @property
    def sizes(self) -> Ints:
        """How many n-grams each candidate has, at most; shape ``(n_candidates,)``."""

    def occur(self, first: int, last: int) -> Occurrences:
        """Return the n-grams of candidates `first` to `last` (exclusive); rows count from 0."""

    def names(self, places: Ints) -> list[str]:
        """Return the names of n-grams."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Counts of n-grams: a pair is an n-gram of a list, a cell an n-gram of a candidate.

    Attributes
    ----------
    keys, lists, places : arrays, shape (n_pairs,)
        Key, list and a place of each pair.
    begins : array of int64, shape (n_pairs,)
        Where the cells of each pair begin.
    rows, counts : arrays of int64, shape (n_cells,)
        Candidate and count of each cell; the cells of a pair stand together.
    """

    keys: Keys
    lists: Ints
    places: Ints
    begins: Ints
    rows: Ints
    counts: Ints

    @classmethod
    def of(cls, found: Occurrences, list_of_row: Ints) -> Counted:
        """Count n-grams; `list_of_row` is rising and begins with 0."""
        if not len(found.keys):
            none = np.zeros(0, np.int64)
            return cls(found.keys, none, none, none, none, none)
        bits = int(list_of_row[-1]).bit_length()
        lists = list_of_row[found.rows]
        packed = found.keys >> np.uint64(bits)  # one pair in 10**9 lists shares what is left
        if bits:
            packed |= lists.astype(np.uint64) << np.uint64(64 - bits)
        order = np.argsort(packed, kind="stable")
        packed, rows = packed[order], found.rows[order]
        new_pair = np.append(True, packed[1:] != packed[:-1])
        cells = np.flatnonzero(new_pair | np.append(True, rows[1:] != rows[:-1]))
        pairs = order[new_pair]
        begins = np.flatnonzero(new_pair[cells])
        counts = np.diff(np.append(cells, len(rows)))
        return cls(found.keys[pairs], lists[pairs], found.places[pairs], begins, rows[cells], counts)

    def differ(self, sizes: Ints) -> NDArray[np.bool_]:
        """Tell of each pair whether the counts of its list's candidates are not all the same.

        `sizes` has how many candidates each list has.
        """
        if not len(self.begins):
            return np.zeros(0, np.bool_)
        held = np.diff(np.append(self.begins, len(self.rows)))
        same = np.maximum.reduceat(self.counts, self.begins) == np.minimum.reduceat(self.counts, self.begins)
        return (held < sizes[self.lists]) | ~same


def kept(ngrams: Ngrams, offsets: Ints, least: int) -> KnownNgrams:
    """Return the n-grams that tell candidates of `least` lists or more from one another.

    Parameters
    ----------
    ngrams : Ngrams
    offsets : array of int64, shape (n_lists + 1,)
        The candidates of each list.
    least : int
    """
    keys, lists, places = np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    waiting: list[tuple[Keys, Ints, Ints]] = []
    for first, last in _blocks(ngrams.sizes, offsets):
        counted, _ = _counted(ngrams, offsets, first, last)
        telling = counted.differ(np.diff(offsets[first : last + 1]))
        found, at, n = np.unique(counted.keys[telling], return_index=True, return_counts=True)
        waiting.append((found, n.astype(np.int64), counted.places[telling][at]))
        if sum(len(each) for each, _, _ in waiting) > 4 * BLOCK + len(keys):
            keys, lists, places = _merged([(keys, lists, places), *waiting])
            waiting = []
    keys, lists, places = _merged([(keys, lists, places), *waiting])
    often = lists >= least
    named = sorted(zip(ngrams.names(places[often]), keys[often].tolist(), strict=True))
    return KnownNgrams.of([name for name, _ in named], np.array([key for _, key in named], np.uint64))


def counts_of(ngrams: Ngrams, offsets: Ints, known: KnownNgrams) -> tuple[Any, Ints]:
    """Return a sparse row of counts for each candidate, and how many n-grams it has, known or not.

    Returns
    -------
    rows : scipy.sparse.csr_array of shape (n_candidates, len(known))
    held : array of int64, shape (n_candidates,)
    """
    from scipy.sparse import csr_array

    n = len(ngrams.sizes)
    columns, values = [np.zeros(0, np.int32)], [np.zeros(0)]
    filled, held = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for first, last in _blocks(ngrams.sizes, offsets):
        counted, begin = _counted(ngrams, offsets, first, last)
        end = int(offsets[last])
        held[begin:end] = np.bincount(counted.rows, minlength=end - begin)
        cells = np.diff(np.append(counted.begins, len(counted.rows)))
        column = np.repeat(known.columns_of(counted.keys), cells)
        there = np.flatnonzero(column >= 0)
        column, rows = column[there], counted.rows[there]
        order = np.argsort(rows * max(len(known), 1) + column)
        filled[begin:end] = np.bincount(rows, minlength=end - begin)
        columns.append(column[order].astype(np.int32))
        values.append(counted.counts[there][order].astype(np.float64))
    starts = np.concatenate([[0], np.cumsum(filled)])
    return csr_array((np.concatenate(values), np.concatenate(columns), starts), (n, len(known))), held


def _counted(ngrams: Ngrams, offsets: Ints, first: int, last: int) -> tuple[Counted, int]:
    """Return the counts of lists `first` to `last`, and the candidate that their rows count from."""
    begin, end = int(offsets[first]), int(offsets[last])
    lists = np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))
    return Counted.of(ngrams.occur(begin, end), lists), begin


def _blocks(sizes: Ints, offsets: Ints) -> Iterator[tuple[int, int]]:
    """Yield lists, from and to, that have about `BLOCK` n-grams together; one at least."""
    before = np.concatenate([[0], np.cumsum(sizes)])[offsets]
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(before, before[first] + BLOCK, "right")) - 1
        last = min(max(last, first + 1), len(offsets) - 1)
        yield first, last
        first = last


def _merged(parts: list[tuple[Keys, Ints, Ints]]) -> tuple[Keys, Ints, Ints]:
    """Return each key once, with the lists of all parts and its first place."""
    keys, lists, places = (np.concatenate(column) for column in zip(*parts, strict=True))
    found, at, which = np.unique(keys, return_index=True, return_inverse=True)
    return found, np.bincount(which.ravel(), lists, len(found)).astype(np.int64), places[at]
