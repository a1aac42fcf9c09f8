"""Sequences of instances that are labelled together: one sparse row an instance, as in `CrossedRows`.

Each instance has the same K labels as candidates; what one of them is bears on the next one. Its row is
crossed with the labels, and pairs of neighbouring labels have weights of their own behind those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import Columns
from disambig.data.equal_lists import EqualLists
from disambig.data.sparse import SparseRows


@dataclass(frozen=True, slots=True, eq=False)
class SequenceRows(EqualLists):
    """Rows of a sequence's places, crossed with K labels; never written out.

    Flat weights are those of `CrossedRows`, shape (K, D), then those of the first label, (K,), then
    those of (label before, label), (K, K). `scores` and `adjoint` see the first part alone: pairs are no rows
    of single instances. `edges` gives the form in which they are.

    Attributes
    ----------
    rows : scipy.sparse.csr_array, shape (n, D)
    costs : array of float32, shape (n, K)
    sequences : array of int64, shape (n,)
        Number of the sequence that each instance belongs to; neighbours of one sequence have the same.
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
        """What the flat weights mean."""
        k, d = self.costs.shape[1], int(self.rows.shape[1])
        labels = np.arange(k, dtype=np.int32)
        return Columns(
            np.concatenate([np.repeat(labels, d), labels, np.tile(labels, k)]),
            np.repeat(np.array([0, 1], np.int32), [k * d, k + k * k]),
            ("token", "label before"),
        )

    @property
    def layout(self) -> NDArray[np.int64]:
        """Where each sequence begins, in instances, and their number."""
        return starts_of(self.sequences)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``W_r . x`` for each label r of each instance, pairs left out, shape ``(n * K,)``."""
        k = self.costs.shape[1]
        own = weights[: k * self.rows.shape[1]].reshape(k, -1)
        return np.asarray(self.rows @ own.T).ravel()

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the crossed features summed with weights `mass`; zero for pairs."""
        k = self.costs.shape[1]
        own = np.asarray((self.rows.T @ mass.reshape(self.costs.shape)).T).ravel()
        return np.concatenate([own, np.zeros(k + k * k)])

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each label's features: that of its instance."""
        return np.repeat(np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel(), self.costs.shape[1])

    def take(self, index: NDArray[np.int64]) -> SequenceRows:
        """Return the batch of the instances in `index`; sequences of which some are left out close up."""
        return SequenceRows(self.rows[index], self.costs[index], self.sequences[index])

    def edges(self) -> SparseRows:
        """Write the parts out, one instance a sequence: for the decoder `Chain`; small problems only.

        The rows are those that `disambig.decode.chain` wants; each costs what the label it leads to does.
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
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return SparseRows(csr_array(np.vstack(blocks)), offsets, np.concatenate(cost), self.columns)


def starts_of(sequences: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where runs of equal numbers begin, and the length, shape ``(n_sequences + 1,)``."""
    if not len(sequences):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(np.diff(sequences)) + 1, [len(sequences)]]).astype(np.int64)
