"""Kernel that finds the pilots of one part of the index. See `layout` for the formulas."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.counts.index.layout import C1, C2, PILOTS

_C1 = np.uint64(C1)
_C2 = np.uint64(C2)
_S32 = np.uint64(32)
_S16 = np.uint64(16)
_ONE = np.uint64(1)
_SIX = np.uint64(6)
_63 = np.uint64(63)
_PILOTS = PILOTS


@compiled
def find_pilots(keys, bits, seed, n_slots, pilots, slots):
    """Choose a pilot for each bucket of a part; return False where one bucket finds none.

    `keys` (uint64) are the part's, sorted and distinct; `bits`, `seed` and `n_slots` are uint64.
    Fills `pilots` (uint16, one a bucket) and `slots` (uint64, one a key).
    """
    n_keys = len(keys)
    n_buckets = len(pilots)
    first = np.zeros(n_buckets + 1, dtype=np.int64)
    for i in range(n_keys):
        bucket = (((keys[i] << bits) >> _S32) * np.uint64(n_buckets)) >> _S32
        first[np.int64(bucket) + 1] += 1
    largest = 0
    for b in range(n_buckets):
        if first[b + 1] > largest:
            largest = first[b + 1]
    # the large buckets first, while there is room: buckets in falling order of size
    start = np.zeros(largest + 2, dtype=np.int64)
    for b in range(n_buckets):
        start[largest - first[b + 1] + 1] += 1
    for s in range(largest + 1):
        start[s + 1] += start[s]
    order = np.empty(n_buckets, dtype=np.int64)
    for b in range(n_buckets):
        place = largest - first[b + 1]
        order[start[place]] = b
        start[place] += 1
    for b in range(n_buckets):
        first[b + 1] += first[b]

    taken = np.zeros((np.int64(n_slots) >> 6) + 1, dtype=np.uint64)
    for o in range(n_buckets):
        begin = first[order[o]]
        end = first[order[o] + 1]
        if begin == end:
            pilots[order[o]] = 0
            continue
        found = False
        first_key = keys[begin]
        mixed = (seed << _S16) * _C1
        for pilot in range(_PILOTS):
            slot = ((((first_key ^ mixed) * _C2) >> _S32) * n_slots) >> _S32
            free = not (taken[slot >> _SIX] >> (slot & _63)) & _ONE  # mostly not: leave early
            if free:
                slots[begin] = slot
                for i in range(begin + 1, end):
                    slot = ((((keys[i] ^ mixed) * _C2) >> _S32) * n_slots) >> _S32
                    if (taken[slot >> _SIX] >> (slot & _63)) & _ONE:
                        free = False
                        break
                    slots[i] = slot
            mixed += _C1
            if not free:
                continue
            for i in range(begin, end):  # two keys of the bucket may want the same slot
                for j in range(begin, i):
                    if slots[i] == slots[j]:
                        free = False
            if free:
                for i in range(begin, end):
                    taken[slots[i] >> _SIX] |= _ONE << (slots[i] & _63)
                pilots[order[o]] = pilot
                found = True
                break
        if not found:
            return False
    return True
