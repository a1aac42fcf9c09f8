"""Structured candidates: problems for the core's chain, and a chart, as small as it can be.

Parts are rows of the same batch. The rows of a chain can be told from the batch's offsets alone; a
chart's combine as a hypergraph says, which `PartRows` carries along.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disambig.api import Columns, SparseRows
from disambig.api.batches import PartRows as SharedParts
from disambig.api.decoding import Chain, Hypergraphs


@dataclass(frozen=True)
class Forest:
    """A packed forest: its edges are (head node, tail nodes), bottom up; the last head is the root."""

    edges: tuple


@dataclass(frozen=True)
class Chart:
    """Parses: the layout is a forest an instance, whose edges are the instance's rows."""

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


@dataclass(frozen=True, eq=False)
class PartRows:
    """A batch whose rows are parts: `SparseRows` with a layout of its own."""

    parts: SparseRows
    layout: tuple

    offsets = property(lambda self: self.parts.offsets)
    cost = property(lambda self: self.parts.cost)
    columns = property(lambda self: self.parts.columns)

    def scores(self, weights):
        return self.parts.scores(weights)

    def adjoint(self, mass):
        return self.parts.adjoint(mass)

    def row_sqnorm(self):
        return self.parts.row_sqnorm()

    def take(self, index):
        return PartRows(self.parts.take(index), tuple(self.layout[i] for i in index))


def shared_columns(n):
    return Columns(np.full(n, -1, np.int32), np.zeros(n, np.int32), ("all",))


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
        tails += [([nodes.index(tail) for tail in own] + [-1, -1])[:2] for _, own in forest.edges]
        counts.append(len(forest.edges))
        sizes.append(len(nodes))
    offsets, starts_of_nodes = (np.concatenate([[0], np.cumsum(each)]) for each in (counts, sizes))
    return Hypergraphs(offsets, starts_of_nodes, heads, tails)


def derivations(forest, node=None):
    """Return the edges (by number) of every parse in a forest, by brute force."""
    node = forest.edges[-1][0] if node is None else node
    found = []
    for number, (head, tails) in enumerate(forest.edges):
        if head == node:
            partial = [[number]]
            for tail in tails:
                partial = [p + rest for p in partial for rest in derivations(forest, tail)]
            found += partial
    return found


def paths(n_tags, length):
    """Return the rows of every tag sequence of a chain, by brute force."""
    found = []
    for code in range(n_tags**length):
        tags = [code // n_tags**t % n_tags for t in range(length)]
        rows = [tags[0]]
        for t in range(1, length):
            rows.append(n_tags + (t - 1) * n_tags**2 + tags[t - 1] * n_tags + tags[t])
        found.append(rows)
    return found


def chain_batch(rng, *, n=12, n_tags=3, n_words=4, longest=5):
    """Return sentences tagged by hidden weights; features are word-tag pairs and tag pairs."""
    from scipy.sparse import csr_array

    n_columns = n_words * n_tags + n_tags**2
    truth = rng.normal(size=n_columns)
    blocks, costs, sizes = [], [], []
    for length in rng.integers(1, longest + 1, size=n):
        words = rng.integers(n_words, size=length)
        rows = np.zeros((n_tags + (length - 1) * n_tags**2, n_columns))
        rows[np.arange(n_tags), words[0] * n_tags + np.arange(n_tags)] = 1.0
        for t in range(1, length):
            for a in range(n_tags):
                for b in range(n_tags):
                    row = n_tags + (t - 1) * n_tags**2 + a * n_tags + b
                    rows[row, words[t] * n_tags + b] = 1.0
                    rows[row, n_words * n_tags + a * n_tags + b] = 1.0
        right = Chain(n_tags).best(rows @ truth, np.array([0, len(rows)]))
        blocks.append(rows)
        costs.append(1.0 - right)
        sizes.append(len(rows))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    cost = np.concatenate(costs).astype(np.float32)
    return SparseRows(csr_array(np.vstack(blocks)), offsets, cost, shared_columns(n_columns))


def chart_batch(rng, *, sizes=(3, 4, 4, 5), n_columns=6):
    """Return sentences bracketed by hidden weights over random features of the splits."""
    from scipy.sparse import csr_array

    forests = tuple(bracketings(size) for size in sizes)
    offsets = np.concatenate([[0], np.cumsum([len(forest.edges) for forest in forests])]).astype(np.int64)
    rows = rng.normal(size=(offsets[-1], n_columns))
    right = Chart().best(rows @ rng.normal(size=n_columns), forests)
    parts = SparseRows(csr_array(rows), offsets, (1.0 - right).astype(np.float32), shared_columns(n_columns))
    return PartRows(parts, forests)


def graph_batch(rng, **settings):
    """Return a chart batch with the layout of the core's decoder, each row a part of its own."""
    batch = chart_batch(rng, **settings)
    own = np.arange(len(batch.cost), dtype=np.int32)[:, None]
    return SharedParts(batch.parts.rows, own, packed(batch.layout), batch.cost, batch.columns)


def unpacked(batch):
    """Return a chart batch as lists: a row a parse, whose features and cost are the sums of its parts'."""
    from scipy.sparse import csr_array

    rows, cost, sizes = [], [], []
    dense = batch.parts.rows.toarray()
    for start, forest in starts(batch.layout):
        parses = derivations(forest)
        rows += [dense[[start + part for part in parse]].sum(axis=0) for parse in parses]
        cost += [batch.cost[[start + part for part in parse]].sum() for parse in parses]
        sizes.append(len(parses))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return SparseRows(csr_array(np.array(rows)), offsets, np.array(cost, np.float32), batch.columns)
