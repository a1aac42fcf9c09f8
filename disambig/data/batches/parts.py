"""Rows that are sums of shared parts: the edges of charts, of which thousands use the same rule.

A part's features are written down once, however many rows have it: what a rule says, what a word says with a
tag, what the place of a span says. No decoder here: the layout is whatever one takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.rows import index_of, rows_of

_AT_A_TIME = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Features of parts, and the parts of each row: a row's features are the sum of its parts'.

    Attributes
    ----------
    features : scipy.sparse.csr_array, shape (n_parts, n_columns)
    parts : array of int32, shape (n_rows, P)
        Numbers of parts, P at most a row; -1 for none.
    layout : object
        How rows combine: has `offsets`, and `take(index)`, as `disambig.api.decoding.Hypergraphs`.
    cost : array of float32, shape (n_rows,)
    columns : Columns

    Raises
    ------
    ValueError
        If a row has a part that is not there, or the numbers of rows differ.
    """

    features: Any
    parts: NDArray[np.int32]
    layout: Any
    cost: NDArray[np.float32]
    columns: Columns

    def __post_init__(self) -> None:
        n = int(self.layout.offsets[-1])
        if self.parts.ndim != 2 or len(self.parts) != n or len(self.cost) != n:
            raise ValueError(
                f"parts of shape {self.parts.shape} and {len(self.cost)} costs for {n} rows of the layout"
            )
        if self.features.shape[1] != len(self.columns):
            raise ValueError(f"features of {self.features.shape[1]} columns, named are {len(self.columns)}")
        if self.parts.size and not -1 <= self.parts.min() <= self.parts.max() < self.features.shape[0]:
            seen = f"{self.parts.min()} to {self.parts.max()}"
            raise ValueError(f"parts {seen}: there are {self.features.shape[0]}, and -1 for none")

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each instance's rows begin."""
        return np.asarray(self.layout.offsets)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        of_parts = np.append(self.features @ weights, 0.0)  # the last for none
        return np.asarray(of_parts[self.parts].sum(axis=1))

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`."""
        n, width = self.features.shape[0], self.parts.shape[1]
        sums = np.bincount(self.parts.ravel() + 1, np.repeat(mass, width), minlength=n + 1)
        return np.asarray(self.features.T @ sums[1:])

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each row.

        Where each place of `parts` has columns of its own that is the sum of the parts'; else the rows are
        written out, some at a time.
        """
        square = self.features.multiply(self.features)
        if self._apart(square):
            of_parts = np.append(np.asarray(square.sum(axis=1)).ravel(), 0.0)
            return np.asarray(of_parts[self.parts].sum(axis=1))
        sums = np.empty(len(self.parts))
        for start in range(0, len(sums), _AT_A_TIME):
            rows = self._written(self.parts[start : start + _AT_A_TIME])
            sums[start : start + _AT_A_TIME] = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return sums

    def rows(self) -> Any:
        """Return the rows written out, as a scipy.sparse.csr_array of shape (n_rows, n_columns)."""
        return self._written(self.parts)

    def _written(self, parts: NDArray[np.int32]) -> Any:
        from scipy.sparse import csr_array

        there = parts >= 0
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        which = (np.ones(int(starts[-1])), parts[there], starts)
        return csr_array(which, shape=(len(parts), self.features.shape[0])) @ self.features

    def _apart(self, square: Any) -> bool:
        """Return whether no column is in parts of two places."""
        places = np.zeros(self.features.shape[1], np.int64)
        for place in self.parts.T:
            used = np.zeros(self.features.shape[0] + 1)
            used[place] = 1.0
            places += square.T @ used[:-1] > 0
        return bool((places < 2).all())

    def narrowed(self) -> tuple[PartRows, NDArray[np.int64]]:
        """Return the same rows in those columns alone that occur in them, and which these are."""
        from scipy.sparse import csr_array

        features, whole = csr_array(self.features), self.columns
        used, local = np.unique(features.indices, return_inverse=True)
        own = csr_array(
            (features.data, local.astype(np.int32), features.indptr), (features.shape[0], len(used))
        )
        columns = Columns(whole.labels[used], whole.groups[used], whole.group_names)
        return PartRows(own, self.parts, self.layout, self.cost, columns), used.astype(np.int64)

    def take(self, index: NDArray[np.int64]) -> PartRows:
        """Return the batch of the instances in `index`, with the parts that these have."""
        index = index_of(index)
        rows, _ = rows_of(self.offsets, index)
        parts = self.parts[rows]
        used = np.zeros(self.features.shape[0] + 1, bool)
        used[parts] = True  # -1 marks the last
        used[-1] = False
        numbers = np.append(np.cumsum(used[:-1], dtype=np.int32) - 1, np.int32(-1))
        return PartRows(
            self.features[np.flatnonzero(used)],
            numbers[parts].astype(np.int32),
            self.layout.take(index),
            self.cost[rows],
            self.columns,
        )
