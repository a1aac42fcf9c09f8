"""What edges of charts cost beside a gold tree (slides, "local representations": 1 if not in it).

The gold derivation may be missing: the grammar has no such rule, or a word no such tag. Then the derivation
with the fewest wrong labels of spans stands in, of several the most probable one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api.decoding import Hypergraph
from disambig_exponentiated_gradient.grammar.counting import cells
from disambig_exponentiated_gradient.treebank.binarising import Binarisation
from disambig_exponentiated_gradient.treebank.symbols import coarse_symbol
from disambig_exponentiated_gradient.treebank.tree import Tree

from .named_edges import NamedEdges
from .traits import Keys, mixed

Floats = NDArray[np.float64]
_FIRST = 1e6
"""Labels come before probabilities: no sentence has scores of this size."""


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Costs of edges, and what stands in for gold.

    Attributes
    ----------
    cost : array of float32, shape (n_edges,)
    missing : int
        Charts for which another derivation stands in.
    wrong_labels : int
        Wrong labels of spans of these derivations, in all.
    """

    cost: NDArray[np.float32]
    missing: int
    wrong_labels: int

    @classmethod
    def of(
        cls,
        named: NamedEdges,
        binarisation: Binarisation,
        trees: Sequence[Tree],
        rows: Sequence[NDArray[np.int64] | None] | None = None,
    ) -> Gold:
        """Return what edges cost.

        Parameters
        ----------
        named : NamedEdges
        binarisation : Binarisation
            Of the grammar.
        trees : sequence of Tree
            Of the charts.
        rows : sequence of arrays or None, optional
            Rows of the gold derivation of each chart where it is there, counted from its first.
        """
        known = [None] * len(trees) if rows is None else list(rows)
        wrong = wrong_labels(named, binarisation, trees)
        scores = named.scores - _FIRST * wrong
        offsets = named.graphs.offsets
        for i, own in enumerate(known):
            if own is not None:
                first, last = offsets[i : i + 2]
                scores[first:last] = -_FIRST
                scores[first + own] = 0.0
        mass = Hypergraph().best(scores, named.graphs)
        missing = sum(own is None for own in known)
        there = np.repeat(np.array([own is not None for own in known], bool), np.diff(offsets))
        return cls(costs(named, mass), missing, int((mass * wrong)[~there].sum()))


def costs(named: NamedEdges, mass: Floats) -> NDArray[np.float32]:
    """Return 1 for each edge that is not of a derivation.

    Leaving a symbol as it is below is no part: it costs something only where the derivation has a chain to
    the same symbol instead.
    """
    edges, graphs = named.edges, named.graphs
    cost = (mass == 0).astype(np.float32)
    nodes = graphs.heads + graphs.nodes[named.of]
    chained = np.zeros(int(graphs.nodes[-1]), bool)
    chained[nodes[(mass > 0) & (edges.kinds == edges.UNARY)]] = True
    same = edges.kinds == edges.SELF
    cost[same] = chained[nodes[same]]
    return cost


def wrong_labels(named: NamedEdges, binarisation: Binarisation, trees: Sequence[Tree]) -> NDArray[np.bool_]:
    """Return which edges give a span a label, or a chain of labels, that it does not have in a tree."""
    right: list[Keys] = []
    chained: list[Keys] = []
    for i, tree in enumerate(trees):
        for above, below, path, start, _, end in cells(binarisation(tree)):
            coarse = mixed(coarse_symbol(below.label))
            right.append(mixed("below", i, coarse, start, end))
            if above is not below:
                chain = mixed("one", mixed(coarse_symbol(above.label)), coarse, mixed(" ".join(path)))
                right.append(mixed("chain", i, chain, start, end))
                chained.append(mixed("cell", i, start, end))
    edges = named.edges
    where = named.of, edges.starts, edges.ends
    is_chain = edges.kinds == edges.UNARY
    made = np.where(
        is_chain,
        mixed("chain", where[0], named.coarse_rule, *where[1:]),
        mixed("below", where[0], named.coarse, *where[1:]),
    )
    wrong = ~np.isin(made, np.array(right, np.uint64))
    same = edges.kinds == edges.SELF
    left_out = np.isin(mixed("cell", *where), np.array(chained, np.uint64))
    wrong[same] = left_out[same] & _right_below(named, right)[same]
    return wrong


def _right_below(named: NamedEdges, right: Sequence[Keys]) -> NDArray[np.bool_]:
    edges = named.edges
    made = mixed("below", named.of, named.coarse, edges.starts, edges.ends)
    return np.isin(made, np.array(right, np.uint64))
