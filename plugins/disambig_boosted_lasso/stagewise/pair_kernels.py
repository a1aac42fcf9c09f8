"""Machine code for pairs of candidates: what differs between two rows, and the index from feature to pairs.

Rows are `indptr`, `indices` (sorted in a row, none twice) and `data`; pair p is of the rows ``right[p]`` and
``wrong[p]``. Columns with ``skip`` are left out.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled


@compiled
def differences(indptr, indices, data, right, wrong, skip, starts, columns, values):
    """Write the numbers of each pair's right row less its wrong one, zeros left out; return how many.

    With empty `columns` they are counted only: `starts`, shape (pairs + 1,), is written either way.
    """
    writes = len(columns) > 0
    size = 0
    for p in range(len(right)):
        starts[p] = size
        a, a_end = indptr[right[p]], indptr[right[p] + 1]
        b, b_end = indptr[wrong[p]], indptr[wrong[p] + 1]
        while a < a_end or b < b_end:
            if b >= b_end or (a < a_end and indices[a] < indices[b]):
                column, value = indices[a], data[a]
                a += 1
            elif a >= a_end or indices[b] < indices[a]:
                column, value = indices[b], -data[b]
                b += 1
            else:
                column, value = indices[a], data[a] - data[b]
                a += 1
                b += 1
            if value != 0.0 and not skip[column]:
                if writes:
                    columns[size] = column
                    values[size] = value
                size += 1
    starts[len(right)] = size
    return size


@compiled
def by_feature(starts, features, codes, n_features, n_codes):
    """Return where each feature's entries begin, and their pairs and codes: by feature, then code, then pair.

    Two stable counting sorts: the time grows with entries, features and codes only.
    """
    n = len(features)
    begins = np.zeros(n_codes + 1, np.int64)
    for at in range(n):
        begins[codes[at] + 1] += 1
    for code in range(n_codes):
        begins[code + 1] += begins[code]
    order = np.empty(n, np.int64)
    pair_of = np.empty(n, np.int32)
    for p in range(len(starts) - 1):
        for at in range(starts[p], starts[p + 1]):
            order[begins[codes[at]]] = at
            begins[codes[at]] += 1
            pair_of[at] = p
    ends = np.zeros(n_features + 1, np.int64)
    for at in range(n):
        ends[features[at] + 1] += 1
    for feature in range(n_features):
        ends[feature + 1] += ends[feature]
    place = ends[:-1].copy()
    pairs, pair_codes = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n):
        at = order[i]
        to = place[features[at]]
        place[features[at]] += 1
        pairs[to] = pair_of[at]
        pair_codes[to] = codes[at]
    return ends, pairs, pair_codes
