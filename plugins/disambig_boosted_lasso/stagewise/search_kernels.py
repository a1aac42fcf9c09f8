"""Machine code for one feature alone: the sums of its pairs by value, and the step that suits it best.

``f(x) = sum_v sums[v] exp(-x v)`` is ExpLoss over the pairs that the feature separates, after a step x; of
`values` and `sums` the first `n` count. Collins and Koo's W+ and W- are the sums of 1 and -1.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

_ROUNDS = 200
_ENOUGH = 1e-13
_FAR = 700.0
"""Steps at which exp(step * value) has no more room for the largest value."""


@compiled
def gather(index, weight, k, values, sums, ends):
    """Sum the weights of feature k's pairs by value; return how many. in `ends`, where each value ends."""
    n = 0
    at, end = index.ends[k], index.ends[k + 1]
    while at < end:
        code = index.pair_codes[at]
        total = 0.0
        while at < end and index.pair_codes[at] == code:
            total += weight[index.pairs[at]]
            at += 1
        values[n] = index.values[code]
        sums[n] = total
        ends[n] = at
        n += 1
    return n


@compiled
def fall(values, sums, n, step):
    """Return by how much a step lowers ExpLoss."""
    total = 0.0
    for v in range(n):
        total -= sums[v] * np.expm1(-step * values[v])
    return total


@compiled
def slope(values, sums, n, smooth, step):
    """Return the first two derivatives of ``f(x) + smooth (exp(x) + exp(-x))`` at a step."""
    first, second = 0.0, 0.0
    for v in range(n):
        if sums[v] > 0.0:
            part = sums[v] * np.exp(-step * values[v]) * values[v]
            first -= part
            second += part * values[v]
    if smooth > 0.0:
        up, down = smooth * np.exp(step), smooth * np.exp(-step)
        first += up - down
        second += up + down
    return first, second


@compiled
def best_step(values, sums, n, smooth, most):
    """Return the step at which ExpLoss with its smoothing is least, of at most `most` to either side.

    Pseudo-pairs of weight `smooth` on either side give eq. (16), ``1/2 log((C+ + eps Z) / (C- + eps Z))``,
    where all values are 1 and -1; other values have no closed form: Newton's method between bounds.
    """
    plus, minus, largest, units = smooth, smooth, 0.0, True
    for v in range(n):
        largest = max(largest, abs(values[v]))
        if values[v] == 1.0:
            plus += sums[v]
        elif values[v] == -1.0:
            minus += sums[v]
        else:
            units = False
    if units:
        if plus == minus:
            return 0.0
        if minus <= 0.0:
            return most
        if plus <= 0.0:
            return -most
        return max(-most, min(most, 0.5 * np.log(plus / minus)))
    first, second = slope(values, sums, n, smooth, 0.0)
    if first == 0.0:
        return 0.0
    sign = -1.0 if first > 0.0 else 1.0
    limit = min(most, _FAR / largest)
    low, high = 0.0, min(limit, 1.0)  # in the direction of the sign
    while slope(values, sums, n, smooth, sign * high)[0] * sign < 0.0:
        if high >= limit:
            return sign * limit
        low, high = high, min(limit, 2.0 * high)
    x = low
    for _ in range(_ROUNDS):
        first, second = slope(values, sums, n, smooth, sign * x)
        if first == 0.0:
            break
        if first * sign < 0.0:
            low = x
        else:
            high = x
        after = x - sign * first / second if second > 0.0 else low
        if not low < after < high:
            after = 0.5 * (low + high)
        if abs(after - x) <= _ENOUGH * high:
            x = after
            break
        x = after
    return sign * x


@compiled
def promised(sums):
    """Return what the best step of a feature may lower ExpLoss by, at most.

    `sums` are the weights of its pairs of positive values, their sum times the values, and the same of the
    negative ones. By Jensen's inequality no step leaves less than if all values on a side were their mean;
    so this is exact where they are equal, as 1 and -1 are: ``(sqrt(C+) - sqrt(C-))^2``.
    """
    plus, minus = max(sums[0], 0.0), max(sums[2], 0.0)
    if plus == 0.0 or minus == 0.0 or sums[1] <= 0.0 or sums[3] <= 0.0:
        return max(plus, minus)
    if plus == sums[1] and minus == sums[3]:
        return (np.sqrt(plus) - np.sqrt(minus)) ** 2
    up, down = sums[1] / plus, sums[3] / minus
    step = np.log(sums[1] / sums[3]) / (up + down)
    return -plus * np.expm1(-step * up) - minus * np.expm1(step * down)
