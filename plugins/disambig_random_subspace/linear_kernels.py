"""Machine code for training a linear model under several masks at once: eight of them, side by side.

Weights lie as (dimensions, `LANES`), so that each number of a row is read once for all masks and the
matrix is never copied. The steps of each lane are those of scikit-learn's stochastic gradient descent on a
copy of the rows with the removed dimensions set to zero, in the same order: the weights are the same.
"""

from __future__ import annotations

import numpy as np

from disambig.api import compiled, eight_products

LANES = 8
"""As `eight_products` has."""
INTERCEPT_STEP = 0.01
"""Share of a step that the intercept takes: scikit-learn's for sparse rows."""
_SMALLEST_SCALE = 1e-9


@compiled
def add(indices, data, start, end, weights, keep, lane, step):  # type: ignore[no-untyped-def]
    """Add a row to the weights of a lane, `step` times, but where a dimension is removed."""
    for at in range(start, end):
        j = indices[at]
        weights[j, lane] += data[at] * step * keep[j, lane]


@compiled
def add_lanes(total, weights, lanes):  # type: ignore[no-untyped-def]
    """Add the sum of the first `lanes` to `total`, in one order: the same bits everywhere."""
    for j in range(len(total)):
        of_lanes = 0.0
        for lane in range(lanes):
            of_lanes += weights[j, lane]
        total[j] += of_lanes


@compiled
def square_norm(indices, data, start, end, keep, lane):  # type: ignore[no-untyped-def]
    """Return the squared norm of a row under the mask of a lane."""
    norm = 0.0
    for at in range(start, end):
        norm += data[at] * data[at] * keep[indices[at], lane]
    return norm


@compiled
def descend(indptr, indices, data, targets, keep, passes, threshold, alpha, weights, intercepts):  # type: ignore[no-untyped-def]
    """Stochastic gradient descent on the loss ``max(0, threshold - y (w . x + b))``, from `weights` on.

    Parameters
    ----------
    indptr, indices, data : arrays of uint64, uint32 and float64
        The rows, in the order in which they are passed over.
    targets : array of float64, shape (n,)
        1 or -1.
    keep : array of uint8, shape (d, LANES)
        0 where a lane lacks a dimension.
    threshold : float
        0 for the perceptron, 1 for the hinge loss.
    alpha : float
        Weight of the squared norm; the step then falls as ``1 / (alpha (t0 + t))``. 0: steps of one.
    weights : array of float64, shape (d, LANES)
    intercepts : array of float64, shape (lanes,)
        One for each lane that is trained, `LANES` at most.
    """
    sums = np.zeros(LANES)
    scale, eta, t = 1.0, 1.0, 1.0  # the weights are scale * weights: shrinking them costs one product
    t0 = 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha) if alpha > 0 else 0.0
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            eight_products(indices, data, start, end, weights, sums)
            before = scale
            if alpha > 0:
                eta = 1.0 / (alpha * (t0 + t - 1.0))
                scale *= max(0.0, 1.0 - eta * alpha)
                if scale < _SMALLEST_SCALE:
                    weights *= scale
                    scale = 1.0
            step = eta * y
            for lane in range(len(intercepts)):
                if y * (sums[lane] * before + intercepts[lane]) <= threshold:
                    add(indices, data, start, end, weights, keep, lane, step / scale)
                    intercepts[lane] += step * INTERCEPT_STEP
            t += 1.0
    weights *= scale


@compiled
def passive_aggressive(indptr, indices, data, targets, keep, passes, most, weights, intercepts):  # type: ignore[no-untyped-def]
    """PA-I (Crammer et al. 2006): the smallest step that mends the hinge loss, `most` at the largest.

    See `descend` for the parameters. Rows that a mask leaves empty are passed by.
    """
    sums = np.zeros(LANES)
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            eight_products(indices, data, start, end, weights, sums)
            for lane in range(len(intercepts)):
                loss = 1.0 - y * (sums[lane] + intercepts[lane])
                if not loss > 0:
                    continue
                norm = square_norm(indices, data, start, end, keep, lane)
                if norm > 0:
                    step = min(most, loss / norm) * y
                    add(indices, data, start, end, weights, keep, lane, step)
                    intercepts[lane] += step * INTERCEPT_STEP
