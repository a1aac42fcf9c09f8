"""Batches of structures: jointly labelled sequences, and rows that are sums of shared parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches import EqualLists, SparseRows
from disambig.data.columns import Columns
from disambig.data.segments import as_index, offsets_from_sizes, row_owners, take_rows


@dataclass(frozen=True, slots=True, eq=False)
class SequenceRows(EqualLists):
    """Feature rows of the places of sequences, crossed with K labels; never written out.

    The flat weights are those of `CrossedRows`, shape (K, D), then those of the first label, (K,), then
    those of (previous label, label), (K, K). `scores` and `adjoint` use only the first of these, because
    pairs of labels are not rows of single instances; they are rows in the result of `edges`.

    Attributes
    ----------
    rows : scipy.sparse.csr_array, shape (n, D)
    costs : array of float32, shape (n, K)
    sequences : array of int64, shape (n,)
        Number of the sequence that each instance belongs to; those of one sequence are adjacent.
    """

    rows: Any
    costs: NDArray[np.float32]
    sequences: NDArray[np.int64]

    @property
    def n_weights(self) -> int:
        """Length of the flat weights: K * (D + 1 + K)."""
        k = self.costs.shape[1]
        return k * (int(self.rows.shape[1]) + 1 + k)

    @property
    def columns(self) -> Columns:
        """Descriptions of the flat weights."""
        k, d = self.costs.shape[1], int(self.rows.shape[1])
        labels = np.arange(k, dtype=np.int32)
        return Columns(
            np.concatenate([np.repeat(labels, d), labels, np.tile(labels, k)]),
            np.repeat(np.array([0, 1], np.int32), [k * d, k + k * k]),
            ("token", "label before"),
        )

    @property
    def layout(self) -> NDArray[np.int64]:
        """Index of the first instance of each sequence, followed by the number of instances."""
        return run_starts(self.sequences)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``W_r . x`` for each label r of each instance, without pairs, shape ``(n * K,)``."""
        k = self.costs.shape[1]
        own = weights[: k * self.rows.shape[1]].reshape(k, -1)
        return np.asarray(self.rows @ own.T).ravel()

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the crossed features summed with weights `mass`; zero for pairs."""
        k = self.costs.shape[1]
        own = np.asarray((self.rows.T @ mass.reshape(self.costs.shape)).T).ravel()
        return np.concatenate([own, np.zeros(k + k * k)])

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each label's features, which is that of its instance's row."""
        return np.repeat(np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel(), self.costs.shape[1])

    def take(self, index: NDArray[np.int64]) -> SequenceRows:
        """Return the batch of the instances in `index`; sequences close up if some of theirs are left out."""
        return SequenceRows(self.rows[index], self.costs[index], self.sequences[index])

    def as_chains(self) -> ChainRows:
        """Return the edges of the labellings, for joint decisions: one instance per sequence."""
        return ChainRows(self)

    def edges(self) -> SparseRows:
        """Write out the edges for the decoder `Chain`, one instance per sequence; for small problems only.

        The rows are in the order that `disambig.decode.Chain` expects; each costs as much as the label it
        leads to. With d features and K labels, the columns are the K d weights of labels, K of first labels
        and K K of pairs of labels.
        """
        from scipy.sparse import csr_array

        k = self.costs.shape[1]
        d = self.rows.shape[1]
        dense = self.rows.toarray()
        starts = self.layout
        blocks, cost, sizes = [np.zeros((0, self.n_weights))], [np.zeros(0, np.float32)], []
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            size = 0
            for t in range(first, last):
                before = [0] if t == first else range(k)
                rows = np.zeros((len(before) * k, self.n_weights))
                for a in before:
                    for b in range(k):
                        row = rows[a * k + b]
                        row[b * d : (b + 1) * d] = dense[t]
                        row[k * d + b if t == first else k * d + k + a * k + b] = 1.0
                blocks.append(rows)
                cost.append(np.tile(self.costs[t], len(before)))
                size += len(rows)
            sizes.append(size)
        offsets = offsets_from_sizes(sizes)
        return SparseRows(csr_array(np.vstack(blocks)), offsets, np.concatenate(cost), self.columns)


class ChainLayout(NamedTuple):
    """Layout of the edges of sequences, for `ChainRows`."""

    offsets: NDArray[np.int64]  # (n + 1,): offset of the first edge of each sequence
    n_states: int  # K, which is the same at every place


@dataclass(frozen=True, slots=True, eq=False)
class ChainRows:
    """The edges of sequences for the decoder `Chain`, never written out: one instance per sequence.

    The rows are the same as those of `SequenceRows.edges`, in the order that the decoder expects: a label
    at the first place, or a pair of adjacent labels, with the features of the second one's place.
    """

    places: SequenceRows

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first edge of each sequence, shape ``(n_sequences + 1,)``."""
        k, starts = self.places.costs.shape[1], self.places.layout
        sizes = k + (np.diff(starts) - 1) * k * k
        return offsets_from_sizes(sizes)

    @property
    def cost(self) -> NDArray[np.float32]:
        """The cost of each edge, which is that of the label it leads to."""
        k = self.places.costs.shape[1]
        cost = np.empty(int(self.offsets[-1]), np.float32)
        for first, edges in self._sequences():
            cost[edges.start : edges.start + k] = self.places.costs[first.start]
            steps = cost[edges.start + k : edges.stop].reshape(-1, k, k)
            steps[:] = self.places.costs[first.start + 1 : first.stop, None, :]
        return cost

    @property
    def columns(self) -> Columns:
        """Descriptions of the flat weights."""
        return self.places.columns

    @property
    def layout(self) -> ChainLayout:
        """Offsets of the edges, and the number of labels."""
        return ChainLayout(self.offsets, self.places.costs.shape[1])

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each edge."""
        k = self.places.costs.shape[1]
        place = self.places.scores(weights).reshape(-1, k)
        first, step = weights[-k - k * k : -k * k], weights[-k * k :].reshape(k, k)
        scores = np.empty(int(self.offsets[-1]))
        for places, edges in self._sequences():
            scores[edges.start : edges.start + k] = place[places.start] + first
            steps = scores[edges.start + k : edges.stop].reshape(-1, k, k)
            np.add(place[places.start + 1 : places.stop, None, :], step, out=steps)
        return scores

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`."""
        k = self.places.costs.shape[1]
        place_mass = np.zeros(self.places.costs.shape)
        first, step = np.zeros(k), np.zeros((k, k))
        for places, edges in self._sequences():
            place_mass[places.start] = mass[edges.start : edges.start + k]
            steps = mass[edges.start + k : edges.stop].reshape(-1, k, k)
            place_mass[places.start + 1 : places.stop] = steps.sum(axis=1)
            first += place_mass[places.start]
            step += steps.sum(axis=0)
        sums = self.places.adjoint(place_mass.ravel())
        sums[-k - k * k :] = np.concatenate([first, step.ravel()])
        return sums

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each edge's features: that of its place plus one for the pair."""
        k = self.places.costs.shape[1]
        squares = 1.0 + self.places.row_sqnorm().reshape(-1, k)[:, 0]
        sizes = np.full(len(squares), k * k)
        sizes[self.places.layout[:-1]] = k
        return np.repeat(squares, sizes)

    def take(self, index: NDArray[np.int64]) -> ChainRows:
        """Return the batch of the sequences in `index`; adjacent ones stay separate sequences."""
        places, starts = take_rows(self.places.layout, as_index(index))
        taken = self.places.take(places)
        numbers = row_owners(starts)
        return ChainRows(replace(taken, sequences=numbers))

    def _sequences(self) -> Iterator[tuple[slice, slice]]:
        """Yield the places and the edges of each sequence."""
        edges = pairwise(self.offsets.tolist())
        for (first, last), (start, stop) in zip(pairwise(self.places.layout.tolist()), edges, strict=True):
            yield slice(first, last), slice(start, stop)


def run_starts(sequences: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of runs of equal numbers, then the length, shape ``(n_sequences + 1,)``."""
    if not len(sequences):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(np.diff(sequences)) + 1, [len(sequences)]]).astype(np.int64)


_CHUNK_ROWS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Features of parts and the parts of each row; the features of a row are the sum over its parts.

    Attributes
    ----------
    features : scipy.sparse.csr_array, shape (n_parts, n_columns)
    parts : array of int32, shape (n_rows, P)
        Indices of parts, at most P per row, padded with -1.
    layout : object
        How rows combine: has `offsets` and `take(index)`, as `disambig.api.decoding.Hypergraphs` does.
    cost : array of float32, shape (n_rows,)
    columns : Columns

    Raises
    ------
    ValueError
        If a row has an index that is not a part, or the numbers of rows differ.
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
            raise ValueError(f"{self.features.shape[1]} columns of features, but {len(self.columns)} names")
        if self.parts.size and not -1 <= self.parts.min() <= self.parts.max() < self.features.shape[0]:
            actual = f"{self.parts.min()} to {self.parts.max()}"
            raise ValueError(f"parts {actual}: expected -1 to {self.features.shape[0] - 1}")

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first row of each instance."""
        return np.asarray(self.layout.offsets)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        part_scores = np.append(self.features @ weights, 0.0)  # the padding -1 indexes this last zero
        return np.asarray(part_scores[self.parts].sum(axis=1))

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`."""
        n, width = self.features.shape[0], self.parts.shape[1]
        sums = np.bincount(self.parts.ravel() + 1, np.repeat(mass, width), minlength=n + 1)
        return np.asarray(self.features.T @ sums[1:])

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each row.

        If no two places of `parts` share a column, it is the sum of the parts' norms; otherwise blocks of
        rows are written out.
        """
        squares = self.features.multiply(self.features)
        # the norm of a sum is the sum of the norms only if the summands are orthogonal
        if self._has_disjoint_columns(squares):
            part_sqnorms = np.append(np.asarray(squares.sum(axis=1)).ravel(), 0.0)
            return np.asarray(part_sqnorms[self.parts].sum(axis=1))
        sqnorms = np.empty(len(self.parts))
        for start in range(0, len(sqnorms), _CHUNK_ROWS):
            rows = self._written(self.parts[start : start + _CHUNK_ROWS])
            sqnorms[start : start + _CHUNK_ROWS] = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return sqnorms

    def rows(self) -> Any:
        """Return the rows written out, as a scipy.sparse.csr_array of shape (n_rows, n_columns)."""
        return self._written(self.parts)

    def _written(self, parts: NDArray[np.int32]) -> Any:
        from scipy.sparse import csr_array

        is_part = parts >= 0
        starts = offsets_from_sizes(is_part.sum(axis=1))
        memberships = (np.ones(int(starts[-1])), parts[is_part], starts)
        return csr_array(memberships, shape=(len(parts), self.features.shape[0])) @ self.features

    def _has_disjoint_columns(self, square: Any) -> bool:
        """Return True if no column occurs in parts of two places."""
        places = np.zeros(self.features.shape[1], np.int64)
        for place in self.parts.T:
            used = np.zeros(self.features.shape[0] + 1)
            used[place] = 1.0
            places += square.T @ used[:-1] > 0
        return bool((places < 2).all())

    def take(self, index: NDArray[np.int64]) -> PartRows:
        """Return the batch of the instances in `index`, with only the parts that they use."""
        index = as_index(index)
        rows, _ = take_rows(self.offsets, index)
        parts = self.parts[rows]
        used = np.zeros(self.features.shape[0] + 1, bool)
        used[parts] = True  # -1 marks the additional last entry, which is dropped below
        used[-1] = False
        numbers = np.append(np.cumsum(used[:-1], dtype=np.int32) - 1, np.int32(-1))
        return PartRows(
            self.features[np.flatnonzero(used)],
            numbers[parts].astype(np.int32),
            self.layout.take(index),
            self.cost[rows],
            self.columns,
        )
