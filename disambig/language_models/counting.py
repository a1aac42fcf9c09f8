"""Counts the n-grams of sentences together with their structure, which smoothing needs.

`counts.building` counts any number of n-grams by hashes of 64 bits. From a hash neither the context of an
n-gram can be told nor what it is without its first word, and Kneser-Ney asks for both, of all n-grams: how
many words come before one, and what lies behind each context. So keys are made here of the row of the context
and of the last word, level by level; sorted (NumPy's sort of 64-bit numbers) and added up as there, equal
contexts come to lie together and the rows are the next level's contexts. All is held in memory: about 40
bytes a token.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building.build_arrays import add_up
from disambig.language_models.levels import Ints, Longs, begins_of
from disambig.language_models.sentences import Sentences
from disambig.language_models.vocabulary import END, START

_S32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """How often the n-grams of one length are there.

    Attributes
    ----------
    begins, words
        As in `Level`.
    counts : array of int64, shape (n,)
        How often each is there.
    suffixes : array of int32, shape (n,)
        Row, one level below, of the n-gram without its first word.
    at_start : array of bool, shape (n,)
        Whether its first word is the start of a sentence.
    """

    begins: Longs
    words: Ints
    counts: Longs
    suffixes: Ints
    at_start: NDArray[np.bool_]

    @property
    def contexts(self) -> Ints:
        """The row of each n-gram's context, int32, shape (n,)."""
        return np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))


def count_ngrams(sentences: Sentences, n_words: int, order: int) -> list[Counted]:
    """Count the n-grams of one to `order` words, ends of sentences among them.

    Single words are all `n_words` of the vocabulary, whether they are there or not. A sentence without words
    is none.
    """
    from disambig.language_models.counting_kernels import find_rows

    text = _with_ends(sentences)
    counts = np.bincount(text, minlength=n_words)
    first = np.arange(n_words) == START
    begins, words = np.array([0, n_words], np.int64), np.arange(n_words, dtype=np.int32)
    found = [Counted(begins, words, counts, np.zeros(n_words, np.int32), first)]
    rows, ends = text, np.arange(len(text))  # of the n-grams in the text: their rows, and their last words
    for length in range(2, order + 1):
        inside = text[ends] != END
        rows, ends = rows[inside], ends[inside] + 1
        keys = rows.astype(np.uint64) << _S32 | text[ends].astype(np.uint64)
        keys.sort()
        distinct, times = add_up(keys)
        del keys
        contexts, words = (distinct >> _S32).astype(np.int32), (distinct & _LOW).astype(np.int32)
        begins = begins_of(contexts, len(found[-1].words))
        below, suffixes = found[-1], words
        if length > 2:
            suffixes = np.empty(len(words), np.int32)
            find_rows(below.begins, below.words, below.suffixes[contexts], words, suffixes)
        found.append(Counted(begins, words, times.astype(np.int64), suffixes, below.at_start[contexts]))
        if length < order:
            longer = np.empty(len(rows), np.int32)
            find_rows(begins, words, rows, text[ends], longer)
            rows = longer
    return found


def _with_ends(sentences: Sentences) -> Ints:
    """Return the words of all sentences that have any, with their ends, int32."""
    lengths = np.diff(sentences.offsets)
    lengths = lengths[lengths > 0]
    text = np.empty(len(sentences.ids) + 2 * len(lengths), np.int32)
    after = np.cumsum(lengths + 2)
    inner = np.ones(len(text), bool)
    inner[after - 1] = inner[after - lengths - 2] = False
    text[after - 1], text[after - lengths - 2] = END, START
    text[inner] = sentences.ids
    return text


def pruned(counted: list[Counted], kept: list[NDArray[np.bool_]]) -> list[tuple[Longs, Ints]]:
    """Return ``(begins, words)`` of the n-grams that are kept; the contexts of those must be kept, too."""
    levels = [(counted[0].begins, counted[0].words)]
    for below, each, keep in zip(kept, counted[1:], kept[1:], strict=False):
        rows = np.cumsum(below) - 1
        contexts = rows[each.contexts[keep]]
        levels.append((begins_of(contexts, int(below.sum())), each.words[keep]))
    return levels
