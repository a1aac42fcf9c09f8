"""Machine code of the averaged perceptron over lists of candidates."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from disambig.api.kernels import compiled


@compiled
def score(indptr, indices, data, row, weights):
    """Return the score of a row."""
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        total += data[at] * weights[indices[at]]
    return total


@compiled
def add(indptr, indices, data, row, step, fixed, weights):
    """Add a row `step` times to the weights that are not fixed."""
    for at in range(indptr[row], indptr[row + 1]):
        if not fixed[indices[at]]:
            weights[indices[at]] += step * data[at]


@compiled
def one_pass(indptr, indices, data, offsets, cost, reference, order, fixed, weights, late, time):
    """Pass once over the lists (Collins 2002); return the mistakes.

    Where the winner, the first of equals, costs more than the reference, the weights go toward the
    reference. `late` has each change times the lists that were seen before it: after n lists the average is
    ``weights - late / n``. Both change; `time` is how many lists there were before this pass.
    """
    mistakes = 0
    for i in order:
        best, most = offsets[i], score(indptr, indices, data, offsets[i], weights)
        for row in range(offsets[i] + 1, offsets[i + 1]):
            value = score(indptr, indices, data, row, weights)
            if value > most:
                best, most = row, value
        if cost[best] > cost[reference[i]]:
            mistakes += 1
            add(indptr, indices, data, reference[i], 1.0, fixed, weights)
            add(indptr, indices, data, best, -1.0, fixed, weights)
            add(indptr, indices, data, reference[i], time, fixed, late)
            add(indptr, indices, data, best, -time, fixed, late)
        time += 1.0
    return mistakes
