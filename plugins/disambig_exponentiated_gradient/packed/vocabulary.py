"""Columns of features: the keys that are frequent enough in charts to learn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns
from disambig.api.batches import PartRows
from disambig.api.decoding import Hypergraphs

from .features import PartFeatures
from .traits import Keys

NUMBERS = ("score", "posterior")
"""Columns of numbers, before those of keys."""
UNIT = 10.0
"""Numbers are logarithms in units of so much: as they are they differ by tens from parse to parse, where
other features differ by one each, and training goes to and fro along them. On charts of section 00 at C = 0.1
the gap after ten epochs was 0.44, with this unit 0.12."""


@dataclass(frozen=True, slots=True, eq=False)
class ChartVocabulary:
    """The keys that have a column, sorted.

    Attributes
    ----------
    keys : array of uint64, shape (n,)
        Column ``len(NUMBERS) + i`` is that of ``keys[i]``.
    """

    keys: Keys

    @classmethod
    def of(cls, features: PartFeatures, least: int) -> ChartVocabulary:
        """Return the keys that `least` parts have or more."""
        keys, counts = np.unique(features.keys, return_counts=True)
        return cls(keys[counts >= least])

    def __len__(self) -> int:
        return len(NUMBERS) + len(self.keys)

    @property
    def columns(self) -> Columns:
        """What the columns mean: numbers, and what is there or not."""
        n = len(NUMBERS)
        groups = np.concatenate([np.arange(n), np.full(len(self.keys), n)]).astype(np.int32)
        return Columns(np.full(len(self), -1, np.int32), groups, (*NUMBERS, "local"))

    def batch(self, features: PartFeatures, graphs: Hypergraphs, cost: NDArray[np.float32]) -> PartRows:
        """Return charts with these features and costs of edges."""
        from scipy.sparse import csr_array

        at = np.searchsorted(self.keys, features.keys)
        known = self.keys[np.minimum(at, len(self.keys) - 1)] == features.keys if len(self.keys) else at < 0
        sums = np.concatenate([[0], np.cumsum(known)])[features.starts]
        numbers = (features.values / UNIT).astype(np.float32)
        # the numbers of a part come before its keys
        sizes = np.diff(sums) + len(NUMBERS)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        indices, data = np.empty(int(starts[-1]), np.int32), np.ones(int(starts[-1]), np.float32)
        is_number = np.zeros(len(indices), bool)
        for column in range(len(NUMBERS)):
            indices[starts[:-1] + column] = column
            data[starts[:-1] + column] = numbers[:, column]
            is_number[starts[:-1] + column] = True
        indices[~is_number] = at[known] + len(NUMBERS)
        rows = csr_array((data, indices, starts), shape=(len(sizes), len(self)))
        rows.eliminate_zeros()
        return PartRows(rows, features.parts, graphs, cost, self.columns)
