"""Lookups by arrays of keys: the NumPy path, and the choice between it and the Numba kernel.

Both give the same ranks. See `layout` for the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.counts.index.layout import C1, C2, EXACT, SMALL
from disambig.engine import use_numba

_BLOCK = 1 << 14
"""Keys handled at a time by NumPy, so that its intermediate arrays stay in the cache."""


class TableArrays(NamedTuple):
    """An open table as plain arrays, for kernels (see `lookup_kernels`).

    Attributes
    ----------
    words : array of uint16, shape (n_words,)
        The records and pilots of all parts.
    directory : array of uint64, shape (n_parts, 5)
        For each part: place of its records in `words`, slots, place of its pilots, buckets,
        seed * 2**16. Checked against `words`.
    shift : uint64
        ``key >> shift`` is the part.
    width : uint64
        Size of a record in `words`: 3 (exact), 2 (compact) or 1 (small).
    """

    words: NDArray[np.uint16]
    directory: NDArray[np.uint64]
    shift: np.uint64
    width: np.uint64


def ranks(arrays: TableArrays, keys: NDArray[np.uint64], *, engine: str | None = None) -> NDArray[np.uint16]:
    """Return the rank of each key, 0 where it is absent.

    Parameters
    ----------
    arrays : TableArrays
    keys : array of uint64, shape (n,)
    engine : {"numpy", "numba"}, optional
        By default NumPy until so much was asked in this process that Numba is worth its start.

    Returns
    -------
    array of uint16, shape (n,)
    """
    keys = np.ascontiguousarray(keys, dtype=np.uint64)
    found = np.empty(len(keys), dtype=np.uint16)
    if engine == "numba" or (engine is None and use_numba(len(keys))):
        from disambig.counts.index.lookup_kernels import lookup_block

        lookup_block(*arrays, keys, found)
        return found
    for begin in range(0, len(keys), _BLOCK):
        found[begin : begin + _BLOCK] = _ranks(arrays, keys[begin : begin + _BLOCK])
    return found


def _ranks(arrays: TableArrays, keys: NDArray[np.uint64]) -> NDArray[np.uint16]:
    words, directory, shift, width = arrays
    u32 = np.uint64(32)
    records, slots, pilots, buckets, seed = directory[(keys >> shift).astype(np.intp)].T
    bucket = (((keys << (np.uint64(64) - shift)) >> u32) * buckets) >> u32
    pilot = words[(pilots + bucket).astype(np.intp)].astype(np.uint64)
    mixed = (keys ^ ((pilot + seed) * np.uint64(C1))) * np.uint64(C2)
    at = (records + width * (((mixed >> u32) * slots) >> u32)).astype(np.intp)
    found: NDArray[np.uint16]
    if width == SMALL.width:
        small = words[at]
        found = np.where((small ^ keys.astype(np.uint16)) << np.uint16(6) == 0, small >> np.uint16(10), 0)
        return found.astype(np.uint16, copy=False)
    record = words[at].astype(np.uint32) | (words[at + 1].astype(np.uint32) << np.uint32(16))
    low = keys.astype(np.uint32)
    if width == EXACT.width:
        found = np.where(record == low, words[at + 2], np.uint16(0))
        return found
    same = (record ^ low) << np.uint32(8) == 0
    found = np.where(same, record >> np.uint32(24), np.uint32(0)).astype(np.uint16)
    return found
