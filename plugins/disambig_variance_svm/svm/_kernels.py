"""Compiled functions for the solvers: passes over examples, and dual coordinate ascent over lists.

`values` has the shape (n, K, A), `weights` (K, A), `gold` (n,) and `alive` (n, K), or (1, 0) if all rows
are alive. The Hessian is represented by each example's largest softmax shares (`kept`, `share`), since at a
low temperature few examples have more than one.

For lists, instance i has the rows ``offsets[i]:offsets[i + 1]`` of `indptr`, `indices` and `data`;
``gold[i]`` is the correct one, and `counts` (n_rows,) marks the rows that enter the maximum of the loss,
including the correct one.
"""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

# mypy: disable-error-code="no-untyped-def, assignment"


_SMALLEST_EXPONENT = -34.0
"""Exponents below this value give a share of zero (2e-15)."""


@compiled
def dot(x, w):
    """Return the inner product of a float32 row and a float64 row, in float64."""
    a = b = c = d = 0.0  # four independent sums, which the processor can add in parallel
    n = len(x)
    whole = n - n % 4
    for i in range(0, whole, 4):
        a += x[i] * w[i]
        b += x[i + 1] * w[i + 1]
        c += x[i + 2] * w[i + 2]
        d += x[i + 3] * w[i + 3]
    for i in range(whole, n):
        a += x[i] * w[i]
    return (a + b) + (c + d)


@compiled
def _exponentials(values, costs, gold, alive, weights, temperature, i, out):
    """Write ``exp((loss - largest loss) / temperature)`` of each row; return the largest loss and their sum.

    The maximum over candidates is smoothed to ``temperature * log sum exp(loss / temperature)``, which
    exceeds it by at most ``temperature * log K``.
    """
    y, masked = gold[i], alive.shape[1] > 0
    gold_score = dot(values[i, y], weights[y])
    top = 0.0
    for r in range(len(out)):
        if r == y:
            out[r] = 0.0
        elif masked and not alive[i, r]:
            out[r] = -np.inf
        else:
            out[r] = costs[i, r] + dot(values[i, r], weights[r]) - gold_score
            top = max(top, out[r])
    total = 0.0
    for r in range(len(out)):
        exponent = (out[r] - top) / temperature
        out[r] = np.exp(exponent) if exponent > _SMALLEST_EXPONENT else 0.0
        total += out[r]
    return top, total


@compiled
def evaluate(values, costs, gold, alive, weights, temperature, least_share, gradient, kept, share):
    """Sum up the loss, smoothed loss, gradient and the shares' cost and entropy; store the largest shares.

    ``kept[i, j]`` is a candidate with the share ``share[i, j]``, which is at least `least_share`; -1 follows
    the last one. An example with only one such share stores none. Returns (loss, smoothed loss, cost,
    entropy).
    """
    n, k, _ = values.shape
    maximum = kept.shape[1]
    shares = np.empty(k)  # the derivatives of the smoothed maximum, times their sum
    sum_loss = sum_soft = sum_cost = sum_entropy = 0.0
    gradient[:] = 0.0
    for i in range(n):
        y = gold[i]
        top, total = _exponentials(values, costs, gold, alive, weights, temperature, i, shares)
        sum_loss += top
        sum_soft += top + temperature * np.log(total)
        count, minimum, moved = 0, 0, 0.0
        for r in range(k):
            p = shares[r] / total
            if p == 0.0:
                continue
            sum_entropy -= p * np.log(p)
            if r != y:
                moved += p
                sum_cost += p * costs[i, r]
                for a in range(values.shape[2]):
                    gradient[r, a] += p * values[i, r, a]
            if p < least_share:
                continue
            # keep the `maximum` largest shares: a larger one takes the place of the smallest
            if count < maximum:
                kept[i, count], share[i, count] = r, p
                count += 1
                if count == maximum:
                    minimum = np.argmin(share[i])
            elif p > share[i, minimum]:
                kept[i, minimum], share[i, minimum] = r, p
                minimum = np.argmin(share[i])
        if moved > 0.0:  # what the other candidates have, the right one lacks
            for a in range(values.shape[2]):
                gradient[y, a] -= moved * values[i, y, a]
        # with a single share the covariance, and so this example's Hessian, is zero
        if count <= 1:
            count = 0
        if count < maximum:
            kept[i, count] = -1
    return sum_loss, sum_soft, sum_cost, sum_entropy


@compiled
def smoothed(values, costs, gold, alive, weights, temperature):
    """Return the sums of the examples' losses and of their smoothed losses."""
    n, k, _ = values.shape
    shares = np.empty(k)
    sum_loss = sum_soft = 0.0
    for i in range(n):
        top, total = _exponentials(values, costs, gold, alive, weights, temperature, i, shares)
        sum_loss += top
        sum_soft += top + temperature * np.log(total)
    return sum_loss, sum_soft


@compiled
def _kept_shares(kept, share, i):
    """Return how many shares of an example are kept, and their sum."""
    count, total = 0, 0.0
    while count < kept.shape[1] and kept[i, count] >= 0:
        total += share[i, count]
        count += 1
    return count, total


@compiled
def hessian(values, kept, share, full):
    """Sum up the covariance of the features under the kept shares in `full`, shape (K, A, K, A).

    Only the blocks of candidates r <= s are written.
    """
    n, _, width = values.shape
    x = np.empty((kept.shape[1], width))
    full[:] = 0.0
    for i in range(n):
        count, total = _kept_shares(kept, share, i)
        for j in range(count):
            for a in range(width):
                x[j, a] = values[i, kept[i, j], a]
        for j in range(count):
            r, p = kept[i, j], share[i, j] / total
            for a in range(width):
                scaled = (p - p * p) * x[j, a]  # Hessian of log-sum-exp: diag(p) - p p'
                for b in range(width):
                    full[r, a, r, b] += scaled * x[j, b]
            for m in range(count):
                s, q = kept[i, m], share[i, m] / total
                if s <= r:
                    continue
                for a in range(width):
                    scaled = -p * q * x[j, a]
                    for b in range(width):
                        full[r, a, s, b] += scaled * x[m, b]


@compiled
def product(values, costs, cost_weight, kept, share, direction, out):
    """Tilt the kept shares: ``change = share (z - mean z)`` with ``z = cost_weight * cost + direction . x``.

    `out`, shape (K, A), receives the sum of the features times these changes, their covariance with z.
    Returns the sum of the costs times the changes, and the lowest change relative to a share.
    """
    z = np.empty(kept.shape[1])
    out[:] = 0.0
    sum_cost = lowest = 0.0
    for i in range(len(values)):
        count, total = _kept_shares(kept, share, i)
        mean = 0.0
        for j in range(count):
            r = kept[i, j]
            z[j] = cost_weight * costs[i, r] + dot(values[i, r], direction[r])
            mean += share[i, j] * z[j]
        for j in range(count):
            relative = (z[j] - mean / total) / total
            lowest = min(lowest, relative)
            change = share[i, j] * relative
            r = kept[i, j]
            sum_cost += change * costs[i, r]
            for a in range(values.shape[2]):
                out[r, a] += change * values[i, r, a]
    return sum_cost, lowest


@compiled
def diagonal(values, kept, share, out):
    """Sum up the variance of each single attribute in `out`, shape (K, A)."""
    out[:] = 0.0
    for i in range(len(values)):
        count, total = _kept_shares(kept, share, i)
        for j in range(count):
            p, r = share[i, j] / total, kept[i, j]
            for a in range(values.shape[2]):
                out[r, a] += (p - p * p) * values[i, r, a] * values[i, r, a]


@compiled
def extreme(values, costs, gold, alive, direction, rounding, gradient):
    """Give each example's whole mass to the row that pushes most along `direction`; return the total cost.

    Pushes below `rounding` times the largest push of either sign count as zero.
    """
    n, k, width = values.shape
    masked = alive.shape[1] > 0
    cost = largest = 0.0
    for i in range(n):
        gold_score = dot(values[i, gold[i]], direction[gold[i]])
        for r in range(k):
            if r != gold[i] and not (masked and not alive[i, r]):
                largest = max(largest, abs(dot(values[i, r], direction[r]) - gold_score))
    gradient[:] = 0.0
    for i in range(n):
        y = gold[i]
        best, maximum = y, rounding * largest
        gold_score = dot(values[i, y], direction[y])
        for r in range(k):
            if r != y and not (masked and not alive[i, r]):
                push = dot(values[i, r], direction[r]) - gold_score
                if push > maximum:
                    best, maximum = r, push
        if best != y:
            cost += costs[i, best]
            for a in range(width):
                gradient[best, a] += values[i, best, a]
                gradient[y, a] -= values[i, y, a]
    return cost


# ---- lists of sparse rows


@compiled
def row_product(indptr, indices, data, row, weights):
    """Return the product of a sparse row and the weights."""
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        total += data[at] * weights[indices[at]]
    return total


@compiled
def row_distance(indptr, indices, data, first, second, workspace):
    """Return the squared distance of two sparse rows; `workspace` (d,) is zero before and after."""
    for at in range(indptr[first], indptr[first + 1]):
        workspace[indices[at]] += data[at]
    for at in range(indptr[second], indptr[second + 1]):
        workspace[indices[at]] -= data[at]
    total = 0.0
    for row in (first, second):
        for at in range(indptr[row], indptr[row + 1]):
            total += workspace[indices[at]] * workspace[indices[at]]
            workspace[indices[at]] = 0.0
    return total


@compiled
def add_row(indptr, indices, data, row, step, weights):
    """Add `step` times a sparse row to the weights."""
    for at in range(indptr[row], indptr[row + 1]):
        weights[indices[at]] += step * data[at]


@compiled
def ascend_lists(
    indptr, indices, data, offsets, cost, counts, order, active, steps, minimum, weights, alpha, workspace,
    values,
):  # fmt: skip
    """Make one pass over the active instances and return the largest violation.

    The dual has a mass `alpha` (n_rows,) on each row, which sums to C for each instance, and ``weights`` are
    ``sum_i sum_r alpha_ir (x_gold - x_r)``. Mass moves to the row with the largest loss from the row with the
    smallest loss among those that have mass, as far as this improves the dual: at most `steps` times per
    visit, and only if the losses differ by at least `minimum`. Instances without such a pair become inactive.
    `values` is work space for the longest list.
    """
    worst = 0.0
    for i in order:
        if not active[i]:
            continue
        start, end = offsets[i], offsets[i + 1]
        for step in range(steps):
            up, down = -1, -1
            for row in range(start, end):
                if not counts[row]:
                    continue
                value = cost[row] + row_product(indptr, indices, data, row, weights)
                values[row - start] = value
                if up < 0 or value > values[up - start]:
                    up = row
                if alpha[row] > 0.0 and (down < 0 or value < values[down - start]):
                    down = row
            gain = values[up - start] - values[down - start]
            if step == 0:
                worst = max(worst, gain)
                if gain < minimum:
                    active[i] = False
            if gain < minimum:
                break
            # along this pair the dual is a parabola with slope `gain` and curvature `norm`; alpha stays >= 0
            norm = row_distance(indptr, indices, data, up, down, workspace)
            amount = alpha[down]
            if norm > 0.0:
                amount = min(amount, gain / norm)
            alpha[up] += amount
            alpha[down] -= amount
            add_row(indptr, indices, data, down, amount, weights)
            add_row(indptr, indices, data, up, -amount, weights)
    return worst


@compiled
def list_losses(indptr, indices, data, offsets, cost, counts, gold, weights):
    """Return the sum over instances of how far the worst row, with its cost, is above the correct one."""
    total = 0.0
    for i in range(len(offsets) - 1):
        maximum = gold_score = row_product(indptr, indices, data, gold[i], weights)
        for row in range(offsets[i], offsets[i + 1]):
            if counts[row] and row != gold[i]:
                maximum = max(maximum, cost[row] + row_product(indptr, indices, data, row, weights))
        total += maximum - gold_score
    return total


def sample() -> None:
    """Run one function on tiny input, so that `disambig doctor --compile` compiles it."""
    values = np.ones((1, 2, 1), np.float32)
    diagonal(values, np.zeros((1, 1), np.int32), np.ones((1, 1)), np.empty((2, 1)))
