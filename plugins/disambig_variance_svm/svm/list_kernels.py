# mypy: disable-error-code="no-untyped-def"
"""Numba kernels of the ranking SVM: passes of dual coordinate ascent over lists of sparse rows.

Instance i has the rows ``offsets[i]:offsets[i + 1]`` of `indptr`, `indices` and `data`, of which ``gold[i]``
is right; `counts` (n_rows,) says which of its rows enter the maximum of its loss, the right one among them.
"""

from __future__ import annotations

from disambig.api.kernels import compiled


@compiled
def product(indptr, indices, data, row, weights):
    """Return the score of a row."""
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        total += data[at] * weights[indices[at]]
    return total


@compiled
def distance(indptr, indices, data, first, second, room):
    """Return the squared distance of two rows; `room` (d,) is zero before and after."""
    for at in range(indptr[first], indptr[first + 1]):
        room[indices[at]] += data[at]
    for at in range(indptr[second], indptr[second + 1]):
        room[indices[at]] -= data[at]
    total = 0.0
    for row in (first, second):
        for at in range(indptr[row], indptr[row + 1]):
            total += room[indices[at]] * room[indices[at]]
            room[indices[at]] = 0.0
    return total


@compiled
def add(indptr, indices, data, row, step, weights):
    """Add a row `step` times to the weights."""
    for at in range(indptr[row], indptr[row + 1]):
        weights[indices[at]] += step * data[at]


@compiled
def ascend(
    indptr, indices, data, offsets, cost, counts, order, active, steps, least, weights, alpha, room, values
):
    """Pass once over the active instances, moving mass between the two rows that gain most; return the worst.

    The dual has a mass `alpha` (n_rows,) on each row, C in all for an instance, and ``weights`` are
    ``sum_i sum_r alpha_ir (x_gold - x_r)``. Mass goes to the row of the largest loss from that of the least
    among those that have any, as far as it helps: at most `steps` times a visit, and only where the losses
    differ by `least`. Instances without such rows become inactive. `values` is room for the longest list.
    """
    worst = 0.0
    for i in order:
        if not active[i]:
            continue
        start, end = offsets[i], offsets[i + 1]
        for step in range(steps):
            up, down = -1, -1
            for row in range(start, end):
                if not counts[row]:
                    continue
                value = cost[row] + product(indptr, indices, data, row, weights)
                values[row - start] = value
                if up < 0 or value > values[up - start]:
                    up = row
                if alpha[row] > 0.0 and (down < 0 or value < values[down - start]):
                    down = row
            gain = values[up - start] - values[down - start]
            if step == 0:
                worst = max(worst, gain)
                if gain < least:
                    active[i] = False
            if gain < least:
                break
            norm = distance(indptr, indices, data, up, down, room)
            amount = alpha[down]
            if norm > 0.0:
                amount = min(amount, gain / norm)
            alpha[up] += amount
            alpha[down] -= amount
            add(indptr, indices, data, down, amount, weights)
            add(indptr, indices, data, up, -amount, weights)
    return worst


@compiled
def losses(indptr, indices, data, offsets, cost, counts, gold, weights):
    """Return the sum of the losses: how far the worst row, with its cost, is above the right one."""
    total = 0.0
    for i in range(len(offsets) - 1):
        most = own = product(indptr, indices, data, gold[i], weights)
        for row in range(offsets[i], offsets[i + 1]):
            if counts[row] and row != gold[i]:
                most = max(most, cost[row] + product(indptr, indices, data, row, weights))
        total += most - own
    return total
