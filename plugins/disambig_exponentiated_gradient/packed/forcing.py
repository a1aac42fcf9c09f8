"""Gold derivations put into charts that pruning has taken them out of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.api.decoding import ChartEdges, Charts, Hypergraphs, WordScores
from disambig_exponentiated_gradient.grammar.derivation import Derivation
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar

Table = NDArray[np.int64]
"""Edges, shape (n, 6): kind, rule, symbol, start, split, end, as the columns of `ChartEdges`."""


def with_derivations(
    grammar: TreebankGrammar,
    charts: Charts,
    words: Sequence[WordScores],
    derivations: Sequence[Derivation | None],
) -> tuple[Charts, list[NDArray[np.int64] | None]]:
    """Return charts that have certain derivations, and the rows of these.

    Parameters
    ----------
    grammar : TreebankGrammar
    charts : Charts
    words : sequence of WordScores
        Of all sentences that the charts were asked for.
    derivations : sequence of Derivation or None
        Of the same sentences.

    Returns
    -------
    charts : Charts
    rows : list of arrays of int64, or None
        Of each chart, counted from its first row; None where there is no derivation to put in, or it gives a
        word a tag that the word cannot have.
    """
    columns = [getattr(charts.edges, each.name) for each in fields(ChartEdges)]
    table, offsets = np.stack(columns, axis=1).astype(np.int64), charts.graphs.offsets
    tables, graphs, scores, found = [], [], [], []
    for i, (sentence, (first, last)) in enumerate(
        zip(charts.sentences.tolist(), pairwise(offsets.tolist()), strict=True)
    ):
        own, derivation = table[first:last], derivations[sentence]
        edges = None if derivation is None else edges_of(grammar, derivation, words[sentence])
        graph = charts.graphs.take(np.array([i]))
        score = charts.scores[first:last]
        rows = None
        if edges is not None:
            missing = edges[~_among(edges, own)]
            if len(missing):
                own, graph = _with(grammar, np.concatenate([own, missing]))
                score = _scores(grammar, own, words[sentence])
            rows = np.flatnonzero(_among(own, edges))
        tables.append(own)
        graphs.append(graph)
        scores.append(score)
        found.append(rows)
    if not tables:
        return charts, found
    edges_now = ChartEdges(*(np.ascontiguousarray(each, np.int32) for each in np.concatenate(tables).T))
    joined = joined_graphs(graphs)
    about = charts.sentences, charts.thresholds, charts.without_parse, charts.too_large
    return Charts(joined, np.concatenate(scores), edges_now, *about), found


def joined_graphs(each: Sequence[Hypergraphs]) -> Hypergraphs:
    """Return several batches of hypergraphs as one."""
    offsets = np.concatenate([[0], *(np.diff(one.offsets) for one in each)]).cumsum()
    nodes = np.concatenate([[0], *(np.diff(one.nodes) for one in each)]).cumsum()
    heads = np.concatenate([one.heads for one in each])
    tails = np.concatenate([one.tails for one in each])
    return Hypergraphs(offsets, nodes, heads, tails)


def edges_of(grammar: TreebankGrammar, derivation: Derivation, words: WordScores) -> Table | None:
    """Return the edges of a derivation; None where it gives a word a tag that this cannot have."""
    rules = grammar.grammar
    number = {
        key: i for i, key in enumerate(zip(words.positions.tolist(), words.symbols.tolist(), strict=True))
    }
    rows: list[tuple[int, ...]] = []
    below: dict[tuple[int, int], int] = {}
    for place, symbol in enumerate(derivation.tags.tolist()):
        if (place, symbol) not in number:
            return None
        below[place, place + 1] = symbol
        rows.append((ChartEdges.LEXICAL, number[place, symbol], symbol, place, place + 1, place + 1))
    for rule, start, split, end in derivation.binary.tolist():
        below[start, end] = int(rules.binary[rule, 0])
        rows.append((ChartEdges.BINARY, rule, below[start, end], start, split, end))
    chained = set()
    for rule, start, end in derivation.unary.tolist():
        chained.add((start, end))
        rows.append((ChartEdges.UNARY, rule, int(rules.unary[rule, 0]), start, end, end))
    for (start, end), symbol in below.items():
        if (start, end) not in chained:
            rows.append((ChartEdges.SELF, -1, symbol, start, end, end))
    return np.array(rows, np.int64)


def _among(edges: Table, others: Table) -> NDArray[np.bool_]:
    """Return which edges are among others."""
    known = {tuple(row) for row in others.tolist()}
    return np.array([tuple(row) in known for row in edges.tolist()], bool)


def _with(grammar: TreebankGrammar, edges: Table) -> tuple[Table, Hypergraphs]:
    """Return edges in the order of a hypergraph, and that: nodes by length, place, below before above."""
    kind, rule, symbol, start, split, end = edges.T
    rules, n_symbols = grammar.grammar, len(grammar.grammar.symbols)
    longest = int(end.max()) + 1

    def key(first: Table, last: Table, above: object, what: Table) -> Table:
        return (((last - first) * longest + first) * 2 + np.asarray(above, np.int64)) * n_symbols + what

    is_above = (kind == ChartEdges.UNARY) | (kind == ChartEdges.SELF)
    heads = key(start, end, is_above, symbol)
    tails = np.full((len(edges), 2), -1, np.int64)
    two, one, same = (kind == each for each in (ChartEdges.BINARY, ChartEdges.UNARY, ChartEdges.SELF))
    tails[two, 0] = key(start[two], split[two], 1, rules.binary[rule[two], 1])
    tails[two, 1] = key(split[two], end[two], 1, rules.binary[rule[two], 2])
    tails[one, 0] = key(start[one], end[one], 0, rules.unary[rule[one], 1])
    tails[same, 0] = key(start[same], end[same], 0, symbol[same])
    order = np.argsort(heads, kind="stable")
    nodes, numbers = np.unique(heads, return_inverse=True)
    tails = np.where(tails < 0, -1, np.searchsorted(nodes, tails))
    graph = Hypergraphs(
        np.array([0, len(edges)]),
        np.array([0, len(nodes)]),
        numbers.ravel()[order].astype(np.int32),
        tails[order].astype(np.int32),
    )
    return edges[order], graph


def _scores(grammar: TreebankGrammar, edges: Table, words: WordScores) -> NDArray[np.float64]:
    """Return the log probabilities of edges."""
    kind, rule = edges[:, 0], edges[:, 1]
    scores = np.zeros(len(edges))
    rules = grammar.grammar
    for which, table in (
        (ChartEdges.LEXICAL, words.scores),
        (ChartEdges.BINARY, rules.binary_scores),
        (ChartEdges.UNARY, rules.unary_scores),
    ):
        scores[kind == which] = np.asarray(table)[rule[kind == which]]
    return scores
