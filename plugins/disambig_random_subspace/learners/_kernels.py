"""Compiled training of linear models under eight masks at once: labels, folds, confidence, and lists."""

from __future__ import annotations

import numpy as np

from disambig.api.kernels import add_eight, compiled, compiled_in_place, eight_products

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


LANES = 8
"""Number of masks trained at once, that of `eight_products`."""
INTERCEPT_STEP = 0.01
"""Factor on the intercept's steps, as in scikit-learn for sparse rows."""
_SMALLEST_SCALE = 1e-9


@compiled
def add_lanes(total, weights, lanes):
    """Add the first `lanes` values to `total` in a fixed order: bit-identical on all machines."""
    for j in range(len(total)):
        of_lanes = 0.0
        for lane in range(lanes):
            of_lanes += weights[j, lane]
        total[j] += of_lanes


@compiled
def start_of_steps(alpha):
    """Return t0 of the step sizes ``1 / (alpha (t0 + t))``; 0 if `alpha` is 0.

    It is scikit-learn's "optimal" schedule (Bottou): the first step is as long as typical weights.
    """
    return 1.0 / (np.sqrt(1.0 / np.sqrt(alpha)) * alpha) if alpha > 0 else 0.0


@compiled
def shrink_weights(weights, scale, factor):
    """Return the `scale` of some weights after they shrink, and apply it to them if it has become tiny."""
    scale *= max(0.0, factor)
    if scale < _SMALLEST_SCALE:  # before a step divided by the scale overflows
        weights *= scale
        scale = 1.0
    return scale


@compiled
def descend_labels(indptr, indices, data, targets, keep, passes, threshold, alpha, weights, intercepts):
    """Run stochastic gradient descent from `weights` on the loss ``max(0, threshold - y (w . x + b))``.

    The loss is that of eq. (7) of the paper, for each of the masks.

    Parameters
    ----------
    indptr, indices, data : arrays of uint64, uint32 and float64
        The rows, in training order.
    targets : array of float64, shape (n,)
        1 or -1.
    keep : array of uint8, shape (d, LANES)
        0 if a lane lacks a dimension.
    threshold : float
        0 for the perceptron, 1 for the hinge loss.
    alpha : float
        Weight of the squared norm; the step size is ``1 / (alpha (t0 + t))``. With 0 the step size is one.
    weights : array of float64, shape (d, LANES)
    intercepts : array of float64, shape (lanes,)
        One for each trained lane, at most `LANES`.
    """
    sums, steps = np.zeros(LANES), np.zeros(LANES)
    # the actual weights are scale * weights, so shrinking all of them costs one product
    scale, eta, t = 1.0, 1.0, 1.0
    t0 = start_of_steps(alpha)
    for _ in range(passes):
        for i in range(len(targets)):
            start, end, y = indptr[i], indptr[i + 1], targets[i]
            eight_products(indices, data, start, end, weights, sums)
            before = scale
            if alpha > 0:
                eta = 1.0 / (alpha * (t0 + t - 1.0))
                scale = shrink_weights(weights, scale, 1.0 - eta * alpha)
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
def passive_aggressive_labels(indptr, indices, data, targets, keep, passes, maximum, weights, intercepts):
    """Run PA-I (Crammer et al. 2006): the smallest step up to `maximum` that brings the hinge loss to zero.

    See `descend_labels` for the parameters. Rows that are empty under a mask are skipped.
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
            # the norm of the row under each mask: `keep` is 0 or 1, so it selects the squares
            eight_products(indices, squares, start, end, keep, norms)
            for lane in range(len(intercepts)):
                steps[lane] = 0.0
                loss = 1.0 - y * (sums[lane] + intercepts[lane])
                if loss > 0 and norms[lane] > 0:
                    steps[lane] = min(maximum, loss / norms[lane]) * y
                    intercepts[lane] += steps[lane] * INTERCEPT_STEP
            add_eight(indices, data, start, end, weights, steps, keep)


@compiled
def descend_without_folds(
    indptr, indices, data, targets, folds, left_out, passes, threshold, alpha, weights, intercepts, keep
):
    """Run stochastic gradient descent as `descend_labels` does, each lane without the rows of one fold.

    `folds`, shape ``(n,)``, are those of the rows; `left_out`, shape ``(lanes,)``, is the fold that each of
    at most `LANES` lanes leaves out, -1 for none. `keep` is all ones.
    """
    lanes = len(left_out)
    sums, steps, scales, t = np.zeros(LANES), np.zeros(LANES), np.ones(LANES), np.ones(LANES)
    t0 = start_of_steps(alpha)
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


@compiled
def confidence_step(m, v, phi):
    """Return the step after which a margin `m` of variance `v` is as certain as `phi` requires.

    It is the closed form of Dredze, Crammer and Pereira (2008). Its discriminant,
    ``(1 + 2 phi m)^2 - 8 phi (m - phi v)``, is written as a sum of squares: never negative.
    """
    root = np.sqrt((1.0 - 2.0 * phi * m) ** 2 + 8.0 * phi * phi * v)
    return (root - 1.0 - 2.0 * phi * m) / (4.0 * phi * v)


@compiled
def confidence_labels(indptr, indices, data, targets, passes, phi, means, variances, intercepts):
    """Pass over the rows and update the mean and variance of each weight in `means` and `variances`.

    `phi` is the required confidence, as a quantile of the normal distribution. `means` and `variances` have
    the shape ``(d, LANES)``; variances are initially 1, and 0 if a lane lacks a dimension: a weight with zero
    variance never changes. `intercepts`, for each trained lane, are the weights of a constant of one, with
    its own variance; masks do not remove it. See `descend_labels` for the other arrays.
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
                if not m < phi * v:  # also skips NaN
                    continue
                step = confidence_step(m, v, phi)
                shrink = 2.0 * phi * step
                for at in range(start, end):
                    j = indices[at]
                    variance = variances[j, lane]
                    means[j, lane] += step * y * variance * data[at]
                    variances[j, lane] = variance / (1.0 + shrink * squares[at] * variance)
                intercepts[lane] += step * y * of_intercept[lane]
                of_intercept[lane] /= 1.0 + shrink * of_intercept[lane]


# ---- lists of candidates


@compiled
def score_candidates(indptr, indices, data, start, end, weights, scores):
    """Write the scores of the candidates `start` to `end` into `scores`, shape (>= end - start, LANES)."""
    for row in range(start, end):
        eight_products(indices, data, indptr[row], indptr[row + 1], weights, scores[row - start])


@compiled
def best_pair(scores, lane, cost, start, end, scale, margin):
    """Return the best right candidate and the best other by score plus `margin` times cost; -1 for none."""
    right, rival = -1, -1
    best = maximum = -np.inf
    for row in range(start, end):
        value = scores[row - start, lane] * scale
        if cost[row] == 0.0:
            if right < 0 or value > best:
                right, best = row, value
        elif rival < 0 or value + margin * cost[row] > maximum:
            rival, maximum = row, value + margin * cost[row]
    return right, rival, best, maximum


@compiled
def add_difference(indptr, indices, data, right, rival, step, lane, keep, weights):
    """Add the difference of two rows, multiplied by `step`, to the weights of a lane."""
    for row in (right, rival):
        signed = step if row == right else -step
        for at in range(indptr[row], indptr[row + 1]):
            j = indices[at]
            weights[j, lane] += signed * data[at] * keep[j, lane]


@compiled_in_place
def row_difference(indptr, indices, data, right, rival, workspace):
    """Write the difference of two rows into `workspace`, shape (d,), which must be zero."""
    for at in range(indptr[right], indptr[right + 1]):
        workspace[indices[at]] += data[at]
    for at in range(indptr[rival], indptr[rival + 1]):
        workspace[indices[at]] -= data[at]


@compiled_in_place
def difference_norm(indptr, indices, data, right, rival, lane, factors, workspace):
    """Return the sum of ``factor x^2`` over the difference of two rows, in a lane.

    `workspace`, shape (d,), must be zero, and is zero afterwards.
    """
    row_difference(indptr, indices, data, right, rival, workspace)
    norm = 0.0
    # zeroing `workspace` at once counts a column of both rows only once
    for row in (right, rival):
        for at in range(indptr[row], indptr[row + 1]):
            j = indices[at]
            norm += workspace[j] * workspace[j] * factors[j, lane]
            workspace[j] = 0.0
    return norm


@compiled
def descend_lists(
    indptr, indices, data, offsets, cost, order, keep, passes, margin, alpha, longest, weights, lanes
):
    """Run stochastic gradient descent on ``max(0, rival + margin cost - right)``, starting from `weights`.

    See `descend_labels` for the other parameters.

    `margin` is 0 for the perceptron and 1 for the hinge loss, `longest` the number of candidates in the
    longest list, and `lanes` the number of lanes that are trained.
    """
    scores = np.zeros((longest, LANES))
    # the actual weights are scale * weights, so shrinking all of them costs one product
    scale, eta, t = 1.0, 1.0, 1.0
    t0 = start_of_steps(alpha)
    for _ in range(passes):
        for i in order:
            start, end = offsets[i], offsets[i + 1]
            score_candidates(indptr, indices, data, start, end, weights, scores)
            before = scale
            if alpha > 0:
                eta = 1.0 / (alpha * (t0 + t - 1.0))
                scale = shrink_weights(weights, scale, 1.0 - eta * alpha)
            for lane in range(lanes):
                right, rival, best, maximum = best_pair(scores, lane, cost, start, end, before, margin)
                if rival >= 0 and maximum >= best:
                    add_difference(indptr, indices, data, right, rival, eta / scale, lane, keep, weights)
            t += 1.0
    weights *= scale


@compiled
def passive_aggressive_lists(
    indptr, indices, data, offsets, cost, order, keep, passes, most_step, longest, weights, lanes
):
    """Run PA-I (Crammer et al. 2006): the smallest step, at most `most_step`, that brings the loss to zero.

    The required margin is the cost of the rival. See `descend_lists` for the parameters.
    """
    scores, workspace = np.zeros((longest, LANES)), np.zeros(len(weights))
    for _ in range(passes):
        for i in order:
            start, end = offsets[i], offsets[i + 1]
            score_candidates(indptr, indices, data, start, end, weights, scores)
            for lane in range(lanes):
                right, rival, best, maximum = best_pair(scores, lane, cost, start, end, 1.0, 1.0)
                if rival < 0 or maximum <= best:
                    continue
                norm = difference_norm(indptr, indices, data, right, rival, lane, keep, workspace)
                if norm > 0:
                    step = min(most_step, (maximum - best) / norm)
                    add_difference(indptr, indices, data, right, rival, step, lane, keep, weights)


@compiled
def confidence_lists(
    indptr, indices, data, offsets, cost, order, passes, phi, longest, means, variances, lanes
):
    """Run confidence-weighted learning: ``m . (right - rival) >= phi (right - rival)' S (right - rival)``.

    See `confidence_labels` and `descend_lists` for the parameters.
    """
    scores, workspace = np.zeros((longest, LANES)), np.zeros(len(means))
    for _ in range(passes):
        for i in order:
            start, end = offsets[i], offsets[i + 1]
            score_candidates(indptr, indices, data, start, end, means, scores)
            for lane in range(lanes):
                right, rival, best, maximum = best_pair(scores, lane, cost, start, end, 1.0, 0.0)
                if rival < 0:
                    continue
                v = difference_norm(indptr, indices, data, right, rival, lane, variances, workspace)
                m = best - maximum
                if not m < phi * v:
                    continue
                step = confidence_step(m, v, phi)
                shrink = 2.0 * phi * step
                row_difference(indptr, indices, data, right, rival, workspace)
                for row in (right, rival):
                    for at in range(indptr[row], indptr[row + 1]):
                        j = indices[at]
                        x, variance = workspace[j], variances[j, lane]
                        if x != 0.0:
                            means[j, lane] += step * variance * x
                            variances[j, lane] = variance / (1.0 + shrink * x * x * variance)
                        workspace[j] = 0.0


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    row = np.array([0, 1], np.uint64), np.zeros(1, np.uint32), np.ones(1)
    keep, fold = np.ones((1, LANES), np.uint8), np.zeros(1, np.int64)
    passive_aggressive_labels(*row, np.ones(1), keep, 1, 1.0, np.zeros(keep.shape), np.zeros(LANES))
    descend_without_folds(
        *row, np.ones(1), fold, fold - 1, 1, 1.0, 1e-4, np.zeros(keep.shape), np.zeros(1), keep
    )
