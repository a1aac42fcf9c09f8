"""Word vectors around a place: what stands there is like what stood there in training, in other words.

Three parts, each of length one: the words next to the place side by side, those near it summed, the nearer
the more, and those further off, as a topic. Frequent words count less in sums. Vectors are learned from plain
text, or given (`disambig.features.vectors.learning.learn_vectors`): of many more words than any training has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.features.rows.one_row import as_features, below_each_other, portions
from disambig.features.rows.surroundings import Surroundings
from disambig.features.vectors.known import Vectors
from disambig.settings import no_setting
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

Floats = NDArray[np.float32]
TOPIC = 0.25
"""In the topic a word at distance d counts ``d ** -TOPIC``; near the place, ``1 / d``."""


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Extractor of one row an instance, shared by its candidates (`CrossedRows`).

    Parameters
    ----------
    beside, near, around : int
        Tokens on each side: within the sentence, side by side; within the document, summed; and these as a
        topic. Not falling.
    vocabulary, dimensions : int
        Where no vectors are given: how many words of the text of the examples get one, of how many numbers.
    name : str
        Of the feature group.
    vectors : Vectors, optional
        What words are like; `fit` learns it where it is not given.

    Raises
    ------
    UserError
        D452, D453 for numbers that make no sense.
    """

    beside: int = 2
    near: int = 10
    around: int = 50
    vocabulary: int = 40_000
    dimensions: int = 64
    name: str = "company"
    vectors: Vectors | None = no_setting(None)
    rows_are_shared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for setting in ("beside", "near", "around", "vocabulary", "dimensions"):
            value = getattr(self, setting)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UserError("D452", setting=f"WordVectors.{setting}", value=value)
        if not self.beside <= self.near <= self.around:
            raise UserError("D453", near=self.near, far=self.around)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> WordVectors:
        """Learn vectors from the text of the view; those that are given stay."""
        if self.vectors is not None:
            return self
        from disambig.features.vectors.learning import learn_vectors

        texts = [view.hashes[a:b] for a, b in zip(view.documents[:-1], view.documents[1:], strict=True)]
        found = learn_vectors(texts, n_words=self.vocabulary, dimensions=self.dimensions)
        return replace(self, vectors=found)

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return one row an instance; the evidence is how many of the words around have a vector.

        Raises
        ------
        ValueError
            Where the extractor was not fitted.
        """
        known = self.vectors
        if known is None:
            raise ValueError("word vectors are not there yet: fit them first")
        made = below_each_other([self._rows(view, part, known) for part in portions(instances)])
        d = int(made[0].shape[1])
        columns = Columns(np.full(d, -1, np.int32), np.zeros(d, np.int32), (self.name,))
        return as_features(made, columns, instances, group, self)

    def state(self) -> Arrays:
        """Return the vectors."""
        return {} if self.vectors is None else self.vectors.state()

    def from_state(self, arrays: Arrays) -> WordVectors:
        """Return an extractor with the vectors of `state`; ValueError where arrays do not fit."""
        return replace(self, vectors=Vectors.from_state(arrays) if arrays else None)

    def _rows(
        self, view: TokenView, instances: Instances, known: Vectors
    ) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
        from scipy.sparse import csr_array

        n = len(instances)

        def words_at(at: NDArray[np.int64], inside: NDArray[np.bool_]) -> NDArray[np.int64]:
            rows = known.rows(view.hashes[np.where(inside, at, 0)])
            return np.where(inside, rows, len(known.words))

        beside = words_at(*Surroundings.of(view, instances, self.beside, self.beside).near_places())
        words = words_at(*Surroundings.of(view, instances, 0, self.around).far_places())
        steps = np.arange(1, self.around + 1, dtype=np.float32)
        near = np.where(steps <= self.near, 1.0 / steps, 0.0)
        sums = []
        for weights in (near, steps**-TOPIC):
            worth = known.worth[words] * np.tile(weights, 2).astype(np.float32)
            starts = np.arange(0, words.size + 1, 2 * self.around)
            picked = csr_array((worth.ravel(), words.ravel(), starts), (n, len(known.units)))
            sums.append(_of_length_one(picked @ known.units))
        scale = np.tile(np.arange(1, self.beside + 1, dtype=np.float32) ** -0.5, 2)
        own = (known.units[beside] * scale[:, None]).reshape(n, 2 * self.beside * known.units.shape[1])
        values = np.hstack([_of_length_one(own), *sums]).astype(np.float64)
        there = (words < len(known.words)).sum(axis=1)
        asked = np.full(n, words.shape[1], np.int64)
        return csr_array(values), there.astype(np.int64), asked


def _of_length_one(values: Floats) -> Floats:
    found: Floats = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-9)
    return found
