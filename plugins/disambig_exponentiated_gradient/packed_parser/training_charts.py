"""Charts for training: cross-fitted, with the gold derivation inserted, and the cost of each edge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.arrays import Floats, join_offsets
from disambig.api.decoding import ChartEdges, Charts, Hypergraph, Hypergraphs, WordScores
from disambig.api.settings import whole_number

from ..grammar.rules import Derivation, tree_cells
from ..grammar.treebank_grammar import TreebankGrammar, TreebankParser
from ..treebank.binarisation import Binarisation, coarse_symbol
from ..treebank.reading import leave_out_folds
from ..treebank.tree import Tree
from .features import Keys, NamedEdges, PartFeatures, mix_hashes

Table = NDArray[np.int64]
"""Edges, shape (n, 6): kind, rule, symbol, start, split, end, as the columns of `ChartEdges`."""


def force_derivations(
    grammar: TreebankGrammar,
    charts: Charts,
    words: Sequence[WordScores],
    derivations: Sequence[Derivation | None],
) -> tuple[Charts, list[NDArray[np.int64] | None]]:
    """Return charts that contain given derivations, and the rows of these.

    `words` and `derivations` are those of all sentences given to the parser. Rows are relative to the first
    row of a chart; None if there is no derivation to insert, or if it gives a word an impossible tag.
    """
    columns = [getattr(charts.edges, field.name) for field in fields(ChartEdges)]
    table, offsets = np.stack(columns, axis=1).astype(np.int64), charts.graphs.offsets
    tables, graphs, scores, found_derivations = [], [], [], []
    for i, (sentence, (first, last)) in enumerate(
        zip(charts.sentences.tolist(), pairwise(offsets.tolist()), strict=True)
    ):
        chart_edges, derivation = table[first:last], derivations[sentence]
        edges = None if derivation is None else derivation_edges(grammar, derivation, words[sentence])
        graph = charts.graphs.take(np.array([i]))
        score = charts.scores[first:last]
        rows = None
        if edges is not None:
            missing = edges[~_find_edges(edges, chart_edges)]
            if len(missing):
                chart_edges, graph = _insert_edges(grammar, np.concatenate([chart_edges, missing]))
                score = _scores(grammar, chart_edges, words[sentence])
            rows = np.flatnonzero(_find_edges(chart_edges, edges))
        tables.append(chart_edges)
        graphs.append(graph)
        scores.append(score)
        found_derivations.append(rows)
    if not tables:
        return charts, found_derivations
    edges_now = ChartEdges(*(np.ascontiguousarray(column, np.int32) for column in np.concatenate(tables).T))
    changed = replace(charts, graphs=join_graphs(graphs), scores=np.concatenate(scores), edges=edges_now)
    return changed, found_derivations


def join_graphs(graphs: Sequence[Hypergraphs]) -> Hypergraphs:
    """Return several batches of hypergraphs, concatenated."""
    offsets, nodes = join_offsets(one.offsets for one in graphs), join_offsets(one.nodes for one in graphs)
    heads = np.concatenate([one.heads for one in graphs])
    tails = np.concatenate([one.tails for one in graphs])
    return Hypergraphs(offsets, nodes, heads, tails)


def derivation_edges(grammar: TreebankGrammar, derivation: Derivation, words: WordScores) -> Table | None:
    """Return the edges of a derivation; None if it gives a word an impossible tag."""
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


def _find_edges(edges: Table, others: Table) -> NDArray[np.bool_]:
    """Return which edges are also in another table."""
    known_rows = {tuple(row) for row in others.tolist()}
    return np.array([tuple(row) in known_rows for row in edges.tolist()], bool)


def _insert_edges(grammar: TreebankGrammar, edges: Table) -> tuple[Table, Hypergraphs]:
    """Return edges in the order of a hypergraph, and this order: by length, position, below before above."""
    kind, rule, symbol, start, split, end = edges.T
    rules, n_symbols = grammar.grammar, len(grammar.grammar.symbols)
    longest = int(end.max()) + 1

    def key(first: Table, last: Table, above: object, what: Table) -> Table:
        return (((last - first) * longest + first) * 2 + np.asarray(above, np.int64)) * n_symbols + what

    is_above = (kind == ChartEdges.UNARY) | (kind == ChartEdges.SELF)
    heads = key(start, end, is_above, symbol)
    tails = np.full((len(edges), 2), -1, np.int64)
    is_binary, is_unary, is_self = (
        kind == edge_kind for edge_kind in (ChartEdges.BINARY, ChartEdges.UNARY, ChartEdges.SELF)
    )
    tails[is_binary, 0] = key(start[is_binary], split[is_binary], 1, rules.binary[rule[is_binary], 1])
    tails[is_binary, 1] = key(split[is_binary], end[is_binary], 1, rules.binary[rule[is_binary], 2])
    tails[is_unary, 0] = key(start[is_unary], end[is_unary], 0, rules.unary[rule[is_unary], 1])
    tails[is_self, 0] = key(start[is_self], end[is_self], 0, symbol[is_self])
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
    for edge_kind, table in (
        (ChartEdges.LEXICAL, words.scores),
        (ChartEdges.BINARY, rules.binary_scores),
        (ChartEdges.UNARY, rules.unary_scores),
    ):
        scores[kind == edge_kind] = np.asarray(table)[rule[kind == edge_kind]]
    return scores


_WRONG = 1e6
"""Penalty of a wrong label, larger than the log probability of any derivation."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeCosts:
    """Edge costs, and statistics of replaced gold derivations."""

    cost: NDArray[np.float32]  # (n_edges,)
    missing: int  # number of charts in which another derivation is used as gold
    wrong_labels: int  # total number of wrong span labels in these derivations

    @classmethod
    def from_trees(
        cls,
        named: NamedEdges,
        binarisation: Binarisation,
        trees: Sequence[Tree],
        rows: Sequence[NDArray[np.int64] | None],
    ) -> EdgeCosts:
        """Return the costs of edges.

        `rows` are those of the gold derivation of each chart that contains it, relative to its first row.
        """
        wrong = wrong_labels(named, binarisation, trees)
        scores = named.scores - _WRONG * wrong
        offsets = named.graphs.offsets
        for i, gold in enumerate(rows):
            if gold is not None:
                first, last = offsets[i : i + 2]
                scores[first:last] = -_WRONG
                scores[first + gold] = 0.0
        mass = Hypergraph().best(scores, named.graphs)
        is_missing = np.array([gold is None for gold in rows], bool)
        n_wrong = (mass * wrong)[np.repeat(is_missing, np.diff(offsets))].sum()
        return cls(edge_costs(named, mass), int(is_missing.sum()), int(n_wrong))


def edge_costs(named: NamedEdges, mass: Floats) -> NDArray[np.float32]:
    """Return 1 for each edge that is not in a derivation.

    An edge that leaves a symbol unchanged is not a part: it has a cost only if the derivation has a chain to
    the same symbol instead.
    """
    edges, graphs = named.edges, named.graphs
    cost = (mass == 0).astype(np.float32)
    nodes = graphs.heads + graphs.nodes[named.chart]
    chained = np.zeros(int(graphs.nodes[-1]), bool)
    chained[nodes[(mass > 0) & (edges.kinds == edges.UNARY)]] = True
    is_self = edges.kinds == edges.SELF
    cost[is_self] = chained[nodes[is_self]]
    return cost


def wrong_labels(named: NamedEdges, binarisation: Binarisation, trees: Sequence[Tree]) -> NDArray[np.bool_]:
    """Return which edges give a span a label, or a chain of labels, that the tree does not have there."""
    right: list[Keys] = []
    chained: list[Keys] = []
    for i, tree in enumerate(trees):
        for above, below, path, start, _, end in tree_cells(binarisation(tree)):
            coarse = mix_hashes(coarse_symbol(below.label))
            right.append(mix_hashes("below", i, coarse, start, end))
            if above is not below:
                chain = mix_hashes(
                    "one", mix_hashes(coarse_symbol(above.label)), coarse, mix_hashes(" ".join(path))
                )
                right.append(mix_hashes("chain", i, chain, start, end))
                chained.append(mix_hashes("cell", i, start, end))
    edges, chart = named.edges, named.chart
    chain_keys = mix_hashes("chain", chart, named.coarse_rule, edges.starts, edges.ends)
    label_keys = mix_hashes("below", chart, named.coarse, edges.starts, edges.ends)
    is_right = np.isin(
        np.where(edges.kinds == edges.UNARY, chain_keys, label_keys), np.array(right, np.uint64)
    )
    lacks_chain = np.isin(mix_hashes("cell", chart, edges.starts, edges.ends), np.array(chained, np.uint64))
    # an edge that leaves a right label unchanged is wrong if the tree has a chain there
    return np.where(edges.kinds == edges.SELF, lacks_chain & is_right, ~is_right)


FOLDS = 8
LONGEST = 25
"""Maximum number of words of a training sentence."""
THRESHOLD = 1e-3
"""Edges with a lower posterior probability under the coarser grammar are pruned."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingCharts:
    """Charts with edge features and edge costs."""

    features: PartFeatures
    graphs: Hypergraphs
    cost: NDArray[np.float32]  # (n_edges,)
    trees: tuple[Tree, ...]  # the gold tree of each chart
    without_chart: int  # number of sentences without a parse, or with a chart that is too large
    # see `EdgeCosts`
    gold_missing: int
    wrong_labels: int
    forced: int  # number of charts whose gold derivation was pruned and inserted again

    def __len__(self) -> int:
        return len(self.trees)

    @classmethod
    def from_trees(
        cls, grammar: TreebankGrammar, trees: Sequence[Tree], *, threshold: float = THRESHOLD
    ) -> TrainingCharts:
        """Return the charts of the sentences of some trees from one grammar."""
        sentences = [tree.words() for tree in trees]
        words = grammar.score_words(sentences)
        pruned = TreebankParser(grammar, threshold).charts.charts(words)
        charts, rows = force_derivations(grammar, pruned, words, [grammar.derivation(tree) for tree in trees])
        longer = np.diff(charts.graphs.offsets) > np.diff(pruned.graphs.offsets)
        named = NamedEdges.from_charts(grammar, charts, sentences)
        parsed_trees = tuple(trees[i] for i in charts.sentences.tolist())
        gold = EdgeCosts.from_trees(named, grammar.binarisation, parsed_trees, rows)
        return cls(
            PartFeatures.from_edges(named), named.graphs, gold.cost, parsed_trees,
            len(trees) - len(parsed_trees), gold.missing, gold.wrong_labels, int(longer.sum()),
        )  # fmt: skip

    @classmethod
    def held_out(
        cls,
        trees: Sequence[Tree],
        binarisation: Binarisation | None = None,
        *,
        folds: int = FOLDS,
        longest: int = LONGEST,
        maximum: int | None = None,
        threshold: float = THRESHOLD,
        report: Callable[[int, int], None] | None = None,
    ) -> TrainingCharts:
        """Return the charts of sentences, each from a grammar of the other folds; folds are runs of trees.

        Raises D614 for an invalid setting, D634 for no trees, D613 if no sentence has a chart.

        Parameters
        ----------
        trees : sequence of Tree
            Each tree is in the training part of all grammars but one.
        folds : int
            At least 2; reduced if there are fewer trees.
        longest : int
            Maximum number of words in a sentence with a chart.
        maximum : int, optional
            Maximum number of charts; the sentences are spread over all folds.
        report : callable, optional
            Called with the number of folds that are done, and the number of folds.
        """
        for setting, value, fewest in (("folds", folds, 2), ("longest", longest, 1), ("most", maximum, 1)):
            whole_number("D614", fewest).or_none.check(setting, value)
        charts = []
        n_folds = min(folds, len(trees))
        for number, (others, fold) in enumerate(
            leave_out_folds(trees, folds, longest=longest, maximum=maximum), 1
        ):
            if fold:
                grammar = TreebankGrammar.from_trees(others, binarisation)
                charts.append(cls.from_trees(grammar, fold, threshold=threshold))
            if report is not None:
                report(number, n_folds)
        if not any(map(len, charts)):
            raise UserError("D613", n=len(trees))
        return cls.concat(charts)

    @classmethod
    def concat(cls, parts: Sequence[TrainingCharts]) -> TrainingCharts:
        """Return several sets of charts, concatenated."""
        counts = ("without_chart", "gold_missing", "wrong_labels", "forced")
        return cls(
            PartFeatures.concat([one.features for one in parts]),
            join_graphs([one.graphs for one in parts]),
            np.concatenate([one.cost for one in parts]),
            tuple(tree for one in parts for tree in one.trees),
            *(sum(getattr(one, name) for one in parts) for name in counts),
        )
