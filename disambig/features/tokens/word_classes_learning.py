"""Learning of word classes from plain text: see `word_classes`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.features.tokens.word_classes import WordClasses

SIZES = (64, 1024)
_AT_ONCE = 8_000_000  # words counted together
_DIRECTIONS = 100


def learn_classes(
    words: Iterable[NDArray[np.uint64]],
    *,
    n_words: int = 20_000,
    n_contexts: int = 1_000,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordClasses:
    """Gather the most frequent words of a text by the words that stand left and right of them.

    Parameters
    ----------
    words : iterable of arrays of uint64
        Word hashes in text order, such as ``view.hashes`` of some documents each. All are kept in
        memory: eight bytes a word.
    n_words : int
        How many words get classes.
    n_contexts : int
        How many of the most frequent words count as company; all others count as one.
    sizes : sequence of int
        How many classes there are, at each degree of fineness, the coarsest first.
    seed : int

    Raises
    ------
    UserError
        D458 where the text has fewer different words than classes are asked for.
    """
    parts = _gathered(words)
    distinct, counts = _counted(parts)
    most = min(len(distinct), n_words)
    if most < max(sizes):
        raise UserError("D458", n=most, classes=max(sizes))
    ranked = distinct[np.argsort(-counts, kind="stable")]
    chosen, company = np.sort(ranked[:n_words]), np.sort(ranked[:n_contexts])
    points = _directions(_table(parts, chosen, company), seed)
    from sklearn.cluster import MiniBatchKMeans

    found = [
        MiniBatchKMeans(size, random_state=seed, batch_size=4096, n_init=1).fit(points).labels_
        for size in sizes
    ]
    return WordClasses(chosen, np.stack(found, axis=1).astype(np.uint16))


def _gathered(words: Iterable[NDArray[np.uint64]]) -> list[NDArray[np.uint64]]:
    """Return the words in arrays of some millions each."""
    parts: list[NDArray[np.uint64]] = []
    waiting: list[NDArray[np.uint64]] = []
    size = 0
    for each in words:
        waiting.append(each)
        size += len(each)
        if size >= _AT_ONCE:
            parts.append(np.concatenate(waiting))
            waiting, size = [], 0
    return [*parts, np.concatenate([np.zeros(0, np.uint64), *waiting])]


def _counted(parts: Sequence[NDArray[np.uint64]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    distinct, where = np.unique(np.concatenate(parts), return_inverse=True)
    return distinct, np.bincount(where, minlength=len(distinct))


def _table(
    parts: Sequence[NDArray[np.uint64]], chosen: NDArray[np.uint64], company: NDArray[np.uint64]
) -> NDArray[np.float32]:
    """Return how often each word has each company, left then right, shape (n_words, 2 * (n_contexts + 1))."""
    width = len(company) + 1
    table = np.zeros(len(chosen) * 2 * width, np.float32)
    for hashes in parts:
        row, known = _places(chosen, hashes)
        column, common = _places(company, hashes)
        column[~common] = width - 1
        left = (row[1:] * 2 * width + column[:-1])[known[1:]]
        right = (row[:-1] * 2 * width + width + column[1:])[known[:-1]]
        for cells in (left, right):
            table += np.bincount(cells, minlength=len(table)).astype(np.float32)
    return table.reshape(len(chosen), 2 * width)


def _places(
    table: NDArray[np.uint64], hashes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where each hash is in a rising table, and whether it is there."""
    at = np.minimum(table.searchsorted(hashes), len(table) - 1)
    return at, table[at] == hashes


def _directions(table: NDArray[np.float32], seed: int) -> NDArray[Any]:
    """Return the main directions of positive pointwise mutual information, rows of length one."""
    from sklearn.utils.extmath import randomized_svd

    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = rows * columns / max(float(table.sum()), 1.0)
    information = np.log(np.maximum(table, 1e-9) / np.maximum(expected, 1e-9))
    information = np.where(table > 0, np.maximum(information, 0.0), 0.0)
    most = min(_DIRECTIONS, *table.shape)
    left, strength, _ = randomized_svd(information, most, random_state=seed)
    points = left * np.sqrt(strength)
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
