"""What features read of the words of sentences: hashes of words, their looks and their likely tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.text import fmix, hash_word

Keys = NDArray[np.uint64]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_RUNS = re.compile(r"(.)\1+")
_AROUND = 2
"""Places before and behind each sentence that are no word."""


def mixed(template: str, *fields: NDArray[Any] | int) -> Keys:
    """Return a 64-bit key of a template and its fields in order: arrays of one shape, or numbers."""
    key: Keys = np.array(_of_name(template), np.uint64)
    with np.errstate(over="ignore"):
        for field in fields:
            here: Keys = np.asarray(field).astype(np.uint64)
            key = np.asarray(fmix(np.asarray(np.bitwise_xor(key * _STEP, here))))
    return key


@lru_cache(10_000)
def _of_name(name: str) -> int:
    return hash_word(name)


@lru_cache(100_000)
def looks(word: str) -> tuple[int, int, int, int]:
    """Return hashes of a word in lower case, of its shape, and of its last two and last three letters."""
    lower = word.lower()
    shape = "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c for c in word)
    shape = _RUNS.sub(r"\1+", shape)
    return hash_word(lower), hash_word(shape), hash_word(lower[-2:]), hash_word(lower[-3:])


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """Hashes of the words of sentences, with places around each sentence.

    Attributes
    ----------
    starts : array of int64, shape (n,)
        Where the first word of each sentence is.
    words, shapes, two, three : arrays of uint64
        Hashes of each word in lower case, its shape, its last two and three letters.
    tags : array of uint64
        Of its likely tag.
    """

    starts: NDArray[np.int64]
    words: Keys
    shapes: Keys
    two: Keys
    three: Keys
    tags: Keys

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> Traits:
        """Return the traits of sentences with a tag for each word."""
        around = [(1, 1, 1, 1, 1)] * _AROUND
        rows: list[tuple[int, ...]] = []
        starts = []
        for words, own in zip(sentences, tags, strict=True):
            rows += around
            starts.append(len(rows))
            rows += [(*looks(word), _of_name(tag)) for word, tag in zip(words, own, strict=True)]
            rows += around
        table = np.array(rows, np.uint64).reshape(len(rows), 5)
        return cls(np.array(starts, np.int64), *(np.ascontiguousarray(each) for each in table.T))


def length_bucket(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return 1 to 5 as they are, then buckets that end with 7, 10, 15, 20, 30 words, and one for more."""
    return np.searchsorted(np.array([1, 2, 3, 4, 5, 7, 10, 15, 20, 30]), lengths)
