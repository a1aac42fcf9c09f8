"""Machine code that leaves out of lists what their candidates have in common.

The scores of a list may all be shifted by one number: no margin changes, nor does what a list adds to W, as
its alphas sum to one. So of each column the value that more than half of the candidates have is taken from
all of them, and what remains is stored.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled


@compiled
def reduced(indptr, indices, data, offsets, n_columns, fill, starts, begins, cols, ptr, local, values):
    """Write lists down by what differs in them; without `fill` only their sizes.

    Parameters
    ----------
    indptr, indices, data
        CSR rows without duplicates.
    offsets : array of int64, shape (n + 1,)
    n_columns : int
    fill : bool
        Whether the last four arrays are written; else `starts` and `begins` are.
    starts : array of int64, shape (n + 1,)
        Where the columns of each list begin in `cols`.
    begins : array of int64, shape (n + 1,)
        Where the entries of each list begin in `local` and `values`.
    cols : array of int32
        The columns in which candidates of a list differ.
    ptr : array of int64, shape (n_rows + n,)
        Of each list one more than it has candidates: where their entries begin, from the list's first on.
    local : array of int32
        The column of an entry, as an index into those of its list.
    values : array of float32 or float64
    """
    count = np.zeros(n_columns, np.int32)  # candidates that have the column
    majority = np.zeros(n_columns, data.dtype)
    votes = np.zeros(n_columns, np.int32)
    place = np.full(n_columns, -1, np.int32)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        size = last - first
        begin, end = indptr[first], indptr[last]
        for at in range(begin, end):  # the majority vote of Boyer and Moore
            c, v = indices[at], data[at]
            count[c] += 1
            if votes[c] == 0:
                majority[c] = v
                votes[c] = 1
            elif majority[c] == v:
                votes[c] += 1
            else:
                votes[c] -= 1
        for at in range(begin, end):
            votes[indices[at]] = 0
        for at in range(begin, end):
            if data[at] == majority[indices[at]]:
                votes[indices[at]] += 1
        n_cols, n_entries = 0, 0
        start = starts[i]
        for at in range(begin, end):
            c = indices[at]
            if count[c] == 0 or place[c] >= 0:
                continue
            if 2 * votes[c] <= size:
                majority[c] = 0.0
            if majority[c] == 0.0:
                n_entries += count[c]  # zeros that are stored count, which does no harm
            elif votes[c] == size:
                count[c] = 0  # the same everywhere
                continue
            else:
                n_entries += size - votes[c]
            place[c] = n_cols
            if fill:
                cols[start + n_cols] = c
            n_cols += 1
        if fill:
            entry = begins[i]
            row = first + i
            stamp = np.full(n_cols, -1, np.int64)
            for r in range(size):
                ptr[row + r] = entry - begins[i]
                for at in range(indptr[first + r], indptr[first + r + 1]):
                    c = indices[at]
                    p = place[c]
                    if p < 0:
                        continue
                    stamp[p] = r
                    if majority[c] == 0.0 or data[at] != majority[c]:
                        local[entry] = p
                        values[entry] = data[at] - majority[c]
                        entry += 1
                for p in range(n_cols):
                    c = cols[start + p]
                    if majority[c] != 0.0 and stamp[p] != r:
                        local[entry] = p
                        values[entry] = -majority[c]
                        entry += 1
            ptr[row + size] = entry - begins[i]
        else:
            starts[i + 1] = starts[i] + n_cols
            begins[i + 1] = begins[i] + n_entries
        for at in range(begin, end):
            c = indices[at]
            count[c] = 0
            votes[c] = 0
            place[c] = -1


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    for kind in (np.float32, np.float64):
        rows = np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2, kind), np.array([0, 2])
        room = np.zeros(2, np.int64), np.zeros(2, np.int64)
        out = np.zeros(1, np.int32), np.zeros(3, np.int64), np.zeros(2, np.int32), np.zeros(2, kind)
        reduced(*rows, 1, True, *room, *out)
