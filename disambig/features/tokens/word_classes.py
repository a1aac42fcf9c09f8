"""Word classes: words that keep the same company belong together, at several degrees of fineness.

What a tagger has not seen in training may be in the class of words that it has. Classes are learned from
plain text: each frequent word by the words left and right of it (pointwise mutual information, cut to its
main directions), gathered by k-means; or by how it is used, its tags and capitals (`word_usage_learning`).
Nothing of the text is kept but hashes of words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.features.tokens.token_context_templates import CLASS, class_templates
from disambig.types import Arrays

_FARTHEST = 100


@dataclass(frozen=True, slots=True, eq=False)
class WordClasses:
    """The classes of some words.

    Attributes
    ----------
    words : array of uint64, shape (n,)
        Hashes of the words in lower case, rising.
    classes : array of uint16, shape (n, depth)
        The number of each word's class, the coarsest first.
    chosen : array of int64, shape (m, 4), optional
        The features made of the classes, as `token_context_templates` writes them; by default those of the
        word and of its neighbours.
    """

    words: NDArray[np.uint64]
    classes: NDArray[np.uint16]
    chosen: NDArray[np.int64] | None = None

    @property
    def depth(self) -> int:
        """How many classes a word has."""
        return int(self.classes.shape[1])

    @property
    def templates(self) -> NDArray[np.int64]:
        """The features made of the classes, shape (m, 4)."""
        return class_templates(self.depth) if self.chosen is None else self.chosen

    def beside(self, other: WordClasses) -> WordClasses:
        """Return the classes of both, these first, for the words of either; with the usual features.

        Words that only one of them has are a class of their own in the other.
        """
        words = np.union1d(self.words, other.words)
        columns = [each.of(words).astype(np.uint16) for each in (self, other)]
        return WordClasses(words, np.concatenate(columns, axis=1))

    def of(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the classes of words plus one, zeros for a word that has none, shape ``(n, depth)``."""
        found = np.zeros((len(hashes), self.depth), np.uint64)
        if len(self.words):
            at = np.minimum(self.words.searchsorted(hashes), len(self.words) - 1)
            known = self.words[at] == hashes
            found[known] = self.classes[at[known]].astype(np.uint64) + np.uint64(1)
        return found

    def state(self) -> Arrays:
        """Return the arrays."""
        own: Arrays = {"class_words": self.words, "classes": self.classes}
        return own if self.chosen is None else {**own, "class_templates": self.chosen.astype(np.int8)}

    @classmethod
    def from_state(cls, arrays: Arrays) -> WordClasses:
        """Return the classes of `state`; ValueError where the arrays do not fit together."""
        words, classes = arrays["class_words"], arrays["classes"]
        if words.ndim != 1 or words.dtype != np.uint64 or (words[1:] <= words[:-1]).any():
            raise ValueError("word classes: words are not rising")
        if classes.ndim != 2 or classes.dtype != np.uint16 or len(classes) != len(words):
            raise ValueError("word classes: words and classes differ")
        chosen = arrays.get("class_templates")
        if chosen is None:
            return cls(words, classes)
        chosen = chosen.astype(np.int64)
        if chosen.ndim != 2 or chosen.shape[1] != 4 or np.abs(chosen[:, [1, 3]]).max(initial=0) > _FARTHEST:
            raise ValueError("word classes: templates are no features")
        attributes = chosen[:, [0, 2]]
        if (attributes >= CLASS + classes.shape[1]).any() or (attributes < [0, -1]).any():
            raise ValueError("word classes: templates of classes that there are not")
        return cls(words, classes, chosen)
