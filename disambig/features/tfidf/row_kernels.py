"""The kernel of TF-IDF rows: find each term of an instance among the known ones, and count."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.text.hash_kernels import ORDER_STEP, PLACE, fmix64

SHORT = 80
"""Terms of a row that are sorted one by one."""
_TWO = np.uint64(2)


@compiled
def _column(key, keys, begins, shift):
    """Return where `key` is among the rising `keys`, -1 where it is not."""
    bucket = key >> shift
    for at in range(begins[bucket], begins[bucket + 1]):
        if keys[at] == key:
            return at
    return -1


@compiled
def _sort(row):
    """Sort a row in place: short ones, as most are, by putting each in its place among those before it."""
    if len(row) > SHORT:
        row.sort()
        return
    for j in range(1, len(row)):
        moved, at = row[j], j
        while at > 0 and row[at - 1] > moved:
            row[at] = row[at - 1]
            at -= 1
        row[at] = moved


@compiled
def count_terms(
    hashes,
    counted,
    ends,
    first,
    stop,
    pairs,
    seed,
    keys,
    begins,
    shift,
    indptr,
    columns,
    counts,
    found,
    asked,
):
    """Write the rows of instances, columns rising, and how many of their words are known; return their size.

    Parameters
    ----------
    hashes, counted, ends : arrays of uint64, bool and bool, shape (n_tokens,)
        Of tokens: which are terms, and which are ends of sentences.
    first, stop : arrays of int64, shape (n,)
    pairs : bool
        Whether pairs are terms: see `words.Terms`.
    seed : uint64
        Of the hashes of pairs.
    keys, begins, shift : arrays of uint64 and int32, uint64
        The known hashes, and where those begin whose bits above `shift` have each value.
    indptr, columns, counts, found, asked : arrays of int32, int32, float64, int64 and int64
        Filled; with room for every term.
    """
    size = 0
    start = seed + _TWO * ORDER_STEP
    for i in range(len(first)):
        begin, met = size, 0
        for t in range(first[i], stop[i]):
            if counted[t]:
                asked[i] += 1
                at = _column(hashes[t], keys, begins, shift)
                if at >= 0:
                    found[i] += 1
                    columns[begin + met] = at
                    met += 1
        if pairs:
            for t in range(first[i] - 1, stop[i]):
                if not (ends[t] and ends[t + 1]):
                    key = fmix64(PLACE[0] * hashes[t] + PLACE[1] * hashes[t + 1] + start)
                    at = _column(key, keys, begins, shift)
                    if at >= 0:
                        columns[begin + met] = at
                        met += 1
        row = columns[begin : begin + met]
        _sort(row)
        for j in range(met):
            if j and row[j] == columns[size - 1]:
                counts[size - 1] += 1.0
            else:
                columns[size] = row[j]
                counts[size] = 1.0
                size += 1
        indptr[i + 1] = size
    return size


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    keys, begins, tokens = np.zeros(1, np.uint64), np.array([0, 1, 1], np.int32), np.zeros(3, np.bool_)
    of_two, of_one = np.zeros(2, np.int32), np.zeros(1, np.int64)
    zero = np.uint64(0)
    count_terms(
        np.zeros(3, np.uint64), tokens, tokens, of_one + 1, of_one + 2, True, zero, keys, begins,
        np.uint64(63), of_two, np.zeros(4, np.int32), np.zeros(4), of_one.copy(), of_one.copy(),
    )  # fmt: skip
