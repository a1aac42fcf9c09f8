"""The kernels of `states`: sums of what words give to hidden units, and of states with candidates."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled


@compiled
def summed(given, which, bias, sums):
    """Fill `sums`, shape (n, H), with the bias and what the word at each place gives."""
    n, places = which.shape
    h = len(bias)
    for i in range(n):
        row = sums[i]
        for k in range(h):
            row[k] = bias[k]
        for p in range(places):
            part = given[which[i, p], p * h : (p + 1) * h]
            for k in range(h):
                row[k] += part[k]


@compiled
def products(states, rows, candidates, outputs, sums):
    """Fill `sums`, shape (m,), with the product of each candidate's weights and its place's state."""
    size = states.shape[1]
    for r in range(len(rows)):
        state, output = states[rows[r]], outputs[candidates[r]]
        total = np.int32(0)
        for k in range(size):
            total += np.int32(state[k]) * np.int32(output[k])
        sums[r] = total


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    given, which, bias = np.zeros((1, 2), np.int16), np.zeros((1, 1), np.int32), np.zeros(2, np.int32)
    summed(given, which, bias, np.empty((1, 2), np.int32))
    states, outputs = np.zeros((1, 2), np.int16), np.zeros((1, 2), np.int8)
    products(states, np.zeros(1, np.int64), np.zeros(1, np.int32), outputs, np.empty(1, np.int32))
