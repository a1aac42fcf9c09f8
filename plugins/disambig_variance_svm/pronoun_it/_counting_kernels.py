"""Compiled function that counts fillers; a context is a sum of hashes, to which a filler adds one term.

A context is named by the sum from which the key of its n-gram is made, without the term of the filler.
"""

# Numba infers the types of compiled functions.
# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.api.kernels import ORDER_STEP, compiled
from disambig.api.text import NGRAM_PLACES

_PLACE = np.array(NGRAM_PLACES, dtype=np.uint64)
FILL = 6
"""Number of counts per context: four fillers, other words, sentence boundaries."""
_OTHER, _BOUNDARY = 4, 5
_BITS = 24
_LOW = np.uint64((1 << _BITS) - 1)


@compiled
def _count(hashes, bounds, names, filter_, contexts, seed, fillers, counts):
    """Add the fillers of known contexts to `counts` (see `count_into`)."""
    for place in range(len(hashes)):
        filler = _OTHER
        for f in range(len(fillers)):
            if hashes[place] == fillers[f]:
                filler = f
        first, last = place == bounds[place, 0], place == bounds[place, 1] - 1
        if first or last:
            filler = _BOUNDARY
        for c in range(len(contexts)):
            left, right = contexts[c, 0], contexts[c, 1]
            if place - left >= bounds[place, 0] and place + right < bounds[place, 1]:
                order = left + 1 + right
                name = seed + np.uint64(order) * ORDER_STEP
                for i in range(order):
                    if i != left:
                        name += _PLACE[i] * hashes[place - left + i]
                if filter_[name & _LOW]:  # rules out most contexts before the binary search
                    at = np.searchsorted(names, name)
                    if at < len(names) and names[at] == name:
                        counts[at, filler] += np.uint64(1)


def count_into(
    hashes: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    names: NDArray[np.uint64],
    contexts: NDArray[np.int64],
    seed: np.uint64,
    fillers: NDArray[np.uint64],
    counts: NDArray[np.uint64],
) -> None:
    """Add the fillers of the contexts in `names` (ascending) to `counts`, shape ``(n_contexts, 6)``."""
    filter_ = np.zeros(1 << _BITS, np.bool_)
    filter_[(names & _LOW).astype(np.int64)] = True
    _count(hashes, bounds, names, filter_, contexts, seed, fillers, counts)


def sample() -> None:
    """Run the function on tiny input, so that `disambig doctor --compile` compiles it."""
    hashes, bounds = np.ones(3, np.uint64), np.tile(np.array([0, 3]), (3, 1))
    one, counts = np.ones(1, np.uint64), np.zeros((1, FILL), np.uint64)
    count_into(hashes, bounds, one, np.array([(1, 1)]), np.uint64(1), one, counts)
