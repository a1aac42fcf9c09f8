"""The n-grams of one length, by columns: the form in which a model is estimated and stored."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The n-grams of one length, by context and then by last word.

    An n-gram's *row* is its place here. Its *context*, the words before its last one, is a row of the level
    below; of single words the context is empty, row 0, and their rows are the numbers of the words.

    Attributes
    ----------
    begins : array of int64, shape (n_contexts + 1,)
        Where the n-grams with each context begin.
    words : array of int32, shape (n,)
        The last word of each; ascending within a context.
    log_probs : array of float32, shape (n,)
        ln P(last word | context); minus infinity for the start of a sentence, which no model predicts.
    back_offs : array of float32, shape (n,)
        ln of the weight, as a context, of what is backed off to; 0 where no longer n-gram begins so, and
        throughout the longest level.
    """

    begins: Longs
    words: Ints
    log_probs: Floats
    back_offs: Floats

    def __len__(self) -> int:
        return len(self.words)

    @property
    def contexts(self) -> Ints:
        """The row of each n-gram's context, int32, shape (n,)."""
        return np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))


def begins_of(contexts: NDArray[np.signedinteger], n_contexts: int) -> Longs:
    """Return where each context begins in an ascending column of contexts, shape (n_contexts + 1,)."""
    counts = np.bincount(contexts, minlength=n_contexts)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def suffixes_of(levels: list[tuple[Longs, Ints]]) -> list[Ints]:
    """Return for each level the rows, one level below, of its n-grams without their first word.

    Parameters
    ----------
    levels : list of (begins, words)
        Shortest n-grams first; see `Level`.

    Returns
    -------
    list of arrays of int32
        -1 where the level below lacks that n-gram; zeros for single words.
    """
    from disambig.language_models.counting_kernels import find_rows

    found = [np.zeros(len(levels[0][1]), np.int32)]
    if len(levels) > 1:
        found.append(levels[1][1])
    for (below, words_below), (begins, words) in pairwise(levels[1:]):
        contexts = np.repeat(found[-1], np.diff(begins))
        rows = np.empty(len(words), np.int32)
        find_rows(below, words_below, contexts, words, rows)
        found.append(rows)
    return found
