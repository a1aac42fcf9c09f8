"""The fused kernel of `subsequences`: hash each one around a place, look it up, count it."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.compiling import compiled
from disambig.features.rows.one_row import Rows
from disambig.text.hash_kernels import ORDER_STEP, PLACE, fmix64

_S32 = np.uint64(32)


@compiled
def _look_up(symbols, places, worth, keys, columns, values, found, asked):
    """Write columns and values of known subsequences, and how many each row has; return how many in all."""
    filled = 0
    for i in range(len(symbols)):
        for c in range(len(places)):
            mixed, there, size = np.uint64(0), True, np.uint64(0)
            for p in range(places.shape[1]):
                at = places[c, p]
                if at < 0:
                    break
                if symbols[i, at] == 0:
                    there = False
                    break
                mixed += symbols[i, at] * PLACE[p]
                size += np.uint64(1)
            if not there or mixed == 0:
                continue
            asked[i] += 1
            key = np.uint32(fmix64(mixed ^ (size * ORDER_STEP)) >> _S32)
            key = max(key, np.uint32(1))
            low, high = 0, len(keys)
            while low < high:
                middle = (low + high) >> 1
                if keys[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            if low < len(keys) and keys[low] == key:
                columns[filled] = low
                values[filled] = worth[c]
                found[i] += 1
                filled += 1
    return filled


def known_rows(
    symbols: NDArray[np.uint64],
    places: NDArray[np.int64],
    worth: NDArray[np.float64],
    keys: NDArray[np.uint32],
) -> Rows:
    """Return what `SeenKeys.rows` makes of the subsequences at `places` of each row of `symbols`."""
    from scipy.sparse import csr_array

    n = len(symbols)
    columns, values = np.empty(n * len(places), np.int32), np.empty(n * len(places))
    found, asked = np.zeros(n, np.int64), np.zeros(n, np.int64)
    filled = _look_up(symbols, places, worth, keys, columns, values, found, asked)
    starts = np.concatenate([[0], np.cumsum(found)]).astype(np.int32)
    rows = csr_array((values[:filled], columns[:filled], starts), (n, len(keys)))
    rows.sum_duplicates()
    return rows, found, asked
