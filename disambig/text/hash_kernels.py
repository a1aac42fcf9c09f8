"""`hashing` for Numba: the same constants, inlined into other kernels. No text and no I/O here."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.text.hashing import FMIX, ORDER, PLACES

_FMIX_1 = np.uint64(FMIX[0])
_FMIX_2 = np.uint64(FMIX[1])
_S33 = np.uint64(33)
ORDER_STEP: np.uint64 = np.uint64(ORDER)
PLACE = np.array(PLACES, dtype=np.uint64)


@compiled
def fmix64(key):
    """Return MurmurHash3's finaliser of one 64-bit value."""
    key ^= key >> _S33
    key *= _FMIX_1
    key ^= key >> _S33
    key *= _FMIX_2
    key ^= key >> _S33
    return key
