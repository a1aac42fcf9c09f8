"""How unknown words are spelt in kana: bigrams of letters, of hiragana and of katakana words apart."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .characters import is_katakana, kana_of

LETTERS = 88
"""The border of a word, the hiragana from ぁ to ゖ, and the long vowel mark."""
_FIRST, _LONG = 0x3041, "ー"
_ADDED = 0.1


def learn_spelling(words: Iterable[str], *, shares: tuple[float, float]) -> NDArray[np.float64]:
    """Return ln P(letter | letter before) of hiragana and katakana words, shape (2, 88, 88).

    Parameters
    ----------
    words : iterable of str
        Rare words, which are most like unknown ones; those of other characters than kana are passed over.
    shares : (float, float)
        How many of the unknown words are written so; it is in the probability of the first letter.
    """
    counts = np.zeros((2, LETTERS, LETTERS))
    for word in words:
        script = int(is_katakana(word))
        letters = [number_of(letter) for letter in kana_of(word)]
        if letters and 0 not in letters:
            np.add.at(counts[script], ([0, *letters], [*letters, 0]), 1.0)
    single = counts.sum(axis=1) + 1.0
    single /= single.sum(axis=1, keepdims=True)
    spread = _ADDED * LETTERS * single[:, None, :]
    found = (counts + spread) / (counts + spread).sum(axis=2, keepdims=True)
    found[:, 0] *= np.array(shares)[:, None]
    return np.log(found)


def number_of(letter: str) -> int:
    """Return the number of a hiragana, 0 for any other character (as `lattice_kernels.letter` does)."""
    if letter == _LONG:
        return LETTERS - 1
    return number if 0 < (number := ord(letter) - _FIRST + 1) < LETTERS - 1 else 0
