"""The words of a language model, and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from disambig.features.rows.spellings import Spellings, spellings_of
from disambig.text.hashing import hash_words
from disambig.types import Arrays

UNKNOWN, START, END = 0, 1, 2
"""The numbers of any word that is not known, of the start of a sentence and of its end."""
SPECIAL = ("<unk>", "<s>", "</s>")


class Vocabulary:
    """Words and their numbers: 0 is any unknown word, 1 and 2 are the ends of sentences.

    In a text the words ``<unk>``, ``<s>`` and ``</s>`` are unknown words like others.

    Parameters
    ----------
    spellings : sequence of str
        All words by number, those of `SPECIAL` first, none twice.

    Raises
    ------
    ValueError
        Where they are not.
    """

    def __init__(self, spellings: Sequence[str]) -> None:
        self.spellings = spellings if isinstance(spellings, Spellings) else Spellings.of(spellings)
        if tuple(self.spellings[: len(SPECIAL)]) != SPECIAL:
            raise ValueError(f"a vocabulary begins with {', '.join(SPECIAL)}")
        if len(self._numbers) != len(self.spellings) - len(SPECIAL):
            raise ValueError("a word is in the vocabulary twice")

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """Return the vocabulary of these words, numbered from 3 on; of equal ones the first counts."""
        told = (word.encode("utf8", "replace").decode("utf8") for word in words)
        return cls(list(dict.fromkeys(chain(SPECIAL, told))))

    @classmethod
    def learned(cls, sentences: Iterable[Sequence[str]], *, least: int = 1) -> Vocabulary:
        """Return the words that are in sentences `least` times or more, the most frequent first.

        The others are unknown words; what a text holds of them is what a model learns of such words. With
        `least` 1 there are none, and unknown words have only what discounting leaves over.
        """
        counts = Counter(chain.from_iterable(sentences))
        kept = ((-count, word) for word, count in counts.items() if count >= least)
        return cls.of(word for _, word in sorted(kept))

    def __len__(self) -> int:
        return len(self.spellings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and (self is other or other.begins_with(self) == len(other))

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, number: int) -> str:
        """Return the word with a number."""
        return self.spellings[number]

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.spellings) if at >= len(SPECIAL)}

    @cached_property
    def _hashed(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        hashes = hash_words(self.spellings[len(SPECIAL) :])
        order = np.argsort(hashes, kind="stable")
        return hashes[order], (order + len(SPECIAL)).astype(np.int32)

    def ids_of(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return the number of each word, `UNKNOWN` for those that are not here, int32."""
        numbers = self._numbers
        return np.fromiter((numbers.get(word, UNKNOWN) for word in words), np.int32)

    def ids_of_hashes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each word that `hash_word` hashes so, int32."""
        known, numbers = self._hashed
        if not len(known):
            return np.zeros(len(hashes), np.int32)
        at = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        return np.where(known[at] == hashes, numbers[at], np.int32(UNKNOWN))

    def extended(self, words: Iterable[str]) -> Vocabulary:
        """Return this vocabulary with those of `words` that it lacks behind it: all numbers stay."""
        return Vocabulary.of(chain(self.spellings[len(SPECIAL) :], words))

    def begins_with(self, other: Vocabulary) -> int:
        """Return how many words there are if the first ones are those of `other`; else 0."""
        n, mine, theirs = len(other), self.spellings, other.spellings
        if n > len(self) or not np.array_equal(mine.ends[:n], theirs.ends):
            return 0
        return len(self) if np.array_equal(mine.letters[: len(theirs.letters)], theirs.letters) else 0

    def state(self) -> Arrays:
        """Return the words as arrays, for `vocabulary_of`."""
        return self.spellings.state()


def vocabulary_of(arrays: Arrays) -> Vocabulary:
    """Return what `Vocabulary.state` gave.

    Raises
    ------
    KeyError, ValueError
        Where arrays are missing or hold no vocabulary.
    """
    return Vocabulary(spellings_of(arrays, len(arrays["ends"])))
