"""Inner products for kernels that learn networks of words."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled

LANES = 16
"""Length of the array that `dot` sums in."""


@compiled
def dot(a, b, lanes):
    """Return the inner product, summed in lanes, which the compiler may do side by side."""
    lanes[:] = 0
    whole = len(a) - len(a) % LANES
    for j in range(0, whole, LANES):
        for lane in range(LANES):
            lanes[lane] += a[j + lane] * b[j + lane]
    total = np.float32(0)
    for lane in range(LANES):
        total += lanes[lane]
    for j in range(whole, len(a)):
        total += a[j] * b[j]
    return total


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    dot(np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.zeros(LANES, np.float32))
