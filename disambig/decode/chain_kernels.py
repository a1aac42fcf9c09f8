"""Compiled functions that decode chains and sum over their labellings."""

from __future__ import annotations

import numpy as np

from disambig.jit import compiled

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_NEVER = -np.inf


@compiled
def best_path(place, step, total, back, path):
    """Write the best sequence of states to `path` (Viterbi) and return its score.

    `total` (2, K) and `back` (at least L, K; int32) are work space.
    """
    n, k = place.shape
    shared = step.shape[0] == 1
    current, following = 0, 1
    score = 0.0
    for b in range(k):
        total[0, b] = place[0, b]
    for t in range(1, n):
        highest = total[current, 0]
        for b in range(1, k):
            highest = max(highest, total[current, b])
        if highest != _NEVER:  # keep the scores small: sums over long sequences would lose digits in float32
            score += highest
            for b in range(k):
                total[current, b] -= highest
        steps = step[0 if shared else t - 1]
        # inner loops run along the rows of `steps` and have no branches, so that they are vectorised
        best, origin = total[following], back[t]
        for b in range(k):
            best[b] = total[current, 0] + steps[0, b]
            origin[b] = 0
        for a in range(1, k):
            score_here = total[current, a]
            for b in range(k):
                value = score_here + steps[a, b]
                better = value > best[b]
                best[b] = value if better else best[b]
                origin[b] = a if better else origin[b]
        for b in range(k):
            best[b] += place[t, b]
        current, following = following, current
    state = 0
    for b in range(1, k):
        if total[current, b] > total[current, state]:
            state = b
    score += total[current, state]
    for t in range(n - 1, -1, -1):
        path[t] = state
        if t:
            state = back[t, state]
    return score


@compiled
def max_marginals(place, step, starts, out):
    """Write the score of the best sequence with each state at each place to `out` (n, K)."""
    k = place.shape[1]
    after, after_next = np.empty(k, place.dtype), np.empty(k, place.dtype)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        n = last - first
        if not n:
            continue
        for b in range(k):
            out[first, b] = place[first, b]
        for t in range(first + 1, last):
            steps = step[0 if step.shape[0] == 1 else t - first - 1]
            for b in range(k):
                out[t, b] = _NEVER
            for a in range(k):
                for b in range(k):
                    out[t, b] = max(out[t, b], out[t - 1, a] + steps[a, b])
            for b in range(k):
                out[t, b] += place[t, b]
        for b in range(k):
            after[b] = 0.0
        for t in range(last - 2, first - 1, -1):
            steps = step[0 if step.shape[0] == 1 else t - first]
            for b in range(k):
                after_next[b] = after[b] + place[t + 1, b]
            for a in range(k):
                best = _NEVER
                for b in range(k):
                    best = max(best, steps[a, b] + after_next[b])
                after[a] = best
                out[t, a] += best


@compiled
def k_best_paths(place, step, k_best, totals, paths):
    """Write the best sequences to `paths` (k_best, L), best first, and `totals`; return their number.

    Forbidden sequences do not count.
    """
    n, k = place.shape
    shared = step.shape[0] == 1
    score = np.full((n, k, k_best), _NEVER)
    origins = np.zeros((n, k, k_best), np.int64)  # previous state and its rank, as one number
    for b in range(k):
        score[0, b, 0] = place[0, b]
    for t in range(1, n):
        steps = step[0 if shared else t - 1]
        for b in range(k):
            filled = 0
            for a in range(k):
                for rank in range(k_best):
                    value = score[t - 1, a, rank] + steps[a, b]
                    if value == _NEVER or (filled == k_best and value <= score[t, b, filled - 1]):
                        break  # lower ranks of this state are not better
                    slot = min(filled, k_best - 1)
                    while slot > 0 and score[t, b, slot - 1] < value:
                        score[t, b, slot] = score[t, b, slot - 1]
                        origins[t, b, slot] = origins[t, b, slot - 1]
                        slot -= 1
                    score[t, b, slot] = value
                    origins[t, b, slot] = a * k_best + rank
                    filled = min(filled + 1, k_best)
            for rank in range(filled):
                score[t, b, rank] += place[t, b]
    n_paths = 0
    n_used = np.zeros(k, np.int64)
    while n_paths < k_best:
        state = -1
        for b in range(k):
            if n_used[b] < k_best and score[n - 1, b, n_used[b]] != _NEVER:
                if state < 0 or score[n - 1, b, n_used[b]] > score[n - 1, state, n_used[state]]:
                    state = b
        if state < 0:
            break
        rank = n_used[state]
        n_used[state] += 1
        totals[n_paths] = score[n - 1, state, rank]
        path_state, path_rank = state, rank
        for t in range(n - 1, -1, -1):
            paths[n_paths, t] = path_state
            origin = origins[t, path_state, path_rank]
            path_state, path_rank = origin // k_best, origin % k_best
        n_paths += 1
    return n_paths


@compiled
def _log_sum(values):
    highest = values.max()
    if highest == _NEVER:
        return _NEVER
    total = 0.0
    for value in values:
        total += np.exp(value - highest)
    return highest + np.log(total)


@compiled
def log_sums(place, step, shares, step_shares):
    """Return the log partition; write marginals to `shares` (L, K) and `step_shares` (L - 1, K, K)."""
    n, k = place.shape
    shared = step.shape[0] == 1
    forward, backward = np.empty((n, k)), np.zeros((n, k))
    terms = np.empty(k)
    forward[0] = place[0]
    for t in range(1, n):
        steps = step[0 if shared else t - 1]
        for b in range(k):
            for a in range(k):
                terms[a] = forward[t - 1, a] + steps[a, b]
            forward[t, b] = _log_sum(terms) + place[t, b]
    for t in range(n - 2, -1, -1):
        steps = step[0 if shared else t]
        for a in range(k):
            for b in range(k):
                terms[b] = steps[a, b] + place[t + 1, b] + backward[t + 1, b]
            backward[t, a] = _log_sum(terms)
    log_partition = _log_sum(forward[n - 1])
    for t in range(n):
        for a in range(k):
            shares[t, a] = np.exp(forward[t, a] + backward[t, a] - log_partition)
    for t in range(n - 1):
        steps = step[0 if shared else t]
        for a in range(k):
            for b in range(k):
                after = steps[a, b] + place[t + 1, b] + backward[t + 1, b]
                step_shares[t, a, b] = np.exp(forward[t, a] + after - log_partition)
    return log_partition


def sample_chains() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    place, step = np.zeros((2, 2)), np.zeros((1, 2, 2))
    best_path(place, step, np.empty((2, 2)), np.empty((2, 2), np.int32), np.empty(2, np.int64))
    k_best_paths(place, step, 2, np.empty(2), np.empty((2, 2), np.int64))
    log_sums(place, step, np.empty((2, 2)), np.empty((1, 2, 2)))


@compiled
def place_scores(indptr, indices, values, begins, labels, amounts, first, starts, out):
    """Write the scores of places to `out` (n, K); the weights of column f are ``begins[f]:begins[f + 1]``."""
    k = len(first)
    for i in range(len(indptr) - 1):
        for b in range(k):
            out[i, b] = 0.0
    for s in range(len(starts) - 1):
        if starts[s + 1] > starts[s]:
            for b in range(k):
                out[starts[s], b] = first[b]
    for i in range(len(indptr) - 1):
        row = out[i]
        for j in range(indptr[i], indptr[i + 1]):
            x = values[j]
            for at in range(begins[indices[j]], begins[indices[j] + 1]):
                row[labels[at]] += x * amounts[at]


@compiled
def decode(indptr, indices, values, begins, labels, amounts, first, step, starts, path):
    """Write the best label of every place to `path`, sequence by sequence."""
    k = len(first)
    longest = 1
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    place = np.empty((longest, k), np.float32)
    total = np.empty((2, k), np.float32)
    back = np.empty((longest, k), np.int32)
    whole = np.zeros(2, starts.dtype)
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        if n:
            whole[1] = n
            place_scores(
                indptr[begin : begin + n + 1],
                indices,
                values,
                begins,
                labels,
                amounts,
                first,
                whole,
                place[:n],
            )
            best_path(place[:n], step, total, back, path[begin : begin + n])


_LEAST = 1e-280
"""Smaller sums are not divided by."""


@compiled
def shared_sums(place, step, shares, pairs):
    """Return the log partition; write marginals of labels to `shares`, sums of those of pairs to `pairs`.

    Parameters
    ----------
    place : array of float64, shape (L, K)
        Scores of labels at places.
    step : array of float64, shape (K, K)
        Scores of (previous label, label).
    shares : array of float64, shape (L, K)
    pairs : array of float64, shape (K, K)
        Expected number of steps from one label to another.
    """
    n, k = place.shape
    # Forward-backward with probabilities that are scaled at each place, so that only K * K exponentials are
    # taken for the steps. If a sum gets too small to divide by, `log_sums` is used, which is slower.
    highest = step.max()
    weights = np.exp(step - highest)
    transposed = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            transposed[b, a] = weights[a, b]
    forward, place_weights, backward = np.zeros((n, k)), np.empty((n, k)), np.ones(k)
    after, ahead = np.empty(k), np.empty(k)
    log_partition = highest * (n - 1)
    is_stable = True
    for t in range(n):
        highest_here = place[t].max()
        forward_row = forward[t]
        if t:
            for a in range(k):
                x = forward[t - 1, a]
                for b in range(k):
                    forward_row[b] += x * weights[a, b]
        else:
            forward_row[:] = 1.0
        total = 0.0
        for b in range(k):
            place_weights[t, b] = np.exp(place[t, b] - highest_here)
            forward_row[b] *= place_weights[t, b]
            total += forward_row[b]
        if not total > _LEAST:
            is_stable = False
            break
        log_partition += highest_here + np.log(total)
        for b in range(k):
            forward_row[b] /= total
    pairs[:] = 0.0
    for t in range(n - 1, -1, -1):
        if not is_stable:
            break
        total = 0.0
        for b in range(k):
            shares[t, b] = forward[t, b] * backward[b]
            total += shares[t, b]
        if not total > _LEAST:
            is_stable = False
            break
        for b in range(k):
            shares[t, b] /= total
        if t == 0:
            break
        for b in range(k):
            ahead[b] = place_weights[t, b] * backward[b]
            after[b] = 0.0
        for b in range(k):
            x = ahead[b]
            for a in range(k):
                after[a] += x * transposed[b, a]
        total, highest_here = 0.0, 0.0
        for a in range(k):
            total += forward[t - 1, a] * after[a]
            highest_here = max(highest_here, after[a])
        if not total > _LEAST:
            is_stable = False
            break
        for a in range(k):
            x = forward[t - 1, a] / total
            for b in range(k):
                pairs[a, b] += x * ahead[b]
            backward[a] = after[a] / highest_here
    if is_stable:
        for a in range(k):
            for b in range(k):
                pairs[a, b] *= weights[a, b]
        return log_partition
    step_sums = np.empty((max(n - 1, 1), k, k))
    log_partition = log_sums(place, step.copy().reshape(1, k, k), shares, step_sums)
    pairs[:] = 0.0
    for t in range(n - 1):
        for a in range(k):
            for b in range(k):
                pairs[a, b] += step_sums[t, a, b]
    return log_partition


def sample_chain_sums() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    shared_sums(np.zeros((2, 2)), np.zeros((2, 2)), np.empty((2, 2)), np.empty((2, 2)))
