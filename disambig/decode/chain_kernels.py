"""Compiled functions that decode chains and sum over their labellings."""

from __future__ import annotations

import numpy as np

from disambig.jit import compiled

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_NEVER = -np.inf


@compiled
def best_path(emissions, transitions, total, back, path):
    """Write the best sequence of states to `path` (Viterbi) and return its score.

    `total` (2, K) and `back` (at least L, K; int32) are work space.
    """
    n, k = emissions.shape
    is_constant = transitions.shape[0] == 1
    current, following = 0, 1
    score = 0.0
    for b in range(k):
        total[0, b] = emissions[0, b]
    for t in range(1, n):
        highest = total[current, 0]
        for b in range(1, k):
            highest = max(highest, total[current, b])
        if highest != _NEVER:  # keep the scores small: sums over long sequences would lose digits in float32
            score += highest
            for b in range(k):
                total[current, b] -= highest
        steps = transitions[0 if is_constant else t - 1]
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
            best[b] += emissions[t, b]
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
def max_marginals(emissions, transitions, starts, out):
    """Write the score of the best sequence with each state at each place to `out` (n, K)."""
    k = emissions.shape[1]
    after, after_next = np.empty(k, emissions.dtype), np.empty(k, emissions.dtype)
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        n = last - first
        if not n:
            continue
        # forward: the best sequence up to each state; then backward: added, the best one after it
        for b in range(k):
            out[first, b] = emissions[first, b]
        for t in range(first + 1, last):
            steps = transitions[0 if transitions.shape[0] == 1 else t - first - 1]
            for b in range(k):
                out[t, b] = _NEVER
            for a in range(k):
                for b in range(k):
                    out[t, b] = max(out[t, b], out[t - 1, a] + steps[a, b])
            for b in range(k):
                out[t, b] += emissions[t, b]
        for b in range(k):
            after[b] = 0.0
        for t in range(last - 2, first - 1, -1):
            steps = transitions[0 if transitions.shape[0] == 1 else t - first]
            for b in range(k):
                after_next[b] = after[b] + emissions[t + 1, b]
            for a in range(k):
                best = _NEVER
                for b in range(k):
                    best = max(best, steps[a, b] + after_next[b])
                after[a] = best
                out[t, a] += best


@compiled
def k_best_paths(emissions, transitions, k_best, totals, paths):
    """Write the best sequences to `paths` (k_best, L), best first, and `totals`; return their number.

    Forbidden sequences do not count.
    """
    n, k = emissions.shape
    is_constant = transitions.shape[0] == 1
    score = np.full((n, k, k_best), _NEVER)
    origins = np.zeros((n, k, k_best), np.int64)  # previous state and its rank, as one number
    for b in range(k):
        score[0, b, 0] = emissions[0, b]
    for t in range(1, n):
        steps = transitions[0 if is_constant else t - 1]
        for b in range(k):
            filled = 0
            for a in range(k):
                for rank in range(k_best):
                    value = score[t - 1, a, rank] + steps[a, b]
                    if value == _NEVER or (filled == k_best and value <= score[t, b, filled - 1]):
                        break  # lower ranks of this state are not better
                    # insert it in the list of the k best, in descending order
                    slot = min(filled, k_best - 1)
                    while slot > 0 and score[t, b, slot - 1] < value:
                        score[t, b, slot] = score[t, b, slot - 1]
                        origins[t, b, slot] = origins[t, b, slot - 1]
                        slot -= 1
                    score[t, b, slot] = value
                    origins[t, b, slot] = a * k_best + rank
                    filled = min(filled + 1, k_best)
            for rank in range(filled):
                score[t, b, rank] += emissions[t, b]
    # merge the lists of the last states: the next path is the best of their first unused entries
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
    """Return the logarithm of the sum of exponentials."""
    highest = values.max()
    if highest == _NEVER:
        return _NEVER
    total = 0.0
    for value in values:
        total += np.exp(value - highest)
    return highest + np.log(total)


@compiled
def log_sums(emissions, transitions, marginals, transition_marginals):
    """Return the log partition; fill `marginals` (L, K) and `transition_marginals` (L - 1, K, K)."""
    n, k = emissions.shape
    is_constant = transitions.shape[0] == 1
    forward, backward = np.empty((n, k)), np.zeros((n, k))
    terms = np.empty(k)
    forward[0] = emissions[0]
    for t in range(1, n):
        steps = transitions[0 if is_constant else t - 1]
        for b in range(k):
            for a in range(k):
                terms[a] = forward[t - 1, a] + steps[a, b]
            forward[t, b] = _log_sum(terms) + emissions[t, b]
    for t in range(n - 2, -1, -1):
        steps = transitions[0 if is_constant else t]
        for a in range(k):
            for b in range(k):
                terms[b] = steps[a, b] + emissions[t + 1, b] + backward[t + 1, b]
            backward[t, a] = _log_sum(terms)
    log_partition = _log_sum(forward[n - 1])
    for t in range(n):
        for a in range(k):
            marginals[t, a] = np.exp(forward[t, a] + backward[t, a] - log_partition)
    for t in range(n - 1):
        steps = transitions[0 if is_constant else t]
        for a in range(k):
            for b in range(k):
                after = steps[a, b] + emissions[t + 1, b] + backward[t + 1, b]
                transition_marginals[t, a, b] = np.exp(forward[t, a] + after - log_partition)
    return log_partition


def sample_chains() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    emissions, transitions = np.zeros((2, 2)), np.zeros((1, 2, 2))
    best_path(emissions, transitions, np.empty((2, 2)), np.empty((2, 2), np.int32), np.empty(2, np.int64))
    k_best_paths(emissions, transitions, 2, np.empty(2), np.empty((2, 2), np.int64))
    log_sums(emissions, transitions, np.empty((2, 2)), np.empty((1, 2, 2)))


@compiled
def emission_scores(indptr, indices, values, begins, labels, amounts, first, starts, emissions):
    """Fill `emissions` (n, K), the score of each label at each place.

    The weights of feature f are ``amounts[begins[f]:begins[f + 1]]``, for the same part of `labels`.
    """
    k = len(first)
    for i in range(len(indptr) - 1):
        for b in range(k):
            emissions[i, b] = 0.0
    for s in range(len(starts) - 1):
        if starts[s + 1] > starts[s]:
            for b in range(k):
                emissions[starts[s], b] = first[b]
    for i in range(len(indptr) - 1):
        row = emissions[i]
        for j in range(indptr[i], indptr[i + 1]):
            value = values[j]
            for entry in range(begins[indices[j]], begins[indices[j] + 1]):
                row[labels[entry]] += value * amounts[entry]


@compiled
def decode(indptr, indices, values, begins, labels, amounts, first, transitions, starts, path):
    """Write the best label of every place to `path`, sequence by sequence."""
    k = len(first)
    longest = 1
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    emissions = np.empty((longest, k), np.float32)
    total = np.empty((2, k), np.float32)
    back = np.empty((longest, k), np.int32)
    whole = np.zeros(2, starts.dtype)
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        if n:
            whole[1] = n
            emission_scores(
                indptr[begin : begin + n + 1],
                indices,
                values,
                begins,
                labels,
                amounts,
                first,
                whole,
                emissions[:n],
            )
            best_path(emissions[:n], transitions, total, back, path[begin : begin + n])


_MIN_SUM = 1e-280
"""Smaller sums are not divided by."""


@compiled
def shared_sums(emissions, transitions, marginals, transition_sums):
    """Return the log partition; fill `marginals` of labels, and sums of the marginals of steps.

    `emissions` (float64 (L, K)): scores of labels at places.
    `transitions` (float64 (K, K)): scores of (previous label, label).
    `transition_sums` (float64 (K, K)): expected number of steps from one label to another.
    """
    n, k = emissions.shape
    # Forward-backward with probabilities that are scaled at each place, so that only K * K exponentials are
    # taken for the steps. If a sum gets too small to divide by, `log_sums` is used, which is slower.
    highest = transitions.max()
    weights = np.exp(transitions - highest)
    transposed = np.empty((k, k))  # so that both passes read along rows
    for a in range(k):
        for b in range(k):
            transposed[b, a] = weights[a, b]
    forward, emission_weights, backward = np.zeros((n, k)), np.empty((n, k)), np.ones(k)
    after, ahead = np.empty(k), np.empty(k)
    log_partition = highest * (n - 1)
    is_stable = True
    for t in range(n):
        highest_here = emissions[t].max()
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
            emission_weights[t, b] = np.exp(emissions[t, b] - highest_here)
            forward_row[b] *= emission_weights[t, b]
            total += forward_row[b]
        if not total > _MIN_SUM:
            is_stable = False
            break
        log_partition += highest_here + np.log(total)
        for b in range(k):
            forward_row[b] /= total
    transition_sums[:] = 0.0
    for t in range(n - 1, -1, -1):
        if not is_stable:
            break
        total = 0.0
        for b in range(k):
            marginals[t, b] = forward[t, b] * backward[b]
            total += marginals[t, b]
        if not total > _MIN_SUM:
            is_stable = False
            break
        for b in range(k):
            marginals[t, b] /= total
        if t == 0:
            break
        for b in range(k):
            ahead[b] = emission_weights[t, b] * backward[b]
            after[b] = 0.0
        for b in range(k):
            x = ahead[b]
            for a in range(k):
                after[a] += x * transposed[b, a]
        total, highest_here = 0.0, 0.0
        for a in range(k):
            total += forward[t - 1, a] * after[a]
            highest_here = max(highest_here, after[a])
        if not total > _MIN_SUM:
            is_stable = False
            break
        # the marginals of the step, without the factor `weights`, which is the same at every place
        for a in range(k):
            x = forward[t - 1, a] / total
            for b in range(k):
                transition_sums[a, b] += x * ahead[b]
            backward[a] = after[a] / highest_here
    if is_stable:
        for a in range(k):
            for b in range(k):
                transition_sums[a, b] *= weights[a, b]
        return log_partition
    step_sums = np.empty((max(n - 1, 1), k, k))
    log_partition = log_sums(emissions, transitions.copy().reshape(1, k, k), marginals, step_sums)
    transition_sums[:] = 0.0
    for t in range(n - 1):
        for a in range(k):
            for b in range(k):
                transition_sums[a, b] += step_sums[t, a, b]
    return log_partition


def sample_chain_sums() -> None:
    """Call the compiled functions once, so that `disambig doctor --compile` compiles them."""
    shared_sums(np.zeros((2, 2)), np.zeros((2, 2)), np.empty((2, 2)), np.empty((2, 2)))
