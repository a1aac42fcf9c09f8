"""Compiled functions that build charts of sentences (CKY).

The symbols of a cell (a span of words) are kept twice: *below* are those that words and binary rules give,
*above* those after at most one unary rule. Binary rules combine symbols above of two smaller cells. A coarse
symbol stands for several symbols; a first pass over coarse symbols finds those that can be left out.
"""

from __future__ import annotations

import numpy as np

from disambig.decode.hypergraph_kernels import doubled
from disambig.jit import compiled

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_NEVER = -np.inf


@compiled
def coarse_inside(
    n, starts, symbols, scores, coarse, binary, weights, unary, unary_weights, below, above, scale
):
    """Write the inside sums of coarse symbols to `below` and `above` (cells, C) and `scale` (cells,).

    The word at place i has the symbols ``symbols[starts[i]:starts[i + 1]]`` with log `scores`; if several of
    them have the same `coarse` symbol, the most probable one counts. Rules have weights, not logarithms.
    """
    size = below.shape[1]
    products = np.empty((size, size))
    # Cell (i, j) has the number j (j - 1) / 2 + i. Its sums are scaled so that the largest is 1, and `scale`
    # holds the logarithm of the factor: long sentences cannot underflow, and inner loops need no logarithms.
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            cell = j * (j - 1) // 2 + i
            low, high = below[cell], above[cell]
            low[:] = 0.0
            reference = _NEVER
            if i == j - 1:  # a word
                for at in range(starts[i], starts[j]):
                    reference = max(reference, scores[at])
                if reference != _NEVER:
                    for at in range(starts[i], starts[j]):
                        symbol = coarse[symbols[at]]
                        low[symbol] = max(low[symbol], np.exp(scores[at] - reference))
            else:  # two cells that meet at k: sums for each pair of symbols over all k, then the rules
                for k in range(i + 1, j):
                    reference = max(reference, scale[k * (k - 1) // 2 + i] + scale[j * (j - 1) // 2 + k])
                if reference != _NEVER:
                    products[:] = 0.0
                    for k in range(i + 1, j):
                        first, second = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                        factor = np.exp(scale[first] + scale[second] - reference)
                        if factor == 0.0:
                            continue
                        left, right = above[first], above[second]
                        for b in range(size):
                            if left[b] > 0.0:
                                amount, row = left[b] * factor, products[b]
                                for c in range(size):
                                    row[c] += amount * right[c]
                    for x in range(len(binary)):
                        low[binary[x, 0]] += weights[x] * products[binary[x, 1], binary[x, 2]]
            maximum = low.max() if size else 0.0
            if maximum == 0.0:
                scale[cell] = _NEVER
                high[:] = 0.0
                continue
            scale[cell] = reference + np.log(maximum)
            for a in range(size):
                low[a] /= maximum
                high[a] = low[a]
            for x in range(len(unary)):
                high[unary[x, 0]] += unary_weights[x] * low[unary[x, 1]]


@compiled
def coarse_outside(
    n, root, threshold, binary, weights, unary, unary_weights, below, above, scale, keep_below, keep_above
):
    """Mark the symbols of cells with a posterior above `threshold`; return False if there is no parse.

    Dropped symbols pass on no outside weight, so that posteriors below them are those of parses without them.
    """
    size = below.shape[1]
    n_cells = len(scale)
    keep_below[:] = False
    keep_above[:] = False
    top = n * (n - 1) // 2  # the cell of the whole sentence
    if above[top, root] == 0.0:
        return False
    out_below, out_above = np.empty(size), np.zeros((n_cells, size))
    by_left, by_right = np.empty((size, size)), np.empty((size, size))
    left_used, right_used = np.empty(size, np.bool_), np.empty(size, np.bool_)
    out_above[top, root] = 1.0 / above[top, root]
    # from long cells to short ones: the outside weights of a cell are complete when it is reached
    for j in range(n, 0, -1):
        for i in range(j):
            cell = j * (j - 1) // 2 + i
            any_kept = False
            for a in range(size):
                keep_above[cell, a] = out_above[cell, a] * above[cell, a] > threshold
                out_below[a] = out_above[cell, a] if keep_above[cell, a] else 0.0
                any_kept |= keep_above[cell, a]
            if not any_kept:
                continue
            for x in range(len(unary)):
                if keep_above[cell, unary[x, 0]]:
                    out_below[unary[x, 1]] += unary_weights[x] * out_above[cell, unary[x, 0]]
            any_kept = False
            for a in range(size):
                keep_below[cell, a] = out_below[a] * below[cell, a] > threshold
                any_kept |= keep_below[cell, a]
            if not any_kept or i == j - 1:
                continue
            # the outside weight of each pair of children, by rules; then for each place to split the cell
            by_left[:] = 0.0
            by_right[:] = 0.0
            left_used[:] = False
            right_used[:] = False
            for x in range(len(binary)):
                if keep_below[cell, binary[x, 0]]:
                    amount, b, c = weights[x] * out_below[binary[x, 0]], binary[x, 1], binary[x, 2]
                    by_left[b, c] += amount
                    by_right[c, b] += amount
                    left_used[b] = True
                    right_used[c] = True
            for k in range(i + 1, j):
                first, second = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                factor = np.exp(scale[first] + scale[second] - scale[cell])
                if factor == 0.0:
                    continue
                left, right = above[first], above[second]
                out_left, out_right = out_above[first], out_above[second]
                for b in range(size):
                    if left_used[b] and left[b] > 0.0:
                        amount, row = left[b] * factor, by_left[b]
                        for c in range(size):
                            out_right[c] += amount * row[c]
                for c in range(size):
                    if right_used[c] and right[c] > 0.0:
                        amount, row = right[c] * factor, by_right[c]
                        for b in range(size):
                            out_left[b] += amount * row[b]
    return True


def sample_coarse() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    rules, weights = np.zeros((1, 3), np.int32), np.ones(1)
    unary = np.zeros((1, 2), np.int32)
    below, above, scale = np.empty((1, 1)), np.empty((1, 1)), np.empty(1)
    words = np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.int32)
    coarse_inside(1, *words, rules, weights, unary, weights, below, above, scale)
    kept = np.empty((1, 1), np.bool_), np.empty((1, 1), np.bool_)
    coarse_outside(1, 0, 0.0, rules, weights, unary, weights, below, above, scale, *kept)


FOUND, NONE, TOO_LARGE = 0, 1, 2
"""Status of a chart: it has a parse, it has none, or it has more edges than allowed."""
LEXICAL, BINARY, UNARY, SELF = 0, 1, 2, 3
"""Kind of an edge; `SELF` takes a symbol from below to above without a unary rule."""


@compiled
def _add_node(nodes, best, node, symbol, start, end):
    """Initialise a new node."""
    nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3] = symbol, start, end, -1
    best[node] = _NEVER


@compiled
def _add_edge(nodes, best, edges, n_edges, all_edges, node, left, right, rule, value):
    """Add an edge to a node, or replace its edge unless all are kept; return the number of edges."""
    edge = nodes[node, 3]
    if all_edges or edge < 0:
        edge = n_edges
        n_edges += 1
        edges[edge, 3] = nodes[node, 3]
        nodes[node, 3] = edge
    edges[edge, 0], edges[edge, 1], edges[edge, 2] = left, right, rule
    if value > best[node]:
        best[node] = value
    return n_edges


@compiled
def fill(
    n,
    root,
    words,  # starts, symbols, scores, numbers
    pairs,  # offsets by left child; right children; offsets of their rules; parents, scores, numbers of rules
    chains,  # offsets by child; parents, scores, numbers of unary rules
    sides,  # for each symbol: 1 if it is a left child of some rule, 2 if a right one, 3 if both
    coarse,
    keep_below,
    keep_above,
    max_symbols,
    all_edges,
    max_edges,
):
    """Build a chart; return its status, the numbers of nodes and edges, `nodes` and `edges`.

    With `all_edges` the chart has every edge, otherwise only the best one into each node. Only symbols whose
    `coarse` symbol is marked in `keep_below` and `keep_above` (cells, C) are used; all are if these have no
    cells. A row of `nodes` is symbol, first word, end, first edge; a row of `edges` is left node, right node
    (-1: none), rule, next edge of the same node. At most `max_symbols` symbols are kept in a cell; 0 means no
    limit.
    """
    starts, word_symbols, word_scores, word_numbers = words
    by_left, right_children, rule_starts, parents, rule_scores, rule_numbers = pairs
    by_child, chain_parents, chain_scores, chain_numbers = chains
    size = len(sides)
    pruned = len(keep_below) > 0
    nodes, best, n_nodes = np.empty((1024, 4), np.int32), np.empty(1024), 0
    edges, n_edges = np.empty((4096, 4), np.int32), 0
    n_cells = n * (n + 1) // 2
    first_node, last_node = np.zeros(n_cells, np.int64), np.zeros(n_cells, np.int64)
    cell_nodes, n_cell_nodes = np.empty(1024, np.int32), 0
    table = np.full((n, size), -1, np.int32)  # nodes above of the cells that end at j, by their first word
    below = np.full(size, -1, np.int32)  # nodes below of the current cell
    may_below, may_above = np.ones(size, np.bool_), np.ones(size, np.bool_)
    for j in range(1, n + 1):
        # `table` is used again for each end j: forget the nodes of the cells that end at j - 1
        for i in range(j - 1):
            cell = (j - 1) * (j - 2) // 2 + i
            for at in range(first_node[cell], last_node[cell]):
                table[i, nodes[cell_nodes[at], 0]] = -1
        for i in range(j - 1, -1, -1):
            cell = j * (j - 1) // 2 + i
            first_node[cell] = last_node[cell] = n_cell_nodes
            if pruned:
                if not keep_below[cell].any():
                    continue
                for s in range(size):
                    may_below[s] = keep_below[cell, coarse[s]]
            begin = n_nodes
            # arrays grow before the innermost loops, which then need no checks
            while len(nodes) < n_nodes + 2 * size:
                nodes, best = doubled(nodes), doubled(best)
            # symbols below: those of the word, or those that binary rules make of two smaller cells
            if i == j - 1:
                while len(edges) < n_edges + starts[j] - starts[i]:
                    edges = doubled(edges)
                for at in range(starts[i], starts[j]):
                    symbol, value = word_symbols[at], word_scores[at]
                    if value == _NEVER or not may_below[symbol]:
                        continue
                    node = below[symbol]
                    if node < 0:
                        node = below[symbol] = n_nodes
                        n_nodes += 1
                        _add_node(nodes, best, node, symbol, i, j)
                    if all_edges or value > best[node]:
                        entry = (word_numbers[at], value)
                        n_edges = _add_edge(nodes, best, edges, n_edges, all_edges, node, -1, -1, *entry)
            for k in range(i + 1, j):
                left_cell, right_cell = k * (k - 1) // 2 + i, j * (j - 1) // 2 + k
                if first_node[right_cell] == last_node[right_cell]:
                    continue
                rights = table[k]
                for at in range(first_node[left_cell], last_node[left_cell]):
                    left = cell_nodes[at]
                    symbol = nodes[left, 0]
                    left_score = best[left]
                    first_pair, last_pair = by_left[symbol], by_left[symbol + 1]
                    while len(edges) < n_edges + rule_starts[last_pair] - rule_starts[first_pair]:
                        edges = doubled(edges)
                    for pair in range(first_pair, last_pair):
                        right = rights[right_children[pair]]
                        if right < 0:
                            continue
                        pair_score = left_score + best[right]
                        for rule in range(rule_starts[pair], rule_starts[pair + 1]):
                            parent = parents[rule]
                            if not may_below[parent]:
                                continue
                            value = pair_score + rule_scores[rule]
                            node = below[parent]
                            if node < 0:
                                node = below[parent] = n_nodes
                                n_nodes += 1
                                nodes[node, 0], nodes[node, 1] = parent, i
                                nodes[node, 2], nodes[node, 3] = j, -1
                                best[node] = _NEVER
                            better = value > best[node]
                            # `_add_edge` written out: the call would cost time in the innermost loop
                            if all_edges or better:
                                edge = nodes[node, 3]
                                if all_edges or edge < 0:
                                    edge = n_edges
                                    n_edges += 1
                                    edges[edge, 3] = nodes[node, 3]
                                    nodes[node, 3] = edge
                                edges[edge, 0], edges[edge, 1] = left, right
                                edges[edge, 2] = rule_numbers[rule]
                                if better:
                                    best[node] = value
            # symbols above: those below, as they are or by one unary rule, if a larger cell can use them
            end = n_nodes
            if end == begin:
                continue
            usable_sides = (1 if j < n else 0) + (2 if i > 0 else 0)
            if i == 0 and j == n:
                may_above[:] = False
                may_above[root] = not pruned or keep_above[cell, coarse[root]]
            else:
                for s in range(size):
                    has_side = (sides[s] & usable_sides) > 0
                    may_above[s] = has_side and (not pruned or keep_above[cell, coarse[s]])
            above = table[i]
            for lower in range(begin, end):
                child = nodes[lower, 0]
                below[child] = -1
                while len(edges) < n_edges + 1 + by_child[child + 1] - by_child[child]:
                    edges = doubled(edges)
                for at in range(by_child[child] - 1, by_child[child + 1]):  # the first stands for no rule
                    itself = at < by_child[child]
                    parent = child if itself else chain_parents[at]
                    if not may_above[parent]:
                        continue
                    value = best[lower] if itself else best[lower] + chain_scores[at]
                    node = above[parent]
                    if node < 0:
                        node = above[parent] = n_nodes
                        n_nodes += 1
                        _add_node(nodes, best, node, parent, i, j)
                    if all_edges or value > best[node]:
                        entry = (-1 if itself else chain_numbers[at], value)
                        n_edges = _add_edge(nodes, best, edges, n_edges, all_edges, node, lower, -1, *entry)
            # the nodes above that are kept: all, or those with the best scores
            minimum = _NEVER
            if max_symbols > 0 and n_nodes - end > max_symbols:
                minimum = np.sort(best[end:n_nodes])[n_nodes - end - max_symbols]
            for node in range(end, n_nodes):
                if best[node] < minimum:
                    above[nodes[node, 0]] = -1
                    continue
                if n_cell_nodes == len(cell_nodes):
                    cell_nodes = doubled(cell_nodes)
                cell_nodes[n_cell_nodes] = node
                n_cell_nodes += 1
            last_node[cell] = n_cell_nodes
            if n_edges > max_edges:
                return TOO_LARGE, n_nodes, n_edges, nodes, edges
    status = FOUND if table[0, root] >= 0 else NONE
    return status, n_nodes, n_edges, nodes, edges


@compiled
def packed(n_nodes, nodes, edges, rule_scores, chain_scores, word_scores):
    """Return the part of a chart that leads to its last node, as rows of a hypergraph.

    Returns `heads`: int32 (n_rows,).
    `tails`: int32 (n_rows, 2).
    `scores`: float64 (n_rows,).
    `descriptions` (int32 (n_rows, 6)): kind, rule, symbol, first word, end of the first tail (the edge's own
    end if it has no two tails), end.
    """
    # tails have smaller numbers than heads: mark what the last node needs downwards, then number it upwards
    needed = np.zeros(n_nodes, np.bool_)
    needed[n_nodes - 1] = True
    n_rows = 0
    for node in range(n_nodes - 1, -1, -1):
        if needed[node]:
            edge = nodes[node, 3]
            while edge >= 0:
                n_rows += 1
                for which in range(2):
                    if edges[edge, which] >= 0:
                        needed[edges[edge, which]] = True
                edge = edges[edge, 3]
    heads, tails = np.empty(n_rows, np.int32), np.empty((n_rows, 2), np.int32)
    scores, descriptions = np.empty(n_rows), np.empty((n_rows, 6), np.int32)
    numbers, n_kept, row = np.full(n_nodes, -1, np.int32), 0, 0
    for node in range(n_nodes):
        if not needed[node]:
            continue
        numbers[node] = n_kept
        edge = nodes[node, 3]
        while edge >= 0:
            row += 1
            edge = edges[edge, 3]
        filled, edge = row, nodes[node, 3]
        while edge >= 0:  # the list of edges begins with the last one: fill the rows backwards
            filled -= 1
            left, right, rule = edges[edge, 0], edges[edge, 1], edges[edge, 2]
            heads[filled] = n_kept
            tails[filled, 0] = numbers[left] if left >= 0 else -1
            tails[filled, 1] = numbers[right] if right >= 0 else -1
            if left < 0:
                kind, scores[filled] = LEXICAL, word_scores[rule]
            elif right >= 0:
                kind, scores[filled] = BINARY, rule_scores[rule]
            elif rule >= 0:
                kind, scores[filled] = UNARY, chain_scores[rule]
            else:
                kind, scores[filled] = SELF, 0.0
            descriptions[filled, 0], descriptions[filled, 1] = kind, rule
            descriptions[filled, 2] = nodes[node, 0]
            descriptions[filled, 3], descriptions[filled, 5] = nodes[node, 1], nodes[node, 2]
            descriptions[filled, 4] = nodes[left, 2] if right >= 0 else nodes[node, 2]
            edge = edges[edge, 3]
        n_kept += 1
    return n_kept, heads, tails, scores, descriptions


def sample_charts() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    from disambig.decode.charts import BinaryGrammar, ChartParser, WordScores

    one = np.zeros(1)
    rules = np.zeros((1, 3), np.int32), one, np.zeros((1, 2), np.int32), one
    small = BinaryGrammar(("a",), 0, *rules)
    grammar = BinaryGrammar(("a",), 0, *rules, small, np.zeros(1, np.int32))
    words = WordScores(1, np.zeros(1, np.int32), np.zeros(1, np.int32), one)
    ChartParser(grammar).charts([words])
