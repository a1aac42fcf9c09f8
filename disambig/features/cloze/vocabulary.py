"""Numbers of words: a number for each known word, and for others one by how they end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import UNKNOWN, hash_word
from disambig.text.tokenisations.by_name import tokenisation_named
from disambig.text.view import TokenView

Ints = NDArray[np.int32]
LAST = 3
"""Letters at the end of a word by which unknown words are told apart."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words that have a number of their own; the more frequent, the smaller it is.

    Numbers from ``len(self)`` on stand for `endings` sets of other words, by their last letters.

    Attributes
    ----------
    words : array of uint64, shape (n_words,)
        Word hashes, by number.
    endings : int
    """

    words: NDArray[np.uint64]
    endings: int

    def __len__(self) -> int:
        return len(self.words)

    @property
    def outside(self) -> int:
        """The number of what is no word: beyond the sentence."""
        return len(self.words) + self.endings

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], Ints]:
        order = np.argsort(self.words)
        return self.words[order], order.astype(np.int32)

    def of_hashes(self, hashes: NDArray[np.uint64]) -> Ints:
        """Return the number of each word, -1 where it has none of its own; shape ``(n,)``."""
        words, numbers = self._sorted
        at = np.minimum(np.searchsorted(words, hashes), len(words) - 1)
        return np.where(words[at] == hashes, numbers[at], np.int32(-1))

    def of_view(self, view: TokenView) -> Ints:
        """Return the number of each token of a view, by their endings where they have none of their own."""
        numbers = self.of_hashes(view.hashes)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            _, first, which = np.unique(view.hashes[unknown], return_index=True, return_inverse=True)
            tokens = unknown[first]
            documents = view.document_of(tokens).tolist()
            places = zip(documents, view.starts[tokens].tolist(), view.ends[tokens].tolist(), strict=True)
            normal_form = normal_form_of(view.tokenisation)
            endings = [hash_word(normal_form(view.texts[d][start:end])[-LAST:]) for d, start, end in places]
            nameless = view.hashes[tokens] == UNKNOWN  # too long for a hash of their own: one and the same
            found = np.where(nameless, np.uint64(0), np.array(endings, np.uint64)) % np.uint64(self.endings)
            numbers[unknown] = (len(self) + found.astype(np.int32))[which]
        return numbers


@lru_cache(maxsize=8)
def normal_form_of(tokenisation: str) -> Callable[[str], str]:
    """Return what makes a word as it stands in a text one that has the same hash wherever it stands."""
    made = tokenisation_named(tokenisation)
    own: Callable[[str], str] | None = getattr(made, "normal_form", None)
    return own or (lambda word: "".join(made.words(word)[1:-1]))  # between the boundary words
