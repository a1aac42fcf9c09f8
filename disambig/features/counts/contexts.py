"""The contexts of a place: l words to its left and r to its right, 1 <= l + r <= 4."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.text.hashing import MAX_ORDER, hash_word
from disambig.text.tokenisations.words import Words
from disambig.text.view import SENTENCE_END, SENTENCE_START, TokenView

CONTEXTS = tuple((size - right, right) for size in range(1, MAX_ORDER) for right in range(size + 1))
"""(l, r) of the 14 contexts: two of 2-grams, three of 3-grams, four of 4-grams, five of 5-grams."""
PARENTS = np.array(
    [
        [CONTEXTS.index(part) if part in CONTEXTS else -1 for part in ((left - 1, right), (left, right - 1))]
        for left, right in CONTEXTS
    ]
)
"""The contexts that are a word shorter, -1 where there is none, shape ``(14, 2)``."""
_LEFT, _RIGHT = np.array(CONTEXTS).T
GROUP_NAMES = tuple(f"{size + 1}-gram" for size in range(1, MAX_ORDER))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """A group's candidates as word hashes.

    Attributes
    ----------
    words : array of uint64, shape (K, longest)
        Zero behind the last word of a shorter candidate.
    lengths : array of int64, shape (K,)
        Zero for the candidate of no word.
    texts : tuple of str
    """

    words: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    texts: tuple[str, ...]

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, group: Group) -> Candidates:
        """Hash the candidates of `group`."""
        split = [[hash_word(word) for word in candidate.split()] for candidate in group.candidates]
        longest = max(len(words) for words in split)
        padded = [words + [0] * (longest - len(words)) for words in split]
        lengths = np.array([len(words) for words in split], np.int64)
        return cls(np.array(padded, np.uint64), lengths, group.candidates)

    @property
    def longest(self) -> int:
        """Number of words of the longest candidate."""
        return self.words.shape[1]

    @property
    def shortest(self) -> int:
        """Number of words of the shortest candidate."""
        return int(self.lengths.min())


def room(view: TokenView, instances: Instances) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many tokens each instance has to its left and right in its sentence, each shape (n,)."""
    sentence = np.searchsorted(view.sentences, instances.positions, side="right")
    left = instances.positions - view.sentences[sentence - 1]
    right = view.sentences[sentence] - (instances.positions + instances.lengths)
    return left, right


def fits(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    longest: int | NDArray[np.int64],
    *,
    shortest: int | NDArray[np.int64] = 1,
) -> NDArray[np.bool_]:
    """Return which contexts an instance can fill with *every* candidate, shape ``(n, 14)``.

    A candidate of c words fills a context if ``l + c + r <= 5``. Contexts that some candidate
    cannot fill, and those that run out of the sentence, are left out for all candidates alike. A
    candidate of no word says something only between words: with one, contexts have both sides. Where
    instances have different candidates, `longest` and `shortest` have the shape ``(n, 1)``.
    """
    says = (np.minimum(_LEFT, _RIGHT) > 0) | (np.asarray(shortest) > 0)
    inside = (left[:, None] >= _LEFT) & (right[:, None] >= _RIGHT)
    found: NDArray[np.bool_] = inside & says & (_LEFT + _RIGHT + longest <= MAX_ORDER)
    return found


def ngram_text(view: TokenView, position: int, length: int, context: tuple[int, int], candidate: str) -> str:
    """Return the n-gram of a context around a place of `length` tokens, filled with a candidate."""
    left, right = context
    before = [word_at(view, position - left + i) for i in range(left)]
    after = [word_at(view, position + length + i) for i in range(right)]
    return " ".join([*before, *candidate.split(), *after])


def word_at(view: TokenView, token: int) -> str:
    """Return one token of a view for people, as n-grams have it: where digits are one, as ``0``."""
    start, end = int(view.starts[token]), int(view.ends[token])
    if start == end:
        return SENTENCE_START if token in view.sentences else SENTENCE_END
    document = int(view.document_of(np.array([token]))[0])
    word = view.texts[document][start:end]
    return Words.normal_form(word) if view.tokenisation == Words.name else word.lower()
