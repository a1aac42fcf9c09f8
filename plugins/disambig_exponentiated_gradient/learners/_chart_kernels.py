"""Compiled functions of exponentiated gradient on charts (hypergraphs)."""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from disambig.api.kernels import best_edges, compiled, inside_outside

from ._list_kernels import next_eta


@compiled
def row_scores(charts, i, local_weights, part_values, out):
    """Write the scores of an instance's rows into `out`, using the weights `local_weights` of its columns."""
    offsets, _, _, _, parts, part_starts, ptr, local, values, _, _ = charts
    first = part_starts[i]
    for part in range(part_starts[i + 1] - first):
        total = 0.0
        for at in range(ptr[first + part], ptr[first + part + 1]):
            total += values[at] * local_weights[local[at]]
        part_values[part] = total
    start = offsets[i]
    for row in range(offsets[i + 1] - start):
        total = 0.0
        for place in range(parts.shape[1]):
            part = parts[start + row, place]
            if part >= 0:
                total += part_values[part]
        out[row] = total


@compiled
def sum_features(charts, i, mass, part_values, out):
    """Write the features of an instance's rows, weighted by `mass`, into `out`; return the squared norm."""
    offsets, _, _, _, parts, part_starts, ptr, local, values, _, _ = charts
    start, first = offsets[i], part_starts[i]
    n_parts = part_starts[i + 1] - first
    part_values[:n_parts] = 0.0
    for row in range(offsets[i + 1] - start):
        if mass[row] != 0.0:
            for place in range(parts.shape[1]):
                part = parts[start + row, place]
                if part >= 0:
                    part_values[part] += mass[row]
    for c in range(len(out)):
        out[c] = 0.0
    for part in range(n_parts):
        m = part_values[part]
        if m != 0.0:
            for at in range(ptr[first + part], ptr[first + part + 1]):
                out[local[at]] += m * values[at]
    square = 0.0
    for c in range(len(out)):
        square += out[c] * out[c]
    return square


@compiled
def marginals(charts, i, theta, mass):
    """Write the marginals of an instance's rows into `mass`; return the log partition function."""
    offsets, nodes, heads, tails = charts[0], charts[1], charts[2], charts[3]
    start, stop = offsets[i], offsets[i + 1]
    partition = np.empty(1)
    rows = np.array([0, stop - start])
    inside_outside(rows, nodes[i : i + 2], heads[start:stop], tails[start:stop], theta, mass, partition)
    return partition[0]


@compiled
def best_score(charts, i, scores):
    """Return the score of an instance's best derivation."""
    offsets, nodes, heads, tails = charts[0], charts[1], charts[2], charts[3]
    start, stop, n = offsets[i], offsets[i + 1], nodes[i + 1] - nodes[i]
    total, chosen = np.empty(n), np.empty(n, np.int64)
    best_edges(0, stop - start, heads[start:stop], tails[start:stop], scores, total, chosen)
    return total[n - 1]


@compiled
def inner(left, right):
    """Return an inner product; if `left` (marginals or their changes) is 0, `right` may be infinite."""
    total = 0.0
    for row in range(len(left)):
        if left[row] != 0.0:
            total += left[row] * right[row]
    return total


@compiled
def largest(starts):
    """Return the size of the largest instance."""
    most = 1
    for i in range(len(starts) - 1):
        most = max(most, starts[i + 1] - starts[i])
    return most


@compiled
def gather_weights(charts, i, weights, local_weights):
    """Return the weights of an instance's columns, gathered into `local_weights`."""
    cols, col_starts = charts[9], charts[10]
    first, m = col_starts[i], col_starts[i + 1] - col_starts[i]
    for c in range(m):
        local_weights[c] = weights[cols[first + c]]
    return local_weights[:m]


@compiled
def online_epoch(charts, costs, C, log_linear, etas, safe, n_steps, order, thetas, weights):
    """Make `n_steps` steps per instance, in an order (see `PackedDual.epoch`); return the dual's gain."""
    offsets, part_starts, cols, col_starts = charts[0], charts[5], charts[9], charts[10]
    workspace = np.empty((5, largest(offsets)))
    part_values, column_space = np.empty(largest(part_starts)), np.empty((2, largest(col_starts)))
    gain = 0.0
    for i in order:
        start, n = offsets[i], offsets[i + 1] - offsets[i]
        theta, cost = thetas[start : start + n], costs[start : start + n]
        slope, new_theta, mass, new_mass, mass_change = (
            workspace[0, :n],
            workspace[1, :n],
            workspace[2, :n],
            workspace[3, :n],
            workspace[4, :n],
        )
        local_weights = gather_weights(charts, i, weights, column_space[0])
        change = column_space[1, : len(local_weights)]
        partition = marginals(charts, i, theta, mass)
        eta, n_taken = etas[i], 0
        for _ in range(n_steps):
            row_scores(charts, i, local_weights, part_values, slope)
            for row in range(n):
                slope[row] += -theta[row] if log_linear else cost[row]
            accepted = False
            while True:
                for row in range(n):
                    new_theta[row] = theta[row] + eta * slope[row]
                after = marginals(charts, i, new_theta, new_mass)
                distance = 0.0
                for row in range(n):
                    mass_change[row] = mass[row] - new_mass[row]
                    distance += abs(mass_change[row])
                linear = -C * inner(mass_change, slope)
                curvature = 0.5 * C * C * sum_features(charts, i, mass_change, part_values, change)
                if log_linear:  # KL, with theta' - theta = eta slope
                    curvature += C * (eta * inner(new_mass, slope) - after + partition)
                accepted = linear - curvature >= 0.0
                if accepted or eta <= safe[i]:
                    break
                eta = max(0.5 * eta, safe[i])
            if not accepted:  # the remaining gain is below rounding error
                break
            n_taken += 1
            gain += linear - curvature
            partition = after
            for row in range(n):
                theta[row] = new_theta[row]
                mass[row] = new_mass[row]
            for c in range(len(local_weights)):
                local_weights[c] += C * change[c]
            eta = next_eta(eta, linear, curvature, distance, log_linear)
        etas[i] = eta
        if n_taken:
            for c in range(len(local_weights)):
                weights[cols[col_starts[i] + c]] = local_weights[c]
    return gain


@compiled
def add_weights(charts, costs, gold, C, log_linear, thetas, weights):
    """Add the weights for some parameters to zeros, and return ``sum mu l``, or the sum of entropies."""
    offsets, part_starts, cols, col_starts = charts[0], charts[5], charts[9], charts[10]
    masses, part_values = np.empty(largest(offsets)), np.empty(largest(part_starts))
    column_space = np.empty(largest(col_starts))
    bonus = 0.0
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        mass, theta = masses[: stop - start], thetas[start:stop]
        partition = marginals(charts, i, theta, mass)
        bonus += partition - inner(mass, theta) if log_linear else inner(mass, costs[start:stop])
        for row in range(stop - start):
            mass[row] = gold[start + row] - mass[row]
        change = column_space[: col_starts[i + 1] - col_starts[i]]
        sum_features(charts, i, mass, part_values, change)
        for c in range(len(change)):
            weights[cols[col_starts[i] + c]] += C * change[c]
    return bonus


@compiled
def slopes(charts, costs, log_linear, thetas, weights, out):
    """Write the direction of a step for all instances into `out`, shape ``(n_rows,)``."""
    offsets, part_starts, col_starts = charts[0], charts[5], charts[10]
    part_values, column_space = np.empty(largest(part_starts)), np.empty(largest(col_starts))
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        row_scores(charts, i, gather_weights(charts, i, weights, column_space), part_values, out[start:stop])
        for row in range(start, stop):
            out[row] += -thetas[row] if log_linear else costs[row]


@compiled
def marginal_changes(charts, before, after, slope):
    """Return the changes of slope and marginals between two sets of parameters (see `next_eta`)."""
    offsets = charts[0]
    masses = np.empty((2, largest(offsets)))
    linear, distance = 0.0, 0.0
    for i in range(len(offsets) - 1):
        start, stop = offsets[i], offsets[i + 1]
        mass, new_mass = masses[0, : stop - start], masses[1, : stop - start]
        marginals(charts, i, before[start:stop], mass)
        marginals(charts, i, after[start:stop], new_mass)
        for row in range(stop - start):
            new_mass[row] -= mass[row]
            distance += abs(new_mass[row])
        linear += inner(new_mass, slope[start:stop])
    return linear, distance


@compiled
def gaps(charts, costs, log_linear, thetas, weights):
    """Return primal minus dual, as a share of C."""
    offsets, part_starts, col_starts = charts[0], charts[5], charts[10]
    workspace = np.empty((3, largest(offsets)))
    part_values, column_space = np.empty(largest(part_starts)), np.empty(largest(col_starts))
    total = 0.0
    for i in range(len(offsets) - 1):
        start, n = offsets[i], offsets[i + 1] - offsets[i]
        scores, mass, new_mass = workspace[0, :n], workspace[1, :n], workspace[2, :n]
        theta = thetas[start : start + n]
        row_scores(charts, i, gather_weights(charts, i, weights, column_space), part_values, scores)
        partition = marginals(charts, i, theta, mass)
        if log_linear:
            total += marginals(charts, i, scores, new_mass) - inner(mass, scores)
            total -= partition - inner(mass, theta)
        else:
            for row in range(n):
                scores[row] += costs[start + row]
            total += best_score(charts, i, scores) - inner(mass, scores)
    return total


def sample_charts() -> Iterator[tuple[Any, ...]]:
    """Yield a chart of two rows, with features in single and in double precision."""
    offsets, nodes = np.array([0, 2]), np.array([0, 2])
    graph = offsets, nodes, np.array([0, 1], np.int32), np.array([[-1, -1], [0, -1]], np.int32)
    parts = np.array([[0], [-1]], np.int32), np.array([0, 1]), np.array([0, 1]), np.zeros(1, np.int32)
    for kind in (np.float32, np.float64):
        yield *graph, *parts, np.ones(1, kind), np.zeros(1, np.int32), np.array([0, 1])


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    costs, gold, theta, weights = np.zeros(2), np.ones(2), np.zeros(2), np.zeros(1)
    for charts in sample_charts():
        etas, order = np.ones(1), np.zeros(1, np.int64)
        add_weights(charts, costs, gold, 1.0, False, theta, weights)
        online_epoch(charts, costs, 1.0, False, etas, np.zeros(1), 1, order, theta, weights)
        slopes(charts, costs, False, theta, weights, np.empty(2))
        marginal_changes(charts, theta, theta, np.zeros(2))
        gaps(charts, costs, False, theta, weights)
