"""The fused kernel of `context_words`: hash each word around a place, look it up, add its weights."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.compiling import compiled
from disambig.text.hash_kernels import ORDER_STEP, fmix64

if TYPE_CHECKING:
    from disambig.data.instances import Instances
    from disambig.text.view import TokenView

_S32 = np.uint64(32)


@compiled
def _directory(keys):
    """Return where the keys with each value of their top bits begin, about one key a value."""
    bits = 1
    while bits < 16 and (1 << bits) < len(keys):
        bits += 1
    shift = np.uint32(32 - bits)
    begins = np.zeros((1 << bits) + 1, np.int64)
    for key in keys:
        begins[(key >> shift) + 1] += 1
    for i in range(1 << bits):
        begins[i + 1] += begins[i]
    return begins, shift


@compiled
def _sum(hashes, first, last, low, high, distances, kinds, keys, weights, sums):
    """Add up the weights of the known features; `sums` (n, K) holds the answers.

    Feature j looks `distances[j]` words to the left (below zero) or right and salts with `kinds[j]`.
    """
    begins, shift = _directory(keys)
    for i in range(len(first)):
        for j in range(len(distances)):
            distance = distances[j]
            at = (first[i] if distance < 0 else last[i]) + distance
            if at < low[i] or at >= high[i] or hashes[at] == 0:
                continue
            key = np.uint32(fmix64(hashes[at] ^ (kinds[j] * ORDER_STEP)) >> _S32)
            bucket = key >> shift
            for slot in range(begins[bucket], begins[bucket + 1]):
                if keys[slot] == key:
                    for r in range(weights.shape[1]):
                        sums[i, r] += weights[slot, r]
                    break


def add_weights(
    view: TokenView,
    instances: Instances,
    looks: Sequence[tuple[int, int]],
    keys: NDArray[np.uint32],
    weights: NDArray[np.int8],
) -> NDArray[np.int32]:
    """Return the sum of the known features' weights for each candidate, shape ``(n, K)``."""
    document = view.document_of(instances.positions)
    sums = np.zeros((len(instances), weights.shape[1]), np.int32)
    _sum(
        view.hashes,
        instances.positions,
        instances.positions + instances.lengths - 1,
        view.documents[document],
        view.documents[document + 1],
        np.array([distance for distance, _ in looks], np.int64),
        np.array([kind for _, kind in looks], np.uint64),
        keys,
        weights,
        sums,
    )
    return sums
