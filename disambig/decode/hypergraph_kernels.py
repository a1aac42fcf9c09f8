"""Compiled functions that decode hypergraphs: best and k best derivations, inside and outside sums."""

from __future__ import annotations

import numpy as np

from disambig.jit import compiled

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_NEVER = -np.inf


@compiled
def first_problem(offsets, nodes, heads, tails):
    """Return the number of the first problem of a layout (0 for none), its instance and its row."""
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


@compiled
def best_edges(start, stop, heads, tails, scores, total, chosen):
    """Write the score of each node's best derivation to `total` and its (first best) edge to `chosen`."""
    total[:] = _NEVER
    chosen[:] = -1
    for row in range(start, stop):
        value = scores[row]
        if tails[row, 0] >= 0:
            value += total[tails[row, 0]]
            if tails[row, 1] >= 0:
                value += total[tails[row, 1]]
        head = heads[row]
        if value > total[head]:
            total[head] = value
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
        head, first, most = heads[row], row, _NEVER
        while row < stop and heads[row] == head:
            value = scores[row]
            if tails[row, 0] >= 0:
                value += total[tails[row, 0]]
                if tails[row, 1] >= 0:
                    value += total[tails[row, 1]]
            shares[row] = value
            most = max(most, value)
            row += 1
        if most == _NEVER:
            shares[first:row] = 0.0
            continue
        mass = 0.0
        for edge in range(first, row):
            shares[edge] = np.exp(shares[edge] - most)
            mass += shares[edge]
        for edge in range(first, row):
            shares[edge] /= mass
        total[head] = most + np.log(mass)


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
                value = values[row]
                if tails[row, 0] >= 0:
                    value += mean[tails[row, 0]]
                    if tails[row, 1] >= 0:
                        value += mean[tails[row, 1]]
                mean[heads[row]] += shares[row] * value
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


# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_CHILD, _SIBLING = 3, 4


@compiled
def _before(a, b, value, number):
    """Return True if candidate `a` comes before `b`, by score, then edge, then ranks."""
    if value[a] != value[b]:
        return value[a] > value[b]
    for part in range(3):
        if number[a, part] != number[b, part]:
            return number[a, part] < number[b, part]
    return False


@compiled
def _merge(a, b, value, number):
    """Return the root of two merged pairing heaps; -1 is the empty heap."""
    if a < 0:
        return b
    if b < 0:
        return a
    if _before(b, a, value, number):
        a, b = b, a
    number[b, _SIBLING] = number[a, _CHILD]
    number[a, _CHILD] = b
    return a


@compiled
def _without_first(root, value, number):
    """Remove the root of a pairing heap: merge its children in pairs, then from the right."""
    pairs, at = -1, number[root, _CHILD]
    while at >= 0:
        first, second = at, number[at, _SIBLING]
        at = number[second, _SIBLING] if second >= 0 else -1
        number[first, _SIBLING] = -1
        if second >= 0:
            number[second, _SIBLING] = -1
        both = _merge(first, second, value, number)
        number[both, _SIBLING] = pairs
        pairs = both
    merged = -1
    while pairs >= 0:
        following = number[pairs, _SIBLING]
        number[pairs, _SIBLING] = -1
        merged = _merge(merged, pairs, value, number)
        pairs = following
    return merged


@compiled
def _longer(array):
    """Return a copy of an array with twice the length along its first axis."""
    longer = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _longer_floats(array):
    longer = np.empty(2 * len(array))
    longer[: len(array)] = array
    return longer


@compiled
def _k_best(start, stop, n, heads, tails, scores, k, totals, rows, n_rows, ends):
    """Append an instance's k best derivations to `rows`; return their number, `rows`, and its used length.

    Their scores are written to `totals` (k,), the ends of their rows to `ends` (k,).
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
    slots, n_slots = np.full(n, -1), 0
    n_found, heap, step = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    kept, kept_value = np.empty((16 * k, 3), np.int64), np.empty(16 * k)  # k entries per slot
    number, value, n_candidates = np.empty((64, 5), np.int64), np.empty(64), 0
    # The recursion of algorithm 3 as a stack of (node, number of derivations wanted): Numba's recursion is
    # limited and slow. Only nodes that are asked for their second best derivation get a slot and a heap.
    stack, depth = np.empty((n + 1, 2), np.int64), 1
    stack[0, 0], stack[0, 1] = n - 1, k
    while depth > 0:
        node, wanted = stack[depth - 1, 0], stack[depth - 1, 1]
        if slots[node] < 0:
            slot = slots[node] = n_slots
            n_slots += 1
            if n_slots > len(n_found):
                n_found, heap, step = _longer(n_found), _longer(heap), _longer(step)
                kept, kept_value = _longer(kept), _longer_floats(kept_value)
            n_found[slot], step[slot], heap[slot] = 1, 0, -1
            best = chosen[node]
            kept[slot * k, 0], kept[slot * k, 1], kept[slot * k, 2] = best, 0, 0
            kept_value[slot * k] = total[node]
            for row in range(first_row[node], first_row[node + 1]):
                amount = scores[row]
                if tails[row, 0] >= 0:
                    amount += total[tails[row, 0]]
                    if tails[row, 1] >= 0:
                        amount += total[tails[row, 1]]
                if row == best or amount == _NEVER:
                    continue
                if n_candidates == len(value):
                    number, value = _longer(number), _longer_floats(value)
                at = n_candidates
                n_candidates += 1
                number[at, 0], number[at, 1], number[at, 2] = row, 0, 0
                number[at, _CHILD], number[at, _SIBLING] = -1, -1
                value[at] = amount
                heap[slot] = _merge(heap[slot], at, value, number)
        slot = slots[node]
        if n_found[slot] >= wanted or step[slot] < 0:
            depth -= 1
            continue
        last = slot * k + n_found[slot] - 1
        row = kept[last, 0]
        asked = False
        while step[slot] < 2:  # the successors of the last derivation: the next rank of either tail
            which = step[slot]
            tail = tails[row, which]
            if tail < 0 or (which == 0 and kept[last, 2] > 0):
                step[slot] += 1
                continue
            rank = kept[last, 1 + which] + 1
            if rank >= k:
                step[slot] += 1
                continue
            below = slots[tail]
            if below < 0 or (n_found[below] <= rank and step[below] >= 0):
                stack[depth, 0], stack[depth, 1] = tail, rank + 1
                depth += 1
                asked = True
                break
            step[slot] += 1
            if n_found[below] <= rank:
                continue
            amount = scores[row] + kept_value[below * k + rank]
            other = tails[row, 1 - which]
            if other >= 0:
                other_rank = kept[last, 2 - which]
                amount += total[other] if other_rank == 0 else kept_value[slots[other] * k + other_rank]
            if n_candidates == len(value):
                number, value = _longer(number), _longer_floats(value)
            at = n_candidates
            n_candidates += 1
            number[at, 0] = row
            number[at, 1 + which], number[at, 2 - which] = rank, kept[last, 2 - which]
            number[at, _CHILD], number[at, _SIBLING] = -1, -1
            value[at] = amount
            heap[slot] = _merge(heap[slot], at, value, number)
        if asked:
            continue
        top = heap[slot]
        if top < 0:
            step[slot] = -1  # there are no more derivations
            continue
        heap[slot] = _without_first(top, value, number)
        into = slot * k + n_found[slot]
        kept[into, 0], kept[into, 1], kept[into, 2] = number[top, 0], number[top, 1], number[top, 2]
        kept_value[into] = value[top]
        n_found[slot] += 1
        step[slot] = 0
    goal = slots[n - 1]
    agenda = np.empty((64, 2), np.int64)
    for rank in range(n_found[goal]):
        totals[rank] = kept_value[goal * k + rank]
        agenda[0, 0], agenda[0, 1] = n - 1, rank
        depth = 1
        while depth > 0:  # preorder: an edge, all below its first tail, all below its second
            depth -= 1
            node, at_rank = agenda[depth, 0], agenda[depth, 1]
            row, left, right = chosen[node], 0, 0
            if at_rank > 0:
                place = slots[node] * k + at_rank
                row, left, right = kept[place, 0], kept[place, 1], kept[place, 2]
            if n_rows == len(rows):
                rows = _longer(rows)
            rows[n_rows] = row
            n_rows += 1
            if depth + 2 > len(agenda):
                agenda = _longer(agenda)
            if tails[row, 1] >= 0:
                agenda[depth, 0], agenda[depth, 1] = tails[row, 1], right
                depth += 1
            if tails[row, 0] >= 0:
                agenda[depth, 0], agenda[depth, 1] = tails[row, 0], left
                depth += 1
        ends[rank] = n_rows
    return n_found[goal], rows, n_rows


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
