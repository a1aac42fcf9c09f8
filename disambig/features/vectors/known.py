"""Vectors of words, as they are kept: directions in small integers, and how rare each word is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays

Floats = NDArray[np.float32]
RARE = 1e-3
"""A word of this share of a text counts half: the frequent ones say little (Arora et al. 2017)."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """What some words are like.

    Attributes
    ----------
    words : array of uint64, shape (n,)
        Hashes of the words, rising.
    directions : array of int8, shape (n, d)
        Only the direction counts, not the length.
    shares : array of float32, shape (n,)
        How much of the text they were learned from is this word.
    """

    words: NDArray[np.uint64]
    directions: NDArray[np.int8]
    shares: Floats

    @cached_property
    def units(self) -> Floats:
        """Vectors of length one; the last row, of zeros, is for words that are not known."""
        found = self.directions.astype(np.float32)
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return np.vstack([found, np.zeros((1, found.shape[1]), np.float32)])

    @cached_property
    def worth(self) -> Floats:
        """How much each word says, 0 to 1; the last, of words that are not known, is zero."""
        return np.append(RARE / (RARE + self.shares), 0.0).astype(np.float32)

    def rows(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return where words are; those that are not known behind the last."""
        if not len(self.words):
            return np.zeros(hashes.shape, np.int64)
        at = np.minimum(self.words.searchsorted(hashes), len(self.words) - 1)
        return np.where(self.words[at] == hashes, at, len(self.words))

    def state(self) -> Arrays:
        """Return the arrays."""
        return {"words": self.words, "directions": self.directions, "shares": self.shares}

    @classmethod
    def from_state(cls, arrays: Arrays) -> Vectors:
        """Return the vectors of `state`; ValueError where the arrays do not fit together."""
        words, directions, shares = arrays["words"], arrays["directions"], arrays["shares"]
        if words.ndim != 1 or words.dtype != np.uint64 or (words[1:] <= words[:-1]).any():
            raise ValueError("word vectors: words are not rising")
        if directions.ndim != 2 or directions.dtype != np.int8 or len(directions) != len(words):
            raise ValueError("word vectors: words and directions differ")
        if shares.shape != words.shape or shares.dtype.kind != "f" or not bool((shares >= 0).all()):
            raise ValueError("word vectors: words and shares differ")
        return cls(words, directions, shares.astype(np.float32))
