"""The kernels of `model` and `learning`: sums of hashed weights, and the steps that learn them."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.features.gaps.hashed import MULTIPLIERS, SEEDS
from disambig.text.view import END_HASH, START_HASH

_START, _END = np.uint64(START_HASH), np.uint64(END_HASH)


@compiled
def _fill_buckets(hashes, left, right, shift, found):
    before, after = hashes[left], hashes[right]
    further = hashes[left - 1] if left > 0 and before != _START else before
    beyond = hashes[right + 1] if right + 1 < len(hashes) and after != _END else after
    for t in range(len(SEEDS)):
        value = SEEDS[t] + MULTIPLIERS[t, 0] * further + MULTIPLIERS[t, 1] * before
        value += MULTIPLIERS[t, 2] * after + MULTIPLIERS[t, 3] * beyond
        found[t] = value >> shift


@compiled
def add_up(hashes, left, right, weights, bits, sums):
    """Fill `sums` with the sum of the weights at each place."""
    found = np.empty(len(SEEDS), np.uint64)
    shift = np.uint64(64 - bits)
    for i in range(len(left)):
        _fill_buckets(hashes, left[i], right[i], shift, found)
        total = 0
        for t in range(len(SEEDS)):
            total += weights[found[t]]
        sums[i] = total


@compiled
def descend(hashes, left, right, filled, weights, seen, bits, rate):
    """Step the weights by AdaGrad, place by place."""
    found = np.empty(len(SEEDS), np.uint64)
    shift = np.uint64(64 - bits)
    for i in range(len(left)):
        _fill_buckets(hashes, left[i], right[i], shift, found)
        score = 0.0
        for t in range(len(SEEDS)):
            score += weights[found[t]]
        likely = 1.0 / (1.0 + np.exp(-score))
        slope = likely - (1.0 if filled[i] else 0.0)
        for t in range(len(SEEDS)):
            at = found[t]
            seen[at] += slope * slope
            weights[at] -= rate * slope / np.sqrt(seen[at])


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    hashes, places = np.arange(4, dtype=np.uint64), np.array([1, 2])
    add_up(hashes, places - 1, places, np.zeros(4, np.int8), 2, np.empty(2, np.int32))
    filled, rate = np.array([True, False]), np.float32(0.1)
    descend(hashes, places - 1, places, filled, np.zeros(4, np.float32), np.ones(4, np.float32), 2, rate)
