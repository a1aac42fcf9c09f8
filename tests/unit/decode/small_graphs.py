"""Small random hypergraphs, and all their derivations by brute force."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from disambig.decode import Hypergraphs


def random_graphs(rng, n, *, most_nodes=6, most_edges=3, shared=True):
    """Return `n` hypergraphs; tails may be the same node twice unless nothing is to be `shared`."""
    sizes, counts, heads, tails = [], [], [], []
    for _ in range(n):
        n_nodes, before = int(rng.integers(1, most_nodes + 1)), len(heads)
        for node in range(n_nodes):
            n_edges = int(rng.integers(0 if 0 < node < n_nodes - 1 else 1, most_edges + 1))
            for _ in range(n_edges):
                arity = int(rng.integers(0, 3)) if node else 0
                own = rng.integers(0, node, arity).tolist() if node else []
                if not shared:
                    own = own[:1]
                heads.append(node)
                tails.append([*own, -1, -1][:2])
        sizes.append(n_nodes)
        counts.append(len(heads) - before)
    return Hypergraphs(
        np.concatenate([[0], np.cumsum(counts)]), np.concatenate([[0], np.cumsum(sizes)]), heads, tails
    )


def how_many(layout, i):
    """Return the number of an instance's derivations: up to a power of a power of the nodes."""
    known = []
    start, stop = layout.offsets[i : i + 2].tolist()
    for node in range(int(layout.nodes[i + 1] - layout.nodes[i])):
        own = [row for row in range(start, stop) if layout.heads[row] == node]
        known.append(sum(math.prod(known[tail] for tail in layout.tails[row] if tail >= 0) for row in own))
    return known[-1]


def derivations(layout, i):
    """Return the rows of every derivation of an instance, a tree from the top, by brute force."""
    known = {}
    start, stop = layout.offsets[i : i + 2].tolist()
    n = int(layout.nodes[i + 1] - layout.nodes[i])
    for node in range(n):
        found = []
        for row in range(start, stop):
            if layout.heads[row] == node:
                partial = [[row]]
                for tail in layout.tails[row].tolist():
                    if tail >= 0:
                        partial = [p + rest for p in partial for rest in known[tail]]
                found += partial
        known[node] = found
    return known[n - 1]


def all_derivations(layout):
    return [derivations(layout, i) for i in range(len(layout))]


@st.composite
def problems(draw, *, most=4):
    """Return hypergraphs that all have a derivation, with scores, some of which forbid."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    layout = random_graphs(rng, draw(st.integers(1, most)))
    with_one = [i for i in range(len(layout)) if 0 < how_many(layout, i) < 2000]
    layout = layout.take(np.array(with_one)) if with_one else random_graphs(rng, 1, most_nodes=1)
    scores = rng.normal(size=len(layout.heads)) * draw(st.sampled_from([1.0, 1.0, 300.0]))
    if draw(st.booleans()):
        scores = np.round(scores)  # ties
    if draw(st.booleans()):
        scores[rng.random(len(scores)) < 0.2] = -np.inf
    return layout, scores


def left(layout, scores):
    """Return the derivations that are not forbidden, with their scores, best first."""
    found = []
    for each in all_derivations(layout):
        scored = [(float(scores[rows].sum()), rows) for rows in each]
        found.append(sorted((one for one in scored if one[0] > -np.inf), key=lambda one: -one[0]))
    return found
