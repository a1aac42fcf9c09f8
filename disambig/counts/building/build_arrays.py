"""Counting with NumPy: what runs on little text, the same as `build_kernels`. Plain arrays, no I/O."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import ORDER, PLACES, UNKNOWN, fmix

Keys = NDArray[np.uint64]


def add_keys(
    hashes: Keys,
    sentences: NDArray[np.int64],
    span: tuple[int, int],
    seed: int,
    orders: int,
    keys: Keys,
    rows: NDArray[np.int64],
    filled: NDArray[np.int64],
) -> None:
    """Append to row ``rows[k]`` of `keys` those of the n-grams of k + 1 words that start in ``range(*span)``.

    As `build_kernels.add_keys` for all words and without gaps; `filled` is moved on.
    """
    begins = np.arange(*span)
    ends = sentences[np.searchsorted(sentences, begins, side="right")]
    total = np.full(len(begins), np.uint64(seed))
    for n in range(orders):
        inside = begins + n < ends
        begins, ends, total = begins[inside], ends[inside], total[inside]
        words = hashes[begins + n]
        known = words != UNKNOWN
        begins, ends = begins[known], ends[known]
        total = total[known] + words[known] * np.uint64(PLACES[n])
        stop = filled[n] + len(total)
        keys[rows[n], filled[n] : stop] = fmix(total + np.uint64((n + 1) * ORDER & 0xFFFFFFFFFFFFFFFF))
        filled[n] = stop


def add_up(keys: Keys) -> tuple[Keys, Keys]:
    """Return the distinct keys of sorted `keys` and how often each is there."""
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.zeros(0, np.intp)
    return keys[first], np.diff(first, append=len(keys)).astype(np.uint64)


def merge(parts: list[tuple[Keys, Keys]]) -> tuple[Keys, Keys]:
    """Merge lists of distinct keys, ascending, adding the counts of those in several."""
    keys, counts = interleave(parts)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.add.reduceat(counts, first)


def interleave(parts: list[tuple[Keys, Keys]]) -> tuple[Keys, Keys]:
    """Merge ascending lists of keys with their payloads; of equal keys the earlier list's come first."""
    keys, payload = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(keys, kind="stable")
    return keys[order], payload[order]
