"""What words that end alike have in common is learned from all: "-s" of nouns and verbs, "-ly", "-ed".

Embedding and output of a word are thought of as the sum of its own and of those of its endings. Only the sums
are kept: a step of an ending's part is taken in the rows of all words that have it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
LONGEST = 4
"""Letters of an ending; shorter ones count besides."""
LEAST_WORDS = 10
"""Words that an ending must have."""
APART = 64
"""So many of the most frequent words are like no others."""
SHARE = 0.25
"""The rate of endings, beside that of words."""


class Endings:
    """Which words end how; none where no spellings are given.

    Parameters
    ----------
    spellings : sequence of str
        Of all words of a vocabulary, by number.
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        from scipy.sparse import csr_array

        numbers: dict[str, int] = {}
        words, endings = [], []
        for word, spelling in enumerate(spellings):
            if word < APART or not spelling[:1].isalpha():
                continue
            for length in range(1, min(LONGEST, len(spelling) - 2) + 1):
                words.append(word)
                endings.append(numbers.setdefault(spelling[-length:], len(numbers)))
        kept = np.flatnonzero(np.bincount(endings, minlength=len(numbers)) >= LEAST_WORDS)
        ones = np.ones(len(words), np.float32)
        shape = (len(spellings), len(numbers))
        self._of_word: Any = csr_array((ones, (words, endings)), shape=shape)[:, kept].tocsr()
        self._of_ending: Any = self._of_word.T.tocsr()

    def __len__(self) -> int:
        return int(self._of_word.shape[1])

    def digest(self) -> str:
        """Return a hash of which words end how."""
        held = self._of_word
        return hashlib.sha256(held.indptr.tobytes() + held.indices.tobytes()).hexdigest()

    def spread(self, values: Floats, slopes: Floats, seen: Floats, rate: np.float32) -> None:
        """Take a step of Adagrad for each ending, in the rows of all its words.

        Parameters
        ----------
        values : array of float32, shape (n_words, d)
            Changed in place.
        slopes : array of float32, shape (n_words, d)
            Of each row, for the sum over a batch.
        seen : array of float32, shape (n_endings,)
            The sum of the mean squares of each ending's slopes so far; changed in place.
        """
        of_endings: Floats = self._of_ending @ slopes
        seen += np.square(of_endings).mean(axis=1)
        of_endings *= (np.float32(SHARE) * rate / np.sqrt(seen))[:, None]
        values -= self._of_word @ of_endings
