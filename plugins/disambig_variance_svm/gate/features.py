"""What `usage` sees around a word: hashed features of the two words on each side and of their classes.

A class is a cluster of words that stand between the same neighbours in raw text (`classes`),
so that a verb never seen in the labelled text still looks like a verb. Only arrays here: no text,
no weights and no decision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.api.text import hash_word, hash_words

START_HASH, END_HASH = np.uint64(hash_word("<S>")), np.uint64(hash_word("</S>"))
N_CLASSES = 128
"""Classes of words; class 0 holds the words that have none."""

# What each feature joins: C the word itself, l and r its neighbours, k and s the words beyond them;
# L, R, K, S are the classes of these four.
TEMPLATES = (
    "C", "Cl", "Cr", "Ck", "Cs", "CL", "CR", "CK", "CS",
    "Clr", "ClR", "CLr", "CLR", "CRS", "CrS", "Crs", "CKL",
    "l", "r", "L", "R", "LR", "RS", "rS",
)  # fmt: skip
_ODD = np.uint64(1)
_MULTIPLIERS = {
    template: {part: np.uint64(hash_word(f"{template}/{part}")) | _ODD for part in template}
    for template in TEMPLATES
}
_SEEDS = hash_words(TEMPLATES)
_OF_CLASS = hash_words([f"class {i}" for i in range(N_CLASSES)])


def classes_of(hashes: NDArray[np.uint64], slots: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Return the class of each word.

    Parameters
    ----------
    hashes : array of uint64
        Words.
    slots : array of uint16, shape (a power of two,)
        ``fingerprint << 8 | class`` of the word at home in each slot: the lowest bits of its hash name
        the slot, the highest eight are the fingerprint. 0 is an empty slot.
    """
    found = slots[hashes & np.uint64(len(slots) - 1)]
    return np.where(found >> 8 == hashes >> np.uint64(56), found & 0xFF, 0).astype(np.uint8)


def slots_of(words: NDArray[np.uint64], classes: NDArray[np.uint8], *, bits: int) -> NDArray[np.uint16]:
    """Return the table for `classes_of`; where two words share a slot the earlier keeps it."""
    slots = np.zeros(1 << bits, dtype=np.uint16)
    entries = ((words >> np.uint64(56)) << np.uint64(8)).astype(np.uint16) | classes
    slots[words[::-1] & np.uint64(len(slots) - 1)] = entries[::-1]
    return slots


def neighbours(hashes: NDArray[np.uint64], positions: NDArray[np.integer]) -> dict[str, NDArray[np.uint64]]:
    """Return the words at, before (k, l) and after (r, s) each position; none beyond the sentence's ends."""
    at = np.asarray(positions)
    left, right = hashes[at - 1], hashes[at + 1]
    return {
        "C": hashes[at],
        "l": left,
        "r": right,
        "k": np.where(left == START_HASH, START_HASH, hashes[at - 2]),
        "s": np.where(right == END_HASH, END_HASH, hashes[np.minimum(at + 2, len(hashes) - 1)]),
    }


def buckets(
    words: dict[str, NDArray[np.uint64]], slots: NDArray[np.uint16], *, bits: int
) -> NDArray[np.uint64]:
    """Return the bucket of every feature of every word, shape ``(len(TEMPLATES), n_words)``."""
    values = dict(words)
    for word, name in (("l", "L"), ("r", "R"), ("k", "K"), ("s", "S")):
        values[name] = _OF_CLASS[classes_of(words[word], slots)]
    out = np.empty((len(TEMPLATES), len(words["C"])), dtype=np.uint64)
    for row, template, seed in zip(out, TEMPLATES, _SEEDS, strict=True):
        row[:] = seed
        for part, multiplier in _MULTIPLIERS[template].items():
            row += values[part] * multiplier
    out >>= np.uint64(64 - bits)
    return out
