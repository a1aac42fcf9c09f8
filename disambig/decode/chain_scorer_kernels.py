"""Scores of places, and decoding, with the sparse weights of a chain scorer, for Numba."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.decode.chain_kernels import best_path


@compiled
def place_scores(indptr, indices, values, begins, labels, amounts, first, starts, out):
    """Fill `out` (n, K) with each place's scores; the weights of column f are ``begins[f]:begins[f + 1]``."""
    k = len(first)
    for i in range(len(indptr) - 1):
        for b in range(k):
            out[i, b] = 0.0
    for s in range(len(starts) - 1):
        if starts[s + 1] > starts[s]:
            for b in range(k):
                out[starts[s], b] = first[b]
    for i in range(len(indptr) - 1):
        row = out[i]
        for j in range(indptr[i], indptr[i + 1]):
            x = values[j]
            for at in range(begins[indices[j]], begins[indices[j] + 1]):
                row[labels[at]] += x * amounts[at]


@compiled
def decode(indptr, indices, values, begins, labels, amounts, first, step, starts, path):
    """Put the best label of every place into `path`, one sequence after the other."""
    k = len(first)
    longest = 1
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    place = np.empty((longest, k), np.float32)
    total = np.empty((2, k), np.float32)
    back = np.empty((longest, k), np.int32)
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        if not n:
            continue
        for t in range(n):
            row = place[t]
            for b in range(k):
                row[b] = first[b] if t == 0 else 0.0
            for j in range(indptr[begin + t], indptr[begin + t + 1]):
                x = values[j]
                for at in range(begins[indices[j]], begins[indices[j] + 1]):
                    row[labels[at]] += x * amounts[at]
        best_path(place[:n], step, total, back, path[begin : begin + n])
