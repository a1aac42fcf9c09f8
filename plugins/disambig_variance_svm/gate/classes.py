"""Classes of words from raw text: words that stand between the same neighbours share one.

Only for training. Each frequent word gets the vector of its neighbours' positive pointwise mutual
information (its square root), cut to its main dimensions; spherical k-means then makes the classes.
Verbs, nouns, names, numbers and so on come apart by themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Matrix = NDArray[np.float32]


def frequent_words(hashes: Hashes, n: int) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the `n` most frequent words, the most frequent first, and how often each occurs."""
    words, counts = np.unique(hashes, return_counts=True)
    order = np.lexsort((words, -counts))[:n]
    return words[order], counts[order]


def word_classes(
    hashes: Hashes, words: Hashes, *, n_classes: int, n_near: int, n_far: int, dimensions: int, seed: int
) -> NDArray[np.uint8]:
    """Return the class of each of `words`, from 1 to ``n_classes - 1``.

    Parameters
    ----------
    hashes : array of uint64
        Running text.
    words : array of uint64
        The words to put into classes, the most frequent first.
    n_near, n_far : int
        How many of the most frequent words are told apart as neighbours, and as second neighbours.
    """
    order = np.argsort(words)
    ids = order[np.minimum(np.searchsorted(words, hashes, sorter=order), len(words) - 1)]
    ids[words[ids] != hashes] = len(words)
    parts = [
        _associations(_together(ids, offset, n_rows=len(words), n_columns=n))
        for offset, n in ((-1, n_near), (1, n_near), (-2, n_far), (2, n_far))
    ]
    vectors = _main_dimensions(np.hstack(parts), dimensions)
    return (_spherical_means(vectors, n_classes - 1, np.random.default_rng(seed)) + 1).astype(np.uint8)


def _together(ids: NDArray[np.int64], offset: int, *, n_rows: int, n_columns: int) -> Matrix:
    """Count which words stand `offset` words from which; those beyond `n_columns` share the last column."""
    here, there = (ids[-offset:], ids[:offset]) if offset < 0 else (ids[:-offset], ids[offset:])
    known = here < n_rows
    cells = here[known] * (n_columns + 1) + np.minimum(there[known], n_columns)
    counts = np.bincount(cells, minlength=n_rows * (n_columns + 1))
    return counts.reshape(n_rows, n_columns + 1).astype(np.float32)


def _associations(counts: Matrix) -> Matrix:
    expected = counts.sum(axis=1, keepdims=True) * (counts.sum(axis=0) / counts.sum())
    ratio = counts / np.maximum(expected, 1e-9)
    found: Matrix = np.sqrt(np.log(np.maximum(ratio, 1.0)))
    return found


def _main_dimensions(matrix: Matrix, dimensions: int) -> Matrix:
    """Project rows on the main eigenvectors of ``matrix' matrix``, each scaled by the root of its weight."""
    values, axes = np.linalg.eigh((matrix.T @ matrix).astype(np.float64))
    top = slice(len(values) - dimensions, None)
    vectors = matrix @ (axes[:, top] / np.maximum(values[top], 1e-9) ** 0.25).astype(np.float32)
    found: Matrix = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return found


def _spherical_means(
    vectors: Matrix, k: int, rng: np.random.Generator, *, rounds: int = 25
) -> NDArray[np.int64]:
    """Return the cluster of each row, from 0 to ``k - 1``; the first seeds are frequent words."""
    centres = vectors[np.sort(rng.choice(min(len(vectors), 10 * k), size=k, replace=False))]
    nearest = np.zeros(len(vectors), dtype=np.int64)
    for _ in range(rounds):
        nearest = (vectors @ centres.T).argmax(axis=1).astype(np.int64)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(norms > 0, sums / np.maximum(norms, 1e-9), centres)
    return nearest
