"""Learning of word vectors from plain text: words that keep the same company point the same way.

Positive pointwise mutual information of words within five of one another, the nearer the more, cut to its
main directions (Levy and Goldberg 2014). Nothing of the text is kept but hashes of words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.features.vectors.known import Vectors

REACH = 5
SMOOTH = 0.75
"""Power of the frequencies of company: rare words are no better company than they seem."""


def learn_vectors(
    words: Iterable[NDArray[np.uint64]],
    *,
    n_words: int = 40_000,
    n_contexts: int = 8_000,
    dimensions: int = 64,
    seed: int = 0,
) -> Vectors:
    """Return vectors of the most frequent words of a text.

    Parameters
    ----------
    words : iterable of arrays of uint64
        Word hashes in text order, such as ``view.hashes`` of some documents each; no company is kept across
        two arrays. All are kept in memory.
    n_words : int
        How many words get a vector.
    n_contexts : int
        How many of the most frequent ones count as company.
    dimensions : int
        Of a vector, at most.
    seed : int
    """
    apart = np.full(REACH, -1, np.int64)
    parts = [part for each in words if len(each) for part in (each, apart.astype(np.uint64))]
    text = np.concatenate([np.zeros(0, np.uint64), *parts])
    distinct, where, counts = np.unique(text, return_inverse=True, return_counts=True)
    counts = np.where(distinct == np.uint64(2**64 - 1), 0, counts)  # what stands between two texts
    ranked = np.argsort(-counts, kind="stable")[: min(n_words, int((counts > 0).sum()))]
    rank = np.full(len(distinct), -1, np.int64)
    rank[ranked] = np.arange(len(ranked))
    directions = _directions(_company(rank[where], len(ranked), n_contexts), dimensions, seed)
    shares = counts[ranked] / max(int(counts.sum()), 1)
    order = np.argsort(distinct[ranked])
    largest = np.maximum(np.abs(directions).max(axis=1, initial=0.0, keepdims=True), 1e-9)
    small = np.round(127 * directions / largest).astype(np.int8)
    return Vectors(distinct[ranked][order], small[order], shares[order].astype(np.float32))


def _company(text: NDArray[np.int64], n: int, n_contexts: int) -> Any:
    """Return how much of each word's company each frequent word is, a csr_array of shape (n, n_contexts)."""
    from scipy.sparse import coo_array, csr_array

    width = min(n, n_contexts)
    table = csr_array((n, width), dtype=np.float32)
    for distance in range(1, REACH + 1):
        for one, other in (
            (text[:-distance], text[distance:]),
            (text[distance:], text[:-distance]),
        ):
            kept = (one >= 0) & (other >= 0) & (other < width)
            worth = np.full(int(kept.sum()), 1.0 / distance, np.float32)
            table = table + csr_array(coo_array((worth, (one[kept], other[kept])), (n, width)))
    return table


def _directions(table: Any, dimensions: int, seed: int) -> NDArray[np.float64]:
    """Return the main directions of positive pointwise mutual information, each by the root of its size."""
    from scipy.sparse import coo_array, csr_array
    from sklearn.utils.extmath import randomized_svd

    cells = coo_array(table)
    rows = np.asarray(table.sum(axis=1), np.float64).ravel()
    company = np.asarray(table.sum(axis=0), np.float64).ravel() ** SMOOTH
    row, column = cells.coords
    information = np.log(cells.data * company.sum() / (rows[row] * company[column]))
    kept = information > 0
    most = min(dimensions, *table.shape)
    if not kept.any():
        return np.zeros((table.shape[0], max(most, 1)))
    matrix = csr_array((information[kept].astype(np.float32), (row[kept], column[kept])), table.shape)
    left, strength, _ = randomized_svd(matrix, most, random_state=seed)
    found: NDArray[np.float64] = left * np.sqrt(strength)
    return found
