"""Compiled exponentiated gradient on lists: visits, passes over all lists, removal of shared features."""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_NEVER = -np.inf
_HARDLY = 1e-9
"""A change of alpha, summed over candidates, that is too small to determine the next step length."""


@compiled
def normalise(theta, alpha):
    """Normalise the logarithms `theta`, and write the probabilities into `alpha`."""
    # the largest exponent is subtracted, so that exp neither overflows nor makes all of them zero
    most = _NEVER
    for y in range(len(theta)):
        most = max(most, theta[y])
    total = 0.0
    for y in range(len(theta)):
        alpha[y] = np.exp(theta[y] - most)
        total += alpha[y]
    shift = most + np.log(total)
    for y in range(len(theta)):
        theta[y] -= shift
        alpha[y] /= total


@compiled
def score(ptr, local, values, weights, out):
    """Write the score of each candidate into `out`, using the weights of the list's columns."""
    for y in range(len(out)):
        total = 0.0
        for at in range(ptr[y], ptr[y + 1]):
            total += values[at] * weights[local[at]]
        out[y] = total


@compiled
def spread(ptr, local, values, mass, out):
    """Write the sum of the candidates' features, weighted by `mass`, into `out`; return its squared norm."""
    for c in range(len(out)):
        out[c] = 0.0
    for y in range(len(mass)):
        m = mass[y]
        if m != 0.0:
            for at in range(ptr[y], ptr[y + 1]):
                out[local[at]] += m * values[at]
    total = 0.0
    for c in range(len(out)):
        total += out[c] * out[c]
    return total


@compiled
def slopes(loss, scores, gold, theta, log_linear, out):
    """Write nabla into `out`: L - M (slides), or -log alpha - M for the log-linear dual (JMLR 2008)."""
    for y in range(len(out)):
        if loss[y] < 0.0:
            out[y] = 0.0
        elif log_linear:
            out[y] = scores[y] - scores[gold] - theta[y]
        else:
            out[y] = loss[y] + scores[y] - scores[gold]


@compiled
def own_gap(nabla, alpha, theta, log_linear):
    """Return the list's contribution to the gap between primal and dual, as a share of C."""
    mean, most = 0.0, _NEVER
    for y in range(len(alpha)):
        mean += alpha[y] * nabla[y]
        if theta[y] > _NEVER:
            most = max(most, nabla[y] + theta[y] if log_linear else nabla[y])
    if not log_linear:
        return most - mean
    total = 0.0  # log sum exp(-M) minus (H(alpha) - alpha M), with -M = nabla + theta
    for y in range(len(alpha)):
        if theta[y] > _NEVER:
            total += np.exp(nabla[y] + theta[y] - most)
    return most + np.log(total) - mean


@compiled
def moved(theta, nabla, eta, floor, out):
    """Write ``theta + eta nabla`` into `out`, bounded below; the caller normalises it."""
    most = _NEVER
    for y in range(len(theta)):
        out[y] = theta[y] + eta * nabla[y] if theta[y] > _NEVER else _NEVER
        most = max(most, out[y])
    # An alpha that underflows to zero could never grow again, because steps multiply.
    for y in range(len(theta)):
        if theta[y] > _NEVER:
            out[y] = max(out[y], most - floor)


@compiled
def next_eta(eta, linear, bend, far, log_linear):
    """Return the eta for the next step, after one that gained ``linear - bend``.

    On the line from alpha to the end of the step, the dual is the parabola ``t linear - t^2 bend`` with its
    maximum at ``t = linear / (2 bend)``: the next step is scaled by this, within a factor of two. If alpha
    hardly changed, by `far` in all, eta is increased.
    """
    if bend > 0.0 and far > _HARDLY:
        eta *= min(2.0, max(0.5, 0.5 * linear / bend))
    else:
        eta *= 2.0
    # at 1 the old theta of the log-linear dual has no influence; a longer step would reverse it
    return min(eta, 1.0) if log_linear else eta


@compiled
def visit(
    cols, ptr, local, values, loss, gold, C, log_linear, floor, eta, safe, steps, enough, theta, weights,
    workspace, wide,
):  # fmt: skip
    """Take up to `steps` steps on one list; return eta, the gain of the dual, and the number of steps.

    Each step is ``theta <- theta + eta nabla``. It raises the dual by ``C delta . nabla - 1/2 |dW|^2``, where
    delta is the change of alpha (plus the second-order part of the entropy for the log-linear dual): eta is
    halved until this is not a loss, and the next eta follows the best step along delta,
    ``t = C delta . nabla / |dW|^2``, within a factor of two.

    Parameters
    ----------
    safe : float
        An eta for which the dual never falls except by rounding: it is not halved further.
    steps : int
    enough : float
        The list's gap below which it is skipped.
    theta : array of float64, shape (K,)
        Logarithms of alpha; changed.
    weights : array of float64, shape (n_columns,)
        W; changed.
    workspace : array of float64, shape (5, at least K)
    wide : array of float64, shape (2, at least the list's columns)
    """
    k, m = len(theta), len(cols)
    alpha, other, then = workspace[0, :k], workspace[1, :k], workspace[2, :k]
    scores, nabla = workspace[3, :k], workspace[4, :k]
    own, change = wide[0, :m], wide[1, :m]
    # The list's weights are gathered once: the steps then read a small array instead of all over memory.
    for c in range(m):
        own[c] = weights[cols[c]]
    for y in range(k):
        alpha[y] = np.exp(theta[y])
    gained, taken = 0.0, 0
    for _ in range(steps):
        score(ptr, local, values, own, scores)
        slopes(loss, scores, gold, theta, log_linear, nabla)
        if own_gap(nabla, alpha, theta, log_linear) <= enough:
            break
        least, most = 0.0, 0.0
        for y in range(k):
            least, most = min(least, nabla[y]), max(most, nabla[y])
        if not log_linear:
            eta = min(eta, 2.0 * floor / (most - least))  # a longer step has the same result
        accepted = False
        while True:
            moved(theta, nabla, eta, floor, then)
            normalise(then, other)
            linear, bent, far = 0.0, 0.0, 0.0
            for y in range(k):
                delta = other[y] - alpha[y]
                linear += delta * nabla[y]
                far += abs(delta)
                if log_linear and other[y] > 0.0:
                    # KL divergence: the entropy falls below its tangent
                    bent += other[y] * (then[y] - theta[y])
                alpha[y] = -delta  # the change of W is C sum (-delta) phi; alpha is restored below
            square = spread(ptr, local, values, alpha, change)
            for y in range(k):
                alpha[y] = np.exp(theta[y])
            linear *= C
            loss_of_bend = C * bent + 0.5 * C * C * square
            gain = linear - loss_of_bend
            if gain >= 0.0:
                accepted = True
                break
            if eta <= safe:  # the remaining gain is below rounding error
                break
            eta = max(0.5 * eta, safe)
        if not accepted:
            break
        taken += 1
        gained += gain
        for c in range(m):
            own[c] += C * change[c]
        for y in range(k):
            theta[y] = then[y]
            alpha[y] = other[y]
        eta = next_eta(eta, linear, loss_of_bend, far, log_linear)
    if taken:
        for c in range(m):
            weights[cols[c]] = own[c]
    return eta, gained, taken


# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def rooms(offsets, col_starts, width):
    """Return work space for the longest list and for the most columns and entries of a crossed list."""
    longest, widest = 1, 1
    for i in range(len(offsets) - 1):
        size = offsets[i + 1] - offsets[i]
        n_cols = col_starts[i, 1] - col_starts[i, 0]
        longest = max(longest, size)
        widest = max(widest, n_cols * size if width > 0 else n_cols)
    return longest, widest


@compiled
def opened(i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare):
    """Return the columns, starts, local columns and values of one list.

    If the list is crossed with labels, each candidate has the row of its instance in its own columns: they
    are written to `spare`, four arrays, the third of which counts from 0.
    """
    first, last = offsets[i], offsets[i + 1]
    own = cols[col_starts[i, 0] : col_starts[i, 1]]
    k, p = last - first, len(own)
    if width == 0:
        begin = ptr_starts[i]
        return own, ptr[begin : begin + k + 1], local[starts[i, 0] :], values[starts[i, 1] :]
    x = values[starts[i, 1] : starts[i, 1] + p]
    many, begins, count, tiled = spare
    for y in range(k):
        block = labels[first + y] * width
        begins[y] = y * p
        for j in range(p):
            many[y * p + j] = block + own[j]
            tiled[y * p + j] = x[j]
    begins[k] = k * p
    return many[: k * p], begins[: k + 1], count, tiled


@compiled
def spare_room(longest, widest, width, values):
    """Return the work space that `opened` writes to."""
    size = widest if width > 0 else 1
    count = np.arange(size).astype(np.int32)
    return np.empty(size, np.int32), np.empty(longest + 1, np.int64), count, np.empty(size, values.dtype)


@compiled
def online(lists, loss, gold, C, log_linear, floor, etas, safe, steps, enough, order, theta, weights):
    """Visit the lists in an order; return the gain of the dual and the number of steps."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    workspace, wide = np.empty((5, longest)), np.empty((2, widest))
    gained, taken = 0.0, 0
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        eta, gain, n = visit(
            one[0], one[1], one[2], one[3], loss[first:last], gold[i], C, log_linear, floor, etas[i], safe[i],
            steps, enough, theta[first:last], weights, workspace, wide,
        )  # fmt: skip
        etas[i] = eta
        gained += gain
        taken += n
    return gained, taken


@compiled
def pairwise_steps(ptr, local, values, loss, C, steps, whole, enough, mass, own, scores, change):
    """Take up to `steps` pairwise steps on one list; return the gain of the dual.

    Mass moves from the candidate with the lowest loss plus score, among those with mass, to the one with the
    highest, by the amount at which the parabola of the dual has its maximum.

    Parameters
    ----------
    whole : bool
        Whether mass can move to any candidate; otherwise only to those that have some.
    enough : float
        The visit ends when the list's gap is at most this share of C.
    mass : array of float64, shape (K,)
        Alphas, updated in place.
    own : array of float64
        Weights of the list's columns, updated in place.
    scores, change : array of float64
        Work space for the candidates and for the list's columns.
    """
    gained = 0.0
    for _ in range(steps):
        best, worst, mean = -1, -1, 0.0
        for y in range(len(mass)):
            if loss[y] < 0.0 or not (whole or mass[y] > 0.0):
                continue
            score(ptr[y:], local, values, own, scores[y : y + 1])
            scores[y] += loss[y]
            mean += mass[y] * scores[y]
            if best < 0 or scores[y] > scores[best]:
                best = y
            if mass[y] > 0.0 and (worst < 0 or scores[y] < scores[worst]):
                worst = y
        if best == worst or scores[best] - mean <= enough:
            break
        for c in range(len(own)):
            change[c] = 0.0
        for at in range(ptr[worst], ptr[worst + 1]):
            change[local[at]] += values[at]
        for at in range(ptr[best], ptr[best + 1]):
            change[local[at]] -= values[at]
        square = 0.0
        for c in range(len(own)):
            square += change[c] * change[c]
        slope, far = scores[best] - scores[worst], mass[worst]
        if C * square * far > slope:
            far = slope / (C * square)
        mass[best] += far
        mass[worst] = max(mass[worst] - far, 0.0)
        gained += C * far * (slope - 0.5 * C * far * square)
        for c in range(len(own)):
            own[c] += C * far * change[c]
    return gained


@compiled
def pairwise_online(lists, loss, C, steps, whole, enough, order, mass, weights):
    """Visit the lists in an order (see `pairwise_steps`); return the gain of the dual."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    scores, own, change = np.empty(longest), np.empty(widest), np.empty(widest)
    gained = 0.0
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        if not whole and (mass[first:last] > 0.0).sum() < 2:
            continue
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        n_cols = len(one[0])
        for c in range(n_cols):
            own[c] = weights[one[0][c]]
        gain = pairwise_steps(
            one[1], one[2], one[3], loss[first:last], C, steps, whole, enough, mass[first:last],
            own[:n_cols], scores, change[:n_cols],
        )  # fmt: skip
        if gain > 0.0:
            for c in range(n_cols):
                weights[one[0][c]] = own[c]
            gained += gain
    return gained


@compiled
def weigh(lists, gold, C, theta, weights):
    """Write ``C sum alpha (phi_gold - phi_y)`` into `weights` (slides, step 3)."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    mass, wide = np.empty(longest), np.empty(widest)
    weights[:] = 0.0
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        for y in range(last - first):
            mass[y] = -np.exp(theta[first + y])
        mass[gold[i]] += 1.0
        spread(one[1], one[2], one[3], mass[: last - first], wide[: len(one[0])])
        for c in range(len(one[0])):
            weights[one[0][c]] += C * wide[c]


@compiled
def spans(lists, out):
    """Write a bound on the squared distance of two candidates' features into `out`, list by list."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    for i in range(len(offsets) - 1):
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        out[i] = 0.0
        for y in range(offsets[i + 1] - offsets[i]):
            square = 0.0
            for at in range(one[1][y], one[1][y + 1]):
                square += np.float64(one[3][at]) * one[3][at]
            out[i] = max(out[i], 4.0 * square)  # |a - b|^2 <= (|a| + |b|)^2 <= 4 max(|a|, |b|)^2


@compiled
def nablas(lists, loss, gold, log_linear, theta, weights, out):
    """Write the slope of the dual for each alpha, as a share of C, into `out`."""
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    longest, widest = rooms(offsets, col_starts, width)
    spare = spare_room(longest, widest, width, values)
    scores, own = np.empty(longest), np.empty(widest)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        one = opened(
            i, offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width, spare
        )
        for c in range(len(one[0])):
            own[c] = weights[one[0][c]]
        score(one[1], one[2], one[3], own, scores[: last - first])
        slopes(
            loss[first:last], scores[: last - first], gold[i], theta[first:last], log_linear, out[first:last]
        )


@compiled
def gaps(lists, loss, gold, log_linear, theta, weights):
    """Return the sum of the lists' gaps (see `own_gap`)."""
    offsets = lists[0]
    nabla, alpha = np.empty(len(theta)), np.exp(theta)
    nablas(lists, loss, gold, log_linear, theta, weights, nabla)
    total = 0.0
    for i in range(len(offsets) - 1):
        own = slice(offsets[i], offsets[i + 1])
        total += own_gap(nabla[own], alpha[own], theta[own], log_linear)
    return total


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    for kind in (np.float32, np.float64):
        lists = (
            np.array([0, 2]), np.zeros(1, np.int32), np.array([[0, 1]]), np.array([0, 1, 1]),
            np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros((1, 2), np.int64), np.ones(1, kind),
            np.zeros(2, np.int64), 0,
        )  # fmt: skip
        loss, gold = np.array([0.0, 1.0]), np.zeros(1, np.int64)
        theta, weights, order = np.log([0.5, 0.5]), np.zeros(1), np.zeros(1, np.int64)
        weigh(lists, gold, 1.0, theta, weights)
        step = 50.0, np.ones(1), np.ones(1), 1, 0.0
        online(lists, loss, gold, 1.0, False, *step, order, theta, weights)
        gaps(lists, loss, gold, False, theta, weights)
        pairwise_online(lists, loss, 1.0, 1, True, 0.0, order, np.array([1.0, 0.0]), weights)
        spans(lists, np.empty(1))


# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def reduce_lists(indptr, indices, data, offsets, n_columns, fill, starts, begins, cols, ptr, local, values):
    """Reduce lists to the features that differ between candidates; without `fill` compute only the sizes.

    Parameters
    ----------
    indptr, indices, data
        CSR rows without duplicates.
    offsets : array of int64, shape (n + 1,)
    n_columns : int
    fill : bool
        Whether the last four arrays are written; otherwise `starts` and `begins` are.
    starts : array of int64, shape (n + 1,)
        Start of each list's columns in `cols`.
    begins : array of int64, shape (n + 1,)
        Start of each list's entries in `local` and `values`.
    cols : array of int32
        The columns in which candidates of a list differ.
    ptr : array of int64, shape (n_rows + n,)
        For each list one more than its candidates: the starts of their entries, relative to the list's first.
    local : array of int32
        The column of each entry, as an index into the columns of its list.
    values : array of float32 or float64
    """
    count = np.zeros(n_columns, np.int32)  # number of candidates with the column
    majority = np.zeros(n_columns, data.dtype)
    votes = np.zeros(n_columns, np.int32)
    place = np.full(n_columns, -1, np.int32)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        size = last - first
        begin, end = indptr[first], indptr[last]
        for at in range(begin, end):  # Boyer-Moore majority vote
            c, v = indices[at], data[at]
            count[c] += 1
            if votes[c] == 0:
                majority[c] = v
                votes[c] = 1
            elif majority[c] == v:
                votes[c] += 1
            else:
                votes[c] -= 1
        # The vote finds the only value that can have a majority; whether it has one must be counted.
        for at in range(begin, end):
            votes[indices[at]] = 0
        for at in range(begin, end):
            if data[at] == majority[indices[at]]:
                votes[indices[at]] += 1
        n_cols, n_entries = 0, 0
        start = starts[i]
        for at in range(begin, end):
            c = indices[at]
            if count[c] == 0 or place[c] >= 0:
                continue
            if 2 * votes[c] <= size:
                majority[c] = 0.0
            if majority[c] == 0.0:
                n_entries += count[c]  # stored zeros are counted, which does no harm
            elif votes[c] == size:
                count[c] = 0  # equal in all candidates
                continue
            else:
                n_entries += size - votes[c]
            place[c] = n_cols
            if fill:
                cols[start + n_cols] = c
            n_cols += 1
        if fill:
            entry = begins[i]
            row = first + i
            stamp = np.full(n_cols, -1, np.int64)
            for r in range(size):
                ptr[row + r] = entry - begins[i]
                for at in range(indptr[first + r], indptr[first + r + 1]):
                    c = indices[at]
                    p = place[c]
                    if p < 0:
                        continue
                    stamp[p] = r
                    if majority[c] == 0.0 or data[at] != majority[c]:
                        local[entry] = p
                        values[entry] = data[at] - majority[c]
                        entry += 1
                for p in range(n_cols):
                    c = cols[start + p]
                    if majority[c] != 0.0 and stamp[p] != r:
                        local[entry] = p
                        values[entry] = -majority[c]
                        entry += 1
            ptr[row + size] = entry - begins[i]
        else:
            starts[i + 1] = starts[i] + n_cols
            begins[i + 1] = begins[i] + n_entries
        # only the columns of this list are reset: clearing all columns would make the pass quadratic
        for at in range(begin, end):
            c = indices[at]
            count[c] = 0
            votes[c] = 0
            place[c] = -1


def sample_reduction() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    for kind in (np.float32, np.float64):
        rows = np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2, kind), np.array([0, 2])
        sizes = np.zeros(2, np.int64), np.zeros(2, np.int64)
        out = np.zeros(1, np.int32), np.zeros(3, np.int64), np.zeros(2, np.int32), np.zeros(2, kind)
        reduce_lists(*rows, 1, True, *sizes, *out)
