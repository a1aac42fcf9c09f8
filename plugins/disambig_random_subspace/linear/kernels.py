"""Machine code for training a linear model under several masks at once: eight of them, side by side.

Weights lie as (dimensions, `LANES`), so that each number of a row is read once for all masks and the
matrix is never copied. The steps of each lane are those of scikit-learn's stochastic gradient descent on a
copy of the rows with the removed dimensions set to zero, in the same order: the weights are the same.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import add_eight, compiled, eight_products

LANES = 8
"""As `eight_products` has."""
INTERCEPT_STEP = 0.01
"""Share of a step that the intercept takes: scikit-learn's for sparse rows."""
_SMALLEST_SCALE = 1e-9


@compiled
def add_lanes(total, weights, lanes):
    """Add the sum of the first `lanes` to `total`, in one order: the same bits everywhere."""
    for j in range(len(total)):
        of_lanes = 0.0
        for lane in range(lanes):
            of_lanes += weights[j, lane]
        total[j] += of_lanes


@compiled
def descend(indptr, indices, data, targets, keep, passes, threshold, alpha, weights, intercepts):
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
    sums, steps = np.zeros(LANES), np.zeros(LANES)
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
            step, wrong = eta * y, False
            for lane in range(len(intercepts)):
                steps[lane] = 0.0
                if y * (sums[lane] * before + intercepts[lane]) <= threshold:
                    steps[lane] = step / scale
                    intercepts[lane] += step * INTERCEPT_STEP
                    wrong = True
            if wrong:
                add_eight(indices, data, start, end, weights, steps, keep)
            t += 1.0
    weights *= scale


@compiled
def passive_aggressive(indptr, indices, data, targets, keep, passes, most, weights, intercepts):
    """PA-I (Crammer et al. 2006): the smallest step that mends the hinge loss, `most` at the largest.

    See `descend` for the parameters. Rows that a mask leaves empty are passed by.
    """
    sums, norms, steps, squares = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), data * data
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            eight_products(indices, data, start, end, weights, sums)
            wrong = False
            for lane in range(len(intercepts)):
                wrong = wrong or y * (sums[lane] + intercepts[lane]) < 1.0
            if not wrong:
                continue
            eight_products(indices, squares, start, end, keep, norms)
            for lane in range(len(intercepts)):
                steps[lane] = 0.0
                loss = 1.0 - y * (sums[lane] + intercepts[lane])
                if loss > 0 and norms[lane] > 0:
                    steps[lane] = min(most, loss / norms[lane]) * y
                    intercepts[lane] += steps[lane] * INTERCEPT_STEP
            add_eight(indices, data, start, end, weights, steps, keep)


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    row = np.array([0, 1], np.uint64), np.zeros(1, np.uint32), np.ones(1)
    keep = np.ones((1, LANES), np.uint8)
    passive_aggressive(*row, np.ones(1), keep, 1, 1.0, np.zeros(keep.shape), np.zeros(LANES))
