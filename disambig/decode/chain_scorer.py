"""The scorer of sequences: sparse weights of each feature's labels, and weights of neighbouring labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.sequences import SequenceRows
from disambig.decode.chain_arrays import best_states, best_with_states
from disambig.engine import use_numba
from disambig.types import Arrays, CandidateBatch

Floats = NDArray[np.float64]
_MOST_LABELS = 1 << 16
_HAIR = 1e-6
"""How far labels of equal scores stay behind the chosen one."""
_UNITS = 100
"""What a place costs NumPy, in the units of `use_numba`."""
UNIT = 64
"""Rounded weights are whole numbers of 1 / 64."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainScorer:
    """Scores each label of a token by the best labelling of its sentence that has it there.

    Attributes
    ----------
    begins : array of int64, shape (D + 1,)
        Where the weights of each feature begin in `labels` and `amounts`.
    labels : array of uint16, shape (n_weights,)
    amounts : array of float32, shape (n_weights,)
    first : array of float32, shape (K,)
        Weights of the first label of a sequence.
    step : array of float32, shape (K, K)
        Weights of (label before, label).
    """

    begins: NDArray[np.int64]
    labels: NDArray[np.uint16]
    amounts: NDArray[np.float32]
    first: NDArray[np.float32]
    step: NDArray[np.float32]

    @classmethod
    def of_weights(cls, weights: Floats, n_labels: int) -> ChainScorer:
        """Return the scorer of flat weights as `SequenceRows` lays them out; zeros are not kept."""
        k = n_labels
        own = weights[: len(weights) - k - k * k].reshape(k, -1).T  # (D, K)
        rows, labels = np.nonzero(own)
        begins = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(own)))])
        pairs = weights[len(weights) - k - k * k :].astype(np.float32)
        return cls(
            begins.astype(np.int64),
            labels.astype(np.uint16),
            own[rows, labels].astype(np.float32),
            pairs[:k],
            pairs[k:].reshape(k, k),
        )

    def weights(self) -> Floats:
        """Return the flat weights, zeros included."""
        k, d = len(self.first), len(self.begins) - 1
        own = np.zeros((d, k))
        own[np.repeat(np.arange(d), np.diff(self.begins)), self.labels] = self.amounts
        return np.concatenate([own.T.ravel(), self.first, self.step.ravel()]).astype(np.float64)

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return max-marginals, less those of the best labels: how far each label is behind, zero or less.

        The max-marginal of a row is the score of the best sequence that has this label there. Differences
        are all that matters, and the scores of whole sequences grow with their lengths. The best row of each
        instance is the label that `best` gives it: of equal labels it is a hair above.

        Raises
        ------
        TypeError, ValueError
            For a batch of another storage or of other columns.
        """
        rows, starts = self._checked(batch), batch.layout
        step = self.step.astype(np.float64)
        if self._is_little(rows):
            place = self._place_scores(rows, starts)
            found = best_with_states(place.astype(np.float64), step, starts)
            chosen = best_states(place, self.step, starts)
        else:
            from disambig.decode.chain_kernels import max_marginals
            from disambig.decode.chain_scorer_kernels import place_scores

            place = np.empty((rows.shape[0], len(self.first)), np.float32)
            found = np.empty(place.shape)
            weights = self.begins, self.labels, self.amounts, self.first
            place_scores(*_csr(rows), *weights, starts, place)
            max_marginals(place.astype(np.float64), step[None], starts, found)
            chosen = self._decoded(rows, starts)
        found -= found.max(axis=1, initial=-np.inf, keepdims=True)
        found = np.minimum(found, -_HAIR)
        found[np.arange(len(found)), chosen] = 0.0
        return found.ravel()

    def k_best(self, batch: SequenceRows, k: int) -> list[tuple[Floats, NDArray[np.int64]]]:
        """Return the `k` best labellings of each sequence, best first; fewer where there are fewer.

        Returns
        -------
        list of (scores, labels)
            Shapes ``(k,)`` and ``(k, length)``.
        """
        from disambig.decode.chain_kernels import k_best_paths
        from disambig.decode.chain_scorer_kernels import place_scores

        rows = self._checked(batch)
        starts = batch.layout
        place = np.empty((rows.shape[0], len(self.first)), np.float32)
        weights = self.begins, self.labels, self.amounts, self.first
        place_scores(*_csr(rows), *weights, starts, place)
        step, found = self.step[None].astype(np.float64), []
        for first, last in pairwise(starts.tolist()):
            totals, paths = np.empty(k), np.empty((k, last - first), np.int64)
            of_place = place[first:last].astype(np.float64)
            n = int(k_best_paths(of_place, step, k, totals, paths))
            found.append((totals[:n], paths[:n]))
        return found

    def best(self, batch: SequenceRows) -> NDArray[np.int64]:
        """Return the label of each instance in the best labelling of its sequence, shape ``(n,)``."""
        return self.decode(self._checked(batch), batch.layout)

    def best_among(self, batch: SequenceRows, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the label of each instance in the best labelling of its sequence that keeps to `allowed`.

        Parameters
        ----------
        allowed : array of bool, shape (n, K)
            What each instance may be; one with nothing may be anything.
        """
        place = self._place_scores(self._checked(batch), batch.layout)
        place[~(allowed | ~allowed.any(axis=1, keepdims=True))] = -np.inf
        return best_states(place, self.step, batch.layout)

    def decode(self, rows: Any, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the best labels of sequences ``starts[i]:starts[i + 1]`` of sparse rows, shape ``(n,)``."""
        if self._is_little(rows):
            return best_states(self._place_scores(rows, starts), self.step, starts)
        return self._decoded(rows, starts)

    def _is_little(self, rows: Any) -> bool:
        """Tell whether NumPy does it: quicker than to load the kernels, let alone to compile them."""
        return not use_numba(int(rows.shape[0]) * _UNITS)

    def _place_scores(self, rows: Any, starts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of each label at each place, shape ``(n, K)``, added up as the kernel does it."""
        indptr, indices, values = _csr(rows)
        place = np.zeros((rows.shape[0], len(self.first)), np.float32)
        place[starts[:-1][starts[1:] > starts[:-1]]] = self.first
        begins = self.begins[indices]
        sizes = self.begins[indices + 1] - begins
        total = np.cumsum(sizes)
        weights = np.repeat(begins - total + sizes, sizes) + np.arange(int(sizes.sum()))
        places = np.repeat(np.repeat(np.arange(len(place)), np.diff(indptr)), sizes)
        amounts = np.repeat(values, sizes) * self.amounts[weights]
        np.add.at(place.reshape(-1), places * len(self.first) + self.labels[weights], amounts)
        return place

    def _decoded(self, rows: Any, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        from disambig.decode.chain_scorer_kernels import decode

        path = np.zeros(rows.shape[0], np.int64)
        weights = self.begins, self.labels, self.amounts, self.first, self.step[None]
        decode(*_csr(rows), *weights, starts, path)
        return path

    def _checked(self, batch: CandidateBatch) -> Any:
        if not isinstance(batch, SequenceRows):
            raise TypeError(f"a chain scorer needs SequenceRows, not {type(batch).__name__}")
        k = batch.costs.shape[1]
        if (k, batch.rows.shape[1]) != (len(self.first), len(self.begins) - 1):
            raise ValueError(
                f"weights of {len(self.begins) - 1} features and {len(self.first)} labels for a batch of "
                f"{batch.rows.shape[1]} and {k}"
            )
        return batch.rows

    def pruned(self, least: float) -> ChainScorer:
        """Return the scorer without the feature weights that are smaller than `least` in size."""
        kept = np.abs(self.amounts) >= least
        rows = np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))[kept]
        counts = np.bincount(rows, minlength=len(self.begins) - 1)
        begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return replace(self, begins=begins, labels=self.labels[kept], amounts=self.amounts[kept])

    def rounded(self) -> ChainScorer:
        """Return the scorer with feature weights in 64ths, which are saved in two bytes each."""
        most = np.iinfo(np.int16).max
        whole = np.clip(np.rint(self.amounts * UNIT), -most, most)
        return replace(self, amounts=(whole / UNIT).astype(np.float32))

    def only(self, kept: NDArray[np.bool_]) -> ChainScorer:
        """Return the scorer of the features in `kept`, shape (D,)."""
        sizes = np.diff(self.begins)
        inside = np.repeat(kept, sizes)
        begins = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
        return replace(self, begins=begins, labels=self.labels[inside], amounts=self.amounts[inside])

    def state(self) -> Arrays:
        """Return the weights, in the fewest bytes that hold them."""
        units = self.amounts * np.float32(UNIT)
        small = (units == np.rint(units)).all() and np.abs(units).max(initial=0.0) < 1 << 15
        sizes = np.diff(self.begins)
        return {
            "sizes": sizes.astype(np.min_scalar_type(int(sizes.max(initial=0)))),
            "labels": self.labels.astype(np.min_scalar_type(len(self.first) - 1)),
            "amounts": units.astype(np.int16) if small else self.amounts,
            "first": self.first,
            "step": self.step,
        }

    @classmethod
    def from_state(cls, arrays: Arrays) -> ChainScorer:
        """Rebuild a scorer from `state`; ValueError where the arrays do not fit together."""
        sizes, labels, amounts = arrays["sizes"], arrays["labels"], arrays["amounts"]
        first, step = (np.asarray(arrays[name], np.float32) for name in ("first", "step"))
        good = sizes.ndim == labels.ndim == amounts.ndim == first.ndim == 1
        good = good and sizes.dtype.kind == labels.dtype.kind == "u" and 0 < len(first) <= _MOST_LABELS
        k = first.size
        # a feature has each label once at most: so their sum cannot wrap around
        good = good and int(sizes.max(initial=0)) <= k and int(labels.max(initial=0)) < k
        if not good or len(labels) != len(amounts) or int(sizes.sum()) != len(labels) or step.shape != (k, k):
            raise ValueError("chain scorer: sizes, labels and amounts differ")
        begins = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        if amounts.dtype.kind == "i":
            amounts = amounts / np.float32(UNIT)
        return cls(begins, labels.astype(np.uint16), amounts.astype(np.float32), first, step)


def _csr(rows: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return the three arrays of a sparse matrix in the types that the kernels were compiled for."""
    return (
        rows.indptr.astype(np.int32, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data.astype(np.float32, copy=False),
    )
