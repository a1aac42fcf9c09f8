"""Machine code that follows the winners of lists along a path of weights."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled


@compiled
def winner(scores, start, end):
    """Return the row of the greatest score between two rows, the first of equals."""
    best = start
    for row in range(start + 1, end):
        if scores[row] > scores[best]:
            best = row
    return best


@compiled
def follow(indptr, rows, data, list_of, offsets, cost, columns, steps, scores, winners, total, totals):
    """Write what the winners cost after each step to `totals`; return the last sum.

    Parameters
    ----------
    indptr, rows, data : arrays
        The matrix of the lists, by columns; the rows of a column are in order.
    list_of : array of int64, shape (n_rows,)
    columns, steps : arrays, shape (n_steps,)
        The column whose weight moves, and by how much.
    scores : array of float64, shape (n_rows,)
        As they are before the steps; changed, as are `winners`, shape (n,).
    total : float
        What the winners cost before the steps.
    """
    for t in range(len(columns)):
        at, end = indptr[columns[t]], indptr[columns[t] + 1]
        while at < end:
            i = list_of[rows[at]]
            stop = offsets[i + 1]
            while at < end and rows[at] < stop:
                scores[rows[at]] += steps[t] * data[at]
                at += 1
            best = winner(scores, offsets[i], stop)
            if best != winners[i]:
                total += cost[best] - cost[winners[i]]
                winners[i] = best
        totals[t] = total
    return total


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    one, zero = np.zeros(1), np.zeros(1, np.int64)
    bounds = np.array([0, 1])
    follow(bounds, zero, one, zero, bounds, one, zero, one, one.copy(), zero.copy(), 0.0, one.copy())
