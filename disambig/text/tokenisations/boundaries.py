"""The boundary words of a view: ``<S>`` before the first and ``</S>`` after the last word of each sentence.

No rule about words or sentences here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.text.view import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH

Arrays = tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]
"""The columns of a `TokenView`: hashes, starts, ends, sentences and documents."""


def with_boundaries(
    hashes: NDArray[np.uint64],
    starts: NDArray[np.integer],
    ends: NDArray[np.integer],
    *,
    sentences: NDArray[np.int64],
    documents: NDArray[np.int64],
) -> Arrays:
    """Put boundary words around each sentence.

    Parameters
    ----------
    hashes, starts, ends : arrays, shape (n_words,)
        The words of all documents; offsets into each one's own text.
    sentences : array of int64, shape (n_sentences,)
        The first word of each sentence; with the first of each document that has words among them.
    documents : array of int64, shape (n_documents + 1,)
        The first word of each document, and the number of words.
    """
    n = len(hashes)
    total = n + 2 * len(sentences)
    bounds = np.append(sentences + 2 * np.arange(len(sentences)), total)
    opens, closes = bounds[:-1], bounds[1:] - 1
    place = np.ones(total, dtype=bool)
    place[opens] = place[closes] = False
    last = np.append(sentences[1:], n)[: len(sentences)] - 1
    out = np.empty(total, dtype=np.uint64)
    out[place], out[opens], out[closes] = hashes, START_HASH, END_HASH
    spans = np.empty((2, total), dtype=np.int32)
    spans[0, place], spans[1, place] = starts, ends
    spans[:, opens] = starts[sentences]
    spans[:, closes] = ends[last]
    return out, spans[0], spans[1], bounds, documents + 2 * np.searchsorted(sentences, documents)


def named(words: list[str], sentences: NDArray[np.int64]) -> list[str]:
    """Return the words of a view with the names of the boundary words in their places."""
    found = list(words)
    for first in sentences[:-1].tolist():
        found[first] = SENTENCE_START
    for stop in sentences[1:].tolist():
        found[stop - 1] = SENTENCE_END
    return found
