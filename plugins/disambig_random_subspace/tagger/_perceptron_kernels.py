"""Compiled passes of the structured perceptron over sequences."""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import best_path, compiled


@compiled
def perceptron_passes(indptr, indices, values, gold, starts, order, keep, passes, weights, late, first, step):
    """Train an averaged structured perceptron on the features of one mask.

    The averaged weights are written into `late`, `first` and `step`.

    The examples are the rows of a sparse matrix (`indptr`, `indices`, `values`), the right label of each row,
    sequences ``starts[i]:starts[i + 1]``, and their order. `keep` (D,) is the mask. `weights` (D, K) and
    `late` (D, K) are initially zero; `first` (2, K) and `step` (2, K, K) hold the weights of label pairs and,
    second, work space. Returns the number of wrong labels in the last pass.

    Collins (2002): the average of the weights after each sequence. A weight that is changed by x at time
    c adds c * x to `late`; the average after C sequences is weights - late / C.
    """
    k = weights.shape[1]
    longest = 1
    for i in range(len(starts) - 1):
        longest = max(longest, starts[i + 1] - starts[i])
    place = np.empty((longest, k), np.float32)
    total = np.empty((2, k), np.float32)
    back = np.empty((longest, k), np.int32)
    path = np.empty(longest, np.int64)
    table = np.zeros((1, k, k), np.float32)
    time, mistakes = 0, 0
    for _ in range(passes):
        mistakes = 0
        for s in order:
            # the best sequence of labels by the weights so far
            begin, n = starts[s], starts[s + 1] - starts[s]
            for t in range(n):
                row = place[t]
                for b in range(k):
                    row[b] = first[0, b] if t == 0 else 0.0
                for j in range(indptr[begin + t], indptr[begin + t + 1]):
                    if keep[indices[j]]:
                        row_weights, x = weights[indices[j]], values[j]
                        for b in range(k):
                            row[b] += x * row_weights[b]
            best_path(place[:n], table, total, back, path)
            # the weights of what is right grow by one, those of what was chosen fall by one
            for t in range(n):
                right, chosen = gold[begin + t], path[t]
                if right != chosen:
                    mistakes += 1
                    for j in range(indptr[begin + t], indptr[begin + t + 1]):
                        f, x = indices[j], values[j]
                        if keep[f]:
                            weights[f, right] += x
                            weights[f, chosen] -= x
                            late[f, right] += time * x
                            late[f, chosen] -= time * x
                if t == 0:
                    if right != chosen:
                        first[0, right] += 1
                        first[0, chosen] -= 1
                        first[1, right] += time
                        first[1, chosen] -= time
                # a pair of labels is wrong if either label is; equal updates would cancel
                elif right != chosen or gold[begin + t - 1] != path[t - 1]:
                    table[0, gold[begin + t - 1], right] += 1
                    table[0, path[t - 1], chosen] -= 1
                    step[1, gold[begin + t - 1], right] += time
                    step[1, path[t - 1], chosen] -= time
            time += 1
    for f in range(len(weights)):
        for b in range(k):
            late[f, b] = weights[f, b] - late[f, b] / time
    for b in range(k):
        first[0, b] -= first[1, b] / time
        for a in range(k):
            step[0, a, b] = table[0, a, b] - step[1, a, b] / time
    return mistakes
