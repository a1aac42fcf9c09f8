"""Chains and charts with all their structures by brute force, and a decoder of charts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disambig.api.decoding import Hypergraphs


@dataclass(frozen=True)
class Forest:
    """A packed forest: its edges are (head node, tail nodes), bottom up; the last head is the root."""

    edges: tuple


@dataclass(frozen=True)
class Chart:
    """A decoder of parse forests: one per instance, whose edges are the rows of the instance."""

    def best(self, scores, layout):
        mass = np.zeros(len(scores))
        for start, forest in starts(layout):
            score, choice = {}, {}
            for row, (head, tails) in enumerate(forest.edges, start):
                value = scores[row] + sum(score[tail] for tail in tails)
                if head not in score or value > score[head]:
                    score[head], choice[head] = value, row
            agenda = [forest.edges[-1][0]]
            while agenda:
                row = choice[agenda.pop()]
                mass[row] = 1.0
                agenda.extend(forest.edges[row - start][1])
        return mass

    def marginals(self, scores, layout):
        mass, partition = np.zeros(len(scores)), []
        for start, forest in starts(layout):
            inside, outside = {}, {}
            for row, (head, tails) in enumerate(forest.edges, start):
                value = scores[row] + sum(inside[tail] for tail in tails)
                inside[head] = np.logaddexp(inside.get(head, -np.inf), value)
            root = forest.edges[-1][0]
            outside[root] = 0.0
            for i in reversed(range(len(forest.edges))):
                head, tails = forest.edges[i]
                above = outside.get(head, -np.inf) + scores[start + i]
                mass[start + i] = np.exp(above + sum(inside[tail] for tail in tails) - inside[root])
                for t, tail in enumerate(tails):
                    others = sum(inside[other] for o, other in enumerate(tails) if o != t)
                    outside[tail] = np.logaddexp(outside.get(tail, -np.inf), above + others)
            partition.append(inside[root])
        return mass, np.array(partition)


def starts(forests):
    start = 0
    for forest in forests:
        yield start, forest
        start += len(forest.edges)


def bracketings(n):
    """Return the forest of all binary bracketings of n words: two for three words, five for four."""
    edges = []
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            for k in range(i + 1, i + width):
                tails = tuple(span for span in ((i, k), (k, i + width)) if span[1] - span[0] > 1)
                edges.append(((i, i + width), tails))
    return Forest(tuple(edges))


def packed(forests):
    """Return forests as the layout of the core's decoder."""
    heads, tails, counts, sizes = [], [], [], []
    for forest in forests:
        nodes = list(dict.fromkeys(head for head, _ in forest.edges))
        heads += [nodes.index(head) for head, _ in forest.edges]
        tails += [
            ([nodes.index(tail) for tail in edge_tails] + [-1, -1])[:2] for _, edge_tails in forest.edges
        ]
        counts.append(len(forest.edges))
        sizes.append(len(nodes))
    offsets, starts_of_nodes = (np.concatenate([[0], np.cumsum(lengths)]) for lengths in (counts, sizes))
    return Hypergraphs(offsets, starts_of_nodes, heads, tails)


def derivations(forest, node=None):
    """Return the edges (by number) of every parse in a forest, by brute force."""
    node = forest.edges[-1][0] if node is None else node
    edge_lists = []
    for number, (head, tails) in enumerate(forest.edges):
        if head == node:
            partial = [[number]]
            for tail in tails:
                partial = [p + rest for p in partial for rest in derivations(forest, tail)]
            edge_lists += partial
    return edge_lists


def paths(n_tags, length):
    """Return the rows of every tag sequence of a chain, by brute force."""
    sequences = []
    for code in range(n_tags**length):
        tags = [code // n_tags**t % n_tags for t in range(length)]
        rows = [tags[0]]
        for t in range(1, length):
            rows.append(n_tags + (t - 1) * n_tags**2 + tags[t - 1] * n_tags + tags[t])
        sequences.append(rows)
    return sequences
