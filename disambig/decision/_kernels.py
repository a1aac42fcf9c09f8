"""Compiled function that looks up hashed weights."""

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.jit import compiled

_S32 = np.uint64(32)


@compiled
def lookup_weights(sorted_keys, weights, begins, shift, keys, out):
    """Write the weight of each key to `out`, shape (m,); zero for an unknown key.

    `begins` and `shift` are the directory from `top_bits_directory`, which limits the search to the keys
    that share their highest bits.
    """
    for i in range(len(keys)):
        key = keys[i]
        bucket = np.uint32(key >> _S32) >> shift
        out[i] = 0.0
        for slot in range(begins[bucket], begins[bucket + 1]):
            if sorted_keys[slot] == key:
                out[i] = weights[slot]
                break


def sample() -> None:
    """Call the compiled function once, so that `disambig doctor --compile` compiles it."""
    one = np.ones(1, np.uint64)
    lookup_weights(one, np.ones(1), np.array([0, 1, 1], np.int32), np.uint32(31), one, np.empty(1))
