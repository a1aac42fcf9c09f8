"""Machine code for confidence-weighted learning under eight masks at once (see `linear_kernels`)."""

from __future__ import annotations

import numpy as np

from disambig.api import compiled

from .linear_kernels import LANES, products


@compiled
def square_products(indices, data, start, end, weights, sums):  # type: ignore[no-untyped-def]
    """Write the product of a row's squares with the variances of each lane to `sums`."""
    a = b = c = d = e = f = g = h = 0.0
    for at in range(start, end):
        square, j = data[at] * data[at], indices[at]
        a += weights[j, 0] * square
        b += weights[j, 1] * square
        c += weights[j, 2] * square
        d += weights[j, 3] * square
        e += weights[j, 4] * square
        f += weights[j, 5] * square
        g += weights[j, 6] * square
        h += weights[j, 7] * square
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = a, b, c, d, e, f, g, h


@compiled
def confidence_weighted(indptr, indices, data, targets, passes, phi, means, variances, intercepts):  # type: ignore[no-untyped-def]
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
    intercepts : array of float64, shape (LANES,)
        The weight of a constant of one, with a variance of its own; no mask removes it.
    """
    margins, spreads, steps = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    of_intercept = np.ones(LANES)
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            products(indices, data, start, end, means, margins)
            square_products(indices, data, start, end, variances, spreads)
            wrong = False
            for lane in range(LANES):
                steps[lane] = 0.0
                m = y * (margins[lane] + intercepts[lane])
                v = spreads[lane] + of_intercept[lane]
                if m < phi * v:  # eq. (9), its root in a form that is never negative
                    root = np.sqrt((1.0 - 2.0 * phi * m) ** 2 + 8.0 * phi * phi * v)
                    steps[lane] = (root - 1.0 - 2.0 * phi * m) / (4.0 * phi * v)
                    intercepts[lane] += steps[lane] * y * of_intercept[lane]
                    of_intercept[lane] /= 1.0 + 2.0 * steps[lane] * phi * of_intercept[lane]
                    wrong = True
            if not wrong:
                continue
            for at in range(start, end):
                x, j = data[at], indices[at]
                for lane in range(LANES):
                    variance = variances[j, lane]
                    means[j, lane] += steps[lane] * y * variance * x
                    variances[j, lane] = variance / (1.0 + 2.0 * steps[lane] * phi * x * x * variance)
