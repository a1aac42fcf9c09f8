"""Layout of a count table: sizes of its index, hash constants, record formats, and thresholds of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.text import MAX_ORDER, hashing

KEYS_PER_PART = 1 << 17
"""Maximum number of keys a part is planned for; a part holds between half of this and all of it."""
PILOTS = 1 << 16
SEEDS = 256
C1 = 0x9E3779B97F4A7C15
C2 = 0xD6E8FEB86659FD93
MAX_BITS = 30


@dataclass(frozen=True, slots=True)
class Record:
    """A record format."""

    name: str
    width: int  # size in units of 16 bits, by which compiled functions distinguish the formats
    # stored bits of the key: an absent n-gram is mistaken for another with probability ``2**-fingerprint``
    fingerprint: int
    n_ranks: int  # number of ranks, including rank 0 (absent)
    growth: float  # ratio of neighbouring counts, once their difference exceeds one; 0 if counts are exact
    load: float = 0.99  # keys per slot
    keys_per_bucket: int = 4


EXACT = Record("exact", 3, 32, 1 << 16, 0.0)
"""32-bit fingerprint and 16-bit rank."""
COMPACT = Record("compact", 2, 24, 1 << 8, 1.1)
"""24-bit fingerprint and 8-bit rank: counts above ten are rounded to within 6 %."""
SMALL = Record("small", 1, 10, 1 << 6, 1.24, keys_per_bucket=5)
"""10-bit fingerprint and 6-bit rank: counts above seven are rounded to within 14 %."""
RECORD_FORMS = {record.name: record for record in (EXACT, COMPACT, SMALL)}
OVERFLOW = (1 << 16) - 1
"""Rank of an exact count that has no rank of its own; the count is stored in the overflow section."""

PATTERN = 3
"""The *kind* of an n-gram is its order, 1 to 5; the kind of a pattern with a gap is its order plus this."""


def ngram_order(kind: int) -> int:
    """Return the number of words of an n-gram of this kind; the gap of a pattern counts as a word."""
    return kind if kind <= MAX_ORDER else kind - PATTERN


HASHES = {
    "word": "MurmurHash64A",
    "word_seed": hashing.WORD_SEED,
    "order": hashing.ORDER,
    "places": list(hashing.PLACES),
    "fmix": list(hashing.FMIX),
}
"""Constants of the key hash; a table that was made with other constants is refused."""


def part_bits(n_ngrams: float) -> int:
    """Return how many top bits of the key select the part (at least one)."""
    bits = 1
    while n_ngrams > KEYS_PER_PART * (1 << bits) and bits < MAX_BITS:
        bits += 1
    return bits


def n_slots(n_keys: int, record: Record) -> int:
    """Return the number of slots of a part with `n_keys` keys: even, to keep 32-bit records aligned."""
    slots = int(n_keys / record.load) + 1
    return slots + slots % 2


def n_buckets(n_keys: int, record: Record) -> int:
    """Return the number of buckets of a part with `n_keys` keys: even, to keep 32-bit records aligned."""
    return 2 * (n_keys // (2 * record.keys_per_bucket) + 1)


def rounded_values(record: Record) -> NDArray[np.uint64]:
    """Return the counts that a rounding record can hold, by rank from 0 (absent), shape ``(n_ranks,)``."""
    values = [0]
    while len(values) < record.n_ranks:
        values.append(max(values[-1] + 1, round(values[-1] * record.growth)))
    return np.array(values, dtype=np.uint64)


def rounded_ranks(counts: NDArray[np.uint64], values: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return the rank of the value with the nearest ratio to each count; larger counts get the last rank."""
    exact = values.astype(np.float64)
    edges = np.sqrt(exact[:-1] * exact[1:])[1:]  # between rank r and r + 1, for r >= 1
    ranks = np.searchsorted(edges, counts.astype(np.float64), side="right") + 1
    return np.where(counts > 0, ranks, 0).astype(np.uint16)


KEY_PARTS = 8
"""Number of parts of the stored keys, by their three top bits."""


def checked_edges(stored: Any, n_stored: int) -> NDArray[np.int64]:
    """Return the header's `key_edges`; raise ValueError if they do not fit the section."""
    edges = np.array([int(edge) for edge in stored], dtype=np.int64)
    if (
        len(edges) != KEY_PARTS + 1
        or edges[0]
        or edges[-1] != n_stored
        or not np.all(edges[1:] >= edges[:-1])
    ):
        raise ValueError("the edges of the keys do not fit")
    return edges


def least_counts(min_counts: Mapping[int, int] | None, *, orders: int) -> dict[int, int]:
    """Return the minimum count of each order from 1 to `orders`.

    A threshold holds for its order and all longer ones, up to the next given order: with ``{3: 2}``, n-grams
    of three or more words must occur twice; ``{1: 200, 2: 40}`` is the rule of Web 1T.
    """
    minimums, minimum = {}, 1
    for order in range(1, orders + 1):
        minimum = (min_counts or {}).get(order, minimum)
        minimums[order] = minimum
    return minimums


def describe_least_counts(least: Mapping[int, int]) -> str:
    """Describe the minimum counts of all orders in words; an empty string if nothing is left out."""
    parts = []
    for count, run in groupby(sorted(least), key=lambda order: least[order]):
        orders = list(run)
        if count > 1:
            words = f"{orders[0]} to {orders[-1]} words" if len(orders) > 1 else f"{orders[0]} words"
            parts.append(f"n-grams of {words} seen less than {count:,} times")
    return ", ".join(parts).replace(" 1 words", " 1 word")
