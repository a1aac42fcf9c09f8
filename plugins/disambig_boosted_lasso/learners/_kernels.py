"""Compiled functions of the learners: tournament tree, steps, pairs, paths, perceptron over lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from disambig.api.kernels import compiled

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def match_winner(key, left, right):
    """Return the winner of two features, the left one if they are equal."""
    if right < 0:
        return left
    if left < 0:
        return right
    return right if key[right] > key[left] else left


@compiled
def build_tree(key, tree):
    """Play all matches of the tournament."""
    size = len(tree) >> 1
    for k in range(size):
        tree[size + k] = k if k < len(key) else -1
    for place in range(size - 1, 0, -1):
        tree[place] = match_winner(key, tree[2 * place], tree[2 * place + 1])


@compiled
def change_key(key, tree, k, value):
    """Change the key of feature k. Matches are repeated upwards until one has the same result as before."""
    key[k] = value
    place = ((len(tree) >> 1) + k) >> 1
    while place >= 1:
        winner = match_winner(key, tree[2 * place], tree[2 * place + 1])
        # If another feature keeps this match, no match above it involves k. If k keeps it, its key changed.
        if tree[place] == winner and winner != k:
            return
        tree[place] = winner
        place >>= 1


_ROUNDS = 200
"""Maximum number of iterations of Newton's method."""
_PRECISION = 1e-13
"""Relative change of a step at which Newton's method stops."""
_MAX_EXPONENT = 700.0
"""Limit of step * value: exp overflows shortly above it."""


@compiled
def gather_sums(index, weight, k, values, sums, ends):
    """Sum the weights of feature k's pairs by value, with the values' ends in `ends`; return their number."""
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
def loss_reduction(values, sums, n, step):
    """Return the amount by which a step lowers ExpLoss."""
    total = 0.0
    for v in range(n):
        # expm1 keeps the digits of small reductions, which 1 - exp(-x) would lose
        total -= sums[v] * np.expm1(-step * values[v])
    return total


@compiled
def loss_slope(values, sums, n, smooth, step):
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
def best_step(values, sums, n, smooth, maximum):
    """Return the step, of at most `maximum` in either direction, that minimises ExpLoss with smoothing.

    Pseudo-pairs of weight `smooth` on either side give eq. (16), ``1/2 log((C+ + eps Z) / (C- + eps Z))``,
    if all values are 1 and -1; other values have no closed form and use Newton's method with bounds.
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
            return maximum
        if plus <= 0.0:
            return -maximum
        return max(-maximum, min(maximum, 0.5 * np.log(plus / minus)))
    first, second = loss_slope(values, sums, n, smooth, 0.0)
    if first == 0.0:
        return 0.0
    sign = -1.0 if first > 0.0 else 1.0
    limit = min(maximum, _MAX_EXPONENT / largest)
    low, high = 0.0, min(limit, 1.0)  # in the direction of the sign
    while loss_slope(values, sums, n, smooth, sign * high)[0] * sign < 0.0:
        if high >= limit:
            return sign * limit
        low, high = high, min(limit, 2.0 * high)
    x = low
    for _ in range(_ROUNDS):
        first, second = loss_slope(values, sums, n, smooth, sign * x)
        if first == 0.0:
            break
        if first * sign < 0.0:
            low = x
        else:
            high = x
        after = x - sign * first / second if second > 0.0 else low
        # Newton's step may leave the bracket, where the curvature is tiny: then bisect
        if not low < after < high:
            after = 0.5 * (low + high)
        if abs(after - x) <= _PRECISION * high:
            x = after
            break
        x = after
    return sign * x


@compiled
def max_reduction(sums):
    """Return an upper bound on the reduction of ExpLoss by a feature's best step.

    `sums` are the weights of its pairs with positive values, their sum times the values, and the same for the
    negative ones. By Jensen's inequality, no step leaves less than if all values on a side were their mean,
    so this is exact if they are equal, such as 1 and -1: ``(sqrt(C+) - sqrt(C-))^2``.
    """
    plus, minus = max(sums[0], 0.0), max(sums[2], 0.0)
    if plus == 0.0 or minus == 0.0 or sums[1] <= 0.0 or sums[3] <= 0.0:
        return max(plus, minus)
    if plus == sums[1] and minus == sums[3]:
        return (np.sqrt(plus) - np.sqrt(minus)) ** 2
    up, down = sums[1] / plus, sums[3] / minus
    step = np.log(sums[1] / sums[3]) / (up + down)
    return -plus * np.expm1(-step * up) - minus * np.expm1(step * down)


_NEVER = -np.inf
_SAME = 1e-9
"""Relative rounding error within which a weight counts as a multiple of the step."""
_NOISE = 1e-13
"""Share of the loss below which a reduction is rounding error."""
LOSS, ALPHA, NORM = 0, 1, 2
"""Indices into `StepState.now`: ExpLoss, alpha (infinite before the first step), the L1 norm."""
MORE, DONE = 0, 1


class StepRule(NamedTuple):
    """How steps are chosen and their length; plain numbers, so that functions are compiled only once."""

    grid: bool  # see `path.StepSettings` for these fields
    eps: float
    truncate: bool
    backward: bool  # whether there are steps back
    theta: float
    smoothing: float
    shrinkage: float
    least: float  # a smaller reduction of ExpLoss ends the path


class PairIndex(NamedTuple):
    """The arrays of `pairs.CandidatePairs`, and the factors of steps of eps and -eps for each code."""

    starts: Any
    features: Any
    codes: Any
    values: Any
    ends: Any
    pairs: Any
    pair_codes: Any
    up: Any  # float64 (n_codes,): the share of a pair's weight that a step of eps removes
    down: Any  # the same for a step of -eps


UP, DOWN, BACK, BACK_STEP, PLUS, MINUS = 0, 1, 2, 3, 4, 6
"""Columns of `StepState.sums`: the reductions of ExpLoss by a step of eps, of -eps, and by a step back that
is shorter than eps, and this step (0 for none); from `PLUS` and `MINUS` on, two columns each: the weights of
the pairs with positive and with negative values, and these weights times the absolute values."""


class StepState(NamedTuple):
    """The state that steps change, for n features."""

    pair_weights: Any  # float64 (n_pairs,): exp(-margin), eq. (5) and (6); their sum is ExpLoss
    sums: Any  # float64 (n, 8): see `UP`
    weights: Any  # float64 (n,): of the features
    key: Any  # float64 (n,): gain of a forward step (`forward_key`)
    tree: Any  # tournament of the features by `key`
    back_key: Any  # float64 (n,): gain of a step back (`backward_key`); empty without steps back
    back_tree: Any
    is_exact: Any  # uint8 (n,): whether `key` is exact and not an upper bound
    is_touched: Any  # uint8 (n,): whether a feature is in `touched`
    touched: Any  # int32 (n,): buffer for the features whose sums a step changes
    # buffers for the pairs of one feature by value: the values, the sums of the weights, the ends
    values: Any
    totals: Any
    run_ends: Any
    now: Any  # float64 (3,): see `LOSS`


@compiled
def add_to_sums(rule, index, sums, p, change):
    """Add the change in a pair's weight to the sums of its features."""
    for at in range(index.starts[p], index.starts[p + 1]):
        k, code = index.features[at], index.codes[at]
        value = index.values[code]
        if rule.grid or rule.backward:
            sums[k, UP] += change * index.up[code]
            sums[k, DOWN] += change * index.down[code]
            if sums[k, BACK_STEP] != 0.0:
                sums[k, BACK] -= change * np.expm1(-sums[k, BACK_STEP] * value)
        if not rule.grid:
            # the sums that `max_reduction` takes: weights, and weights times |value|, by sign
            column = PLUS if value > 0.0 else MINUS
            sums[k, column] += change
            sums[k, column + 1] += change * abs(value)


@compiled
def forward_key(rule, sums, k):
    """Return the amount by which a step of feature k may lower ExpLoss."""
    if rule.grid:
        return max(sums[k, UP], sums[k, DOWN])
    return max_reduction(sums[k, PLUS:])


@compiled
def backward_key(rule, state, k):
    """Return the gain of a step toward zero per unit of the L1 norm: less than 0; -inf for a zero weight.

    For steps of eps this has the order of eq. (14); for shorter steps it is relative to their length.
    """
    weight, sums = state.weights[k], state.sums
    if weight == 0.0:
        return _NEVER
    if sums[k, BACK_STEP] != 0.0:
        return sums[k, BACK] / abs(sums[k, BACK_STEP])
    return (sums[k, DOWN] if weight > 0.0 else sums[k, UP]) / rule.eps


@compiled
def refresh_sums(rule, index, state):
    """Compute all sums and keys from the pairs' weights, so that rounding errors do not accumulate."""
    state.sums[:, :BACK_STEP] = 0.0
    state.sums[:, PLUS:] = 0.0
    for p in range(len(state.pair_weights)):
        add_to_sums(rule, index, state.sums, p, state.pair_weights[p])
    state.now[LOSS] = state.pair_weights.sum()
    state.is_exact[:] = 0
    for k in range(len(state.key)):
        state.key[k] = forward_key(rule, state.sums, k)
    build_tree(state.key, state.tree)
    if rule.backward:
        for k in range(len(state.key)):
            state.back_key[k] = backward_key(rule, state, k)
        build_tree(state.back_key, state.back_tree)


@compiled
def set_step_back(rule, state, k, n):
    """Record the step back of a feature whose pairs are gathered, if it is shorter than eps."""
    size = abs(state.weights[k])
    if size == 0.0 or size >= rule.eps * (1.0 - _SAME):
        state.sums[k, BACK_STEP] = 0.0
        state.sums[k, BACK] = 0.0
        return
    state.sums[k, BACK_STEP] = -state.weights[k]
    state.sums[k, BACK] = loss_reduction(state.values, state.totals, n, -state.weights[k])


@compiled
def take_step(rule, index, state, k, n, step):
    """Take a step: update the pairs of feature k, whose sums are gathered, and the keys that change."""
    before = state.weights[k]
    after = before + step
    # a weight that returns to zero must be exactly zero, or it would be stepped back again and again
    if abs(after) <= _SAME * abs(step):
        after = 0.0
    state.weights[k] = after
    state.now[NORM] += abs(after) - abs(before)
    state.now[LOSS] -= loss_reduction(state.values, state.totals, n, step)
    n_touched, at = 0, index.ends[k]
    for v in range(n):
        factor = np.exp(-step * state.values[v])
        while at < state.run_ends[v]:
            p = index.pairs[at]
            change = state.pair_weights[p] * (factor - 1.0)
            state.pair_weights[p] += change
            add_to_sums(rule, index, state.sums, p, change)
            for place in range(index.starts[p], index.starts[p + 1]):
                j = index.features[place]
                if not state.is_touched[j]:
                    state.is_touched[j] = 1
                    state.touched[n_touched] = j
                    n_touched += 1
            at += 1
        state.totals[v] *= factor
    if rule.backward:
        set_step_back(rule, state, k, n)
    # keys change only after all pairs: a feature that many of them share plays its matches once
    for i in range(n_touched):
        j = state.touched[i]
        state.is_touched[j] = 0
        state.is_exact[j] = 0
        change_key(state.key, state.tree, j, forward_key(rule, state.sums, j))
        if rule.backward:
            change_key(state.back_key, state.back_tree, j, backward_key(rule, state, j))


@compiled
def best_forward_step(rule, index, state):
    """Return the best feature, its number of values (gathered) and its step; 0 for no step."""
    values, totals = state.values, state.totals
    while True:
        k = np.int64(state.tree[1])
        if k < 0 or state.key[k] <= rule.least:
            return k, 0, 0.0
        n = gather_sums(index, state.pair_weights, k, values, totals, state.run_ends)
        if rule.grid:  # eq. (12)
            step = rule.eps
            up, down = loss_reduction(values, totals, n, step), loss_reduction(values, totals, n, -step)
            if down > up:
                step, up = -step, down
        else:  # eq. (7)
            step = best_step(values, totals, n, 0.0, np.inf)
            up = totals[:n].sum() if np.isinf(step) else loss_reduction(values, totals, n, step)
        # Keys may be upper bounds (`max_reduction`). If the exact key still wins, no other can be better.
        if not state.is_exact[k]:
            state.is_exact[k] = 1
            change_key(state.key, state.tree, k, up)
            if state.tree[1] != k:
                continue
        if up <= rule.least:
            return k, 0, 0.0
        if rule.smoothing > 0.0:  # eq. (16), and (9)
            step = rule.shrinkage * best_step(values, totals, n, rule.smoothing * state.now[LOSS], np.inf)
        elif not rule.truncate:  # eq. (11)
            step = np.copysign(rule.eps, step)
        elif not rule.grid:  # the optimal step if it is smaller
            step = max(-rule.eps, min(rule.eps, step))
        elif loss_slope(values, totals, n, 0.0, step)[0] * step > 0.0:
            step = best_step(values, totals, n, 0.0, rule.eps)
        return k, n, step if loss_reduction(values, totals, n, step) > rule.least else 0.0


@compiled
def best_backward_step(rule, index, state):
    """Return the weight to step back, its number of values (gathered) and the step; -1 for none."""
    if not rule.backward or np.isinf(state.now[ALPHA]):
        return -1, 0, 0.0
    noise = _NOISE * state.now[LOSS]
    last, n = -1, 0
    while True:
        k = np.int64(state.back_tree[1])
        if k < 0 or state.back_key[k] == _NEVER:
            return -1, 0, 0.0
        size = min(abs(state.weights[k]), rule.eps)
        if size >= rule.eps * (1.0 - _SAME):
            size = rule.eps
        if size * (state.now[ALPHA] + state.back_key[k]) <= rule.theta + noise:  # eq. (15)
            return -1, 0, 0.0
        step = -np.copysign(size, state.weights[k])
        # a second win in a row is with a freshly computed key, free of accumulated rounding errors
        if k == last:
            return k, n, step
        n = gather_sums(index, state.pair_weights, k, state.values, state.totals, state.run_ends)
        change_key(
            state.back_key, state.back_tree, k, loss_reduction(state.values, state.totals, n, step) / size
        )
        last = k


@compiled
def run_steps(rule, index, state, features, back, steps, losses, alphas, norms):
    """Take steps until `features` and the other arrays of its size are full.

    Return the number of steps, and `DONE` if no step lowers ExpLoss by more than `StepRule.least`, else
    `MORE`.
    """
    now = state.now
    for t in range(len(features)):
        k, n, step = best_backward_step(rule, index, state)
        is_forward = k < 0
        if is_forward:
            k, n, step = best_forward_step(rule, index, state)
            if step == 0.0:
                return t, DONE
        before, weight = now[LOSS], state.weights[k]
        take_step(rule, index, state, k, n, step)
        if is_forward:  # figure 2, steps 3 and 5: alpha only decreases along the path
            now[ALPHA] = min(now[ALPHA], (before - now[LOSS]) / abs(step))
        features[t], back[t], steps[t] = k, not is_forward, state.weights[k] - weight
        losses[t], alphas[t], norms[t] = now[LOSS], now[ALPHA], now[NORM]
    return len(features), MORE


@compiled
def best_row(scores, start, end):
    """Return the row with the highest score in a range of rows, the first of equals."""
    best = start
    for row in range(start + 1, end):
        if scores[row] > scores[best]:
            best = row
    return best


@compiled
def follow_winners(
    indptr, rows, data, list_of, offsets, cost, columns, steps, scores, winners, total, totals
):
    """Write the cost of the winners after each step to `totals`; return the last sum.

    The matrix of the lists is given by columns; the rows of a column are sorted. `columns` and `steps` are
    the column whose weight changes, and by how much. `scores` and `winners` are those before the steps, and
    are changed; `total` is the cost of the winners before the steps.
    """
    for t in range(len(columns)):
        at, end = indptr[columns[t]], indptr[columns[t] + 1]
        while at < end:
            i = list_of[rows[at]]
            stop = offsets[i + 1]
            while at < end and rows[at] < stop:
                scores[rows[at]] += steps[t] * data[at]
                at += 1
            best = best_row(scores, offsets[i], stop)
            if best != winners[i]:
                total += cost[best] - cost[winners[i]]
                winners[i] = best
        totals[t] = total
    return total


# ---- the averaged perceptron over lists


@compiled
def score_row(indptr, indices, data, row, weights):
    """Return the score of a row."""
    total = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        total += data[at] * weights[indices[at]]
    return total


@compiled
def add_row(indptr, indices, data, row, step, fixed, weights):
    """Add a row, multiplied by `step`, to the weights that are not fixed."""
    for at in range(indptr[row], indptr[row + 1]):
        if not fixed[indices[at]]:
            weights[indices[at]] += step * data[at]


@compiled
def perceptron_pass(indptr, indices, data, offsets, cost, reference, order, fixed, weights, late, time):
    """Pass once over the lists (Collins 2002); return the number of mistakes.

    If the winner, the first of equals, costs more than the reference, the weights move towards the
    reference. `late` sums each change times the number of earlier lists: after n lists the average is
    ``weights - late / n``. Both are changed; `time` is the number of lists before this pass.
    """
    mistakes = 0
    for i in order:
        best, maximum = offsets[i], score_row(indptr, indices, data, offsets[i], weights)
        for row in range(offsets[i] + 1, offsets[i + 1]):
            value = score_row(indptr, indices, data, row, weights)
            if value > maximum:
                best, maximum = row, value
        if cost[best] > cost[reference[i]]:
            mistakes += 1
            add_row(indptr, indices, data, reference[i], 1.0, fixed, weights)
            add_row(indptr, indices, data, best, -1.0, fixed, weights)
            add_row(indptr, indices, data, reference[i], time, fixed, late)
            add_row(indptr, indices, data, best, -time, fixed, late)
        time += 1.0
    return mistakes


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    one, zero = np.zeros(1), np.zeros(1, np.int64)
    bounds = np.array([0, 1])
    follow_winners(bounds, zero, one, zero, bounds, one, zero, one, one.copy(), zero.copy(), 0.0, one.copy())
