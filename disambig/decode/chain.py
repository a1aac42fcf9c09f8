"""The decoder of chains: sequences of states, such as tags, scored by places and by pairs of neighbours.

The rows of a sequence of L places with K states are its *edges*: K rows for the first state, then for each
further place K * K rows, (state before, state) in this order. A state's own score lies on the edges into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.sequences import Chains
from disambig.errors import UserError

Floats = NDArray[np.float64]
Layout = NDArray[np.int64] | Chains
_UNKNOWN = "Chain() does not know the number of states: give n_states"
_NONE_LEFT = "every sequence is forbidden"


@dataclass(frozen=True, slots=True)
class Chain:
    """Decode sequences by dynamic programming; the layout is `Chains` or, with `n_states`, the `offsets`.

    With ``scores + cost`` for `scores`, `best` and `top` are loss-augmented. Minus infinity forbids an edge;
    a sequence must be left: `best` and `marginals` raise ValueError where none is.

    Parameters
    ----------
    n_states : int, optional
        K, the same at every place; by default what the layout says.
    """

    n_states: int | None = None

    def __post_init__(self) -> None:
        n = self.n_states
        if n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < 1):
            raise UserError("D452", setting="Chain.n_states", value=n)

    def best(self, scores: Floats, layout: Layout) -> Floats:
        """Return a mass of one on each edge of the best sequences (Viterbi), zero elsewhere."""
        from disambig.decode.chain_kernels import best_path

        mass = np.zeros(len(scores))
        for start, place, step in self._sequences(scores, layout):
            path = np.empty(len(place), np.int64)
            room = np.empty((2, place.shape[1])), np.empty(place.shape, np.int32)
            if best_path(place, step, *room, path) == -np.inf:
                raise ValueError(_NONE_LEFT)
            mass[start + edges_of(path, place.shape[1])] = 1.0
        return mass

    def top(self, scores: Floats, layout: Layout, k: int) -> list[tuple[Floats, NDArray[np.int64]]]:
        """Return the `k` best sequences of each instance, best first; fewer where there are fewer.

        Returns
        -------
        list of (scores, states)
            Shapes ``(k,)`` and ``(k, L)``.

        Raises
        ------
        ValueError
            For a `k` below 1.
        """
        if k < 1:
            raise ValueError(f"the {k} best sequences are none")
        from disambig.decode.chain_kernels import k_best_paths

        found = []
        for _, place, step in self._sequences(scores, layout):
            totals, paths = np.empty(k), np.empty((k, len(place)), np.int64)
            n = int(k_best_paths(place, step, k, totals, paths))
            found.append((totals[:n], paths[:n]))
        return found

    def marginals(self, scores: Floats, layout: Layout) -> tuple[Floats, Floats]:
        """Return edge marginals under softmax, and the log partition of each sequence."""
        from disambig.decode.chain_kernels import sums

        mass, partition = np.zeros(len(scores)), []
        for start, place, step in self._sequences(scores, layout):
            shares, k = np.empty(place.shape), place.shape[1]
            step_shares = np.empty((len(place) - 1, k, k))
            partition.append(float(sums(place, step, shares, step_shares)))
            if partition[-1] == -np.inf:
                raise ValueError(_NONE_LEFT)
            mass[start : start + k] = shares[0]
            mass[start + k : start + k + step_shares.size] = step_shares.ravel()
        return mass, np.array(partition)

    def edges(self, path: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows, counted from the sequence's first, of a sequence of `n_states`."""
        if self.n_states is None:
            raise ValueError(_UNKNOWN)
        return edges_of(path, self.n_states)

    def _sequences(self, scores: Floats, layout: Layout) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield each sequence's first row, its scores of places, (L, K), and of steps, (L - 1, K, K)."""
        offsets, k = layout if isinstance(layout, Chains) else (layout, self.n_states)
        if k is None:
            raise ValueError(_UNKNOWN)
        if self.n_states not in (None, k):
            raise ValueError(f"a chain of {self.n_states} states cannot decode one of {k}")
        for start, stop in pairwise(np.asarray(offsets).tolist()):
            rows = np.asarray(scores[start:stop], np.float64)
            if len(rows) < k or (len(rows) - k) % (k * k):
                raise ValueError(f"{len(rows)} rows are no chain of {k} states")
            step = rows[k:].reshape(-1, k, k)
            place = np.zeros((1 + len(step), k))
            place[0] = rows[:k]
            yield start, place, step if len(step) else np.zeros((1, k, k))


def edges_of(path: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the rows, counted from the sequence's first, of a sequence of `k` states."""
    places = np.arange(len(path) - 1)
    return np.concatenate([path[:1], k + places * k * k + path[:-1] * k + path[1:]])
