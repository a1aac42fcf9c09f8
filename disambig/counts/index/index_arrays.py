"""The pilots of a small part of the index, with NumPy, many at a time: the same as `index_kernels`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.counts.index.layout import C1, C2, PILOTS

_S32 = np.uint64(32)
_AT_ONCE = 64


def find_pilots(
    keys: NDArray[np.uint64],
    bits: int,
    seed: int,
    n_slots: int,
    pilots: NDArray[np.uint16],
    slots: NDArray[np.uint64],
) -> bool:
    """Choose a pilot for each bucket of a part, as `index_kernels.find_pilots` does."""
    n_buckets = len(pilots)
    buckets = (((keys << np.uint64(bits)) >> _S32) * np.uint64(n_buckets)) >> _S32
    sizes = np.bincount(buckets.astype(np.intp), minlength=n_buckets)
    begins = np.cumsum(sizes) - sizes
    mixed = np.uint64((seed << 16) * C1 & 0xFFFFFFFFFFFFFFFF) + np.arange(
        PILOTS, dtype=np.uint64
    ) * np.uint64(C1)
    taken = np.zeros(n_slots, bool)
    pilots[:] = 0
    for bucket in np.argsort(-sizes, kind="stable").tolist():
        size = int(sizes[bucket])
        if not size:
            break  # the others are empty, too
        own = slice(int(begins[bucket]), int(begins[bucket]) + size)
        pilot = _pilot(keys[own], mixed, np.uint64(n_slots), taken, slots[own])
        if pilot < 0:
            return False
        pilots[bucket] = pilot
        taken[slots[own]] = True
    return True


def _pilot(
    keys: NDArray[np.uint64],
    mixed: NDArray[np.uint64],
    n_slots: np.uint64,
    taken: NDArray[np.bool_],
    slots: NDArray[np.uint64],
) -> int:
    """Return the first pilot that sends the keys of a bucket to free slots, each to its own; -1 for none."""
    for start in range(0, len(mixed), _AT_ONCE):
        each = keys ^ mixed[start : start + _AT_ONCE, None]
        at = (((each * np.uint64(C2)) >> _S32) * n_slots) >> _S32
        for pilot in np.flatnonzero(~taken[at].any(axis=1)).tolist():
            if len(set(at[pilot].tolist())) == len(keys):
                slots[:] = at[pilot]
                return start + pilot
    return -1
