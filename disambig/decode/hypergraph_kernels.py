"""Compiled functions that decode hypergraphs: best and k best derivations, inside and outside sums."""

from __future__ import annotations

import numpy as np

from disambig.jit import compiled, compiled_in_place

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_NEVER = -np.inf


@compiled
def first_problem(offsets, nodes, heads, tails):
    """Return the first problem of a layout (an index into `_PROBLEMS`, 0 for none), its instance and row."""
    for i in range(len(offsets) - 1):
        if offsets[i + 1] < offsets[i]:
            return 6, i, len(heads)
        if offsets[i + 1] == offsets[i]:
            return 1, i, len(heads)
        before, n_nodes = 0, nodes[i + 1] - nodes[i]
        for row in range(offsets[i], min(offsets[i + 1], len(heads))):
            head, left, right = heads[row], tails[row, 0], tails[row, 1]
            if head < 0 or head >= n_nodes:
                return 2, i, row
            if head < before:
                return 3, i, row
            if left < -1 or right < -1 or left >= head or right >= head:
                return 4, i, row
            if left < 0 and right >= 0:
                return 5, i, row
            before = head
    return 0, 0, 0


@compiled
def in_derivations(offsets, nodes, heads, tails, wanted, out):
    """Mark in `out` the rows that are in a derivation that uses only `wanted` rows."""
    for i in range(len(offsets) - 1):
        n = nodes[i + 1] - nodes[i]
        derived, needed = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        # upwards: edges whose tails have derivations; then downwards from the root: those that it needs
        for row in range(offsets[i], offsets[i + 1]):
            left, right = tails[row, 0], tails[row, 1]
            out[row] = wanted[row] and (left < 0 or derived[left]) and (right < 0 or derived[right])
            if out[row]:
                derived[heads[row]] = True
        needed[n - 1] = True
        for row in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            out[row] = out[row] and needed[heads[row]]
            if out[row]:
                if tails[row, 0] >= 0:
                    needed[tails[row, 0]] = True
                if tails[row, 1] >= 0:
                    needed[tails[row, 1]] = True


@compiled_in_place
def _sum_over_edge(row, tails, values, totals):
    """Return the value of an edge plus the totals of its tails."""
    total = values[row]
    if tails[row, 0] >= 0:
        total += totals[tails[row, 0]]
        if tails[row, 1] >= 0:
            total += totals[tails[row, 1]]
    return total


@compiled
def best_edges(start, stop, heads, tails, scores, total, chosen):
    """Write the score of each node's best derivation to `total` and its (first best) edge to `chosen`."""
    total[:] = _NEVER
    chosen[:] = -1
    for row in range(start, stop):
        head, score = heads[row], _sum_over_edge(row, tails, scores, total)
        if score > total[head]:
            total[head] = score
            chosen[head] = row


@compiled
def best_derivations(offsets, nodes, heads, tails, scores, mass):
    """Count the rows of the best derivations in `mass`; return the first instance without one, or -1."""
    for i in range(len(offsets) - 1):
        n = nodes[i + 1] - nodes[i]
        total, chosen = np.empty(n), np.empty(n, np.int64)
        best_edges(offsets[i], offsets[i + 1], heads, tails, scores, total, chosen)
        if total[n - 1] == _NEVER:
            return i
        times = np.zeros(n)  # occurrences of nodes in the derivation; complete before a node is reached
        times[n - 1] = 1.0
        for node in range(n - 1, -1, -1):
            if times[node] > 0.0:
                row = chosen[node]
                mass[row] = times[node]
                if tails[row, 0] >= 0:
                    times[tails[row, 0]] += times[node]
                    if tails[row, 1] >= 0:
                        times[tails[row, 1]] += times[node]
    return -1


@compiled
def inside(start, stop, heads, tails, scores, total, shares):
    """Write the log sum over each node's derivations to `total`, the share of each edge to `shares`."""
    total[:] = _NEVER
    row = start
    while row < stop:
        head, first, highest = heads[row], row, _NEVER
        while row < stop and heads[row] == head:
            shares[row] = _sum_over_edge(row, tails, scores, total)
            highest = max(highest, shares[row])
            row += 1
        if highest == _NEVER:
            shares[first:row] = 0.0
            continue
        mass = 0.0
        for edge in range(first, row):
            shares[edge] = np.exp(shares[edge] - highest)
            mass += shares[edge]
        for edge in range(first, row):
            shares[edge] /= mass
        total[head] = highest + np.log(mass)


@compiled
def inside_outside(offsets, nodes, heads, tails, scores, mass, partition):
    """Write the expected counts of rows to `mass`; return the first instance without derivation, or -1."""
    for i in range(len(offsets) - 1):
        start, stop, n = offsets[i], offsets[i + 1], nodes[i + 1] - nodes[i]
        total, outside = np.empty(n), np.zeros(n)
        inside(start, stop, heads, tails, scores, total, mass)
        partition[i] = total[n - 1]
        if partition[i] == _NEVER:
            return i
        outside[n - 1] = 1.0
        # `mass` holds the share of each edge among those of its head; times the expected count of the head,
        # which is complete when its edges are reached, it is the expected count of the edge
        for row in range(stop - 1, start - 1, -1):
            mass[row] *= outside[heads[row]]
            if tails[row, 0] >= 0:
                outside[tails[row, 0]] += mass[row]
                if tails[row, 1] >= 0:
                    outside[tails[row, 1]] += mass[row]
    return -1


@compiled
def expectations(offsets, nodes, heads, tails, scores, values, out):
    """Write expected sums of `values` to `out`; return the first instance without derivation, or -1.

    This is the expectation semiring (Li and Eisner 2009) with the second component divided by the first: the
    mean over the derivations of each node, which needs neither an outside pass nor logarithms of negative
    numbers.
    """
    shares = np.empty(len(heads))
    for i in range(len(offsets) - 1):
        start, stop, n = offsets[i], offsets[i + 1], nodes[i + 1] - nodes[i]
        total, mean = np.empty(n), np.zeros(n)
        inside(start, stop, heads, tails, scores, total, shares)
        if total[n - 1] == _NEVER:
            return i
        for row in range(start, stop):
            if shares[row] > 0.0:
                mean[heads[row]] += shares[row] * _sum_over_edge(row, tails, values, mean)
        out[i] = mean[n - 1]
    return -1


def sample_hypergraphs() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    heads, tails = np.array([0, 1], np.int32), np.array([[-1, -1], [0, -1]], np.int32)
    layout = np.array([0, 2]), np.array([0, 2]), heads, tails
    first_problem(*layout)
    in_derivations(*layout, np.ones(2, np.bool_), np.ones(2, np.bool_))
    best_derivations(*layout, np.zeros(2), np.zeros(2))
    inside_outside(*layout, np.zeros(2), np.zeros(2), np.zeros(1))
    expectations(*layout, np.zeros(2), np.zeros(2), np.zeros(1))


_CHILD, _SIBLING = 3, 4
"""Columns of a candidate for its links in a pairing heap; the first three are edge and ranks of the tails."""


@compiled
def _comes_before(a, b, scores, candidates):
    """Return True if candidate `a` comes before `b`, by score, then edge, then ranks."""
    if scores[a] != scores[b]:
        return scores[a] > scores[b]
    for column in range(3):
        if candidates[a, column] != candidates[b, column]:
            return candidates[a, column] < candidates[b, column]
    return False


@compiled
def _merge(a, b, scores, candidates):
    """Return the root of two merged pairing heaps; -1 is the empty heap."""
    if a < 0:
        return b
    if b < 0:
        return a
    if _comes_before(b, a, scores, candidates):
        a, b = b, a
    candidates[b, _SIBLING] = candidates[a, _CHILD]
    candidates[a, _CHILD] = b
    return a


@compiled
def _without_first(root, scores, candidates):
    """Remove the root of a pairing heap: merge its children in pairs, then from the right."""
    pairs, child = -1, candidates[root, _CHILD]
    while child >= 0:
        first, second = child, candidates[child, _SIBLING]
        child = candidates[second, _SIBLING] if second >= 0 else -1
        candidates[first, _SIBLING] = -1
        if second >= 0:
            candidates[second, _SIBLING] = -1
        pair = _merge(first, second, scores, candidates)
        candidates[pair, _SIBLING] = pairs
        pairs = pair
    merged = -1
    while pairs >= 0:
        following = candidates[pairs, _SIBLING]
        candidates[pairs, _SIBLING] = -1
        merged = _merge(merged, pairs, scores, candidates)
        pairs = following
    return merged


@compiled
def doubled(array):
    """Return a copy of an array with twice the length along its first axis."""
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _add_candidate(row, left_rank, right_rank, score, heap, n_candidates, candidates, candidate_scores):
    """Append a candidate and put it into a heap; return the root of the heap and both arrays."""
    if n_candidates == len(candidate_scores):
        candidates, candidate_scores = doubled(candidates), doubled(candidate_scores)
    candidates[n_candidates, 0] = row
    candidates[n_candidates, 1], candidates[n_candidates, 2] = left_rank, right_rank
    candidates[n_candidates, _CHILD], candidates[n_candidates, _SIBLING] = -1, -1
    candidate_scores[n_candidates] = score
    return _merge(heap, n_candidates, candidate_scores, candidates), candidates, candidate_scores


@compiled
def _k_best(start, stop, n, heads, tails, scores, k, totals, rows, n_rows, ends):
    """Append an instance's k best derivations to `rows`; return their number, `rows`, and its used length.

    Their scores are written to `totals` (k,), the ends of their rows to `ends` (k,).

    This is algorithm 3 of Huang and Chiang (2005): further derivations of a node are made only where another
    node needs them. A derivation has two successors, with the next rank of its left or its right tail.
    """
    total, chosen = np.empty(n), np.empty(n, np.int64)
    best_edges(start, stop, heads, tails, scores, total, chosen)
    if total[n - 1] == _NEVER:
        return 0, rows, n_rows
    first_row = np.full(n + 1, stop)
    for row in range(stop - 1, start - 1, -1):
        first_row[heads[row]] = row
    for node in range(n - 1, -1, -1):
        if first_row[node] == stop:
            first_row[node] = first_row[node + 1]
    # Only nodes that are asked for their second best derivation get a slot: their derivations so far (edge
    # and ranks of the tails, k entries per slot), and a heap of candidates for the next one.
    slots, n_slots = np.full(n, -1), 0
    n_derived, heaps = np.empty(16, np.int64), np.empty(16, np.int64)
    derived, derived_scores = np.empty((16 * k, 3), np.int64), np.empty(16 * k)
    # Tail of the last derivation whose next rank is tried now: 0, 1, 2 after both, -1 if nothing is left.
    sides = np.empty(16, np.int64)
    candidates, candidate_scores, n_candidates = np.empty((64, 5), np.int64), np.empty(64), 0
    # The recursion of algorithm 3 as a stack of (node, number of derivations wanted): Numba's recursion is
    # limited and slow.
    stack, depth = np.empty((n + 1, 2), np.int64), 1
    stack[0, 0], stack[0, 1] = n - 1, k
    while depth > 0:
        node, wanted = stack[depth - 1, 0], stack[depth - 1, 1]
        # a node that is asked for the first time: its best derivation, and the candidates of all other edges
        if slots[node] < 0:
            slot = slots[node] = n_slots
            n_slots += 1
            if n_slots > len(n_derived):
                n_derived, heaps, sides = doubled(n_derived), doubled(heaps), doubled(sides)
                derived, derived_scores = doubled(derived), doubled(derived_scores)
            n_derived[slot], sides[slot], heaps[slot] = 1, 0, -1
            best = chosen[node]
            derived[slot * k, 0], derived[slot * k, 1], derived[slot * k, 2] = best, 0, 0
            derived_scores[slot * k] = total[node]
            for row in range(first_row[node], first_row[node + 1]):
                score = _sum_over_edge(row, tails, scores, total)
                if row == best or score == _NEVER:
                    continue
                heaps[slot], candidates, candidate_scores = _add_candidate(
                    row, 0, 0, score, heaps[slot], n_candidates, candidates, candidate_scores
                )
                n_candidates += 1
        slot = slots[node]
        if n_derived[slot] >= wanted or sides[slot] < 0:
            depth -= 1
            continue
        last = slot * k + n_derived[slot] - 1
        row = derived[last, 0]
        waits = False
        while sides[slot] < 2:  # the successors of the last derivation: the next rank of either tail
            side = sides[slot]
            tail = tails[row, side]
            # the left rank rises only while the right one is 0, so that no pair of ranks is made twice
            if tail < 0 or (side == 0 and derived[last, 2] > 0):
                sides[slot] += 1
                continue
            rank = derived[last, 1 + side] + 1
            if rank >= k:
                sides[slot] += 1
                continue
            tail_slot = slots[tail]
            if tail_slot < 0 or (n_derived[tail_slot] <= rank and sides[tail_slot] >= 0):
                stack[depth, 0], stack[depth, 1] = tail, rank + 1
                depth += 1
                waits = True
                break
            sides[slot] += 1
            if n_derived[tail_slot] <= rank:
                continue
            score = scores[row] + derived_scores[tail_slot * k + rank]
            other, other_rank = tails[row, 1 - side], derived[last, 2 - side]
            if other >= 0:
                score += total[other] if other_rank == 0 else derived_scores[slots[other] * k + other_rank]
            left_rank, right_rank = (rank, other_rank) if side == 0 else (other_rank, rank)
            heaps[slot], candidates, candidate_scores = _add_candidate(
                row, left_rank, right_rank, score, heaps[slot], n_candidates, candidates, candidate_scores
            )
            n_candidates += 1
        if waits:
            continue
        # the best candidate is the node's next derivation
        top = heaps[slot]
        if top < 0:
            sides[slot] = -1
            continue
        heaps[slot] = _without_first(top, candidate_scores, candidates)
        new = last + 1
        for column in range(3):
            derived[new, column] = candidates[top, column]
        derived_scores[new] = candidate_scores[top]
        n_derived[slot] += 1
        sides[slot] = 0
    goal = slots[n - 1]
    totals[: n_derived[goal]] = derived_scores[goal * k : goal * k + n_derived[goal]]
    rows, n_rows = _append_derivations(
        n_derived[goal], n - 1, tails, chosen, slots, k, derived, rows, n_rows, ends
    )
    return n_derived[goal], rows, n_rows


@compiled
def _append_derivations(n_derivations, goal, tails, chosen, slots, k, derived, rows, n_rows, ends):
    """Append the edges of the derivations of a node to `rows`; return `rows` and its used length.

    The edges are in preorder: an edge, all below its first tail, all below its second.
    """
    agenda = np.empty((64, 2), np.int64)  # nodes whose edges follow, and the rank of their derivation
    for rank in range(n_derivations):
        agenda[0, 0], agenda[0, 1] = goal, rank
        depth = 1
        while depth > 0:
            depth -= 1
            node, node_rank = agenda[depth, 0], agenda[depth, 1]
            row, left, right = chosen[node], 0, 0
            if node_rank > 0:
                entry = slots[node] * k + node_rank
                row, left, right = derived[entry, 0], derived[entry, 1], derived[entry, 2]
            if n_rows == len(rows):
                rows = doubled(rows)
            rows[n_rows] = row
            n_rows += 1
            if depth + 2 > len(agenda):
                agenda = doubled(agenda)
            if tails[row, 1] >= 0:
                agenda[depth, 0], agenda[depth, 1] = tails[row, 1], right
                depth += 1
            if tails[row, 0] >= 0:
                agenda[depth, 0], agenda[depth, 1] = tails[row, 0], left
                depth += 1
        ends[rank] = n_rows
    return rows, n_rows


@compiled
def k_best_derivations(offsets, nodes, heads, tails, scores, k, totals, counts, ends):
    """Return the concatenated rows of the k best derivations of all instances.

    Writes their scores to `totals` (n, k), their numbers to `counts` (n,), the ends of their rows to `ends`
    (n, k).
    """
    rows, n_rows = np.empty(1024, np.int64), 0
    for i in range(len(offsets) - 1):
        n = nodes[i + 1] - nodes[i]
        counts[i], rows, n_rows = _k_best(
            offsets[i], offsets[i + 1], n, heads, tails, scores, k, totals[i], rows, n_rows, ends[i]
        )
    return rows[:n_rows]


def sample_k_best() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    heads, tails = np.array([0, 1], np.int32), np.array([[-1, -1], [0, -1]], np.int32)
    layout = np.array([0, 2]), np.array([0, 2]), heads, tails
    outputs = np.empty((1, 2)), np.empty(1, np.int64), np.empty((1, 2), np.int64)
    k_best_derivations(*layout, np.zeros(2), 2, *outputs)
