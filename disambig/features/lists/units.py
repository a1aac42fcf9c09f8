"""What n-grams of candidates are made of, words or characters, and the keys of n-grams.

A key folds the hashes of an n-gram's units from left to right, so the key of a name, which is its units with
what stands between them, is found again without the lists that it came from. Keys have 64 bits: that two of
a million n-grams share one happens once in 30 million times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.candidate_words import CandidateWords
from disambig.data.lists import CandidateLists
from disambig.text.hashing import PLACES, fmix, hash_words

Keys = NDArray[np.uint64]
WORDS, CHARACTERS = "words", "characters"
BETWEEN = {WORDS: " ", CHARACTERS: ""}
_NO_BLANK = "\N{OPEN BOX}"
"""Stands for a blank within a word in the names of n-grams, whose words blanks part."""
_EMPTY = np.uint64(PLACES[0])
_STEP = np.uint64(PLACES[1])


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The units of candidates.

    Attributes
    ----------
    words : CandidateWords
    hashes : array of uint64, shape (n_spellings,)
        Of each unit in the vocabulary; 0 for those that no candidate has.
    """

    words: CandidateWords
    hashes: Keys

    @classmethod
    def of(cls, words: CandidateWords) -> Units:
        """Hash the words that candidates have: those of a vocabulary may be many more."""
        there = np.zeros(len(words.spellings), np.bool_)
        there[words.ids] = True
        hashes = np.zeros(len(there), np.uint64)
        places = np.flatnonzero(there)
        hashes[places] = hash_words([spelt(words.spellings[place]) for place in places.tolist()])
        return cls(words, hashes)

    def spelt(self, first: int, last: int) -> list[str]:
        """Return words `first` to `last` (exclusive) of all words, as they stand in names."""
        return [spelt(self.words.spellings[i]) for i in self.words.ids[first:last].tolist()]


def units_of(own: CandidateLists, unit: str) -> Units:
    """Return the words that lists say or, where they say none, texts cut at white space; or characters."""
    if unit == CHARACTERS:
        return Units.of(CandidateWords.of(own.texts))
    return Units.of(own.words or CandidateWords.of(text.split() for text in own.texts))


def spelt(word: str) -> str:
    """Return a word as it stands in names."""
    return word.replace(" ", _NO_BLANK) if len(word) > 1 else word


def appended(keys: Keys, units: Keys) -> Keys:
    """Return the keys of n-grams that have one unit more, given its hash."""
    return fmix(keys * _STEP + units)


def begun(shape: int) -> Keys:
    """Return the keys of so many n-grams of no unit."""
    return np.full(shape, _EMPTY, np.uint64)


def keys_of(names: Sequence[str], unit: str) -> Keys:
    """Return the keys of n-grams by their names, shape ``(len(names),)``."""
    cut = (name if unit == CHARACTERS else name.split(" ") for name in names)
    units = Units.of(CandidateWords.of(cut))
    offsets, found = units.words.offsets, begun(len(names))
    sizes = np.diff(offsets)
    for i in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > i)
        found[longer] = appended(found[longer], units.hashes[units.words.ids[offsets[longer] + i]])
    return found
