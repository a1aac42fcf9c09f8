"""Rules of a treebank: their counts, their log probabilities, and derivations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api.decoding import BinaryGrammar, ChartEdges

from ..treebank.binarisation import coarse_symbol, is_inside, node_label
from ..treebank.tree import TOP, Tree, TreeNodes

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """The rules of one tree over a sentence of n words, in any order."""

    binary: Ints  # int32 (n - 1, 4): rule of `BinaryGrammar.binary`; start, middle and end of its span
    unary: Ints  # int32 (n_chains, 3): rule of `BinaryGrammar.unary`; start and end of its span
    tags: Ints  # int32 (n,): symbol of each word before chains

    @classmethod
    def from_rows(
        cls,
        binary: Sequence[Sequence[int]],
        unary: Sequence[Sequence[int]],
        tags: Sequence[int],
    ) -> Derivation:
        """Return a derivation from rows of numbers."""
        return cls(int_rows(binary, 4), int_rows(unary, 3), np.array(tags, np.int32))

    @classmethod
    def from_edges(cls, edges: ChartEdges) -> Derivation:
        """Return the derivation that consists of some edges of a chart, in any order."""
        kinds = edges.BINARY, edges.UNARY, edges.LEXICAL
        binary, unary, lexical = (edges.take(np.flatnonzero(edges.kinds == kind)) for kind in kinds)
        return cls(
            np.stack([binary.rules, binary.starts, binary.splits, binary.ends], axis=1),
            np.stack([unary.rules, unary.starts, unary.ends], axis=1),
            lexical.symbols[np.argsort(lexical.starts)],
        )


Labels = tuple[str, ...]
"""Labels of the nodes between the two ends of a chain."""


class TreeCell(NamedTuple):
    """A span of a binarised tree and how it is formed."""

    # the ends of the chain of nodes with one child: the same node if there is no chain
    above: Tree
    below: Tree
    path: Labels  # labels of the nodes between them
    # its words, and the start of the right child's words; for a single word the middle is the end
    start: int
    middle: int
    end: int


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Counts of rules."""

    # parents are symbols below chains, children are symbols above
    binary: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    chains: Counter[tuple[str, str, Labels]] = field(default_factory=Counter)  # (above, below, path)
    unchanged: Counter[str] = field(default_factory=Counter)  # symbols without a chain above them
    lexical: Counter[str] = field(default_factory=Counter)  # tags of words

    @classmethod
    def from_trees(cls, binarised: Iterable[Tree]) -> RuleCounts:
        """Return the counts of binarised trees."""
        counts = cls()
        for tree in binarised:
            for above, below, path, *_ in tree_cells(tree):
                if above is below:
                    counts.unchanged[above.label] += 1
                else:
                    counts.chains[above.label, below.label, path] += 1
                if below.word is not None:
                    counts.lexical[below.label] += 1
                else:
                    left, right = below.children
                    counts.binary[below.label, left.label, right.label] += 1
        return counts

    def coarse(self) -> RuleCounts:
        """Return the counts of the same treebank with coarse symbols."""
        counts = RuleCounts()
        for (parent, left, right), n in self.binary.items():
            counts.binary[coarse_symbol(parent), coarse_symbol(left), coarse_symbol(right)] += n
        for (above, below, path), n in self.chains.items():
            counts.chains[coarse_symbol(above), coarse_symbol(below), path] += n
        for symbol, n in self.unchanged.items():
            counts.unchanged[coarse_symbol(symbol)] += n
        for tag, n in self.lexical.items():
            counts.lexical[coarse_symbol(tag)] += n
        return counts

    def symbols(self) -> list[str]:
        """Return all symbols, sorted."""
        symbols = set(self.unchanged) | set(self.lexical)
        for rule in self.binary:
            symbols.update(rule)
        for above, below, _ in self.chains:
            symbols |= {above, below}
        return sorted(symbols)


def tree_cells(tree: Tree) -> Iterator[TreeCell]:
    """Yield the cells of a binarised tree in preorder, including those of single words."""
    tree_nodes = TreeNodes.from_tree(tree)
    nodes, ends = tree_nodes.nodes, tree_nodes.ends
    i = 0
    while i < len(nodes):
        above, path = i, []
        while len(nodes[i].children) == 1:
            if i != above:
                path.append(node_label(nodes[i].label))
            i += 1  # an only child is the next node in preorder
        below = nodes[i]
        if len(below.children) > 2 or (i != above and is_inside(nodes[above].label)):
            raise ValueError(f"{nodes[above].label} is not a node of a binarised tree")
        middle = ends[i + 1] if below.children else ends[i]
        yield TreeCell(nodes[above], below, tuple(path), tree_nodes.starts[i], middle, ends[i])
        i += 1


MIN_UNCHANGED = 0.1
"""Minimum count of leaving a symbol without a unary chain, so that this is never impossible."""


def no_chain_scores(counts: RuleCounts) -> dict[str, float]:
    """Return for each symbol the log probability of having no chain above; 0 if it is never above a chain."""
    above = Counter(counts.unchanged)
    for (symbol, _, _), n in counts.chains.items():
        above[symbol] += n
    return {
        symbol: float(np.log(max(counts.unchanged[symbol], MIN_UNCHANGED) / n)) for symbol, n in above.items()
    }


def build_grammar(
    counts: RuleCounts, coarser: BinaryGrammar | None = None
) -> tuple[BinaryGrammar, list[Labels], dict[str, float]]:
    """Return a grammar, the path of each unary rule, and the log probability of each tag.

    `coarser` is the grammar of the counts' coarse symbols. The probability of a tag is that it produces a
    word, and that it has no chain.
    """
    symbols = counts.symbols()
    number = {symbol: i for i, symbol in enumerate(symbols)}
    unchanged = no_chain_scores(counts)
    below, above = Counter(counts.lexical), Counter(counts.unchanged)
    for (parent, _, _), n in counts.binary.items():
        below[parent] += n
    for (symbol, _, _), n in counts.chains.items():
        above[symbol] += n
    binary, chains = sorted(counts.binary), sorted(counts.chains)
    binary_scores = [
        np.log(counts.binary[rule] / below[rule[0]]) + unchanged.get(rule[0], 0.0) for rule in binary
    ]
    chain_scores = [
        np.log(counts.chains[rule] / above[rule[0]]) - unchanged.get(rule[1], 0.0) for rule in chains
    ]
    coarse = None
    if coarser is not None:
        index = {symbol: i for i, symbol in enumerate(coarser.symbols)}
        coarse = np.array([index[coarse_symbol(symbol)] for symbol in symbols], np.int32)
    grammar = BinaryGrammar(
        symbols=tuple(symbols),
        root=next(i for i, symbol in enumerate(symbols) if coarse_symbol(symbol) == TOP),
        binary=int_rows([[number[symbol] for symbol in rule] for rule in binary], 3),
        binary_scores=np.array(binary_scores, np.float64),
        unary=int_rows([[number[symbol] for symbol in rule[:2]] for rule in chains], 2),
        unary_scores=np.array(chain_scores, np.float64),
        coarser=coarser,
        coarse=coarse,
    )
    tags = {tag: float(np.log(n / below[tag])) + unchanged.get(tag, 0.0) for tag, n in counts.lexical.items()}
    return grammar, [path for _, _, path in chains], tags


def int_rows(rows: Sequence[Sequence[int]], width: int, kind: type[np.integer] = np.int32) -> NDArray[Any]:
    """Return rows of numbers as a table, also if there are none."""
    return np.array(rows, kind).reshape(len(rows), width)
