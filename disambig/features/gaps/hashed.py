"""The hashed features of an empty place: the two words on each side, alone and together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import hash_word, hash_words
from disambig.text.view import END_HASH, START_HASH

TEMPLATES = ("l", "r", "lr", "kl", "rs", "klr", "lrs", "k", "s")
"""What each feature joins: l and r are the words beside the place, k and s those beyond them."""
PARTS = "klrs"
SEEDS = hash_words([f"gap {template}" for template in TEMPLATES])
MULTIPLIERS = np.array(
    [
        [hash_word(f"gap {template}/{part}") | 1 if part in template else 0 for part in PARTS]
        for template in TEMPLATES
    ],
    np.uint64,
)
"""Shape ``(n_templates, 4)``; zero where a template does not look at a word."""


def buckets(
    hashes: NDArray[np.uint64], left: NDArray[np.int64], right: NDArray[np.int64], bits: int
) -> NDArray[np.uint64]:
    """Return the bucket of every feature of every place, shape ``(n_templates, n)``."""
    around = words_around(hashes, left, right)
    found = np.empty((len(TEMPLATES), len(left)), np.uint64)
    for row, seed, multipliers in zip(found, SEEDS, MULTIPLIERS, strict=True):
        row[:] = seed
        for words, multiplier in zip(around, multipliers, strict=True):
            if multiplier:
                row += words * multiplier
    found >>= np.uint64(64 - bits)
    return found


def words_around(
    hashes: NDArray[np.uint64], left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], ...]:
    """Return the words k, l, r and s of each place; beyond a sentence's end its end again."""
    before, after = hashes[left], hashes[right]
    further = hashes[np.maximum(left - 1, 0)], hashes[np.minimum(right + 1, len(hashes) - 1)]
    start, end = np.uint64(START_HASH), np.uint64(END_HASH)
    return (
        np.where(before == start, start, further[0]),
        before,
        after,
        np.where(after == end, end, further[1]),
    )
