"""Machine code for learning from lists of candidates under eight masks at once (see `kernels`).

Each instance asks one thing: that the best of its right candidates (those that cost nothing) scores above
all others. A step goes from the best of the others, the rival, to it. All kernels take the same examples:
`indptr`, `indices` and `data` (uint64, uint32 and float64) are the rows of all candidates, those of instance
i are ``offsets[i]:offsets[i + 1]``, `cost` is what each costs, `order` the instances in the order of a pass.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled, eight_products

from .kernels import LANES

_SMALLEST_SCALE = 1e-9


@compiled
def score(indptr, indices, data, start, end, weights, scores):
    """Put the scores of the candidates `start` to `end` into `scores`, shape (at least so many, LANES)."""
    for row in range(start, end):
        eight_products(indices, data, indptr[row], indptr[row + 1], weights, scores[row - start])


@compiled
def pair(scores, lane, cost, start, end, scale, margin):
    """Return the best right candidate and the best of the others, costs `margin` times added; -1: none."""
    right, rival = -1, -1
    best = most = -np.inf
    for row in range(start, end):
        value = scores[row - start, lane] * scale
        if cost[row] == 0.0:
            if right < 0 or value > best:
                right, best = row, value
        elif rival < 0 or value + margin * cost[row] > most:
            rival, most = row, value + margin * cost[row]
    return right, rival, best, most


@compiled
def add(indptr, indices, data, row, step, lane, keep, weights):
    """Add a row `step` times to the weights of a lane."""
    for at in range(indptr[row], indptr[row + 1]):
        j = indices[at]
        weights[j, lane] += step * data[at] * keep[j, lane]


@compiled
def differ(indptr, indices, data, right, rival, room):
    """Write one row less another to `room`, shape (d,), which is zero."""
    for at in range(indptr[right], indptr[right + 1]):
        room[indices[at]] += data[at]
    for at in range(indptr[rival], indptr[rival + 1]):
        room[indices[at]] -= data[at]


@compiled
def descend(
    indptr, indices, data, offsets, cost, order, keep, passes, margin, alpha, longest, weights, lanes
):
    """Stochastic gradient descent on ``max(0, rival + margin cost - right)``, of scores, from `weights` on.

    Parameters
    ----------
    keep : array of uint8, shape (d, LANES)
        0 where a lane lacks a dimension.
    margin : float
        0 for the perceptron, 1 for the hinge loss.
    alpha : float
        Weight of the squared norm; the step then falls as ``1 / (alpha (t0 + t))``. 0: steps of one.
    longest : int
        Candidates of the longest list.
    weights : array of float64, shape (d, LANES)
    lanes : int
        How many of them are trained.
    """
    scores = np.zeros((longest, LANES))
    scale, eta, t = 1.0, 1.0, 1.0  # the weights are scale * weights: shrinking them costs one product
    t0 = 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha) if alpha > 0 else 0.0
    for _ in range(passes):
        for i in order:
            start, end = offsets[i], offsets[i + 1]
            score(indptr, indices, data, start, end, weights, scores)
            before = scale
            if alpha > 0:
                eta = 1.0 / (alpha * (t0 + t - 1.0))
                scale *= max(0.0, 1.0 - eta * alpha)
                if scale < _SMALLEST_SCALE:
                    weights *= scale
                    scale = 1.0
            for lane in range(lanes):
                right, rival, best, most = pair(scores, lane, cost, start, end, before, margin)
                if rival >= 0 and most >= best:
                    add(indptr, indices, data, right, eta / scale, lane, keep, weights)
                    add(indptr, indices, data, rival, -eta / scale, lane, keep, weights)
            t += 1.0
    weights *= scale


@compiled
def passive_aggressive(
    indptr, indices, data, offsets, cost, order, keep, passes, most_step, longest, weights, lanes
):
    """PA-I (Crammer et al. 2006): the smallest step that mends the hinge loss, `most_step` at the largest.

    The loss asks for a margin of what the rival costs. See `descend` for the parameters.
    """
    scores, room = np.zeros((longest, LANES)), np.zeros(len(weights))
    for _ in range(passes):
        for i in order:
            start, end = offsets[i], offsets[i + 1]
            score(indptr, indices, data, start, end, weights, scores)
            for lane in range(lanes):
                right, rival, best, most = pair(scores, lane, cost, start, end, 1.0, 1.0)
                if rival < 0 or most <= best:
                    continue
                differ(indptr, indices, data, right, rival, room)
                norm = 0.0
                for row in (right, rival):
                    for at in range(indptr[row], indptr[row + 1]):
                        j = indices[at]
                        norm += room[j] * room[j] * keep[j, lane]
                        room[j] = 0.0
                if norm > 0:
                    step = min(most_step, (most - best) / norm)
                    add(indptr, indices, data, right, step, lane, keep, weights)
                    add(indptr, indices, data, rival, -step, lane, keep, weights)


@compiled
def confidence_weighted(
    indptr, indices, data, offsets, cost, order, passes, phi, longest, means, variances, lanes
):
    """Confidence-weighted learning of ``m . (right - rival) >= phi (right - rival)' S (right - rival)``.

    Parameters
    ----------
    phi : float
        The confidence asked, as a quantile of the normal distribution.
    means : array of float64, shape (d, LANES)
    variances : array of float64, shape (d, LANES)
        1, and 0 where a lane lacks a dimension: what has no variance never changes.
    """
    scores, room = np.zeros((longest, LANES)), np.zeros(len(means))
    for _ in range(passes):
        for i in order:
            start, end = offsets[i], offsets[i + 1]
            score(indptr, indices, data, start, end, means, scores)
            for lane in range(lanes):
                right, rival, best, most = pair(scores, lane, cost, start, end, 1.0, 0.0)
                if rival < 0:
                    continue
                differ(indptr, indices, data, right, rival, room)
                v = 0.0
                for row in (right, rival):
                    for at in range(indptr[row], indptr[row + 1]):
                        j = indices[at]
                        v += room[j] * room[j] * variances[j, lane]
                        room[j] = 0.0
                m = best - most
                if not m < phi * v:
                    continue
                root = np.sqrt((1.0 - 2.0 * phi * m) ** 2 + 8.0 * phi * phi * v)
                step = (root - 1.0 - 2.0 * phi * m) / (4.0 * phi * v)
                shrink = 2.0 * phi * step
                differ(indptr, indices, data, right, rival, room)
                for row in (right, rival):
                    for at in range(indptr[row], indptr[row + 1]):
                        j = indices[at]
                        x, variance = room[j], variances[j, lane]
                        if x != 0.0:
                            means[j, lane] += step * variance * x
                            variances[j, lane] = variance / (1.0 + shrink * x * x * variance)
                        room[j] = 0.0
