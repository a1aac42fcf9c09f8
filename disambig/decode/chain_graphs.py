"""Chains as hypergraphs: the same sequences, for whatever wants a hypergraph. `Chain` is faster on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.sequences import Chains
from disambig.decode.hypergraphs import Hypergraphs


def graphs_of_chains(layout: Chains) -> tuple[Hypergraphs, NDArray[np.int64]]:
    """Return the hypergraphs of sequences, and the row of the chain that each of their edges is.

    A node is a state at a place, made of a state at the place before; the goal is made of any last state by
    an edge of its own, which is no row: it has -1, and the score zero:
    ``scores_of_edges = np.where(rows < 0, 0.0, scores[rows])``.

    Returns
    -------
    graphs : Hypergraphs
    rows : array of int64, shape (n_edges,)
    """
    k = layout.n_states
    offsets = np.asarray(layout.offsets, np.int64)
    sizes = np.diff(offsets)
    if (sizes < k).any() or ((sizes - k) % (k * k)).any():
        raise ValueError(f"these rows are no chains of {k} states")
    places = 1 + (sizes - k) // (k * k)
    heads, tails, rows = [], [], []
    first = np.arange(k)
    for start, n in zip(offsets[:-1].tolist(), places.tolist(), strict=True):
        step, after, before = np.ix_(np.arange(n - 1), first, first)  # edges by the state they lead to
        of_steps = start + k + (step * k + before) * k + after
        heads += [first, np.broadcast_to((step + 1) * k + after, of_steps.shape).ravel(), np.full(k, n * k)]
        tails += [
            np.full(k, -1),
            np.broadcast_to(step * k + before, of_steps.shape).ravel(),
            (n - 1) * k + first,
        ]
        rows += [start + first, of_steps.ravel(), np.full(k, -1)]
    none = [np.zeros(0, np.int64)]
    tail = np.concatenate([*tails, *none])
    ends = np.concatenate([[0], np.cumsum(sizes + k)])
    nodes = np.concatenate([[0], np.cumsum(places * k + 1)])
    both = np.column_stack([tail, np.full(len(tail), -1)])
    return Hypergraphs(ends, nodes, np.concatenate([*heads, *none]), both), np.concatenate([*rows, *none])
