"""Learn word classes from plain text, by neighbouring words or by tags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import HashVocabulary, minibatch, offsets_from_sizes
from disambig.errors import UserError
from disambig.features.token_context import WordClasses
from disambig.text import TokenView, characters
from disambig.type_aliases import Hashes, Ints

SIZES = (64, 1024)
_WORDS_AT_ONCE = 8_000_000
_MAX_DIRECTIONS = 100


def learn_classes(
    words: Iterable[Hashes],
    *,
    n_words: int = 20_000,
    n_contexts: int = 1_000,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> WordClasses:
    """Cluster the most frequent words of a text by the words to their left and right.

    Parameters
    ----------
    words : iterable of arrays of uint64
        Word hashes in text order, such as ``view.hashes`` of some documents each. All are kept in memory:
        eight bytes per word.
    n_words : int
        Number of words that get classes.
    n_contexts : int
        Number of the most frequent words that are distinguished as neighbours; all others count as one.
    sizes : sequence of int
        Numbers of classes, one per level, the coarsest first.
    seed : int

    Raises
    ------
    UserError
        D458 if the text has fewer distinct words than classes.
    """
    parts = _concatenate_words(words)
    distinct, counts = _count_words(parts)
    n_chosen = min(len(distinct), n_words)
    if n_chosen < max(sizes):
        raise UserError("D458", n=n_chosen, classes=max(sizes))
    ranked = distinct[np.argsort(-counts, kind="stable")]
    frequent, contexts = np.sort(ranked[:n_words]), np.sort(ranked[:n_contexts])
    labels = _clusters(_directions(_table(parts, frequent, contexts), seed), sizes, seed)
    return WordClasses(frequent, np.stack(labels, axis=1).astype(np.uint16))


def _clusters(points: NDArray[Any], sizes: Sequence[int], seed: int) -> list[NDArray[np.integer]]:
    """Return the cluster of each point, for each number of clusters."""
    from sklearn.cluster import MiniBatchKMeans

    return [
        MiniBatchKMeans(size, random_state=seed, batch_size=4096, n_init=1).fit(points).labels_
        for size in sizes
    ]


def _concatenate_words(words: Iterable[Hashes]) -> list[Hashes]:
    """Return the words in arrays of some millions each; at least one array."""
    parts = [np.concatenate(some) for some in minibatch(words, _WORDS_AT_ONCE, len)]
    return parts or [np.zeros(0, np.uint64)]


def _count_words(parts: Sequence[Hashes]) -> tuple[Hashes, Ints]:
    distinct, where = np.unique(np.concatenate(parts), return_inverse=True)
    return distinct, np.bincount(where, minlength=len(distinct))


def _table(parts: Sequence[Hashes], frequent: Hashes, contexts: Hashes) -> NDArray[np.float32]:
    """Return the counts of each word's left, then right neighbours, shape (n_words, 2 * (n_contexts + 1))."""
    width = len(contexts) + 1
    table = np.zeros(len(frequent) * 2 * width, np.float32)
    for hashes in parts:
        row, column = HashVocabulary(frequent).lookup(hashes), HashVocabulary(contexts).lookup(hashes)
        is_frequent = row >= 0
        column[column < 0] = width - 1
        left = (row[1:] * 2 * width + column[:-1])[is_frequent[1:]]
        right = (row[:-1] * 2 * width + width + column[1:])[is_frequent[:-1]]
        for cells in (left, right):
            table += np.bincount(cells, minlength=len(table)).astype(np.float32)
    return table.reshape(len(frequent), 2 * width)


def _directions(table: NDArray[np.float32], seed: int) -> NDArray[Any]:
    """Return the principal directions of positive pointwise mutual information, rows of length one."""
    from sklearn.utils.extmath import randomized_svd

    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    expected = rows * columns / max(float(table.sum()), 1.0)
    information = np.log(np.maximum(table, 1e-9) / np.maximum(expected, 1e-9))
    information = np.where(table > 0, np.maximum(information, 0.0), 0.0)
    n_directions = min(_MAX_DIRECTIONS, *table.shape)
    left, strength, _ = randomized_svd(information, n_directions, random_state=seed)
    points = left * np.sqrt(strength)
    return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)


USAGE_SIZES = (48, 256)
EDGES = (0.02, 0.1, 0.3, 0.6, 0.9, 0.98)
"""Boundaries between the classes of capitalisation, as shares of the places counted."""
_LEAST_COUNTED = 4
"""Words with fewer places that count are rare: their capitalisation is unknown."""
_HEADING = 0.6
"""A sentence with a larger share of capitalised words is a heading, whose capitals say nothing."""
_SMALL, _CAPITAL, _CAPITALS = 1, 2, 3
"""Letter case of a word: lower case, a capital letter first, capitals first and last."""


def learn_usage(
    tagged: Iterable[tuple[TokenView, NDArray[np.integer]]],
    n_tags: int,
    *,
    least: int = 5,
    sizes: Sequence[int] = USAGE_SIZES,
    seed: int = 0,
) -> WordClasses:
    """Cluster words by their tags, at several levels, and by capitalisation in the last class.

    Parameters
    ----------
    tagged : iterable of (view, tags)
        Tags by number, one for each token that is not a sentence boundary.
    n_tags : int
    least : int
        Minimum number of occurrences of a word.
    sizes : sequence of int
        Numbers of classes of tags, one per level.
    seed : int

    Raises
    ------
    UserError
        D458 if the text has fewer distinct words than classes.
    """
    parts = [_tag_usage(view, np.asarray(tags, np.int64)) for view, tags in tagged]
    hashes, numbers, letters = (
        np.concatenate([part[i] for part in parts]) if parts else np.zeros(0, np.int64) for i in range(3)
    )
    words, which = np.unique(hashes.astype(np.uint64), return_inverse=True)
    n = len(words)
    table = np.bincount(which * n_tags + numbers, minlength=n * n_tags).reshape(n, n_tags)
    kept = table.sum(axis=1) >= least
    if kept.sum() < max(sizes):
        raise UserError("D458", n=int(kept.sum()), classes=max(sizes))
    small, capital, capitals = (
        np.bincount(which[letters == kind], minlength=n) for kind in (_SMALL, _CAPITAL, _CAPITALS)
    )
    columns = _clusters(np.sqrt(table[kept] / table[kept].sum(axis=1, keepdims=True)), sizes, seed)
    columns.append(_capital_class(small, capital, capitals)[kept])
    return WordClasses(words[kept], np.stack(columns, axis=1).astype(np.uint16))


def _capital_class(small: Ints, capital: Ints, capitals: Ints) -> Ints:
    """Return the class of each word: 0 for rare words, the last class for words in all capitals."""
    total = small + capital + capitals
    share = (capital + capitals) / np.maximum(total, 1)
    classes = 1 + np.digitize(share, EDGES)
    classes[(share > 0.5) & (capitals > 0.8 * (capital + capitals))] = len(EDGES) + 2
    classes[total < _LEAST_COUNTED] = 0
    return classes


def _tag_usage(view: TokenView, tags: Ints) -> tuple[Hashes, Ints, NDArray[np.int8]]:
    """Return hash, tag and letter case of each token; the case is 0 if the token should not be counted."""
    words = np.flatnonzero(view.ends > view.starts)
    texts = view.texts
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    offsets = offsets_from_sizes(lengths)[view.document_indices(words)]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    table = characters.table(characters.size_for(int(codes.max(initial=0))))
    kinds = table[codes] >> np.uint32(characters.CLASS_SHIFT)
    first, last = kinds[view.starts[words] + offsets], kinds[view.ends[words] + offsets - 1]
    letters = np.where(first >= characters.LETTER, _SMALL, 0)
    letters[first == characters.UPPER] = _CAPITAL
    is_long = view.ends[words] - view.starts[words] > 1
    letters[(first == characters.UPPER) & (last == characters.UPPER) & is_long] = _CAPITALS
    sentence = view.sentences.searchsorted(words, side="right")
    n_letters = np.bincount(sentence[letters > 0], minlength=len(view.sentences) + 1)
    n_capital = np.bincount(sentence[letters > _SMALL], minlength=len(view.sentences) + 1)
    begins = np.diff(sentence, prepend=-1) > 0
    letters[begins | (n_capital > _HEADING * n_letters)[sentence]] = 0
    return view.hashes[words], tags, letters.astype(np.int8)
