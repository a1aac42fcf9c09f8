"""Machine code for confidence-weighted learning under eight masks at once (see `kernels`)."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled, eight_products

from .kernels import LANES


@compiled
def confidence_weighted(indptr, indices, data, targets, passes, phi, means, variances, intercepts):
    """Pass over the rows; the mean and variance of each weight are left in `means` and `variances`.

    Parameters
    ----------
    indptr, indices, data : arrays of uint64, uint32 and float64
        The rows, in the order in which they are passed over.
    targets : array of float64, shape (n,)
        1 or -1.
    phi : float
        The confidence asked, as a quantile of the normal distribution.
    means : array of float64, shape (d, LANES)
    variances : array of float64, shape (d, LANES)
        1, and 0 where a lane lacks a dimension: what has no variance never changes.
    intercepts : array of float64, shape (lanes,)
        Of each lane that is trained, `LANES` at most: the weight of a constant of one, with a variance of
        its own; no mask removes it.
    """
    margins, spreads, squares = np.zeros(LANES), np.zeros(LANES), data * data
    of_intercept = np.ones(LANES)
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            eight_products(indices, data, start, end, means, margins)
            eight_products(indices, squares, start, end, variances, spreads)
            for lane in range(len(intercepts)):
                m = y * (margins[lane] + intercepts[lane])
                v = spreads[lane] + of_intercept[lane]
                if not m < phi * v:
                    continue
                root = np.sqrt((1.0 - 2.0 * phi * m) ** 2 + 8.0 * phi * phi * v)
                step = (root - 1.0 - 2.0 * phi * m) / (4.0 * phi * v)
                shrink = 2.0 * phi * step
                for at in range(start, end):
                    j = indices[at]
                    variance = variances[j, lane]
                    means[j, lane] += step * y * variance * data[at]
                    variances[j, lane] = variance / (1.0 + shrink * squares[at] * variance)
                intercepts[lane] += step * y * of_intercept[lane]
                of_intercept[lane] /= 1.0 + shrink * of_intercept[lane]
