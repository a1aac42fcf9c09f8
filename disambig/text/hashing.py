"""Hashes of words and of n-grams, the keys of count tables.

A word's hash is MurmurHash64A (Appleby) of its UTF-8 bytes with seed 1, as in spaCy, so no
vocabulary is stored and tables that were built separately can be merged. An n-gram's key mixes the hashes
of its words with their positions and with the seed of the tokenisation:

    key = fmix(seed + n * ORDER + sum_i place_i * h_i)    (mod 2**64)

The sum lets a pattern that is filled with many candidates add one term per candidate.
This module is the reference in Python and NumPy; `kernels` holds the compiled version.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

UNKNOWN = 0
"""The hash value that stands for "not a word": beyond the end of a sentence, or a word that is too long."""

LONGEST_WORD = 255
"""Maximum length in bytes of a word with a hash of its own; longer ones have the hash `UNKNOWN`."""

MASK = 0xFFFFFFFFFFFFFFFF
MURMUR_MULTIPLIER = 0xC6A4A7935BD1E995
WORD_SEED = 1
ORDER = 0x9E3779B97F4A7C15
PLACES = (
    0xA24BAED4963EE407,
    0x9FB21C651E98DF25,
    0xD6E8FEB86659FD93,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
)
"""One odd multiplier per position of an n-gram, which limits its length to five words."""
MAX_ORDER = len(PLACES)
FMIX = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


def hash_word(word: str | bytes) -> int:
    """Return the 64-bit hash of a word: MurmurHash64A, seed 1, over its UTF-8 bytes."""
    data = word.encode("utf8", "surrogatepass") if isinstance(word, str) else word
    length = len(data)
    value = (WORD_SEED ^ (length * MURMUR_MULTIPLIER)) & MASK
    whole = length - length % 8
    for start in range(0, whole, 8):
        block = int.from_bytes(data[start : start + 8], "little") * MURMUR_MULTIPLIER & MASK
        block = (block ^ (block >> 47)) * MURMUR_MULTIPLIER & MASK
        value = ((value ^ block) * MURMUR_MULTIPLIER) & MASK
    if whole < length:
        value = ((value ^ int.from_bytes(data[whole:], "little")) * MURMUR_MULTIPLIER) & MASK
    value = ((value ^ (value >> 47)) * MURMUR_MULTIPLIER) & MASK
    return value ^ (value >> 47)


GAP = "<*>"
"""The wildcard word of a pattern, which matches any word; no tokenisation produces it."""
GAP_HASH = hash_word(GAP)
NOTHING = "<0>"
"""The word that marks an empty position in a pattern; no tokenisation produces it."""


_MIN_WORDS, _MAX_BYTES = 32, 24
"""Minimum number of words, and maximum length in bytes, for which words are hashed together."""


def hash_words(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the hashes of `words`, shape ``(len(words),)``."""
    if len(words) < _MIN_WORDS:
        return np.fromiter(map(hash_word, words), dtype=np.uint64, count=len(words))
    data = [word.encode("utf8", "surrogatepass") for word in words]
    lengths = np.fromiter(map(len, data), np.int64, len(data))
    short = lengths <= _MAX_BYTES
    blocks = np.frombuffer(b"".join(encoded[:_MAX_BYTES].ljust(_MAX_BYTES, b"\0") for encoded in data), "<u8")
    hashes = _hash_blocks(blocks.reshape(len(data), -1).astype(np.uint64), lengths)
    for i in np.flatnonzero(~short).tolist():
        hashes[i] = hash_word(data[i])
    return hashes


def _hash_blocks(blocks: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the same hashes as `hash_word`, for words given as zero-padded blocks of eight bytes."""
    multiplier, shift = np.uint64(MURMUR_MULTIPLIER), np.uint64(47)
    values = np.uint64(WORD_SEED) ^ (lengths.astype(np.uint64) * multiplier)
    for i in range(blocks.shape[1]):
        mixed = blocks[:, i] * multiplier
        mixed = (mixed ^ (mixed >> shift)) * multiplier
        whole, part = lengths >= 8 * (i + 1), (lengths > 8 * i) & (lengths < 8 * (i + 1))
        values = np.where(whole, (values ^ mixed) * multiplier, values)
        values = np.where(part, (values ^ blocks[:, i]) * multiplier, values)
    values = (values ^ (values >> shift)) * multiplier
    hashes: NDArray[np.uint64] = values ^ (values >> shift)
    return hashes


def fmix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return MurmurHash3's 64-bit finaliser of each value: every bit depends on every bit."""
    keys = keys ^ (keys >> np.uint64(33))
    keys = keys * np.uint64(FMIX[0])
    keys = keys ^ (keys >> np.uint64(33))
    keys = keys * np.uint64(FMIX[1])
    return keys ^ (keys >> np.uint64(33))


def ngram_keys(words: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return the key of each row of word hashes.

    Parameters
    ----------
    words : array of uint64, shape (n_ngrams, order)
        Word hashes from left to right; ``1 <= order <= 5``. Rows that contain
        `UNKNOWN` get a key like any other; look-ups must return zero for them.
    seed : int
        The tokenisation's seed: ``hash_word(tokenisation.name)``.
    """
    order = words.shape[1]
    places = np.array(PLACES[:order], dtype=np.uint64)
    start = np.uint64((seed + order * ORDER) & MASK)
    return fmix((words * places).sum(axis=1, dtype=np.uint64) + start)


def top_bits_directory(halves: NDArray[np.uint32]) -> tuple[NDArray[np.int32], np.uint32]:
    """Return the first word with each value of its top bits, and the shift that extracts these bits.

    `halves` are the upper halves of word hashes, in ascending order.
    """
    bits = min(max(len(halves).bit_length(), 1), 18)
    bounds = np.arange((1 << bits) + 1, dtype=np.uint64) << np.uint64(32 - bits)
    return np.searchsorted(halves, bounds).astype(np.int32), np.uint32(32 - bits)
