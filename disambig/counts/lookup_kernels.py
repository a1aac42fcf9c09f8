"""Compiled functions that look up n-grams in a count table."""

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.counts.layout import C1, C2
from disambig.jit import compiled

_C1 = np.uint64(C1)
_C2 = np.uint64(C2)
_S10 = np.uint64(10)
_S16 = np.uint64(16)
_S24 = np.uint64(24)
_S32 = np.uint64(32)
_S64 = np.uint64(64)
_LOW10 = np.uint64(0x3FF)
_LOW24 = np.uint64(0xFFFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
BLOCK = 128


@compiled
def find_slot(words, directory, shift, width, key):
    """Return the place in `words` of the only record that `key` can have."""
    part = key >> shift
    low = (key << (_S64 - shift)) >> _S32
    bucket = (low * directory[part, 3]) >> _S32
    pilot = np.uint64(words[directory[part, 2] + bucket])
    mixed = (key ^ ((pilot + directory[part, 4]) * _C1)) * _C2
    return directory[part, 0] + width * (((mixed >> _S32) * directory[part, 1]) >> _S32)


@compiled
def rank_at(words, width, at, key):
    """Return the rank (uint64) of the record at `at` if it belongs to `key`, else 0."""
    if width == _ONE:
        small = np.uint64(words[at])
        return small >> _S10 if (small & _LOW10) == (key & _LOW10) else _ZERO
    record = np.uint64(words[at]) | (np.uint64(words[at + _ONE]) << _S16)
    if width == _THREE:
        rank = np.uint64(words[at + _TWO])
        return rank if record == (key & _LOW32) else _ZERO
    return record >> _S24 if (record & _LOW24) == (key & _LOW24) else _ZERO


@compiled
def lookup_block(words, directory, shift, width, keys, ranks):
    """Fill `ranks` (uint16) for `keys` (uint64), block by block so that cache misses overlap."""
    places = np.empty(BLOCK, dtype=np.uint64)
    for begin in range(0, len(keys), BLOCK):
        size = min(BLOCK, len(keys) - begin)
        for i in range(size):
            places[i] = find_slot(words, directory, shift, width, keys[begin + i])
        if width == _THREE:
            for i in range(size):
                ranks[begin + i] = rank_at(words, _THREE, places[i], keys[begin + i])
        elif width == _ONE:
            for i in range(size):
                ranks[begin + i] = rank_at(words, _ONE, places[i], keys[begin + i])
        else:
            for i in range(size):
                ranks[begin + i] = rank_at(words, _TWO, places[i], keys[begin + i])
