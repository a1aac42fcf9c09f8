"""Inside and outside sums of a small grammar, dense, for Numba: a larger one's charts are pruned by them.

The cell of words i to j is number ``j (j - 1) / 2 + i``. Sums of a cell are relative to its `scale`, a
logarithm, so sentences of any length are borne. Rules are applied to a cell once, not once a split: the
products of what is on the left and on the right are first summed over splits for all pairs of symbols, in
loops that a compiler makes vectors of. Outside sums are in a measure of their own: inside times outside is
the posterior probability.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled

_NEVER = -np.inf


@compiled
def coarse_inside(
    n, starts, symbols, scores, coarse, binary, weights, unary, unary_weights, below, above, scale
):
    """Fill `below` and `above` (cells, C) and `scale` (cells,).

    Words at place i may be ``symbols[starts[i]:starts[i + 1]]`` with log `scores`, as `coarse` symbols, of
    several the likeliest. Rules have weights, not logarithms.
    """
    size = below.shape[1]
    products = np.empty((size, size))
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            cell = j * (j - 1) // 2 + i
            low, high = below[cell], above[cell]
            low[:] = 0.0
            reference = _NEVER
            if i == j - 1:
                for at in range(starts[i], starts[j]):
                    reference = max(reference, scores[at])
                if reference != _NEVER:
                    for at in range(starts[i], starts[j]):
                        symbol = coarse[symbols[at]]
                        low[symbol] = max(low[symbol], np.exp(scores[at] - reference))
            else:
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
            most = low.max() if size else 0.0
            if most == 0.0:
                scale[cell] = _NEVER
                high[:] = 0.0
                continue
            scale[cell] = reference + np.log(most)
            for a in range(size):
                low[a] /= most
                high[a] = low[a]
            for x in range(len(unary)):
                high[unary[x, 0]] += unary_weights[x] * low[unary[x, 1]]


@compiled
def coarse_outside(
    n, root, threshold, binary, weights, unary, unary_weights, below, above, scale, keep_below, keep_above
):
    """Mark what is in the cells with a posterior above `threshold`; return whether there is a parse at all.

    What is not kept bequeaths nothing: posteriors below it are those of parses without it.
    """
    size = below.shape[1]
    n_cells = len(scale)
    keep_below[:] = False
    keep_above[:] = False
    top = n * (n - 1) // 2
    if above[top, root] == 0.0:
        return False
    out_below, out_above = np.empty(size), np.zeros((n_cells, size))
    by_left, by_right = np.empty((size, size)), np.empty((size, size))
    left_used, right_used = np.empty(size, np.bool_), np.empty(size, np.bool_)
    out_above[top, root] = 1.0 / above[top, root]
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


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    rules, weights = np.zeros((1, 3), np.int32), np.ones(1)
    unary = np.zeros((1, 2), np.int32)
    below, above, scale = np.empty((1, 1)), np.empty((1, 1)), np.empty(1)
    words = np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1), np.zeros(1, np.int32)
    coarse_inside(1, *words, rules, weights, unary, weights, below, above, scale)
    kept = np.empty((1, 1), np.bool_), np.empty((1, 1), np.bool_)
    coarse_outside(1, 0, 0.0, rules, weights, unary, weights, below, above, scale, *kept)
