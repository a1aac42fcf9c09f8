"""Machine code for learning without each of some folds at once: eight models, side by side.

As in `kernels`, where the models differ in the dimensions that they have; here they differ in their examples.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import add_eight, compiled, eight_products

from .kernels import INTERCEPT_STEP, LANES

_SMALLEST_SCALE = 1e-9


@compiled
def descend_without(
    indptr, indices, data, targets, folds, left_out, passes, threshold, alpha, weights, intercepts, keep
):
    """Stochastic gradient descent as `kernels.descend`, each lane passing by the rows of one fold.

    Parameters
    ----------
    folds : array of int64, shape (n,)
        The fold of each row.
    left_out : array of int64, shape (lanes,)
        The fold that each lane does without; -1 for none. `LANES` at most.
    intercepts : array of float64, shape (lanes,)
    keep : array of uint8, shape (d, LANES)
        Ones.
    """
    lanes = len(left_out)
    sums, steps, scales, t = np.zeros(LANES), np.zeros(LANES), np.ones(LANES), np.ones(LANES)
    t0 = 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha)
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            eight_products(indices, data, start, end, weights, sums)
            wrong = False
            for lane in range(lanes):
                steps[lane] = 0.0
                if left_out[lane] == folds[i]:
                    continue
                eta = 1.0 / (alpha * (t0 + t[lane] - 1.0))
                before = scales[lane]
                scales[lane] *= max(0.0, 1.0 - eta * alpha)
                if scales[lane] < _SMALLEST_SCALE:
                    weights[:, lane] *= scales[lane]
                    scales[lane] = 1.0
                if y * (sums[lane] * before + intercepts[lane]) <= threshold:
                    steps[lane] = eta * y / scales[lane]
                    intercepts[lane] += eta * y * INTERCEPT_STEP
                    wrong = True
                t[lane] += 1.0
            if wrong:
                add_eight(indices, data, start, end, weights, steps, keep)
    for lane in range(lanes):
        weights[:, lane] *= scales[lane]


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    row = np.array([0, 1], np.uint64), np.zeros(1, np.uint32), np.ones(1)
    keep, fold = np.ones((1, LANES), np.uint8), np.zeros(1, np.int64)
    descend_without(*row, np.ones(1), fold, fold - 1, 1, 1.0, 1e-4, np.zeros(keep.shape), np.zeros(1), keep)
