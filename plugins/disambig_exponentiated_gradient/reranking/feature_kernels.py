"""Machine code that writes the features of trees down."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

from .emitting_kernels import children
from .head_kernels import modifiers, two_heads
from .rule_kernels import rules
from .shape_kernels import edges, parallels, right_branch
from .word_kernels import ancestors, between

_ROOM = 64


@compiled
def describe(nodes, words, forest, closed, out, ends):
    """Write the features of trees; `ends` says how many there are after each tree.

    Parameters
    ----------
    nodes, words : arrays of int64, shape (n_trees + 1,)
        Where the nodes and words of each tree begin.
    forest : tuple of arrays
        See `Forest.arrays`.
    closed : array of bool
        Whether a symbol is of a closed class.
    out : array of int32
        See `emitting_kernels.emit`.
    """
    word, after, leaf_of = forest[1], forest[3], forest[8]
    out[0], out[1] = 2, 0
    most = 0
    for tree in range(len(nodes) - 1):
        most = max(most, nodes[tree + 1] - nodes[tree])
    buffer = np.empty(3 * most + _ROOM, np.int32)
    kids, uncles = np.empty(most, np.int32), np.empty(most, np.int32)
    for tree in range(len(nodes) - 1):
        first, last = words[tree], words[tree + 1]
        for node in range(nodes[tree], nodes[tree + 1]):
            if word[node] >= 0:
                ancestors(node, forest, closed, buffer, out)
                continue
            m = children(node, after, kids)
            rules(node, m, kids, uncles, forest, closed, buffer, out)
            modifiers(node, m, kids, forest, closed, buffer, out)
            two_heads(node, forest, closed, buffer, out)
            edges(node, first, last, forest, closed, buffer, out)
            parallels(node, m, kids, forest, buffer, out)
        for place in range(first + 1, last):
            between(leaf_of[place - 1], leaf_of[place], forest, closed, buffer, out)
        if last > first:
            right_branch(nodes[tree], nodes[tree + 1], last - 1, forest, closed, buffer, out)
        ends[tree] = out[1]


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    from .occurring import TreeOccurrences

    found = TreeOccurrences(["(TOP (NP (NP (DT a) (NN b)) (CC and) (NP (NN c))))"])
    found.names(found.occur(0, 1).places[:1])
