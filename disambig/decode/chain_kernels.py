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
    now, then = 0, 1
    score = 0.0
    for b in range(k):
        total[0, b] = place[0, b]
    for t in range(1, n):
        most = total[now, 0]
        for b in range(1, k):
            most = max(most, total[now, b])
        if most != _NEVER:  # keep the scores small: sums over long sequences would lose digits in float32
            score += most
            for b in range(k):
                total[now, b] -= most
        table = step[0 if shared else t - 1]
        # inner loops run along the rows of `table` and have no branches, so that they are vectorised
        best, origin = total[then], back[t]
        for b in range(k):
            best[b] = total[now, 0] + table[0, b]
            origin[b] = 0
        for a in range(1, k):
            so_far = total[now, a]
            for b in range(k):
                value = so_far + table[a, b]
                better = value > best[b]
                best[b] = value if better else best[b]
                origin[b] = a if better else origin[b]
        for b in range(k):
            best[b] += place[t, b]
        now, then = then, now
    state = 0
    for b in range(1, k):
        if total[now, b] > total[now, state]:
            state = b
    score += total[now, state]
    for t in range(n - 1, -1, -1):
        path[t] = state
        if t:
            state = back[t, state]
    return score


@compiled
def max_marginals(place, step, starts, out):
    """Write the score of the best sequence with each state at each place to `out` (n, K)."""
    k = place.shape[1]
    after, later = np.empty(k, place.dtype), np.empty(k, place.dtype)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        n = last - first
        if not n:
            continue
        for b in range(k):
            out[first, b] = place[first, b]
        for t in range(first + 1, last):
            table = step[0 if step.shape[0] == 1 else t - first - 1]
            for b in range(k):
                out[t, b] = _NEVER
            for a in range(k):
                for b in range(k):
                    out[t, b] = max(out[t, b], out[t - 1, a] + table[a, b])
            for b in range(k):
                out[t, b] += place[t, b]
        for b in range(k):
            after[b] = 0.0
        for t in range(last - 2, first - 1, -1):
            table = step[0 if step.shape[0] == 1 else t - first]
            for b in range(k):
                later[b] = after[b] + place[t + 1, b]
            for a in range(k):
                best = _NEVER
                for b in range(k):
                    best = max(best, table[a, b] + later[b])
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
    before = np.zeros((n, k, k_best), np.int64)  # previous state and its rank, as one number
    for b in range(k):
        score[0, b, 0] = place[0, b]
    for t in range(1, n):
        table = step[0 if shared else t - 1]
        for b in range(k):
            filled = 0
            for a in range(k):
                for rank in range(k_best):
                    value = score[t - 1, a, rank] + table[a, b]
                    if value == _NEVER or (filled == k_best and value <= score[t, b, filled - 1]):
                        break  # lower ranks of this state are not better
                    at = min(filled, k_best - 1)
                    while at > 0 and score[t, b, at - 1] < value:
                        score[t, b, at] = score[t, b, at - 1]
                        before[t, b, at] = before[t, b, at - 1]
                        at -= 1
                    score[t, b, at] = value
                    before[t, b, at] = a * k_best + rank
                    filled = min(filled + 1, k_best)
            for rank in range(filled):
                score[t, b, rank] += place[t, b]
    n_paths = 0
    used = np.zeros(k, np.int64)
    while n_paths < k_best:
        state = -1
        for b in range(k):
            if used[b] < k_best and score[n - 1, b, used[b]] != _NEVER:
                if state < 0 or score[n - 1, b, used[b]] > score[n - 1, state, used[state]]:
                    state = b
        if state < 0:
            break
        rank = used[state]
        used[state] += 1
        totals[n_paths] = score[n - 1, state, rank]
        at_state, at_rank = state, rank
        for t in range(n - 1, -1, -1):
            paths[n_paths, t] = at_state
            origin = before[t, at_state, at_rank]
            at_state, at_rank = origin // k_best, origin % k_best
        n_paths += 1
    return n_paths


@compiled
def _log_sum(values):
    most = values.max()
    if most == _NEVER:
        return _NEVER
    total = 0.0
    for value in values:
        total += np.exp(value - most)
    return most + np.log(total)


@compiled
def log_sums(place, step, shares, step_shares):
    """Return the log partition; write marginals to `shares` (L, K) and `step_shares` (L - 1, K, K)."""
    n, k = place.shape
    shared = step.shape[0] == 1
    forward, backward = np.empty((n, k)), np.zeros((n, k))
    terms = np.empty(k)
    forward[0] = place[0]
    for t in range(1, n):
        table = step[0 if shared else t - 1]
        for b in range(k):
            for a in range(k):
                terms[a] = forward[t - 1, a] + table[a, b]
            forward[t, b] = _log_sum(terms) + place[t, b]
    for t in range(n - 2, -1, -1):
        table = step[0 if shared else t]
        for a in range(k):
            for b in range(k):
                terms[b] = table[a, b] + place[t + 1, b] + backward[t + 1, b]
            backward[t, a] = _log_sum(terms)
    log_partition = _log_sum(forward[n - 1])
    for t in range(n):
        for a in range(k):
            shares[t, a] = np.exp(forward[t, a] + backward[t, a] - log_partition)
    for t in range(n - 1):
        table = step[0 if shared else t]
        for a in range(k):
            for b in range(k):
                after = table[a, b] + place[t + 1, b] + backward[t + 1, b]
                step_shares[t, a, b] = np.exp(forward[t, a] + after - log_partition)
    return log_partition


def sample_chains() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    place, step = np.zeros((2, 2)), np.zeros((1, 2, 2))
    best_path(place, step, np.empty((2, 2)), np.empty((2, 2), np.int32), np.empty(2, np.int64))
    k_best_paths(place, step, 2, np.empty(2), np.empty((2, 2), np.int64))
    log_sums(place, step, np.empty((2, 2)), np.empty((1, 2, 2)))


# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


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
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        if not n:
            continue
        for t in range(n):
            row = place[t]
            for b in range(k):
                row[b] = first[b] if t == 0 else 0.0
            for j in range(indptr[begin + t], indptr[begin + t + 1]):
                x = values[j]
                for at in range(begins[indices[j]], begins[indices[j] + 1]):
                    row[labels[at]] += x * amounts[at]
        best_path(place[:n], step, total, back, path[begin : begin + n])


# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_LEAST = 1e-280


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
    table = np.exp(step - highest)
    turned = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            turned[b, a] = table[a, b]
    forward, own, backward = np.zeros((n, k)), np.empty((n, k)), np.ones(k)
    after, ahead = np.empty(k), np.empty(k)
    log_partition = highest * (n - 1)
    sound = True
    for t in range(n):
        most = place[t].max()
        row = forward[t]
        if t:
            for a in range(k):
                x = forward[t - 1, a]
                for b in range(k):
                    row[b] += x * table[a, b]
        else:
            row[:] = 1.0
        total = 0.0
        for b in range(k):
            own[t, b] = np.exp(place[t, b] - most)
            row[b] *= own[t, b]
            total += row[b]
        if not total > _LEAST:
            sound = False
            break
        log_partition += most + np.log(total)
        for b in range(k):
            row[b] /= total
    pairs[:] = 0.0
    for t in range(n - 1, -1, -1):
        if not sound:
            break
        total = 0.0
        for b in range(k):
            shares[t, b] = forward[t, b] * backward[b]
            total += shares[t, b]
        if not total > _LEAST:
            sound = False
            break
        for b in range(k):
            shares[t, b] /= total
        if t == 0:
            break
        for b in range(k):
            ahead[b] = own[t, b] * backward[b]
            after[b] = 0.0
        for b in range(k):
            x = ahead[b]
            for a in range(k):
                after[a] += x * turned[b, a]
        total, most = 0.0, 0.0
        for a in range(k):
            total += forward[t - 1, a] * after[a]
            most = max(most, after[a])
        if not total > _LEAST:
            sound = False
            break
        for a in range(k):
            x = forward[t - 1, a] / total
            for b in range(k):
                pairs[a, b] += x * ahead[b]
            backward[a] = after[a] / most
    if sound:
        for a in range(k):
            for b in range(k):
                pairs[a, b] *= table[a, b]
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
