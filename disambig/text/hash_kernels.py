"""`hashing` for Numba: the same constants, inlined into other kernels. No text and no I/O here."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.text.hashing import FMIX, MURMUR_MULTIPLIER, ORDER, PLACES, WORD_SEED

_M = np.uint64(MURMUR_MULTIPLIER)
_SEED = np.uint64(WORD_SEED)
_R = np.uint64(47)
_FMIX_1 = np.uint64(FMIX[0])
_FMIX_2 = np.uint64(FMIX[1])
_S33 = np.uint64(33)
ORDER_STEP: np.uint64 = np.uint64(ORDER)
PLACE = np.array(PLACES, dtype=np.uint64)


@compiled
def murmur64a(data, start, stop):
    """Return MurmurHash64A (seed 1) of ``data[start:stop]``, an array of bytes."""
    length = stop - start
    value = _SEED ^ (np.uint64(length) * _M)
    at = start
    for _ in range(length // 8):
        block = np.uint64(0)
        for i in range(8):
            block |= np.uint64(data[at + i]) << np.uint64(8 * i)
        block *= _M
        block ^= block >> _R
        block *= _M
        value ^= block
        value *= _M
        at += 8
    if at < stop:
        block = np.uint64(0)
        for i in range(stop - at):
            block |= np.uint64(data[at + i]) << np.uint64(8 * i)
        value ^= block
        value *= _M
    value ^= value >> _R
    value *= _M
    value ^= value >> _R
    return value


@compiled
def fmix64(key):
    """Return MurmurHash3's finaliser of one 64-bit value."""
    key ^= key >> _S33
    key *= _FMIX_1
    key ^= key >> _S33
    key *= _FMIX_2
    key ^= key >> _S33
    return key
