"""Small random grammars and hypergraphs, and all their parses and derivations by brute force."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from disambig.decode import BinaryGrammar, Hypergraphs, WordScores


def random_grammar(rng, *, n=4, binary=8, unary=3, coarse=None):
    """Return a random grammar with `n` symbols and root 0; no rule occurs twice."""

    def rules(number, width):
        drawn = np.unique(rng.integers(0, n, size=(number, width)), axis=0).astype(np.int32)
        return rng.permutation(drawn), rng.normal(-1.5, 1.0, size=len(drawn))

    grammar = BinaryGrammar(tuple("Sabcdefghij"[:n]), 0, *rules(binary, 3), *rules(unary, 2))
    return grammar if coarse is None else with_coarser(grammar, coarse)


def with_coarser(grammar, coarse):
    """Return the grammar with its projection as the coarser grammar; a projected rule has the best score."""
    coarse = np.asarray(coarse, np.int32)

    def projected(rules, scores):
        best = {}
        for rule, score in zip(coarse[rules].tolist(), scores.tolist(), strict=True):
            best[tuple(rule)] = max(score, best.get(tuple(rule), -np.inf))
        return np.array(list(best), np.int32).reshape(-1, rules.shape[1]), np.array(list(best.values()))

    binary = projected(grammar.binary, grammar.binary_scores)
    unary = projected(grammar.unary, grammar.unary_scores)
    names = tuple(f"c{i}" for i in range(int(coarse.max()) + 1))
    rules_and_scores = grammar.binary, grammar.binary_scores, grammar.unary, grammar.unary_scores
    coarser = BinaryGrammar(names, int(coarse[grammar.root]), *binary, *unary)
    return BinaryGrammar(grammar.symbols, grammar.root, *rules_and_scores, coarser, coarse)


def random_words(rng, grammar, length, *, density=0.6):
    """Return a sentence in which each word can be any of several random symbols."""
    there = np.argwhere(rng.random((length, len(grammar.symbols))) < density).astype(np.int32)
    there = rng.permutation(there)
    return WordScores(length, there[:, 0], there[:, 1], rng.normal(-3.0, 1.0, size=len(there)))


def parses(grammar, words):
    """Return all parses, as scores with nested tuples: ("word", entry), ("rule", number, left, right), ..."""
    memory = {}

    def below(symbol, i, j):
        if ("below", symbol, i, j) not in memory:
            result = []
            if j == i + 1:
                for e, (place, tag) in enumerate(zip(words.positions, words.symbols, strict=True)):
                    if place == i and tag == symbol:
                        result.append((float(words.scores[e]), ("word", e)))
            for r, (parent, left, right) in enumerate(grammar.binary.tolist()):
                for k in range(i + 1, j) if parent == symbol else ():
                    for score, a in above(left, i, k):
                        for other, b in above(right, k, j):
                            result.append((float(grammar.binary_scores[r]) + score + other, ("two", r, a, b)))
            memory["below", symbol, i, j] = result
        return memory["below", symbol, i, j]

    def above(symbol, i, j):
        if ("above", symbol, i, j) not in memory:
            result = [(score, ("itself", tree)) for score, tree in below(symbol, i, j)]
            for r, (parent, child) in enumerate(grammar.unary.tolist()):
                if parent == symbol:
                    for score, tree in below(child, i, j):
                        result.append((float(grammar.unary_scores[r]) + score, ("one", r, tree)))
            memory["above", symbol, i, j] = result
        return memory["above", symbol, i, j]

    result = [one for one in above(grammar.root, 0, words.length) if one[0] > -np.inf]
    return sorted(result, key=lambda one: -one[0])


def nest_edges(edges):
    """Return the nested tuples of a derivation, whose edges are in pre-order."""
    at = iter(range(len(edges.kinds)))

    def tree():
        row = next(at)
        rule = int(edges.rules[row])
        match int(edges.kinds[row]):
            case 0:
                return ("word", rule)
            case 1:
                left = tree()
                return ("two", rule, left, tree())
            case 2:
                return ("one", rule, tree())
            case _:
                return ("itself", tree())

    whole = tree()
    assert next(at, None) is None
    return whole


def random_graphs(rng, n, *, most_nodes=6, most_edges=3, shared=True):
    """Return `n` random hypergraphs; unless `shared`, no edge has two tails."""
    sizes, counts, heads, tails = [], [], [], []
    for _ in range(n):
        n_nodes, before = int(rng.integers(1, most_nodes + 1)), len(heads)
        for node in range(n_nodes):
            n_edges = int(rng.integers(0 if 0 < node < n_nodes - 1 else 1, most_edges + 1))
            for _ in range(n_edges):
                arity = int(rng.integers(0, 3)) if node else 0
                edge_tails = rng.integers(0, node, arity).tolist() if node else []
                if not shared:
                    edge_tails = edge_tails[:1]
                heads.append(node)
                tails.append([*edge_tails, -1, -1][:2])
        sizes.append(n_nodes)
        counts.append(len(heads) - before)
    return Hypergraphs(
        np.concatenate([[0], np.cumsum(counts)]), np.concatenate([[0], np.cumsum(sizes)]), heads, tails
    )


def count_derivations(layout, i):
    """Return the number of derivations of an instance, which can be doubly exponential in its nodes."""
    sizes = []
    start, stop = layout.offsets[i : i + 2].tolist()
    for node in range(int(layout.nodes[i + 1] - layout.nodes[i])):
        node_edges = [row for row in range(start, stop) if layout.heads[row] == node]
        sizes.append(
            sum(math.prod(sizes[tail] for tail in layout.tails[row] if tail >= 0) for row in node_edges)
        )
    return sizes[-1]


def derivations(layout, i):
    """Return the rows of every derivation of an instance in pre-order, by brute force."""
    by_node = {}
    start, stop = layout.offsets[i : i + 2].tolist()
    n = int(layout.nodes[i + 1] - layout.nodes[i])
    for node in range(n):
        result = []
        for row in range(start, stop):
            if layout.heads[row] == node:
                partial = [[row]]
                for tail in layout.tails[row].tolist():
                    if tail >= 0:
                        partial = [p + rest for p in partial for rest in by_node[tail]]
                result += partial
        by_node[node] = result
    return by_node[n - 1]


def all_derivations(layout):
    return [derivations(layout, i) for i in range(len(layout))]


@st.composite
def graph_problems(draw, *, most=4):
    """Return hypergraphs with derivations, and scores, some of which are minus infinity (forbidden)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    layout = random_graphs(rng, draw(st.integers(1, most)))
    with_one = [i for i in range(len(layout)) if 0 < count_derivations(layout, i) < 2000]
    layout = layout.take(np.array(with_one)) if with_one else random_graphs(rng, 1, most_nodes=1)
    scores = rng.normal(size=len(layout.heads)) * draw(st.sampled_from([1.0, 1.0, 300.0]))
    if draw(st.booleans()):
        scores = np.round(scores)  # ties
    if draw(st.booleans()):
        scores[rng.random(len(scores)) < 0.2] = -np.inf
    return layout, scores


def allowed_derivations(layout, scores):
    """Return the derivations without forbidden rows, with their scores, best first."""
    result = []
    for item in all_derivations(layout):
        scored = [(float(scores[rows].sum()), rows) for rows in item]
        result.append(sorted((one for one in scored if one[0] > -np.inf), key=lambda one: -one[0]))
    return result
