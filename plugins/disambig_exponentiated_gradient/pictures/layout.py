"""Where each node of a tree stands in a picture: words in a row below, each constituent above its own.

A constituent is one level above its highest child. No node stands over words of another one, so lines that go
down from a node to its children cross nothing. Nothing here knows what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from disambig_exponentiated_gradient.treebank.tree import Nodes, Tree


@dataclass(frozen=True, slots=True)
class Layout:
    """A tree's nodes in preorder, with their places.

    Attributes
    ----------
    nodes : Nodes
    children : list of lists of int
        Indices of the children of each node.
    centres : list of float
        Where the middle of each node is, from the left.
    levels : list of int
        0 of words and their tags.
    width : float
        Of the whole.
    """

    nodes: Nodes
    children: list[list[int]]
    centres: list[float]
    levels: list[int]
    width: float

    @classmethod
    def of(cls, tree: Tree, width_of: Callable[[Tree], float], gap: float) -> Layout:
        """Return the places of a tree's nodes.

        Parameters
        ----------
        tree : Tree
        width_of : callable
            How wide a node is by itself.
        gap : float
            Between two words.
        """
        nodes = Nodes.of(tree)
        n = len(nodes.nodes)
        children: list[list[int]] = [[] for _ in range(n)]
        for i in range(1, n):
            children[nodes.parents[i]].append(i)
        widths, own, levels, lefts = [0.0] * n, [0.0] * n, [0] * n, [0.0] * n
        for i in range(n - 1, -1, -1):  # children stand behind their parents
            node = width_of(nodes.nodes[i])
            if not children[i]:
                widths[i], own[i] = node, node / 2
                continue
            below, at = children[i], 0.0
            for child in below:
                lefts[child] = at
                at += widths[child] + gap
            first, last = below[0], below[-1]
            centre = (lefts[first] + own[first] + lefts[last] + own[last]) / 2
            shift = max(0.0, node / 2 - centre)  # a label wider than all below
            for child in below:
                lefts[child] += shift
            own[i] = centre + shift
            widths[i] = max(at - gap + shift, own[i] + node / 2)
            levels[i] = 1 + max(levels[child] for child in below)
        for i in range(1, n):
            lefts[i] += lefts[nodes.parents[i]]
        return cls(nodes, children, [a + b for a, b in zip(lefts, own, strict=True)], levels, widths[0])
