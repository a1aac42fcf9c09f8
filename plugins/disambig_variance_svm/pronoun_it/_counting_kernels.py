"""Compiled functions that count fillers; a context is a sum of hashes, to which a filler adds one term.

A context is named by the sum from which the key of its n-gram is made, without the term of the filler.
"""

# Numba infers the types of compiled functions.
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.api.kernels import ORDER_STEP, compiled, fmix64
from disambig.api.text import GAP_HASH, NGRAM_PLACES

_PLACE = np.array(NGRAM_PLACES, dtype=np.uint64)
_GAP = np.uint64(GAP_HASH)
FILL = 6
"""Number of counts per context: four fillers, other words, sentence boundaries."""
_OTHER, _BOUNDARY = 4, 5
_BITS = 24
_LOW = np.uint64((1 << _BITS) - 1)


@compiled
def _base(hashes, place, left, right, seed):
    """Return the sum of the n-gram around `place` without the term of the word at `place`."""
    order = left + 1 + right
    total = seed + np.uint64(order) * ORDER_STEP
    for i in range(order):
        if i != left:
            total += _PLACE[i] * hashes[place - left + i]
    return total


@compiled
def _any_key(hashes, place, left, right, seed):
    """Return the key of the context with any word at `place` (see `fillers.any_word`)."""
    if left and right:
        return fmix64(_base(hashes, place, left, right, seed) + _PLACE[left] * _GAP)
    order = left + right
    total = seed + np.uint64(order) * ORDER_STEP
    begin = place - left if left else place + 1
    for i in range(order):
        total += _PLACE[i] * hashes[begin + i]
    return fmix64(total)


@compiled
def _contexts(hashes, bounds, places, contexts, seed, rows):
    """Write the contexts of `places` to `rows` (see `contexts_at`); return their number."""
    n = 0
    for place in places:
        for c in range(len(contexts)):
            left, right = contexts[c, 0], contexts[c, 1]
            if place - left >= bounds[place, 0] and place + right < bounds[place, 1]:
                rows[n, 0] = _base(hashes, place, left, right, seed)
                rows[n, 1] = _any_key(hashes, place, left, right, seed)
                rows[n, 2] = np.uint64(left)
                rows[n, 3] = np.uint64(right)
                n += 1
    return n


def contexts_at(
    hashes: NDArray[np.uint64],
    bounds: NDArray[np.int64],
    places: NDArray[np.int64],
    contexts: NDArray[np.int64],
    seed: np.uint64,
) -> NDArray[np.uint64]:
    """Return the contexts of `places`, one per row: name, key with any word, words to the left and right."""
    rows = np.empty((len(places) * len(contexts), 4), np.uint64)
    n = _contexts(hashes, bounds, places, contexts, seed, rows)
    return rows[:n]


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
                name = _base(hashes, place, left, right, seed)
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


@compiled
def _fill(contexts, counts, fillers, keys, amounts):
    n = 0
    for i in range(len(contexts)):
        place = _PLACE[contexts[i, 2]]
        total = np.uint64(0)
        for f in range(counts.shape[1]):
            total += counts[i, f]
        for f in range(len(fillers)):
            keys[n], amounts[n] = fmix64(contexts[i, 0] + place * fillers[f]), counts[i, f]
            n += 1
        keys[n], amounts[n] = contexts[i, 1], total
        n += 1


def filled_keys(
    contexts: NDArray[np.uint64], counts: NDArray[np.uint64], fillers: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the keys and counts of all contexts, filled with each of `fillers` and with any word."""
    keys = np.empty(len(contexts) * (len(fillers) + 1), np.uint64)
    amounts = np.empty_like(keys)
    _fill(contexts, counts, fillers, keys, amounts)
    return keys, amounts


def sample() -> None:
    """Run the functions on tiny input, so that `disambig doctor --compile` compiles them."""
    hashes, bounds = np.ones(3, np.uint64), np.tile(np.array([0, 3]), (3, 1))
    around, seed, fillers = np.array([(1, 1)]), np.uint64(1), np.ones(1, np.uint64)
    rows = contexts_at(hashes, bounds, np.ones(1, np.int64), around, seed)
    counts = np.zeros((len(rows), FILL), np.uint64)
    count_into(hashes, bounds, rows[:, 0].copy(), around, seed, fillers, counts)
    filled_keys(rows, counts, fillers)
