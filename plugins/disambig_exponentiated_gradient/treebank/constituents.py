"""The constituents of a tree as rows of numbers: label, words, parent."""

from __future__ import annotations

from typing import NamedTuple

from .tree import TOP, Nodes, Tree


class Constituent(NamedTuple):
    """A constituent.

    Attributes
    ----------
    label : str
    start, end : int
        Its words, from `start` to before `end`.
    parent : int
        Index of its parent among the constituents of the tree; -1 of the first.
    """

    label: str
    start: int
    end: int
    parent: int


def constituents(tree: Tree) -> list[Constituent]:
    """Return the constituents of a tree in preorder; the first one holds all words, and words are none.

    The bracket `TOP` is one only where the sentence is not a single constituent below it.
    """
    found = Nodes.of(below_top(tree))
    number = {-1: -1}
    rows: list[Constituent] = []
    for i, node in enumerate(found.nodes):
        if node.word is None:
            number[i] = len(rows)
            rows.append(Constituent(node.label, found.starts[i], found.ends[i], number[found.parents[i]]))
    return rows


def below_top(tree: Tree) -> Tree:
    """Return the one constituent below the bracket `TOP`, or the tree itself where it is not one."""
    is_around_one = tree.label == TOP and len(tree.children) == 1 and tree.children[0].word is None
    return tree.children[0] if is_around_one else tree
