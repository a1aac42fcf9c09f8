"""Dynamic programmes over chains that share one table of steps, with NumPy: the same as `chain_kernels`.

For little text: Numba's import and the compiling of a kernel take longer than some thousand places here.
`place` holds the score of each state at each place, shape (n, K), sequences ``starts[i]:starts[i + 1]``;
`step` that of each pair of states (before, after), shape (K, K).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[Any]
"""Floats of single or double precision, the same of places and steps."""
Offsets = NDArray[np.int64]


def best_states(place: Scores, step: Scores, starts: Offsets) -> NDArray[np.int64]:
    """Return the states of the best sequences (Viterbi), shape ``(n,)``; ties go to the first state."""
    path = np.zeros(len(place), np.int64)
    everyone = np.arange(place.shape[1])
    for first, last in pairwise(starts.tolist()):
        if last == first:
            continue
        total, origins = place[first], []
        for t in range(first + 1, last):
            most = total.max()
            if most != -np.inf:  # as in the kernel: only differences matter
                total = total - most
            ways = total[:, None] + step
            origins.append(ways.argmax(axis=0))
            total = ways[origins[-1], everyone] + place[t]
        state = int(total.argmax())
        for t in range(last - 1, first, -1):
            path[t] = state
            state = int(origins[t - first - 1][state])
        path[first] = state
    return path


def best_with_states(place: Scores, step: Scores, starts: Offsets) -> Scores:
    """Return the score of the best sequence that has each state at each place (max-marginals), (n, K)."""
    found = np.empty_like(place)
    for first, last in pairwise(starts.tolist()):
        if last == first:
            continue
        found[first] = place[first]
        for t in range(first + 1, last):
            found[t] = (found[t - 1][:, None] + step).max(axis=0) + place[t]
        after = np.zeros(place.shape[1], place.dtype)
        for t in range(last - 2, first - 1, -1):
            after = (step + (after + place[t + 1])).max(axis=1)
            found[t] += after
    return found
