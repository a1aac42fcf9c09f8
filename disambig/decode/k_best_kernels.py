"""The k best derivations of hypergraphs, lazily (Huang and Chiang 2005, algorithm 3), for Numba.

What is known of a node lies in `slots`, given out when a derivation first asks for it: its derivations so
far, best first, as (edge, rank at the first tail, rank at the second), and a heap of the next candidates, a
pairing heap of numbers in a pool. A candidate (e, a, b) is put there when the only one that it can come from
is taken: (e, a - 1, 0) where b is 0, (e, a, b - 1) else. So none is there twice, and none is looked for that
no derivation asks for. Ties go to the smaller edge, then to the smaller ranks.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.decode.hypergraph_kernels import best_edges

_NEVER = -np.inf
_CHILD, _SIBLING = 3, 4


@compiled
def _before(a, b, value, number):
    """Return whether candidate `a` comes before `b`: by score, edge, ranks."""
    if value[a] != value[b]:
        return value[a] > value[b]
    for part in range(3):
        if number[a, part] != number[b, part]:
            return number[a, part] < number[b, part]
    return False


@compiled
def _merge(a, b, value, number):
    """Return the root of two heaps made one; -1 is the empty heap."""
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
    """Return the root of a heap without its first: its children are merged in pairs, then from the right."""
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
    """Return an array with twice the room, along its first axis."""
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
    """Append an instance's k best derivations to `rows`; return how many, `rows`, and how much is in them.

    Their scores go to `totals` (k,), where each one's rows end to `ends` (k,).
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
    found, heap, step = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(16, np.int64)
    kept, kept_value = np.empty((16 * k, 3), np.int64), np.empty(16 * k)  # k entries a slot
    number, value, n_candidates = np.empty((64, 5), np.int64), np.empty(64), 0
    stack, depth = np.empty((n + 1, 2), np.int64), 1
    stack[0, 0], stack[0, 1] = n - 1, k
    while depth > 0:
        node, wanted = stack[depth - 1, 0], stack[depth - 1, 1]
        if slots[node] < 0:
            slot = slots[node] = n_slots
            n_slots += 1
            if n_slots > len(found):
                found, heap, step = _longer(found), _longer(heap), _longer(step)
                kept, kept_value = _longer(kept), _longer_floats(kept_value)
            found[slot], step[slot], heap[slot] = 1, 0, -1
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
        if found[slot] >= wanted or step[slot] < 0:
            depth -= 1
            continue
        last = slot * k + found[slot] - 1
        row = kept[last, 0]
        asked = False
        while step[slot] < 2:  # the two candidates that come from the last derivation taken
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
            if below < 0 or (found[below] <= rank and step[below] >= 0):
                stack[depth, 0], stack[depth, 1] = tail, rank + 1
                depth += 1
                asked = True
                break
            step[slot] += 1
            if found[below] <= rank:
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
            step[slot] = -1  # there are no more
            continue
        heap[slot] = _without_first(top, value, number)
        into = slot * k + found[slot]
        kept[into, 0], kept[into, 1], kept[into, 2] = number[top, 0], number[top, 1], number[top, 2]
        kept_value[into] = value[top]
        found[slot] += 1
        step[slot] = 0
    goal = slots[n - 1]
    agenda = np.empty((64, 2), np.int64)
    for rank in range(found[goal]):
        totals[rank] = kept_value[goal * k + rank]
        agenda[0, 0], agenda[0, 1] = n - 1, rank
        depth = 1
        while depth > 0:  # an edge, all below its first tail, all below its second
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
    return found[goal], rows, n_rows


@compiled
def k_best_derivations(offsets, nodes, heads, tails, scores, k, totals, counts, ends):
    """Return the rows of the k best derivations of all instances, one after the other.

    `totals` (n, k) takes their scores, `counts` (n,) how many there are, `ends` (n, k) where each one's rows
    end.
    """
    rows, n_rows = np.empty(1024, np.int64), 0
    for i in range(len(offsets) - 1):
        n = nodes[i + 1] - nodes[i]
        counts[i], rows, n_rows = _k_best(
            offsets[i], offsets[i + 1], n, heads, tails, scores, k, totals[i], rows, n_rows, ends[i]
        )
    return rows[:n_rows]


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    heads, tails = np.array([0, 1], np.int32), np.array([[-1, -1], [0, -1]], np.int32)
    layout = np.array([0, 2]), np.array([0, 2]), heads, tails
    room = np.empty((1, 2)), np.empty(1, np.int64), np.empty((1, 2), np.int64)
    k_best_derivations(*layout, np.zeros(2), 2, *room)
