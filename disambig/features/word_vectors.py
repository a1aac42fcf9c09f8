"""Word vectors around a place, and learning them from plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, GroupedInstances, HashVocabulary, Instances
from disambig.errors import UserError
from disambig.features.rows import Surroundings, cross_rows, split_instances, stack_rows
from disambig.settings import COUNT, fitted_field, validate_settings
from disambig.text import TokenView
from disambig.type_aliases import Hashes, Ints
from disambig.types import Arrays, Features

Floats = NDArray[np.float32]
RARE = 1e-3
"""A word with this share of a text has half the weight, as frequent words say little (Arora et al. 2017)."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of words by their company.

    Attributes
    ----------
    words : array of uint64, shape (n,)
        Hashes of the words, ascending.
    directions : array of int8, shape (n, d)
        Vectors; only their direction counts, not their length.
    shares : array of float32, shape (n,)
        Relative frequency of each word in the training text.
    """

    words: Hashes
    directions: NDArray[np.int8]
    shares: Floats

    @cached_property
    def units(self) -> Floats:
        """Vectors of length one; the last row, of zeros, is for unknown words."""
        units = self.directions.astype(np.float32)
        units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-9)
        return np.vstack([units, np.zeros((1, units.shape[1]), np.float32)])

    @cached_property
    def weights(self) -> Floats:
        """Weight of each word, 0 to 1; the last one, for unknown words, is zero."""
        return np.append(RARE / (RARE + self.shares), 0.0).astype(np.float32)

    def rows(self, hashes: Hashes) -> Ints:
        """Return the rows of words in `units`; the last row for unknown words."""
        at = HashVocabulary(self.words).lookup(hashes)
        return np.where(at >= 0, at, len(self.words))

    def state(self) -> Arrays:
        """Return the arrays."""
        return {"words": self.words, "directions": self.directions, "shares": self.shares}

    @classmethod
    def from_state(cls, arrays: Arrays) -> Vectors:
        """Return the vectors of `state`; ValueError if the arrays do not fit together."""
        words, directions, shares = arrays["words"], arrays["directions"], arrays["shares"]
        if words.ndim != 1 or words.dtype != np.uint64 or (words[1:] <= words[:-1]).any():
            raise ValueError("word vectors: words are not ascending")
        if directions.ndim != 2 or directions.dtype != np.int8 or len(directions) != len(words):
            raise ValueError("word vectors: words and directions differ")
        if shares.shape != words.shape or shares.dtype.kind != "f" or not bool((shares >= 0).all()):
            raise ValueError("word vectors: words and shares differ")
        return cls(words, directions, shares.astype(np.float32))


REACH = 5
SMOOTH = 0.75
"""Exponent of context frequencies; it lowers the association with rare context words."""


def learn_vectors(
    words: Iterable[Hashes],
    *,
    n_words: int = 40_000,
    n_contexts: int = 8_000,
    dimensions: int = 64,
    seed: int = 0,
) -> Vectors:
    """Return vectors of the most frequent words in a text.

    Parameters
    ----------
    words : iterable of arrays of uint64
        Word hashes in text order, such as ``view.hashes`` of some documents each. Words in different arrays
        are not neighbours. All are kept in memory.
    n_words : int
        Number of words that get a vector.
    n_contexts : int
        Number of the most frequent words that count as context.
    dimensions : int
        Maximum length of a vector.
    seed : int
    """
    # a gap of REACH separators between texts, so that no window spans two of them
    separators = np.full(REACH, -1, np.int64)
    parts = [part for hashes in words if len(hashes) for part in (hashes, separators.astype(np.uint64))]
    text = np.concatenate([np.zeros(0, np.uint64), *parts])
    distinct, inverse, counts = np.unique(text, return_inverse=True, return_counts=True)
    counts = np.where(distinct == np.uint64(2**64 - 1), 0, counts)  # the separator between two texts
    ranked = np.argsort(-counts, kind="stable")[: min(n_words, int((counts > 0).sum()))]
    rank = np.full(len(distinct), -1, np.int64)
    rank[ranked] = np.arange(len(ranked))
    directions = _directions(_cooccurrences(rank[inverse], len(ranked), n_contexts), dimensions, seed)
    shares = counts[ranked] / max(int(counts.sum()), 1)
    order = np.argsort(distinct[ranked])
    largest = np.maximum(np.abs(directions).max(axis=1, initial=0.0, keepdims=True), 1e-9)
    quantised = np.round(127 * directions / largest).astype(np.int8)
    return Vectors(distinct[ranked][order], quantised[order], shares[order].astype(np.float32))


def _cooccurrences(text: Ints, n: int, n_contexts: int) -> Any:
    """Return weighted co-occurrences of words with context words, a csr_array of shape (n, n_contexts)."""
    from scipy.sparse import coo_array, csr_array

    width = min(n, n_contexts)
    table = csr_array((n, width), dtype=np.float32)
    for distance in range(1, REACH + 1):
        for words, contexts in ((text[:-distance], text[distance:]), (text[distance:], text[:-distance])):
            counted = (words >= 0) & (contexts >= 0) & (contexts < width)
            values = np.full(int(counted.sum()), 1.0 / distance, np.float32)
            table = table + csr_array(coo_array((values, (words[counted], contexts[counted])), (n, width)))
    return table


def _directions(table: Any, dimensions: int, seed: int) -> NDArray[np.float64]:
    """Return the principal directions of positive pointwise mutual information, scaled by sqrt(strength)."""
    from scipy.sparse import coo_array, csr_array
    from sklearn.utils.extmath import randomized_svd

    cells = coo_array(table)
    word_sums = np.asarray(table.sum(axis=1), np.float64).ravel()
    context_sums = np.asarray(table.sum(axis=0), np.float64).ravel() ** SMOOTH
    row, column = cells.coords
    information = np.log(cells.data * context_sums.sum() / (word_sums[row] * context_sums[column]))
    positive = information > 0
    n_directions = min(dimensions, *table.shape)
    if not positive.any():
        return np.zeros((table.shape[0], max(n_directions, 1)))
    matrix = csr_array(
        (information[positive].astype(np.float32), (row[positive], column[positive])), table.shape
    )
    left, strength, _ = randomized_svd(matrix, n_directions, random_state=seed)
    points: NDArray[np.float64] = left * np.sqrt(strength)
    return points


TOPIC = 0.25
"""Exponent for the topic, in which a word at distance d has weight ``d ** -TOPIC``; near words: ``1 / d``."""


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Extractor of one row per instance, shared by its candidates (`CrossedRows`).

    Parameters
    ----------
    beside, near, around : int
        Tokens on each side: within the sentence, side by side; within the document, summed; and within the
        document, as a topic. Must not decrease.
    vocabulary, dimensions : int
        If no vectors are given: number of words of the training text that get one, and its length.
    name : str
        Name of the feature group.
    vectors : Vectors, optional
        Vectors of words; `fit` learns them if they are not given.

    Raises
    ------
    UserError
        D452, D453 for invalid numbers.
    """

    beside: int = 2
    near: int = 10
    around: int = 50
    vocabulary: int = 40_000
    dimensions: int = 64
    name: str = "company"
    vectors: Vectors | None = fitted_field(None)
    rows_are_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        counts = ("beside", "near", "around", "vocabulary", "dimensions")
        validate_settings(self, **dict.fromkeys(counts, COUNT))
        if not self.beside <= self.near <= self.around:
            raise UserError("D453", near=self.near, far=self.around)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> WordVectors:
        """Learn vectors from the text of the view; given vectors are kept."""
        if self.vectors is not None:
            return self
        texts = [view.hashes[a:b] for a, b in zip(view.documents[:-1], view.documents[1:], strict=True)]
        vectors = learn_vectors(texts, n_words=self.vocabulary, dimensions=self.dimensions)
        return replace(self, vectors=vectors)

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return one row per instance; the evidence is the number of words around it that have a vector.

        Raises
        ------
        ValueError
            If the extractor is not fitted.
        """
        vectors = self.vectors
        if vectors is None:
            raise ValueError("the extractor is not fitted: there are no word vectors")
        rows = stack_rows([self._rows(view, part, vectors) for part in split_instances(table.instances)])
        return cross_rows(rows, Columns.of_group(self.name, int(rows[0].shape[1])), table, self)

    def state(self) -> Arrays:
        """Return the vectors."""
        return {} if self.vectors is None else self.vectors.state()

    def from_state(self, arrays: Arrays) -> WordVectors:
        """Return an extractor with the vectors of `state`; ValueError if the arrays do not fit."""
        return replace(self, vectors=Vectors.from_state(arrays) if arrays else None)

    def _rows(self, view: TokenView, instances: Instances, vectors: Vectors) -> tuple[Any, Ints, Ints]:
        """Return the sparse rows, and the numbers of known words and of places around each instance."""
        from scipy.sparse import csr_array

        n = len(instances)

        def words_at(at: Ints, inside: NDArray[np.bool_]) -> Ints:
            rows = vectors.rows(view.hashes[np.where(inside, at, 0)])
            return np.where(inside, rows, len(vectors.words))

        beside = words_at(
            *Surroundings.from_instances(view, instances, self.beside, self.beside).near_places()
        )
        words = words_at(*Surroundings.from_instances(view, instances, 0, self.around).far_places())
        steps = np.arange(1, self.around + 1, dtype=np.float32)
        near = np.where(steps <= self.near, 1.0 / steps, 0.0)
        sums = []
        for weights in (near, steps**-TOPIC):
            word_weights = vectors.weights[words] * np.tile(weights, 2).astype(np.float32)
            starts = np.arange(0, words.size + 1, 2 * self.around)
            word_counts = csr_array((word_weights.ravel(), words.ravel(), starts), (n, len(vectors.units)))
            sums.append(_unit_length(word_counts @ vectors.units))
        scale = np.tile(np.arange(1, self.beside + 1, dtype=np.float32) ** -0.5, 2)
        side_by_side = (vectors.units[beside] * scale[:, None]).reshape(
            n, 2 * self.beside * vectors.units.shape[1]
        )
        values = np.hstack([_unit_length(side_by_side), *sums]).astype(np.float64)
        n_known = (words < len(vectors.words)).sum(axis=1)
        n_queries = np.full(n, words.shape[1], np.int64)
        return csr_array(values), n_known.astype(np.int64), n_queries


def _unit_length(values: Floats) -> Floats:
    scaled: Floats = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-9)
    return scaled
