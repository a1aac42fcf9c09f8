"""The edges of charts by names that all grammars of a treebank share, and what the grammar thinks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.api.decoding import ChartEdges, Charts, Hypergraph, Hypergraphs
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar
from disambig_exponentiated_gradient.treebank.symbols import coarse_symbol

from .traits import Keys, mixed

Words = Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class NamedEdges:
    """Charts of sentences; arrays have the shape ``(n_edges,)``.

    Attributes
    ----------
    sentences : sequence of sequences of str
        Of each chart.
    graphs : Hypergraphs
    edges : ChartEdges
        Numbers of symbols and rules are those of the grammar.
    scores : array of float64
        Log probabilities by the grammar.
    of : array of int64
        The chart of each edge.
    marginals : array of float64
        By the grammar.
    coarse, symbol : arrays of uint64
        The parent by its coarse symbol and by its own.
    coarse_rule, rule : arrays of uint64
        The rule by coarse symbols and by its own: with both children, or with the labels between the ends of
        a chain; of a word its tag.
    tags : list of lists of str
        The likely tag of each word, by the grammar.
    """

    sentences: Sequence[Words]
    graphs: Hypergraphs
    edges: ChartEdges
    scores: NDArray[np.float64]
    of: NDArray[np.int64]
    marginals: NDArray[np.float64]
    coarse: Keys
    symbol: Keys
    coarse_rule: Keys
    rule: Keys
    tags: list[list[str]]

    def __len__(self) -> int:
        return len(self.sentences)

    @classmethod
    def of_charts(cls, grammar: TreebankGrammar, charts: Charts, sentences: Sequence[Words]) -> NamedEdges:
        """Return the edges of charts of a grammar.

        Parameters
        ----------
        grammar : TreebankGrammar
        charts : Charts
        sentences : sequence of sequences of str
            Those that the charts were asked for, with and without parse.
        """
        edges, graphs = charts.edges, charts.graphs
        own = [sentences[i] for i in charts.sentences.tolist()]
        of = np.repeat(np.arange(len(own)), np.diff(graphs.offsets))
        marginals = Hypergraph().marginals(charts.scores, graphs)[0] if len(own) else np.zeros(0)
        coarse_names = [coarse_symbol(symbol) for symbol in grammar.grammar.symbols]
        names = _keys(grammar.grammar.symbols), _keys(coarse_names)
        rules = [_rules(grammar, each, edges) for each in names]
        tags = _likely_tags(own, of, edges, marginals, coarse_names)
        return cls(
            own, graphs, edges, charts.scores, of, marginals, names[1][edges.symbols],
            names[0][edges.symbols], rules[1], rules[0], tags,
        )  # fmt: skip


def _keys(names: Sequence[str]) -> Keys:
    return np.array([mixed(name) for name in names], np.uint64)


def _rules(grammar: TreebankGrammar, symbols: Keys, edges: ChartEdges) -> Keys:
    """Return the key of each edge's rule, made of its symbols' keys."""
    binary, unary = symbols[grammar.grammar.binary], symbols[grammar.grammar.unary]
    of_two = mixed("two", *binary.T)
    of_one = mixed("one", *unary.T, _keys([" ".join(path) for path in grammar.paths]))
    found = mixed("word", symbols[edges.symbols])
    found[edges.kinds == edges.SELF] = 0
    for kind, table in ((edges.BINARY, of_two), (edges.UNARY, of_one)):
        rows = edges.kinds == kind
        found[rows] = table[edges.rules[rows]]
    return found


def _likely_tags(
    sentences: Sequence[Words],
    of: NDArray[np.int64],
    edges: ChartEdges,
    marginals: NDArray[np.float64],
    names: Sequence[str],
) -> list[list[str]]:
    """Return the coarse tag of the greatest marginal of each word."""
    labels = sorted(set(names))
    number = {label: i for i, label in enumerate(labels)}
    coarse = np.array([number[name] for name in names], np.int64)
    starts = np.concatenate([[0], np.cumsum([len(words) for words in sentences])]).astype(np.int64)
    words = np.flatnonzero(edges.kinds == edges.LEXICAL)
    places = starts[of[words]] + edges.starts[words]
    table = np.zeros((int(starts[-1]), len(labels)))
    np.add.at(table, (places, coarse[edges.symbols[words]]), marginals[words])
    best = [labels[i] for i in table.argmax(axis=1)]
    return [best[first:last] for first, last in pairwise(starts.tolist())]
