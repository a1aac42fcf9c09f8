"""Machine code of passes over all lists: an epoch of online steps, the weights of given alphas, the gap.

`lists` are the first arrays of `Listed`, in the order of its fields.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

from .step_kernels import own_gap, score, slopes, spread, visit


@compiled
def rooms(offsets, col_starts, width):
    """Return room for the longest list and for the most columns and entries of one that is crossed."""
    longest, widest = 1, 1
    for i in range(len(offsets) - 1):
        size = offsets[i + 1] - offsets[i]
        n_cols = col_starts[i, 1] - col_starts[i, 0]
        longest = max(longest, size)
        widest = max(widest, n_cols * size if width > 0 else n_cols)
    return longest, widest


@compiled
def opened(i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare):
    """Return the columns, starts, local columns and values of one list.

    Crossed with labels, each candidate has the row of its instance in columns of its own: they are written
    to `spare`, four arrays, of which the third counts from 0 on.
    """
    first, last = offsets[i], offsets[i + 1]
    own = cols[col_starts[i, 0] : col_starts[i, 1]]
    k, p = last - first, len(own)
    if width == 0:
        begin = ptr_starts[i]
        return own, ptr[begin : begin + k + 1], local[starts[i, 0] :], values[starts[i, 1] :]
    x = values[starts[i, 1] : starts[i, 1] + p]
    many, begins, count, tiled = spare
    for y in range(k):
        block = labels[first + y] * width
        begins[y] = y * p
        for j in range(p):
            many[y * p + j] = block + own[j]
            tiled[y * p + j] = x[j]
    begins[k] = k * p
    return many[: k * p], begins[: k + 1], count, tiled


@compiled
def spare_room(longest, widest, width, values):
    """Return what `opened` writes to."""
    size = widest if width > 0 else 1
    count = np.arange(size).astype(np.int32)
    return np.empty(size, np.int32), np.empty(longest + 1, np.int64), count, np.empty(size, values.dtype)


@compiled
def online(lists, loss, gold, C, log_linear, floor, etas, safe, steps, enough, order, theta, weights):
    """Visit the lists in an order; return what the dual gained and the steps taken."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    room, wide = np.empty((5, longest)), np.empty((2, widest))
    gained, taken = 0.0, 0
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        eta, gain, n = visit(
            one[0], one[1], one[2], one[3], loss[first:last], gold[i], C, log_linear, floor, etas[i], safe[i],
            steps, enough, theta[first:last], weights, room, wide,
        )  # fmt: skip
        etas[i] = eta
        gained += gain
        taken += n
    return gained, taken


@compiled
def weigh(lists, gold, C, theta, weights):
    """Put ``C sum alpha (phi_gold - phi_y)`` into `weights` (slides, step 3)."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    mass, wide = np.empty(longest), np.empty(widest)
    weights[:] = 0.0
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        for y in range(last - first):
            mass[y] = -np.exp(theta[first + y])
        mass[gold[i]] += 1.0
        spread(one[1], one[2], one[3], mass[: last - first], wide[: len(one[0])])
        for c in range(len(one[0])):
            weights[one[0][c]] += C * wide[c]


@compiled
def spans(lists, out):
    """Put a bound of the squared distance of two candidates' features into `out`, list by list."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    for i in range(len(offsets) - 1):
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        out[i] = 0.0
        for y in range(offsets[i + 1] - offsets[i]):
            square = 0.0
            for at in range(one[1][y], one[1][y + 1]):
                square += np.float64(one[3][at]) * one[3][at]
            out[i] = max(out[i], 4.0 * square)


@compiled
def nablas(lists, loss, gold, log_linear, theta, weights, out):
    """Put the slope of the dual in each alpha, as a share of C, into `out`."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    scores, own = np.empty(longest), np.empty(widest)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        for c in range(len(one[0])):
            own[c] = weights[one[0][c]]
        score(one[1], one[2], one[3], own, scores[: last - first])
        slopes(
            loss[first:last], scores[: last - first], gold[i], theta[first:last], log_linear, out[first:last]
        )


@compiled
def gaps(lists, loss, gold, log_linear, theta, weights):
    """Return the sum of the lists' own gaps (see `own_gap`)."""
    offsets = lists[0]
    nabla, alpha = np.empty(len(theta)), np.exp(theta)
    nablas(lists, loss, gold, log_linear, theta, weights, nabla)
    total = 0.0
    for i in range(len(offsets) - 1):
        own = slice(offsets[i], offsets[i + 1])
        total += own_gap(nabla[own], alpha[own], theta[own], log_linear)
    return total


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    for kind in (np.float32, np.float64):
        lists = (
            np.array([0, 2]), np.zeros(1, np.int32), np.array([[0, 1]]), np.array([0, 1, 1]),
            np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros((1, 2), np.int64), np.ones(1, kind),
            np.zeros(2, np.int64), 0,
        )  # fmt: skip
        loss, gold = np.array([0.0, 1.0]), np.zeros(1, np.int64)
        theta, weights, order = np.log([0.5, 0.5]), np.zeros(1), np.zeros(1, np.int64)
        weigh(lists, gold, 1.0, theta, weights)
        step = 50.0, np.ones(1), np.ones(1), 1, 0.0
        online(lists, loss, gold, 1.0, False, *step, order, theta, weights)
        gaps(lists, loss, gold, False, theta, weights)
        spans(lists, np.empty(1))
