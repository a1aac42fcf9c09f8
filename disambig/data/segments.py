"""Consecutive segments: ragged arrays, their sums and maxima, mini-batches; look-up in sorted arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from disambig.type_aliases import Bools, Floats, Ints

Item = TypeVar("Item")


def minibatch(
    items: Iterable[Item], size: int, key: Callable[[Item], int] | None = None, *, maximum: int | None = None
) -> Iterator[list[Item]]:
    """Group consecutive items into lists that end as soon as their size is at least `size`.

    With `maximum`, they also end when they have this many items.

    Parameters
    ----------
    items : iterable
        Read when the lists are requested, and no further than the end of a list.
    size : int
        A list ends with the item that makes it as large as this.
    key : callable, optional
        Returns the size of an item, such as the number of its characters; by default 1.
    maximum : int, optional
        Maximum number of items in a list.
    """
    batch: list[Item] = []
    batch_size = 0
    for item in items:
        batch.append(item)
        batch_size += 1 if key is None else key(item)
        if batch_size >= size or len(batch) == maximum:
            yield batch
            batch, batch_size = [], 0
    if batch:
        yield batch


def offsets_from_sizes(sizes: Iterable[int] | NDArray[np.generic]) -> Ints:
    """Return the offsets of consecutive segments: 0 and the cumulative sums of their sizes.

    Parameters
    ----------
    sizes : iterable of int, or array of integers or bools, shape (n,)
        For a mask, the offsets count the True values before each position.

    Returns
    -------
    offsets : array of int64, shape (n + 1,)
        Segment i consists of the rows ``offsets[i]:offsets[i + 1]``.
    """
    counts = sizes if isinstance(sizes, np.ndarray) else np.fromiter(sizes, np.int64)
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.add.accumulate(counts, dtype=np.int64, out=offsets[1:])  # cumsum takes twice as long for short arrays
    return offsets


def join_offsets(parts: Iterable[NDArray[np.integer]]) -> Ints:
    """Return the offsets of the segments of all parts, one part after the other; ``[0]`` without parts."""
    sizes = [lengths(offsets) for offsets in parts]
    return offsets_from_sizes(np.concatenate(sizes) if sizes else ())


def row_owners(offsets: NDArray[np.integer]) -> Ints:
    """Return the index of the instance that each row belongs to, shape ``(n_rows,)``."""
    return np.arange(len(offsets) - 1).repeat(lengths(offsets))


def expand_ranges(firsts: Ints, sizes: Ints) -> Ints:
    """Return ``firsts[i]``, ``firsts[i] + 1`` and so on, ``sizes[i]`` numbers for each i in turn."""
    starts = offsets_from_sizes(sizes)
    return np.arange(starts[-1]) + (firsts - starts[:-1]).repeat(sizes)


def row_ranks(offsets: Ints) -> Ints:
    """Return the position of each row within its instance, shape ``(n_rows,)``; the first one is 0."""
    return np.arange(offsets[-1]) - offsets[:-1].repeat(lengths(offsets))


Selection = Ints | slice
"""What selects elements of an array: indices, or a slice, for which nothing is copied."""


@overload
def take_rows(offsets: Ints, index: NDArray[np.integer]) -> tuple[Ints, Ints]: ...
@overload
def take_rows(offsets: Ints, index: Selection) -> tuple[Selection, Ints]: ...
def take_rows(offsets: Ints, index: NDArray[np.integer] | slice) -> tuple[Selection, Ints]:
    """Return the rows of the instances in `index`, in that order, and their new offsets.

    Parameters
    ----------
    offsets : array of int64, shape (n + 1,)
        The rows of instance i are ``offsets[i]:offsets[i + 1]``.
    index : array of int, shape (m,), or slice

    Returns
    -------
    rows : array of int64, or slice
    offsets : array of int64, shape (m + 1,)
    """
    if isinstance(index, slice):
        start, stop, step = index.indices(len(offsets) - 1)
        if step == 1:
            taken = offsets[start : max(start, stop) + 1]
            return slice(taken[0], taken[-1]), taken - taken[0]
        index = np.arange(start, stop, step)
    first = offsets[index]
    sizes = offsets[index + 1] - first
    starts = offsets_from_sizes(sizes)
    return (first - starts[:-1]).repeat(sizes) + np.arange(starts[-1]), starts


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Lists of different lengths, with all values in one array.

    Attributes
    ----------
    values : array, shape (n_values,)
        The values of all lists, list after list.
    offsets : array of int64, shape (n_lists + 1,)
        The values of list i are ``values[offsets[i]:offsets[i + 1]]``.
    """

    values: NDArray[Any]
    offsets: Ints

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[Any]], dtype: DTypeLike) -> Ragged:
        """Store lists of numbers."""
        values = np.array(list(chain.from_iterable(lists)), dtype)
        return cls(values, offsets_from_sizes(map(len, lists)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[Any]:
        """Return the values of one list."""
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def take(self, index: NDArray[np.generic]) -> Ragged:
        """Return the lists of an index array or a mask, in that order."""
        rows, offsets = take_rows(self.offsets, as_index(index))
        return Ragged(self.values[rows], offsets)


def as_index(index: NDArray[np.generic]) -> Ints:
    """Return the indices of the instances that an index array or a mask selects."""
    index = np.asarray(index)
    return np.flatnonzero(index) if index.dtype == bool else index.astype(np.int64)


def lengths(offsets: NDArray[Any]) -> Ints:
    """Return the number of rows of each instance."""
    return offsets[1:] - offsets[:-1]  # np.diff takes several times as long for short arrays


def unique_inverse(values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct values, ascending, and the index of each value among them.

    `numpy.unique` does the same and takes several times as long for short arrays.
    """
    order = values.argsort(kind="stable")
    in_order = values[order]
    is_first = np.ones(len(values), bool)
    is_first[1:] = in_order[1:] != in_order[:-1]
    index = np.empty(len(values), np.int64)
    index[order] = is_first.cumsum() - 1
    return in_order[is_first], index


def maxima(values: Floats, offsets: Ints) -> Floats:
    """Return the largest value of each instance; every instance must have a row."""
    return np.maximum.reduceat(values, offsets[:-1]) if len(offsets) > 1 else np.empty(0)


def best_rows(values: Floats, offsets: Ints) -> Ints:
    """Return the row with the largest value of each instance; the first one of ties."""
    best = maxima(values, offsets)
    hits = np.flatnonzero(values == np.repeat(best, lengths(offsets)))
    return hits[np.searchsorted(hits, offsets[:-1])]


def find_owner(offsets: NDArray[Any], row: int) -> int:
    """Return the instance of a row."""
    return int(np.searchsorted(offsets, row, side="right")) - 1


def first_rows(rows: NDArray[np.bool_], offsets: Ints) -> Ints:
    """Return the first row of each instance that is in the mask; every instance must have one."""
    hits = np.flatnonzero(rows)
    return hits[np.searchsorted(hits, offsets[:-1])]


def argmax(values: Floats, offsets: Ints) -> Ints:
    """Return `best_rows`, counted from the instance's first row."""
    return best_rows(values, offsets) - offsets[:-1]


def log_sums(values: Floats, offsets: Ints) -> Floats:
    """Return log(sum(exp(values))) of each instance."""
    best = maxima(values, offsets)
    # subtract the maximum so that exp cannot overflow
    shifted = np.exp(values - np.repeat(best, lengths(offsets)))
    return best + np.log(np.add.reduceat(shifted, offsets[:-1]))


def softmax(values: Floats, offsets: Ints) -> Floats:
    """Return the softmax of the rows of each instance."""
    shares: Floats = np.exp(values - np.repeat(log_sums(values, offsets), lengths(offsets)))
    return shares


def top(values: Floats, offsets: Ints, k: int) -> Ints:
    """Return the `k` best rows of each instance, best first, shape ``(n, k)``; padded with -1."""
    instance = row_owners(offsets)
    order = np.lexsort((-values, instance))
    rank = np.arange(len(values)) - offsets[instance]
    best = np.full((len(offsets) - 1, k), -1, np.int64)
    kept = rank < k
    best[instance[kept], rank[kept]] = order[kept]
    return best


@dataclass(frozen=True, slots=True, eq=False)
class HashVocabulary:
    """A set of keys, such as hashes of words, each with an index.

    Attributes
    ----------
    keys : array of integers, shape (n_keys,)
        Ascending; the index of a key is its place in this array.
    """

    keys: NDArray[Any]

    def lookup(self, queries: NDArray[Any]) -> Ints:
        """Return the index of each query, -1 for unknown keys; of the shape of `queries`."""
        index, is_known = self._search(queries)
        return np.where(is_known, index, -1)

    def contains(self, queries: NDArray[Any]) -> Bools:
        """Return a mask of the queries that are known keys."""
        return self._search(queries)[1]

    def get(self, queries: NDArray[Any], values: NDArray[Any], default: Any) -> NDArray[Any]:
        """Return the value of each query, or the default for unknown keys; of the shape of `queries`.

        Parameters
        ----------
        queries : array of integers
        values : array, shape (n_keys,)
        default : scalar, or array of the shape of `queries`
        """
        index, is_known = self._search(queries)
        if not len(self.keys):
            return np.full(queries.shape, default, np.result_type(values, default))
        return np.where(is_known, values[index], default)

    def _search(self, queries: NDArray[Any]) -> tuple[Ints, Bools]:
        """Return an index for each query, which is valid for known keys only, and a mask of these."""
        if not len(self.keys):
            return np.zeros(queries.shape, np.int64), np.zeros(queries.shape, np.bool_)
        index = np.minimum(self.keys.searchsorted(queries), len(self.keys) - 1)
        return index, self.keys[index] == queries
