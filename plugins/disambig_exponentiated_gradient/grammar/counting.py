"""What a binarised treebank holds: how often each rule, chain of rules of one child, and tag.

A cell of a chart holds each symbol below (made by a word or of two children) and above (made of one below by
a chain of rules of one child, or by none): see `disambig.api.decoding.BinaryGrammar`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from disambig_exponentiated_gradient.treebank.symbols import coarse_symbol, is_inside, label_of
from disambig_exponentiated_gradient.treebank.tree import Nodes, Tree

Labels = tuple[str, ...]
"""Labels of the nodes between the two ends of a chain."""


class Cell(NamedTuple):
    """A span of a binarised tree and what is made of it.

    Attributes
    ----------
    above, below : Tree
        The ends of the chain of nodes with one child: the same node, where there is none.
    path : tuple of str
        Labels of the nodes between.
    start, middle, end : int
        Its words, and where those of the right child begin; of a word the middle is the end.
    """

    above: Tree
    below: Tree
    path: Labels
    start: int
    middle: int
    end: int


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Counts of rules.

    Attributes
    ----------
    binary : Counter of (parent, left, right)
        Parents below, children above.
    chains : Counter of (above, below, path)
    unchanged : Counter of str
        Symbols that are above as they are below.
    lexical : Counter of str
        Tags below words.
    """

    binary: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    chains: Counter[tuple[str, str, Labels]] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    lexical: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, binarised: Iterable[Tree]) -> RuleCounts:
        """Return the counts of binarised trees."""
        found = cls()
        for tree in binarised:
            for above, below, path, *_ in cells(tree):
                if above is below:
                    found.unchanged[above.label] += 1
                else:
                    found.chains[above.label, below.label, path] += 1
                if below.word is not None:
                    found.lexical[below.label] += 1
                else:
                    left, right = below.children
                    found.binary[below.label, left.label, right.label] += 1
        return found

    def coarse(self) -> RuleCounts:
        """Return the counts of the same treebank with coarse symbols."""
        found = RuleCounts()
        for (parent, left, right), n in self.binary.items():
            found.binary[coarse_symbol(parent), coarse_symbol(left), coarse_symbol(right)] += n
        for (above, below, path), n in self.chains.items():
            found.chains[coarse_symbol(above), coarse_symbol(below), path] += n
        for symbol, n in self.unchanged.items():
            found.unchanged[coarse_symbol(symbol)] += n
        for tag, n in self.lexical.items():
            found.lexical[coarse_symbol(tag)] += n
        return found

    def symbols(self) -> list[str]:
        """Return all symbols, sorted."""
        found = set(self.unchanged) | set(self.lexical)
        for rule in self.binary:
            found.update(rule)
        for above, below, _ in self.chains:
            found |= {above, below}
        return sorted(found)


def cells(tree: Tree) -> Iterator[Cell]:
    """Yield the cells of a binarised tree in preorder, those of one word among them."""
    found = Nodes.of(tree)
    nodes, ends = found.nodes, found.ends
    i = 0
    while i < len(nodes):
        above, path = i, []
        while len(nodes[i].children) == 1:
            if i != above:
                path.append(label_of(nodes[i].label))
            i += 1  # a single child is next in preorder
        below = nodes[i]
        if len(below.children) > 2 or (i != above and is_inside(nodes[above].label)):
            raise ValueError(f"{nodes[above].label} is of no binarised tree")
        middle = ends[i + 1] if below.children else ends[i]
        yield Cell(nodes[above], below, tuple(path), found.starts[i], middle, ends[i])
        i += 1
