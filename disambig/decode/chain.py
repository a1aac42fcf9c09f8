"""Decoder and scorer for chains of labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import ChainLayout, SequenceRows, offsets_from_sizes, row_owners, take_rows
from disambig.runtime import use_numba
from disambig.settings import COUNT, validate_settings
from disambig.type_aliases import Floats
from disambig.types import Arrays, CandidateBatch

if TYPE_CHECKING:
    from disambig.decode.hypergraph import Hypergraphs

Layout = NDArray[np.int64] | ChainLayout
_UNKNOWN = "Chain() does not know the number of states: give n_states"
_ALL_FORBIDDEN = "every sequence is forbidden"


@dataclass(frozen=True, slots=True)
class Chain:
    """Decode sequences by dynamic programming; the layout is a `ChainLayout` or, with `n_states`, `offsets`.

    With ``scores + cost`` as `scores`, `best` and `top` are loss-augmented. Minus infinity forbids an edge;
    `best` and `marginals` raise ValueError if no sequence is left.

    Parameters
    ----------
    n_states : int, optional
        K, the same at every place. Default: that of the layout.
    """

    n_states: int | None = None

    def __post_init__(self) -> None:
        validate_settings(self, n_states=COUNT.or_none)

    @property
    def needs_layout(self) -> type:
        """The class of the layouts that can be decoded."""
        return ChainLayout if self.n_states is None else object

    def best(self, scores: Floats, layout: Layout) -> Floats:
        """Return a mass of one for the edges of the best sequences (Viterbi), zero for others."""
        from disambig.decode.chain_kernels import best_path

        mass = np.zeros(len(scores))
        for start, emissions, transitions in self._sequences(scores, layout):
            path = np.empty(len(emissions), np.int64)
            buffers = np.empty((2, emissions.shape[1])), np.empty(emissions.shape, np.int32)
            if best_path(emissions, transitions, *buffers, path) == -np.inf:
                raise ValueError(_ALL_FORBIDDEN)
            mass[start + path_edges(path, emissions.shape[1])] = 1.0
        return mass

    def top(self, scores: Floats, layout: Layout, k: int) -> list[tuple[Floats, NDArray[np.int64]]]:
        """Return up to `k` best sequences of each instance, the best first; `k` is at least 1.

        Returns
        -------
        list of (scores, states)
            Shapes ``(k,)`` and ``(k, L)``.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        from disambig.decode.chain_kernels import k_best_paths

        best = []
        for _, emissions, transitions in self._sequences(scores, layout):
            totals, paths = np.empty(k), np.empty((k, len(emissions)), np.int64)
            n = int(k_best_paths(emissions, transitions, k, totals, paths))
            best.append((totals[:n], paths[:n]))
        return best

    def marginals(self, scores: Floats, layout: Layout) -> tuple[Floats, Floats]:
        """Return the marginals of edges under a softmax over sequences, and the log partition of each one."""
        from disambig.decode.chain_kernels import log_sums

        mass, partition = np.zeros(len(scores)), []
        for start, emissions, transitions in self._sequences(scores, layout):
            place_marginals, k = np.empty(emissions.shape), emissions.shape[1]
            transition_marginals = np.empty((len(emissions) - 1, k, k))
            partition.append(float(log_sums(emissions, transitions, place_marginals, transition_marginals)))
            if partition[-1] == -np.inf:
                raise ValueError(_ALL_FORBIDDEN)
            mass[start : start + k] = place_marginals[0]
            mass[start + k : start + k + transition_marginals.size] = transition_marginals.ravel()
        return mass, np.array(partition)

    def edges(self, path: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of a sequence of states, relative to the sequence's first row."""
        if self.n_states is None:
            raise ValueError(_UNKNOWN)
        return path_edges(path, self.n_states)

    def _sequences(self, scores: Floats, layout: Layout) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield for each sequence its first row, scores of places, (L, K), and of steps, (L - 1, K, K)."""
        offsets, k = layout if isinstance(layout, ChainLayout) else (layout, self.n_states)
        if k is None:
            raise ValueError(_UNKNOWN)
        if self.n_states not in (None, k):
            raise ValueError(f"a chain of {self.n_states} states cannot decode one of {k}")
        for start, stop in pairwise(np.asarray(offsets).tolist()):
            rows = np.asarray(scores[start:stop], np.float64)
            if len(rows) < k or (len(rows) - k) % (k * k):  # K for the first place, K * K for each step
                raise ValueError(f"{len(rows)} rows are not a chain of {k} states")
            transitions = rows[k:].reshape(-1, k, k)
            emissions = np.zeros((1 + len(transitions), k))
            emissions[0] = rows[:k]
            # compiled functions need at least one table of steps, also for a sequence of one place
            yield start, emissions, transitions if len(transitions) else np.zeros((1, k, k))


def path_edges(path: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the rows of a sequence of states out of `k`, relative to the sequence's first row."""
    places = np.arange(len(path) - 1)
    return np.concatenate([path[:1], k + places * k * k + path[:-1] * k + path[1:]])


def graphs_of_chains(layout: ChainLayout) -> tuple[Hypergraphs, NDArray[np.int64]]:
    """Return the hypergraphs of sequences, and the row of the chain for each of their edges.

    A node is a state at a place, with edges from the states at the previous place. The goal has an edge from
    each last state; these edges are not rows of the chain, have -1 in `rows` and the score zero:
    ``scores_of_edges = np.where(rows < 0, 0.0, scores[rows])``.

    Returns
    -------
    graphs : Hypergraphs
    rows : array of int64, shape (n_edges,)
    """
    from disambig.decode.hypergraph import Hypergraphs

    k = layout.n_states
    offsets = np.asarray(layout.offsets, np.int64)
    sizes = np.diff(offsets)
    if (sizes < k).any() or ((sizes - k) % (k * k)).any():
        raise ValueError(f"the rows are not chains of {k} states")
    places = 1 + (sizes - k) // (k * k)
    heads, tails, rows = [], [], []
    first = np.arange(k)
    for start, n in zip(offsets[:-1].tolist(), places.tolist(), strict=True):
        # sorted by head, as a hypergraph requires
        step, after, before = np.ix_(np.arange(n - 1), first, first)
        step_rows = start + k + (step * k + before) * k + after
        step_heads = np.broadcast_to((step + 1) * k + after, step_rows.shape)
        step_tails = np.broadcast_to(step * k + before, step_rows.shape)
        heads += [first, step_heads.ravel(), np.full(k, n * k)]
        tails += [np.full(k, -1), step_tails.ravel(), (n - 1) * k + first]
        rows += [start + first, step_rows.ravel(), np.full(k, -1)]
    empty = np.zeros(0, np.int64)
    tail = np.concatenate([empty, *tails])
    graphs = Hypergraphs(
        offsets_from_sizes(sizes + k),
        offsets_from_sizes(places * k + 1),
        np.concatenate([empty, *heads]),
        np.column_stack([tail, np.full(len(tail), -1)]),
    )
    return graphs, np.concatenate([empty, *rows])


Scores = NDArray[Any]
"""Floats of single or double precision, the same for places and steps."""
Offsets = NDArray[np.int64]


def best_states(emissions: Scores, transitions: Scores, starts: Offsets) -> NDArray[np.int64]:
    """Return the states of the best sequences (Viterbi), shape ``(n,)``; the first state of ties."""
    path = np.zeros(len(emissions), np.int64)
    states = np.arange(emissions.shape[1])
    for first, last in pairwise(starts.tolist()):
        if last == first:
            continue
        total, origins = emissions[first], []
        for t in range(first + 1, last):
            highest = total.max()
            if highest != -np.inf:  # as in the compiled function, so that rounding is the same
                total = total - highest
            extended = total[:, None] + transitions
            origins.append(extended.argmax(axis=0))
            total = extended[origins[-1], states] + emissions[t]
        state = int(total.argmax())
        for t in range(last - 1, first, -1):
            path[t] = state
            state = int(origins[t - first - 1][state])
        path[first] = state
    return path


def best_with_states(emissions: Scores, transitions: Scores, starts: Offsets) -> Scores:
    """Return the score of the best sequence with each state at each place (max-marginals), (n, K)."""
    result = np.empty_like(emissions)
    for first, last in pairwise(starts.tolist()):
        if last == first:
            continue
        result[first] = emissions[first]
        for t in range(first + 1, last):
            result[t] = (result[t - 1][:, None] + transitions).max(axis=0) + emissions[t]
        after = np.zeros(emissions.shape[1], emissions.dtype)
        for t in range(last - 2, first - 1, -1):
            after = (transitions + (after + emissions[t + 1])).max(axis=1)
            result[t] += after
    return result


_MAX_LABELS = 1 << 16
_TIE_GAP = 1e-6
"""Distance of labels with equal scores from the chosen one."""
_UNITS = 100
"""Cost of a place in NumPy, in the units of `use_numba`."""
UNIT = 64
"""Rounded weights are multiples of 1 / 64."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainScorer:
    """Score each label of a token by the best labelling of its sentence with that label there.

    Attributes
    ----------
    begins : array of int64, shape (D + 1,)
        The weights of feature f are ``labels[begins[f]:begins[f + 1]]`` and the same part of `amounts`.
    labels : array of uint16, shape (n_weights,)
    amounts : array of float32, shape (n_weights,)
    first : array of float32, shape (K,)
        Weights of the first label of a sequence.
    step : array of float32, shape (K, K)
        Weights of (previous label, label).
    """

    begins: NDArray[np.int64]
    labels: NDArray[np.uint16]
    amounts: NDArray[np.float32]
    first: NDArray[np.float32]
    step: NDArray[np.float32]

    @classmethod
    def of_weights(cls, weights: Floats, n_labels: int) -> ChainScorer:
        """Return the scorer with flat weights in the order of `SequenceRows`; zeros are not stored."""
        k = n_labels
        feature_weights = weights[: len(weights) - k - k * k].reshape(k, -1).T  # (D, K)
        rows, labels = np.nonzero(feature_weights)
        starts = offsets_from_sizes(np.bincount(rows, minlength=len(feature_weights)))
        chain_weights = weights[len(weights) - k - k * k :].astype(np.float32)
        return cls(
            starts.astype(np.int64),
            labels.astype(np.uint16),
            feature_weights[rows, labels].astype(np.float32),
            chain_weights[:k],
            chain_weights[k:].reshape(k, k),
        )

    def weights(self) -> Floats:
        """Return the flat weights, including zeros."""
        k, d = len(self.first), len(self.begins) - 1
        feature_weights = np.zeros((d, k))
        feature_weights[row_owners(self.begins), self.labels] = self.amounts
        return np.concatenate([feature_weights.T.ravel(), self.first, self.step.ravel()]).astype(np.float64)

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return the max-marginals minus those of the best labels, which are zero or negative.

        The max-marginal of a row is the score of the best sequence with this label there. Only differences
        matter, and the scores of whole sequences grow with their lengths. The best row of each instance is
        the label that `best` returns, even if others have equal scores: these are lowered a little.

        Raises
        ------
        TypeError, ValueError
            If the batch has another storage or other columns.
        """
        rows, starts = self._check_rows(batch), batch.layout
        transitions = self.step.astype(np.float64)
        if self._is_little(rows):
            emissions = self._emission_scores(rows, starts)
            max_scores = best_with_states(emissions.astype(np.float64), transitions, starts)
            chosen = best_states(emissions, self.step, starts)
        else:
            from disambig.decode.chain_kernels import emission_scores, max_marginals

            emissions = np.empty((rows.shape[0], len(self.first)), np.float32)
            max_scores = np.empty(emissions.shape)
            weights = self.begins, self.labels, self.amounts, self.first
            emission_scores(*_csr(rows), *weights, starts, emissions)
            max_marginals(emissions.astype(np.float64), transitions[None], starts, max_scores)
            chosen = self._decode_compiled(rows, starts)
        max_scores -= max_scores.max(axis=1, initial=-np.inf, keepdims=True)
        max_scores = np.minimum(max_scores, -_TIE_GAP)
        max_scores[np.arange(len(max_scores)), chosen] = 0.0
        return max_scores.ravel()

    def k_best(self, batch: SequenceRows, k: int) -> list[tuple[Floats, NDArray[np.int64]]]:
        """Return up to `k` best labellings of each sequence, the best first.

        Returns
        -------
        list of (scores, labels)
            Shapes ``(k,)`` and ``(k, length)``.
        """
        from disambig.decode.chain_kernels import emission_scores, k_best_paths

        rows = self._check_rows(batch)
        starts = batch.layout
        emissions = np.empty((rows.shape[0], len(self.first)), np.float32)
        weights = self.begins, self.labels, self.amounts, self.first
        emission_scores(*_csr(rows), *weights, starts, emissions)
        transitions, best = self.step[None].astype(np.float64), []
        for first, last in pairwise(starts.tolist()):
            totals, paths = np.empty(k), np.empty((k, last - first), np.int64)
            n = int(k_best_paths(emissions[first:last].astype(np.float64), transitions, k, totals, paths))
            best.append((totals[:n], paths[:n]))
        return best

    def best(self, batch: SequenceRows) -> NDArray[np.int64]:
        """Return the label of each instance in the best labelling of its sequence, shape ``(n,)``."""
        return self.decode(self._check_rows(batch), batch.layout)

    def best_among(self, batch: SequenceRows, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the label of each instance in the best labelling that has only `allowed` labels.

        Parameters
        ----------
        allowed : array of bool, shape (n, K)
            Labels that each instance may have; an instance without any may have all.
        """
        emissions = self._emission_scores(self._check_rows(batch), batch.layout)
        emissions[~(allowed | ~allowed.any(axis=1, keepdims=True))] = -np.inf
        return best_states(emissions, self.step, batch.layout)

    def decode(self, rows: Any, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the best labels of sequences ``starts[i]:starts[i + 1]`` of sparse rows, shape ``(n,)``."""
        if self._is_little(rows):
            return best_states(self._emission_scores(rows, starts), self.step, starts)
        return self._decode_compiled(rows, starts)

    def _is_little(self, rows: Any) -> bool:
        """Return True if NumPy is faster than loading (or even compiling) the compiled functions."""
        return not use_numba(int(rows.shape[0]) * _UNITS)

    def _emission_scores(self, rows: Any, starts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of labels at places, (n, K), summed in the order of the compiled function."""
        indptr, indices, values = _csr(rows)
        emissions = np.zeros((rows.shape[0], len(self.first)), np.float32)
        emissions[starts[:-1][starts[1:] > starts[:-1]]] = self.first
        # the weights of all features that occur, in the order of `indices`; a feature has one per label
        weights, offsets = take_rows(self.begins, indices)
        sizes = np.diff(offsets)
        places = np.repeat(row_owners(indptr), sizes)
        amounts = np.repeat(values, sizes) * self.amounts[weights]
        np.add.at(emissions.reshape(-1), places * len(self.first) + self.labels[weights], amounts)
        return emissions

    def _decode_compiled(self, rows: Any, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        from disambig.decode.chain_kernels import decode

        path = np.zeros(rows.shape[0], np.int64)
        weights = self.begins, self.labels, self.amounts, self.first, self.step[None]
        decode(*_csr(rows), *weights, starts, path)
        return path

    def _check_rows(self, batch: CandidateBatch) -> Any:
        """Return the rows of a batch if its storage and size fit the weights."""
        if not isinstance(batch, SequenceRows):
            raise TypeError(f"a chain scorer needs SequenceRows, not {type(batch).__name__}")
        k = batch.costs.shape[1]
        rows = batch.csr
        if (k, rows.shape[1]) != (len(self.first), len(self.begins) - 1):
            raise ValueError(
                f"weights of {len(self.begins) - 1} features and {len(self.first)} labels for a batch of "
                f"{rows.shape[1]} and {k}"
            )
        return rows

    def pruned(self, minimum: float) -> ChainScorer:
        """Return the scorer without feature weights whose absolute value is less than `minimum`."""
        kept = np.abs(self.amounts) >= minimum
        rows = row_owners(self.begins)[kept]
        counts = np.bincount(rows, minlength=len(self.begins) - 1)
        starts = offsets_from_sizes(counts)
        return replace(self, begins=starts, labels=self.labels[kept], amounts=self.amounts[kept])

    def rounded(self) -> ChainScorer:
        """Return the scorer with feature weights rounded to multiples of 1 / 64, saved in two bytes each."""
        largest = np.iinfo(np.int16).max
        units = np.clip(np.rint(self.amounts * UNIT), -largest, largest)
        return replace(self, amounts=(units / UNIT).astype(np.float32))

    def only(self, kept: NDArray[np.bool_]) -> ChainScorer:
        """Return the scorer with only the features in `kept`, shape (D,)."""
        sizes = np.diff(self.begins)
        is_kept = np.repeat(kept, sizes)
        starts = offsets_from_sizes(sizes[kept])
        return replace(self, begins=starts, labels=self.labels[is_kept], amounts=self.amounts[is_kept])

    def state(self) -> Arrays:
        """Return the weights in the smallest types that hold them."""
        units = self.amounts * np.float32(UNIT)
        is_rounded = (units == np.rint(units)).all() and np.abs(units).max(initial=0.0) < 1 << 15
        sizes = np.diff(self.begins)
        return {
            "sizes": sizes.astype(np.min_scalar_type(int(sizes.max(initial=0)))),
            "labels": self.labels.astype(np.min_scalar_type(len(self.first) - 1)),
            "amounts": units.astype(np.int16) if is_rounded else self.amounts,
            "first": self.first,
            "step": self.step,
        }

    @classmethod
    def from_state(cls, arrays: Arrays) -> ChainScorer:
        """Restore a scorer from `state`; raise ValueError if the arrays do not fit together."""
        sizes, labels, amounts = arrays["sizes"], arrays["labels"], arrays["amounts"]
        first, step = (np.asarray(arrays[name], np.float32) for name in ("first", "step"))
        k = first.size
        fits = (
            sizes.ndim == labels.ndim == amounts.ndim == first.ndim == 1
            and sizes.dtype.kind == labels.dtype.kind == "u"
            and 0 < k <= _MAX_LABELS
            and step.shape == (k, k)
            # checked before adding up: a feature has each label at most once, so that the sum cannot overflow
            and int(sizes.max(initial=0)) <= k
            and int(labels.max(initial=0)) < k
            and len(labels) == len(amounts) == int(sizes.sum())
        )
        if not fits:
            raise ValueError("chain scorer: sizes, labels and amounts do not fit together")
        starts = offsets_from_sizes(sizes)
        if amounts.dtype.kind == "i":
            amounts = amounts / np.float32(UNIT)
        return cls(starts, labels.astype(np.uint16), amounts.astype(np.float32), first, step)


def _csr(rows: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return the three arrays of a sparse matrix in the types that functions were compiled for."""
    return (
        rows.indptr.astype(np.int32, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data.astype(np.float32, copy=False),
    )
