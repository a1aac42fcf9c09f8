"""Where the words around a place are: the near ones in its sentence, those further off in its document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.instances import Instances
from disambig.features.rows.around import documents_of, sentences_of
from disambig.text.view import TokenView


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Where the words around some places are, each array of shape (n,).

    Attributes
    ----------
    first, last : arrays of int64
        The place's first and last token; of a place of no word, `last` is the token before.
    sentence, document : pairs of arrays of int64
        First token, and one past the last.
    near, far : int
        Words on each side.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    sentence: tuple[NDArray[np.int64], NDArray[np.int64]]
    document: tuple[NDArray[np.int64], NDArray[np.int64]]
    near: int
    far: int

    @classmethod
    def of(cls, view: TokenView, instances: Instances, near: int, far: int) -> Surroundings:
        """Find the sentences and documents of `instances`."""
        first = instances.positions
        last = first + instances.lengths - 1
        return cls(first, last, sentences_of(view, instances), documents_of(view, instances), near, far)

    def near_places(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return positions of near words, left ones first, nearest first, and which are in the sentence."""
        return self._places(range(1, self.near + 1), self.sentence)

    def far_places(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return positions of far words, and which are in the document; shape ``(n, 2 * (far - near))``."""
        return self._places(range(self.near + 1, self.far + 1), self.document)

    def _places(
        self, distances: range, bounds: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        steps = np.array(distances, np.int64)
        at = np.concatenate([self.first[:, None] - steps, self.last[:, None] + steps], axis=1)
        return at, (at >= bounds[0][:, None]) & (at < bounds[1][:, None])
