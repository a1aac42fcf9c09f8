"""Compiled functions of exponentiated gradient on sequences of labels.

Arguments, for S sequences with N positions in all, K labels and D features:

* ``rows``: the features of all positions, the three arrays of a CSR matrix (N, D);
* ``starts`` (S + 1,): sequence s has the positions ``starts[s]:starts[s + 1]``;
* ``costs`` (N, K), ``gold`` (N,): the cost of each label, and the right label;
* ``theta_places`` (N, K), ``theta_pairs`` (S, K, K): the parameters of the dual, for the label of each
  position, and for each pair of neighbouring labels of a sequence;
* ``weights`` (D, K), ``first`` (K,), ``table`` (K, K): W, for features with labels, for the label of the
  first position, and for pairs of neighbouring labels;
* ``gram``, ``begins`` (S,): the result of `row_products`;
* ``etas``, ``safe`` (S,): the step size of each sequence, and one for which no step lowers the dual;
* ``log_linear``: whether the loss is the log loss, otherwise it is the sum of the labels' costs.

``mass`` (n, K) and ``pairs`` (K, K) are marginals: of the labels of a sequence, and the sum over its pairs.
"""

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
def row_products(rows, starts, begins, out, workspace):
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
    distance = 0.0
    for i in range(before.shape[0]):
        for j in range(before.shape[1]):
            after[i, j] = before[i, j] - after[i, j]
            distance += abs(after[i, j])
    return distance


@compiled
def squared_norm_from_products(gram, begin, mass):
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
def online_epoch(
    rows, starts, costs, gram, begins, C, log_linear, etas, safe, n_steps, order, theta_places, theta_pairs,
    weights, first, table,
):  # fmt: skip
    """Make `n_steps` steps per sequence, in an order (see `PackedDual.epoch`); return the dual's gain."""
    k = costs.shape[1]
    longest = 1
    for s in range(len(starts) - 1):
        longest = max(longest, starts[s + 1] - starts[s])
    scores, new_theta = np.empty((longest, k)), np.empty((longest, k))
    mass, new_mass = np.empty((longest, k)), np.empty((longest, k))
    new_theta_pair, pairs, new_pairs = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    slope = np.empty((k, k))
    gain = 0.0
    for s in order:
        begin, n = starts[s], starts[s + 1] - starts[s]
        # the marginals (`mass`, `pairs`) and the log partition by the parameters theta
        theta, theta_pair = theta_places[begin : begin + n], theta_pairs[s]
        partition = shared_sums(theta, theta_pair, mass[:n], pairs)
        eta = etas[s]
        for _ in range(n_steps):
            # the slope of the dual by the marginals of labels (`scores`) and of pairs (`slope`)
            place_scores(rows, begin, n, weights, first, scores)
            for t in range(n):
                for b in range(k):
                    scores[t, b] += -theta[t, b] if log_linear else costs[begin + t, b]
            for a in range(k):
                for b in range(k):
                    slope[a, b] = table[a, b] - theta_pair[a, b] if log_linear else table[a, b]
            accepted = False
            while True:
                # slides: theta' = theta + eta (l + W . phi)
                for t in range(n):
                    for b in range(k):
                        new_theta[t, b] = theta[t, b] + eta * scores[t, b]
                for a in range(k):
                    for b in range(k):
                        new_theta_pair[a, b] = theta_pair[a, b] + eta * slope[a, b]
                # theta is defined up to a constant: forward-backward gives marginals and log partition
                after = shared_sums(new_theta[:n], new_theta_pair, new_mass[:n], new_pairs)
                divergence = 0.0
                if log_linear:  # KL, with theta' - theta = eta slope
                    linear = inner(new_mass[:n], scores[:n]) + inner(new_pairs, slope)
                    divergence = partition - after + eta * linear
                # from here on, `new_mass` and `new_pairs` are the old marginals less the new ones
                distance = difference(mass[:n], new_mass[:n]) + difference(pairs, new_pairs)
                linear = -C * (inner(new_mass[:n], scores[:n]) + inner(new_pairs, slope))
                # |dW|^2 without forming dW: label pairs, the first label, and inner products of the rows
                square = inner(new_pairs, new_pairs) + inner(new_mass[:1], new_mass[:1])
                square += squared_norm_from_products(gram, begins[s], new_mass[:n])
                curvature = C * divergence + 0.5 * C * C * square
                accepted = linear - curvature >= 0.0
                if accepted or eta <= safe[s]:
                    break
                eta = max(0.5 * eta, safe[s])
            if not accepted:
                break
            # take the step: theta, the marginals and the weights of pairs and places
            gain += linear - curvature
            partition = after
            for t in range(n):
                for b in range(k):
                    theta[t, b] = new_theta[t, b]
                    mass[t, b] -= new_mass[t, b]
            for a in range(k):
                for b in range(k):
                    theta_pair[a, b] = new_theta_pair[a, b]
                    pairs[a, b] -= new_pairs[a, b]
                    table[a, b] += C * new_pairs[a, b]
            add_places(rows, begin, new_mass[:n], C, weights, first)
            eta = next_eta(eta, linear, curvature, distance, log_linear)
        etas[s] = eta
    return gain


@compiled
def add_weights(rows, starts, costs, gold, C, log_linear, theta_places, theta_pairs, weights, first, table):
    """Add the weights for some parameters to zeros, and return ``sum mu l``, or the sum of entropies."""
    k = costs.shape[1]
    pairs, bonus = np.empty((k, k)), 0.0
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        theta, mass = theta_places[begin : begin + n], np.empty((n, k))
        partition = shared_sums(theta, theta_pairs[s], mass, pairs)
        if log_linear:
            bonus += partition - inner(mass, theta) - inner(pairs, theta_pairs[s])
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
def slopes(rows, starts, costs, log_linear, theta_places, theta_pairs, weights, first, table, places, steps):
    """Write the directions of a step for all sequences into `places` (N, K) and `steps` (S, K, K)."""
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        place_scores(rows, begin, n, weights, first, places[begin : begin + n])
        for t in range(begin, begin + n):
            for b in range(costs.shape[1]):
                places[t, b] += -theta_places[t, b] if log_linear else costs[t, b]
        steps[s] = table - theta_pairs[s] if log_linear else table


@compiled
def marginal_changes(starts, theta_places, theta_pairs, new_theta_places, new_theta_pairs, places, steps):
    """Return the changes of slope and marginals between two sets of parameters (see `next_eta`)."""
    k = theta_places.shape[1]
    before, after, linear, distance = np.empty((k, k)), np.empty((k, k)), 0.0, 0.0
    for s in range(len(starts) - 1):
        sequence = slice(starts[s], starts[s + 1])
        mass, new_mass = np.empty((starts[s + 1] - starts[s], k)), np.empty((starts[s + 1] - starts[s], k))
        shared_sums(theta_places[sequence], theta_pairs[s], mass, before)
        shared_sums(new_theta_places[sequence], new_theta_pairs[s], new_mass, after)
        linear += inner(new_mass - mass, places[sequence]) + inner(after - before, steps[s])
        distance += np.abs(new_mass - mass).sum() + np.abs(after - before).sum()
    return linear, distance


@compiled
def gaps(rows, starts, costs, log_linear, theta_places, theta_pairs, weights, first, table):
    """Return primal minus dual, summed over the sequences, as a share of C."""
    k, total = costs.shape[1], 0.0
    pairs, unused, shared = np.empty((k, k)), np.empty((k, k)), table.copy().reshape(1, k, k)
    for s in range(len(starts) - 1):
        begin, n = starts[s], starts[s + 1] - starts[s]
        theta, mass, scores = theta_places[begin : begin + n], np.empty((n, k)), np.empty((n, k))
        partition = shared_sums(theta, theta_pairs[s], mass, pairs)
        place_scores(rows, begin, n, weights, first, scores)
        if log_linear:
            total -= partition - inner(mass, theta) - inner(pairs, theta_pairs[s])
            total -= inner(mass, scores) + inner(pairs, table)
            total += shared_sums(scores, table, mass, unused)
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
    row_products(rows, starts, begins, gram, np.zeros(1))
    add_weights(rows, starts, costs, gold, 1.0, False, *theta, *weights)
    settings = np.ones(1), np.ones(1), 1
    online_epoch(rows, starts, costs, gram, begins, 1.0, False, *settings, begins, *theta, *weights)
    slopes(rows, starts, costs, False, *theta, *weights, np.zeros((2, 2)), np.zeros((1, 2, 2)))
    marginal_changes(starts, *theta, *theta, np.zeros((2, 2)), np.zeros((1, 2, 2)))
    gaps(rows, starts, costs, False, *theta, *weights)
