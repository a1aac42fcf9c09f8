"""Word classes: words that keep the same company belong together, at several degrees of fineness.

What a tagger has not seen in training may be in the class of words that it has. Classes are learned from
plain text: each frequent word by the words left and right of it (pointwise mutual information, cut to its
main directions), gathered by k-means. Nothing of the text is kept but hashes of words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.types import Arrays


@dataclass(frozen=True, slots=True, eq=False)
class WordClasses:
    """The classes of some words.

    Attributes
    ----------
    words : array of uint64, shape (n,)
        Hashes of the words in lower case, rising.
    classes : array of uint16, shape (n, depth)
        The number of each word's class, the coarsest first.
    """

    words: NDArray[np.uint64]
    classes: NDArray[np.uint16]

    @property
    def depth(self) -> int:
        """How many classes a word has."""
        return int(self.classes.shape[1])

    def of(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the classes of words plus one, zeros for a word that has none, shape ``(n, depth)``."""
        found = np.zeros((len(hashes), self.depth), np.uint64)
        if len(self.words):
            at = np.minimum(self.words.searchsorted(hashes), len(self.words) - 1)
            known = self.words[at] == hashes
            found[known] = self.classes[at[known]].astype(np.uint64) + np.uint64(1)
        return found

    def state(self) -> Arrays:
        """Return both arrays."""
        return {"class_words": self.words, "classes": self.classes}

    @classmethod
    def from_state(cls, arrays: Arrays) -> WordClasses:
        """Return the classes of `state`; ValueError where the arrays do not fit together."""
        words, classes = arrays["class_words"], arrays["classes"]
        if words.ndim != 1 or words.dtype != np.uint64 or (words[1:] <= words[:-1]).any():
            raise ValueError("word classes: words are not rising")
        if classes.ndim != 2 or classes.dtype != np.uint16 or len(classes) != len(words):
            raise ValueError("word classes: words and classes differ")
        return cls(words, classes)
