"""Compiled exponentiated gradient on lists: visits, passes over all lists, removal of shared features.

Arguments of the functions for one list, which has K candidates:

* ``ptr`` (K + 1,), ``local``, ``values``: candidate y has the entries ``ptr[y]:ptr[y + 1]``; ``local`` has
  their columns, as indices into the columns ``cols`` of the list;
* ``loss`` (K,): L; negative for candidates that are left out; ``gold``: the index of the right candidate;
* ``theta``, ``alpha`` (K,): the dual variables alpha, and their logarithms;
* ``nabla`` (K,): the slope of the dual for each alpha, as a share of C (see `slopes`).

The functions for all lists have these arrays for all candidates, list after list, ``lists``
(`ReducedLists.arrays`), ``weights``, W, and ``etas`` and ``safe`` (n,): the step size of each list, and one
for which no step lowers the dual. ``log_linear`` says whether the loss is the log loss.
"""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled

_NEVER = -np.inf
_HARDLY = 1e-9
"""A change of alpha, summed over candidates, that is too small to determine the next step length."""


@compiled
def normalise(theta, alpha):
    """Normalise the logarithms `theta`, and write the probabilities into `alpha`."""
    # the largest exponent is subtracted, so that exp neither overflows nor makes all of them zero
    maximum = _NEVER
    for y in range(len(theta)):
        maximum = max(maximum, theta[y])
    total = 0.0
    for y in range(len(theta)):
        alpha[y] = np.exp(theta[y] - maximum)
        total += alpha[y]
    shift = maximum + np.log(total)
    for y in range(len(theta)):
        theta[y] -= shift
        alpha[y] /= total


@compiled
def score(ptr, local, values, weights, out):
    """Write the score of each candidate, Phi . W, into `out`, using the weights of the list's columns."""
    for y in range(len(out)):
        total = 0.0
        for at in range(ptr[y], ptr[y + 1]):
            total += values[at] * weights[local[at]]
        out[y] = total


@compiled
def sum_features(ptr, local, values, mass, out):
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
    """Write nabla into `out`: L - M (slides, steps 1 and 2); with `log_linear` -log alpha - M (JMLR 2008)."""
    for y in range(len(out)):
        if loss[y] < 0.0:
            out[y] = 0.0
        elif log_linear:
            out[y] = scores[y] - scores[gold] - theta[y]
        else:
            out[y] = loss[y] + scores[y] - scores[gold]


@compiled
def list_gap(nabla, alpha, theta, log_linear):
    """Return the list's contribution to the gap between primal and dual, as a share of C."""
    mean, maximum = 0.0, _NEVER
    for y in range(len(alpha)):
        mean += alpha[y] * nabla[y]
        if theta[y] > _NEVER:
            maximum = max(maximum, nabla[y] + theta[y] if log_linear else nabla[y])
    if not log_linear:
        return maximum - mean
    total = 0.0  # log sum exp(-M) minus (H(alpha) - alpha M), with -M = nabla + theta
    for y in range(len(alpha)):
        if theta[y] > _NEVER:
            total += np.exp(nabla[y] + theta[y] - maximum)
    return maximum + np.log(total) - mean


@compiled
def moved(theta, nabla, eta, floor, out):
    """Write ``theta + eta nabla`` into `out` (slides, step 2), bounded below; the caller normalises it."""
    maximum = _NEVER
    for y in range(len(theta)):
        out[y] = theta[y] + eta * nabla[y] if theta[y] > _NEVER else _NEVER
        maximum = max(maximum, out[y])
    # An alpha that underflows to zero could never grow again, because steps multiply.
    for y in range(len(theta)):
        if theta[y] > _NEVER:
            out[y] = max(out[y], maximum - floor)


@compiled
def next_eta(eta, linear, curvature, distance, log_linear):
    """Return the eta for the next step, after one that gained ``linear - curvature``.

    On the line from alpha to the end of the step, the dual is the parabola ``t linear - t^2 curvature``. The
    next step is scaled by the position of its maximum, ``t = linear / (2 curvature)``, within a factor of
    two. If alpha hardly changed, by `distance` in all, eta is increased.
    """
    if curvature > 0.0 and distance > _HARDLY:
        eta *= min(2.0, max(0.5, 0.5 * linear / curvature))
    else:
        eta *= 2.0
    # at 1 the old theta of the log-linear dual has no influence; a longer step would reverse it
    return min(eta, 1.0) if log_linear else eta


@compiled
def visit(
    cols, ptr, local, values, loss, gold, C, log_linear, floor, eta, safe, steps, enough, theta, weights,
    workspace, column_space,
):  # fmt: skip
    """Take up to `steps` steps on one list; return eta, the gain of the dual, and the number of steps.

    Each step is ``theta <- theta + eta nabla``. It raises the dual by ``C delta . nabla - 1/2 |dW|^2``, where
    delta is the change of alpha (plus the second-order part of the entropy for the log-linear dual): eta is
    halved until this is not a loss, and the next eta follows the best step along delta,
    ``t = C delta . nabla / |dW|^2``, within a factor of two.

    `safe` is an eta for which the dual never falls except by rounding: it is not halved further. A list whose
    gap is below `enough` is skipped. `theta`, the logarithms of alpha, shape ``(K,)``, and `weights`, shape
    ``(n_columns,)``, are changed. `workspace`, shape ``(5, at least K)``, is for the candidates, and
    `column_space`, shape ``(2, at least the list's columns)``, for the weights of the list's columns and
    their change.
    """
    k, m = len(theta), len(cols)
    alpha, new_alpha, new_theta = workspace[0, :k], workspace[1, :k], workspace[2, :k]
    scores, nabla = workspace[3, :k], workspace[4, :k]
    list_weights, change = column_space[0, :m], column_space[1, :m]
    # The list's weights are gathered once: the steps then read a small array instead of all over memory.
    for c in range(m):
        list_weights[c] = weights[cols[c]]
    for y in range(k):
        alpha[y] = np.exp(theta[y])
    total_gain, n_taken = 0.0, 0
    for _ in range(steps):
        score(ptr, local, values, list_weights, scores)
        slopes(loss, scores, gold, theta, log_linear, nabla)
        if list_gap(nabla, alpha, theta, log_linear) <= enough:
            break
        # eta is halved until the step gains, see above
        minimum, maximum = 0.0, 0.0
        for y in range(k):
            minimum, maximum = min(minimum, nabla[y]), max(maximum, nabla[y])
        if not log_linear:
            eta = min(eta, 2.0 * floor / (maximum - minimum))  # a longer step has the same result
        accepted = False
        while True:
            moved(theta, nabla, eta, floor, new_theta)
            normalise(new_theta, new_alpha)
            linear, divergence, distance = 0.0, 0.0, 0.0
            for y in range(k):
                delta = new_alpha[y] - alpha[y]
                linear += delta * nabla[y]
                distance += abs(delta)
                if log_linear and new_alpha[y] > 0.0:
                    # KL divergence: the entropy falls below its tangent
                    divergence += new_alpha[y] * (new_theta[y] - theta[y])
                alpha[y] = -delta  # the change of W is C sum (-delta) phi; alpha is restored below
            square = sum_features(ptr, local, values, alpha, change)
            for y in range(k):
                alpha[y] = np.exp(theta[y])
            linear *= C
            curvature = C * divergence + 0.5 * C * C * square
            gain = linear - curvature
            if gain >= 0.0:
                accepted = True
                break
            if eta <= safe:  # the remaining gain is below rounding error
                break
            eta = max(0.5 * eta, safe)
        if not accepted:
            break
        n_taken += 1
        total_gain += gain
        for c in range(m):
            list_weights[c] += C * change[c]
        for y in range(k):
            theta[y] = new_theta[y]
            alpha[y] = new_alpha[y]
        eta = next_eta(eta, linear, curvature, distance, log_linear)
    if n_taken:
        for c in range(m):
            weights[cols[c]] = list_weights[c]
    return eta, total_gain, n_taken


@compiled
def allocate(lists):
    """Return the size of the longest list, the most columns of a list, and the work space of `read_list`.

    In a list that is crossed with labels, each candidate has columns of its own.
    """
    offsets, _, col_starts, _, _, _, _, values, _, width = lists
    longest, widest = 1, 1
    for i in range(len(offsets) - 1):
        size = offsets[i + 1] - offsets[i]
        n_cols = col_starts[i, 1] - col_starts[i, 0]
        longest = max(longest, size)
        widest = max(widest, n_cols * size if width > 0 else n_cols)
    size = widest if width > 0 else 1
    count = np.arange(size).astype(np.int32)
    spare = np.empty(size, np.int32), np.empty(longest + 1, np.int64), count, np.empty(size, values.dtype)
    return longest, widest, spare


@compiled
def read_list(i, lists, spare):
    """Return the columns of a list, and the starts, local columns and values of its candidates' entries.

    If the list is crossed with labels, each candidate has the row of its instance in its own columns: they
    are written to `spare`, four arrays, the third of which counts from 0.
    """
    offsets, cols, col_starts, ptr, ptr_starts, local, starts, values, labels, width = lists
    first, last = offsets[i], offsets[i + 1]
    row_columns = cols[col_starts[i, 0] : col_starts[i, 1]]
    k, n = last - first, len(row_columns)
    if width == 0:
        begin = ptr_starts[i]
        return row_columns, ptr[begin : begin + k + 1], local[starts[i, 0] :], values[starts[i, 1] :]
    row = values[starts[i, 1] : starts[i, 1] + n]
    columns, begins, count, tiled = spare
    for y in range(k):
        block = labels[first + y] * width
        begins[y] = y * n
        for j in range(n):
            columns[y * n + j] = block + row_columns[j]
            tiled[y * n + j] = row[j]
    begins[k] = k * n
    return columns[: k * n], begins[: k + 1], count, tiled


@compiled
def online_epoch(lists, loss, gold, C, log_linear, floor, etas, safe, steps, enough, order, theta, weights):
    """Visit the lists in an order; return the gain of the dual and the number of steps."""
    offsets = lists[0]
    longest, widest, spare = allocate(lists)
    workspace, column_space = np.empty((5, longest)), np.empty((2, widest))
    total_gain, n_taken = 0.0, 0
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        columns, ptr, local, values = read_list(i, lists, spare)
        eta, gain, n = visit(
            columns, ptr, local, values, loss[first:last], gold[i], C, log_linear, floor, etas[i], safe[i],
            steps, enough, theta[first:last], weights, workspace, column_space,
        )  # fmt: skip
        etas[i] = eta
        total_gain += gain
        n_taken += n
    return total_gain, n_taken


@compiled
def pairwise_steps(ptr, local, values, loss, C, steps, whole, enough, mass, list_weights, scores, change):
    """Take up to `steps` pairwise steps on one list; return the gain of the dual.

    Mass moves from the candidate with the lowest loss plus score, among those with mass, to the one with the
    highest, by the amount at which the parabola of the dual has its maximum.

    With `whole`, mass can move to any candidate, otherwise only to those that have some. The visit ends when
    the list's gap is at most `enough`, as a share of C. The alphas `mass`, shape ``(K,)``, and
    `list_weights`, those of the list's columns, are updated in place; `scores` and `change` are work space
    for the candidates and for the list's columns.
    """
    total_gain = 0.0
    for _ in range(steps):
        best, worst, mean = -1, -1, 0.0
        for y in range(len(mass)):
            if loss[y] < 0.0 or not (whole or mass[y] > 0.0):
                continue
            score(ptr[y:], local, values, list_weights, scores[y : y + 1])
            scores[y] += loss[y]
            mean += mass[y] * scores[y]
            if best < 0 or scores[y] > scores[best]:
                best = y
            if mass[y] > 0.0 and (worst < 0 or scores[y] < scores[worst]):
                worst = y
        if best == worst or scores[best] - mean <= enough:
            break
        for c in range(len(list_weights)):
            change[c] = 0.0
        for at in range(ptr[worst], ptr[worst + 1]):
            change[local[at]] += values[at]
        for at in range(ptr[best], ptr[best + 1]):
            change[local[at]] -= values[at]
        square = 0.0
        for c in range(len(list_weights)):
            square += change[c] * change[c]
        slope, distance = scores[best] - scores[worst], mass[worst]
        if C * square * distance > slope:
            distance = slope / (C * square)
        mass[best] += distance
        mass[worst] = max(mass[worst] - distance, 0.0)
        total_gain += C * distance * (slope - 0.5 * C * distance * square)
        for c in range(len(list_weights)):
            list_weights[c] += C * distance * change[c]
    return total_gain


@compiled
def pairwise_epoch(lists, loss, C, steps, whole, enough, order, mass, weights):
    """Visit the lists in an order (see `pairwise_steps`); return the gain of the dual."""
    offsets = lists[0]
    longest, widest, spare = allocate(lists)
    scores, list_weights, change = np.empty(longest), np.empty(widest), np.empty(widest)
    total_gain = 0.0
    for i in order:
        first, last = offsets[i], offsets[i + 1]
        if not whole and (mass[first:last] > 0.0).sum() < 2:
            continue
        columns, ptr, local, values = read_list(i, lists, spare)
        n_cols = len(columns)
        for c in range(n_cols):
            list_weights[c] = weights[columns[c]]
        gain = pairwise_steps(
            ptr, local, values, loss[first:last], C, steps, whole, enough, mass[first:last],
            list_weights[:n_cols], scores, change[:n_cols],
        )  # fmt: skip
        if gain > 0.0:
            for c in range(n_cols):
                weights[columns[c]] = list_weights[c]
            total_gain += gain
    return total_gain


@compiled
def compute_weights(lists, gold, C, theta, weights):
    """Write ``C sum alpha (phi_gold - phi_y)`` into `weights` (slides, step 3)."""
    offsets = lists[0]
    longest, widest, spare = allocate(lists)
    mass, column_space = np.empty(longest), np.empty(widest)
    weights[:] = 0.0
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        columns, ptr, local, values = read_list(i, lists, spare)
        for y in range(last - first):
            mass[y] = -np.exp(theta[first + y])
        mass[gold[i]] += 1.0
        sum_features(ptr, local, values, mass[: last - first], column_space[: len(columns)])
        for c in range(len(columns)):
            weights[columns[c]] += C * column_space[c]


@compiled
def squared_spans(lists, out):
    """Write a bound on the squared distance of two candidates' features into `out`, list by list."""
    offsets = lists[0]
    spare = allocate(lists)[2]
    for i in range(len(offsets) - 1):
        _, ptr, _, values = read_list(i, lists, spare)
        out[i] = 0.0
        for y in range(offsets[i + 1] - offsets[i]):
            square = 0.0
            for at in range(ptr[y], ptr[y + 1]):
                square += np.float64(values[at]) * values[at]
            out[i] = max(out[i], 4.0 * square)  # |a - b|^2 <= (|a| + |b|)^2 <= 4 max(|a|, |b|)^2


@compiled
def all_slopes(lists, loss, gold, log_linear, theta, weights, out):
    """Write the slope of the dual for each alpha, as a share of C, into `out`."""
    offsets = lists[0]
    longest, widest, spare = allocate(lists)
    scores, list_weights = np.empty(longest), np.empty(widest)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        columns, ptr, local, values = read_list(i, lists, spare)
        for c in range(len(columns)):
            list_weights[c] = weights[columns[c]]
        score(ptr, local, values, list_weights, scores[: last - first])
        slopes(
            loss[first:last], scores[: last - first], gold[i], theta[first:last], log_linear, out[first:last]
        )


@compiled
def gaps(lists, loss, gold, log_linear, theta, weights):
    """Return the sum of the lists' gaps (see `list_gap`)."""
    offsets = lists[0]
    nabla, alpha = np.empty(len(theta)), np.exp(theta)
    all_slopes(lists, loss, gold, log_linear, theta, weights, nabla)
    total = 0.0
    for i in range(len(offsets) - 1):
        rows = slice(offsets[i], offsets[i + 1])
        total += list_gap(nabla[rows], alpha[rows], theta[rows], log_linear)
    return total


@compiled
def count_values(indices, data, count, majority, votes):
    """Count the entries of a list in each column, and those with the value that has a majority, if any.

    The vote (Boyer and Moore) finds the only value that can have one; whether it has must be counted.
    """
    for at in range(len(indices)):
        c, v = indices[at], data[at]
        count[c] += 1
        if votes[c] == 0:
            majority[c] = v
            votes[c] = 1
        elif majority[c] == v:
            votes[c] += 1
        else:
            votes[c] -= 1
    for at in range(len(indices)):
        votes[indices[at]] = 0
    for at in range(len(indices)):
        if data[at] == majority[indices[at]]:
            votes[indices[at]] += 1


@compiled
def number_columns(indices, size, count, majority, votes, place, cols, fill):
    """Assign numbers to the columns in which candidates differ; return how many columns and entries are left.

    Subtracting the same from all candidates changes no margin: entries are relative to the value that most of
    the `size` candidates have, which is 0 without a majority.
    """
    n_cols, n_entries = 0, 0
    for at in range(len(indices)):
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
            cols[n_cols] = c
        n_cols += 1
    return n_cols, n_entries


@compiled
def write_entries(indptr, indices, data, first, majority, place, cols, ptr, local, values):
    """Write the entries of a list, whose first row is `first`, relative to the majority of each column."""
    entry = 0
    latest = np.full(len(cols), -1, np.int64)  # the last candidate with an entry in the column
    for r in range(len(ptr) - 1):
        ptr[r] = entry
        for at in range(indptr[first + r], indptr[first + r + 1]):
            c = indices[at]
            p = place[c]
            if p < 0:
                continue
            latest[p] = r
            if majority[c] == 0.0 or data[at] != majority[c]:
                local[entry] = p
                values[entry] = data[at] - majority[c]
                entry += 1
        for p in range(len(cols)):
            c = cols[p]
            if majority[c] != 0.0 and latest[p] != r:
                local[entry] = p
                values[entry] = -majority[c]
                entry += 1
    ptr[len(ptr) - 1] = entry


@compiled
def reduce_lists(indptr, indices, data, offsets, n_columns, fill, starts, begins, cols, ptr, local, values):
    """Reduce lists to the features that differ between candidates; without `fill` compute only the sizes.

    Parameters
    ----------
    indptr, indices, data
        CSR rows without duplicates.
    offsets : array of int64, shape (n + 1,)
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
    """
    count = np.zeros(n_columns, np.int32)  # number of candidates with the column
    majority = np.zeros(n_columns, data.dtype)
    votes = np.zeros(n_columns, np.int32)
    place = np.full(n_columns, -1, np.int32)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        begin, end = indptr[first], indptr[last]
        count_values(indices[begin:end], data[begin:end], count, majority, votes)
        n_cols, n_entries = number_columns(
            indices[begin:end], last - first, count, majority, votes, place, cols[starts[i] :], fill
        )
        if fill:
            write_entries(
                indptr, indices, data, first, majority, place, cols[starts[i] : starts[i] + n_cols],
                ptr[first + i : last + i + 1], local[begins[i] :], values[begins[i] :],
            )  # fmt: skip
        else:
            starts[i + 1] = starts[i] + n_cols
            begins[i + 1] = begins[i] + n_entries
        # only the columns of this list are reset: clearing all columns would make the pass quadratic
        for at in range(begin, end):
            c = indices[at]
            count[c] = 0
            votes[c] = 0
            place[c] = -1


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
        compute_weights(lists, gold, 1.0, theta, weights)
        step = 50.0, np.ones(1), np.ones(1), 1, 0.0
        online_epoch(lists, loss, gold, 1.0, False, *step, order, theta, weights)
        gaps(lists, loss, gold, False, theta, weights)
        pairwise_epoch(lists, loss, 1.0, 1, True, 0.0, order, np.array([1.0, 0.0]), weights)
        squared_spans(lists, np.empty(1))
        rows = np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2, kind), np.array([0, 2])
        sizes = np.zeros(2, np.int64), np.zeros(2, np.int64)
        reduced = np.zeros(1, np.int32), np.zeros(3, np.int64), np.zeros(2, np.int32), np.zeros(2, kind)
        reduce_lists(*rows, 1, True, *sizes, *reduced)
