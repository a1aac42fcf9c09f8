"""Compiled functions of exponentiated gradient on sequences of labels."""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import best_path, compiled, shared_sums

from ._list_kernels import next_eta


@compiled
def place_scores(rows, begin, n, weights, first, out):
    """Write the scores of the labels at the positions of a sequence into `out` (n, K).

    `weights` (D, K) has the weights of each feature per label, `first` (K,) those of the first label.
    """
    indptr, indices, values = rows
    k = len(first)
    for t in range(n):
        row = out[t]
        for b in range(k):
            row[b] = first[b] if t == 0 else 0.0
        for at in range(indptr[begin + t], indptr[begin + t + 1]):
            x, column = values[at], weights[indices[at]]
            for b in range(k):
                row[b] += x * column[b]


@compiled
def add_places(rows, begin, mass, factor, weights, first):
    """Add the features at a sequence's positions, weighted by ``factor * mass`` (n, K), to the weights."""
    indptr, indices, values = rows
    n, k = mass.shape
    for b in range(k):
        first[b] += factor * mass[0, b]
    for t in range(n):
        row = mass[t]
        for at in range(indptr[begin + t], indptr[begin + t + 1]):
            x, column = factor * values[at], weights[indices[at]]
            for b in range(k):
                column[b] += x * row[b]


@compiled
def products(rows, starts, begins, out, workspace):
    """Write the inner products of the rows of each sequence, (n, n) each, into `out` from ``begins[s]`` on.

    `workspace` (D,) must be zero, and is zero afterwards.
    """
    indptr, indices, values = rows
    for s in range(len(starts) - 1):
        first, last = starts[s], starts[s + 1]
        n = last - first
        for t in range(n):
            for at in range(indptr[first + t], indptr[first + t + 1]):
                workspace[indices[at]] += values[at]
            for u in range(n):
                total = 0.0
                for at in range(indptr[first + u], indptr[first + u + 1]):
                    total += values[at] * workspace[indices[at]]
                out[begins[s] + t * n + u] = total
            for at in range(indptr[first + t], indptr[first + t + 1]):
                workspace[indices[at]] = 0.0


@compiled
def inner(left, right):
    """Return the inner product of two matrices."""
    total = 0.0
    for i in range(left.shape[0]):
        for j in range(left.shape[1]):
            total += left[i, j] * right[i, j]
    return total


@compiled
def difference(before, after):
    """Write ``before - after`` into `after`; return the sum of absolute values."""
    far = 0.0
    for i in range(before.shape[0]):
        for j in range(before.shape[1]):
            after[i, j] = before[i, j] - after[i, j]
            far += abs(after[i, j])
    return far


@compiled
def by_products(gram, begin, mass):
    """Return the squared norm of the positions' features weighted by `mass` (n, K), from inner products."""
    n, k = mass.shape
    square = 0.0
    for t in range(n):
        for u in range(t + 1):
            product = gram[begin + t * n + u]
            if product != 0.0:
                total = 0.0
                for b in range(k):
                    total += mass[t, b] * mass[u, b]
                square += product * total * (1.0 if t == u else 2.0)  # the matrix is symmetric
    return square


@compiled
def online(
    rows, starts, costs, gram, begins, C, log_linear, etas, safe, n_steps, order, of_place, of_step,
    weights, first, table,
):  # fmt: skip
    """Make `n_steps` steps per sequence, in an order (see `PackedDual.epoch`); return the dual's gain."""
    k = costs.shape[1]
    longest = 1
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    scores, then = np.empty((longest, k)), np.empty((longest, k))
    mass, other = np.empty((longest, k)), np.empty((longest, k))
    step, pairs, pairs_then = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    slope = np.empty((k, k))
    gained = 0.0
    for s in order:
        begin, n = starts[s], starts[s + 1] - starts[s]
        theta, theta_step = of_place[begin : begin + n], of_step[s]
        partition = shared_sums(theta, theta_step, mass[:n], pairs)
        eta = etas[s]
        for _ in range(n_steps):
            place_scores(rows, begin, n, weights, first, scores)
            for t in range(n):
                for b in range(k):
                    scores[t, b] += -theta[t, b] if log_linear else costs[begin + t, b]
            for a in range(k):
                for b in range(k):
                    slope[a, b] = table[a, b] - theta_step[a, b] if log_linear else table[a, b]
            accepted = False
            while True:
                for t in range(n):
                    for b in range(k):
                        then[t, b] = theta[t, b] + eta * scores[t, b]
                for a in range(k):
                    for b in range(k):
                        step[a, b] = theta_step[a, b] + eta * slope[a, b]
                # theta is defined up to a constant: forward-backward gives marginals and log partition
                after = shared_sums(then[:n], step, other[:n], pairs_then)
                bent = 0.0
                if log_linear:  # KL, with theta' - theta = eta slope
                    bent = partition - after + eta * (inner(other[:n], scores[:n]) + inner(pairs_then, slope))
                far = difference(mass[:n], other[:n]) + difference(pairs, pairs_then)
                linear = -C * (inner(other[:n], scores[:n]) + inner(pairs_then, slope))
                # |dW|^2 without forming dW: label pairs, the first label, and inner products of the rows
                square = inner(pairs_then, pairs_then) + inner(other[:1], other[:1])
                square += by_products(gram, begins[s], other[:n])
                bend = C * bent + 0.5 * C * C * square
                accepted = linear - bend >= 0.0
                if accepted or eta <= safe[s]:
                    break
                eta = max(0.5 * eta, safe[s])
            if not accepted:
                break
            gained += linear - bend
            partition = after
            for t in range(n):
                for b in range(k):
                    theta[t, b] = then[t, b]
                    mass[t, b] -= other[t, b]
            for a in range(k):
                for b in range(k):
                    theta_step[a, b] = step[a, b]
                    pairs[a, b] -= pairs_then[a, b]
                    table[a, b] += C * pairs_then[a, b]
            add_places(rows, begin, other[:n], C, weights, first)
            eta = next_eta(eta, linear, bend, far, log_linear)
        etas[s] = eta
    return gained


@compiled
def weigh(rows, starts, costs, gold, C, log_linear, of_place, of_step, weights, first, table):
    """Add the weights for some parameters to zeros, and return ``sum mu l``, or the sum of entropies."""
    k = costs.shape[1]
    pairs, bonus = np.empty((k, k)), 0.0
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        theta, mass = of_place[begin : begin + n], np.empty((n, k))
        partition = shared_sums(theta, of_step[s], mass, pairs)
        if log_linear:
            bonus += partition - inner(mass, theta) - inner(pairs, of_step[s])
        else:
            bonus += inner(mass, costs[begin : begin + n])
        for t in range(n):
            for b in range(k):
                mass[t, b] = -mass[t, b]
            mass[t, gold[begin + t]] += 1.0
            if t:
                table[gold[begin + t - 1], gold[begin + t]] += C
        for a in range(k):
            for b in range(k):
                table[a, b] -= C * pairs[a, b]
        add_places(rows, begin, mass, C, weights, first)
    return bonus


@compiled
def slopes(rows, starts, costs, log_linear, of_place, of_step, weights, first, table, places, steps):
    """Write the directions of a step for all sequences into `places` (N, K) and `steps` (S, K, K)."""
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        place_scores(rows, begin, n, weights, first, places[begin : begin + n])
        for t in range(begin, begin + n):
            for b in range(costs.shape[1]):
                places[t, b] += -of_place[t, b] if log_linear else costs[t, b]
        steps[s] = table - of_step[s] if log_linear else table


@compiled
def moved(starts, of_place, of_step, then_place, then_step, places, steps):
    """Return the changes of slope and marginals between two sets of parameters (see `next_eta`)."""
    k = of_place.shape[1]
    before, after, linear, far = np.empty((k, k)), np.empty((k, k)), 0.0, 0.0
    for s in range(len(starts) - 1):
        sequence = slice(starts[s], starts[s + 1])
        mass, other = np.empty((starts[s + 1] - starts[s], k)), np.empty((starts[s + 1] - starts[s], k))
        shared_sums(of_place[sequence], of_step[s], mass, before)
        shared_sums(then_place[sequence], then_step[s], other, after)
        linear += inner(other - mass, places[sequence]) + inner(after - before, steps[s])
        far += np.abs(other - mass).sum() + np.abs(after - before).sum()
    return linear, far


@compiled
def gaps(rows, starts, costs, log_linear, of_place, of_step, weights, first, table):
    """Return the sum of the sequences' gaps."""
    k, total = costs.shape[1], 0.0
    pairs, spare, shared = np.empty((k, k)), np.empty((k, k)), table.copy().reshape(1, k, k)
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        theta, mass, scores = of_place[begin : begin + n], np.empty((n, k)), np.empty((n, k))
        partition = shared_sums(theta, of_step[s], mass, pairs)
        place_scores(rows, begin, n, weights, first, scores)
        if log_linear:
            total -= partition - inner(mass, theta) - inner(pairs, of_step[s])
            total -= inner(mass, scores) + inner(pairs, table)
            total += shared_sums(scores, table, mass, spare)
        else:
            scores += costs[begin : begin + n]
            total -= inner(mass, scores) + inner(pairs, table)
            total += best_path(
                scores, shared, np.empty((2, k)), np.empty((n, k), np.int32), np.empty(n, np.int64)
            )
    return total


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    rows = np.array([0, 1, 1]), np.zeros(1, np.int32), np.ones(1)
    starts, costs, gold = np.array([0, 2]), np.zeros((2, 2)), np.zeros(2, np.int64)
    theta = np.zeros((2, 2)), np.zeros((1, 2, 2))
    weights = np.zeros((1, 2)), np.zeros(2), np.zeros((2, 2))
    gram, begins = np.zeros(4), np.zeros(1, np.int64)
    products(rows, starts, begins, gram, np.zeros(1))
    weigh(rows, starts, costs, gold, 1.0, False, *theta, *weights)
    step = np.ones(1), np.ones(1), 1
    online(rows, starts, costs, gram, begins, 1.0, False, *step, begins, *theta, *weights)
    slopes(rows, starts, costs, False, *theta, *weights, np.zeros((2, 2)), np.zeros((1, 2, 2)))
    moved(starts, *theta, *theta, np.zeros((2, 2)), np.zeros((1, 2, 2)))
    gaps(rows, starts, costs, False, *theta, *weights)
