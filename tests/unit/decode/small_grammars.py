"""Small random grammars and sentences, and all their parses by brute force."""

from __future__ import annotations

import numpy as np

from disambig.decode import BinaryGrammar, WordScores


def random_grammar(rng, *, n=4, binary=8, unary=3, coarse=None):
    """Return a grammar of `n` symbols, the root 0; rules are drawn without repetition."""

    def rules(number, width):
        drawn = np.unique(rng.integers(0, n, size=(number, width)), axis=0).astype(np.int32)
        return rng.permutation(drawn), rng.normal(-1.5, 1.0, size=len(drawn))

    grammar = BinaryGrammar(tuple("Sabcdefghij"[:n]), 0, *rules(binary, 3), *rules(unary, 2))
    return grammar if coarse is None else with_coarser(grammar, coarse)


def with_coarser(grammar, coarse):
    """Return a grammar that is pruned by its projection, where of several rules the likeliest counts."""
    coarse = np.asarray(coarse, np.int32)

    def projected(rules, scores):
        best = {}
        for rule, score in zip(coarse[rules].tolist(), scores.tolist(), strict=True):
            best[tuple(rule)] = max(score, best.get(tuple(rule), -np.inf))
        return np.array(list(best), np.int32).reshape(-1, rules.shape[1]), np.array(list(best.values()))

    binary = projected(grammar.binary, grammar.binary_scores)
    unary = projected(grammar.unary, grammar.unary_scores)
    names = tuple(f"c{i}" for i in range(int(coarse.max()) + 1))
    own = grammar.binary, grammar.binary_scores, grammar.unary, grammar.unary_scores
    coarser = BinaryGrammar(names, int(coarse[grammar.root]), *binary, *unary)
    return BinaryGrammar(grammar.symbols, grammar.root, *own, coarser, coarse)


def random_words(rng, grammar, length, *, known=0.6):
    """Return a sentence whose words each may be some of the symbols."""
    there = np.argwhere(rng.random((length, len(grammar.symbols))) < known).astype(np.int32)
    there = rng.permutation(there)
    return WordScores(length, there[:, 0], there[:, 1], rng.normal(-3.0, 1.0, size=len(there)))


def parses(grammar, words):
    """Return all parses, as scores with nested tuples: ("word", entry), ("rule", number, left, right), ..."""
    memory = {}

    def below(symbol, i, j):
        if ("below", symbol, i, j) not in memory:
            found = []
            if j == i + 1:
                for e, (place, tag) in enumerate(zip(words.positions, words.symbols, strict=True)):
                    if place == i and tag == symbol:
                        found.append((float(words.scores[e]), ("word", e)))
            for r, (parent, left, right) in enumerate(grammar.binary.tolist()):
                for k in range(i + 1, j) if parent == symbol else ():
                    for score, a in above(left, i, k):
                        for other, b in above(right, k, j):
                            found.append((float(grammar.binary_scores[r]) + score + other, ("two", r, a, b)))
            memory["below", symbol, i, j] = found
        return memory["below", symbol, i, j]

    def above(symbol, i, j):
        if ("above", symbol, i, j) not in memory:
            found = [(score, ("itself", tree)) for score, tree in below(symbol, i, j)]
            for r, (parent, child) in enumerate(grammar.unary.tolist()):
                if parent == symbol:
                    for score, tree in below(child, i, j):
                        found.append((float(grammar.unary_scores[r]) + score, ("one", r, tree)))
            memory["above", symbol, i, j] = found
        return memory["above", symbol, i, j]

    found = [one for one in above(grammar.root, 0, words.length) if one[0] > -np.inf]
    return sorted(found, key=lambda one: -one[0])


def tree_of(edges):
    """Return the nested tuples of a derivation's edges, a tree from the top."""
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
