"""Sums over the labellings of a chain whose steps share one table, in products instead of logarithms.

One exponential a place and label and one a pair of labels do, where `chain_kernels.sums` takes one for each
pair at each place. Where products leave the range of floating point, that is asked instead.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.decode.chain_kernels import sums

_LEAST = 1e-280


@compiled
def shared_sums(place, step, shares, pairs):
    """Return the log partition; put the marginals of labels and the sums of those of pairs in place.

    Parameters
    ----------
    place : array of float64, shape (L, K)
        Scores of labels at places.
    step : array of float64, shape (K, K)
        Scores of (label before, label).
    shares : array of float64, shape (L, K)
    pairs : array of float64, shape (K, K)
        Expected number of steps from one label to another.
    """
    n, k = place.shape
    highest = step.max()
    table = np.exp(step - highest)
    turned = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            turned[b, a] = table[a, b]
    forward, own, backward = np.zeros((n, k)), np.empty((n, k)), np.ones(k)
    after, ahead = np.empty(k), np.empty(k)
    log_partition = highest * (n - 1)
    sound = True
    for t in range(n):
        most = place[t].max()
        row = forward[t]
        if t:
            for a in range(k):
                x = forward[t - 1, a]
                for b in range(k):
                    row[b] += x * table[a, b]
        else:
            row[:] = 1.0
        total = 0.0
        for b in range(k):
            own[t, b] = np.exp(place[t, b] - most)
            row[b] *= own[t, b]
            total += row[b]
        if not total > _LEAST:
            sound = False
            break
        log_partition += most + np.log(total)
        for b in range(k):
            row[b] /= total
    pairs[:] = 0.0
    for t in range(n - 1, -1, -1):
        if not sound:
            break
        total = 0.0
        for b in range(k):
            shares[t, b] = forward[t, b] * backward[b]
            total += shares[t, b]
        if not total > _LEAST:
            sound = False
            break
        for b in range(k):
            shares[t, b] /= total
        if t == 0:
            break
        for b in range(k):
            ahead[b] = own[t, b] * backward[b]
            after[b] = 0.0
        for b in range(k):
            x = ahead[b]
            for a in range(k):
                after[a] += x * turned[b, a]
        total, most = 0.0, 0.0
        for a in range(k):
            total += forward[t - 1, a] * after[a]
            most = max(most, after[a])
        if not total > _LEAST:
            sound = False
            break
        for a in range(k):
            x = forward[t - 1, a] / total
            for b in range(k):
                pairs[a, b] += x * ahead[b]
            backward[a] = after[a] / most
    if sound:
        for a in range(k):
            for b in range(k):
                pairs[a, b] *= table[a, b]
        return log_partition
    each = np.empty((max(n - 1, 1), k, k))
    log_partition = sums(place, step.copy().reshape(1, k, k), shares, each)
    pairs[:] = 0.0
    for t in range(n - 1):
        for a in range(k):
            for b in range(k):
                pairs[a, b] += each[t, a, b]
    return log_partition


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    shared_sums(np.zeros((2, 2)), np.zeros((2, 2)), np.empty((2, 2)), np.empty((2, 2)))
