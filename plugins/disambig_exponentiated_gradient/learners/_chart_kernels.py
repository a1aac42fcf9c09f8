"""Compiled exponentiated gradient and pairwise steps on charts (hypergraphs).

``charts`` is a tuple of arrays, for n charts, whose edges are the rows:

* ``offsets`` (n + 1,): chart i has the rows ``offsets[i]:offsets[i + 1]``;
* ``nodes`` (n + 1,): the same for its nodes; ``heads`` (n_rows,), ``tails`` (n_rows, 2): the node of each
  edge, and the nodes that it leads to, -1 for none, counted within the chart;
* ``parts`` (n_rows, p): the parts of each edge, counted within the chart, -1 for none;
* ``part_starts`` (n + 1,): the parts of each chart; ``ptr`` (n_parts + 1,), ``local``, ``values``: the
  features of each part, where ``local`` are indices into the columns of the chart;
* ``cols``, ``col_starts`` (n + 1,): the columns of chart i are ``cols[col_starts[i]:col_starts[i + 1]]``.

``costs``, ``gold``, ``theta`` and ``mass`` (n_rows,) are the cost of each edge, the right derivation, the
parameters of the dual, and marginals. ``etas`` and ``safe`` (n,) are the step size of each chart, and one for
which no step lowers the dual. ``log_linear`` says whether the loss is the log loss.
"""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import best_edges, compiled, inside_outside

from ._list_kernels import next_eta

_NEVER = -np.inf
_ZERO = 1e-13
"""Marginals below this are rounding errors."""


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
    maximum = 1
    for i in range(len(starts) - 1):
        maximum = max(maximum, starts[i + 1] - starts[i])
    return maximum


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
        slope, new_theta, mass = workspace[0, :n], workspace[1, :n], workspace[2, :n]
        new_mass, mass_change = workspace[3, :n], workspace[4, :n]
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
                # slides: theta' = theta + eta (l + W . phi)
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
    """Return primal minus dual, summed over the charts, as a share of C."""
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


@compiled
def add_derivation(tails, chosen, factor, times, out):
    """Add `factor` to `out` (n_edges,) for each occurrence of an edge in a derivation.

    The derivation begins at the last node and uses the edge ``chosen[node]`` at each node. `tails`
    (n_edges, 2) holds the nodes that an edge leads to, -1 for none. `times` (n_nodes,) is work space: the
    number of occurrences of each node.
    """
    times[:] = 0.0
    times[-1] = 1.0
    for node in range(len(times) - 1, -1, -1):
        if times[node] > 0.0:
            row = chosen[node]
            out[row] += factor * times[node]
            if tails[row, 0] >= 0:
                times[tails[row, 0]] += times[node]
                if tails[row, 1] >= 0:
                    times[tails[row, 1]] += times[node]


@compiled
def gather_rows(charts, i, mass, whole, rows, heads, tails):
    """Write the rows of a chart that a step may use, with their nodes; return their number."""
    offsets, all_heads, all_tails = charts[0], charts[2], charts[3]
    k = 0
    for row in range(offsets[i], offsets[i + 1]):
        if mass[row] > 0.0 or whole:
            rows[k], heads[k] = row, all_heads[row]
            tails[k, 0], tails[k, 1] = all_tails[row, 0], all_tails[row, 1]
            k += 1
    return k


@compiled
def score_rows(charts, i, costs, mass, local_weights, rows, step, seen, part_values, slope, negative):
    """Write cost plus score of some rows into `slope`; return the mean of this over the derivations.

    `negative` is the opposite, for rows with mass only: its best derivation is the worst one with mass.
    """
    parts, first, ptr, local, values = charts[4], charts[5][i], charts[6], charts[7], charts[8]
    mean = 0.0
    for j in range(len(rows)):
        score = costs[rows[j]]
        for place in range(parts.shape[1]):
            part = parts[rows[j], place]
            if part >= 0:
                if seen[part] != step:
                    seen[part], part_values[part] = step, 0.0
                    for at in range(ptr[first + part], ptr[first + part + 1]):
                        part_values[part] += values[at] * local_weights[local[at]]
                score += part_values[part]
        slope[j] = score
        negative[j] = _NEVER
        if mass[rows[j]] > 0.0:
            negative[j] = -score
            mean += mass[rows[j]] * score
    return mean


@compiled
def sum_movements(parts, C, rows, mass, move, slope, step, seen, part_values, moved_parts):
    """Sum the movements of the rows of each part into `part_values`, and list the parts in `moved_parts`.

    Return the slope of the dual along the move, the length at which a row has no mass left, and the number of
    parts.
    """
    linear, longest, n_moved = 0.0, np.inf, 0
    for j in range(len(rows)):
        if move[j] == 0.0:
            continue
        linear += C * move[j] * slope[j]
        if move[j] < 0.0:
            longest = min(longest, mass[rows[j]] / -move[j])
        for place in range(parts.shape[1]):
            part = parts[rows[j], place]
            if part >= 0:
                if seen[part] != step:
                    seen[part], part_values[part] = step, 0.0
                    moved_parts[n_moved] = part
                    n_moved += 1
                part_values[part] += move[j]
    return linear, longest, n_moved


@compiled
def weight_change(charts, i, C, moved_parts, part_values, change):
    """Add the opposite of dW, the change of the weights by a move, to `change`; return |dW|^2."""
    first, ptr, local, values = charts[5][i], charts[6], charts[7], charts[8]
    for m in range(len(moved_parts)):
        part = moved_parts[m]
        for at in range(ptr[first + part], ptr[first + part + 1]):
            change[local[at]] += C * part_values[part] * values[at]
    square = 0.0
    for m in range(len(moved_parts)):  # |dW|^2 = sum over parts of their movement times dW . phi
        part = moved_parts[m]
        for at in range(ptr[first + part], ptr[first + part + 1]):
            square += change[local[at]] * C * part_values[part] * values[at]
    return square


@compiled
def pairwise_epoch(charts, costs, C, n_steps, whole, enough, order, mass, weights):
    """Make pairwise steps on each chart, in an order (see `PairwiseCharts`); return the dual's gain.

    A chart gets up to `n_steps` steps, and no more when its gap is `enough`, as a share of C. With `whole` a
    step may go to any derivation of a chart, otherwise only to those of rows with mass. `mass`, the marginals
    of shape ``(n_rows,)``, and `weights`, shape ``(n_columns,)``, are changed.
    """
    offsets, nodes, all_heads, all_tails, parts, part_starts, ptr, local, _, cols, col_starts = charts
    most_rows, most_parts, most_cols = largest(offsets), largest(part_starts), largest(col_starts)
    all_rows, heads = np.empty(most_rows, np.int64), np.empty(most_rows, all_heads.dtype)
    tails = np.empty((most_rows, 2), all_tails.dtype)
    slope, negative, move = np.empty(most_rows), np.empty(most_rows), np.empty(most_rows)
    # the number of the step in which a part was last scored, or last moved; its score or movement then
    step, seen, part_values = 0, np.zeros(most_parts, np.int64), np.empty(most_parts)
    all_parts, change, column_space = np.empty(most_parts, np.int64), np.zeros(most_cols), np.empty(most_cols)
    total, chosen = np.empty(largest(nodes)), np.empty(largest(nodes), np.int64)
    times = np.empty(largest(nodes))
    total_gain = 0.0
    for i in order:
        first, n_nodes, moved = part_starts[i], nodes[i + 1] - nodes[i], False
        local_weights = gather_weights(charts, i, weights, column_space)
        for _ in range(n_steps):
            k = gather_rows(charts, i, mass, whole, all_rows, heads, tails)
            rows = all_rows[:k]
            step += 1
            mean = score_rows(
                charts, i, costs, mass, local_weights, rows, step, seen, part_values, slope, negative
            )
            best_edges(0, k, heads, tails, slope, total[:n_nodes], chosen[:n_nodes])
            if total[n_nodes - 1] - mean <= enough:
                break
            # the move: mass from the worst derivation that has some to the best one
            move[:k] = 0.0
            add_derivation(tails, chosen, 1.0, times[:n_nodes], move)
            best_edges(0, k, heads, tails, negative, total[:n_nodes], chosen[:n_nodes])
            add_derivation(tails, chosen, -1.0, times[:n_nodes], move)
            step += 1
            linear, longest, n_moved = sum_movements(
                parts, C, rows, mass, move, slope, step, seen, part_values, all_parts
            )
            if linear <= 0.0:  # the remaining gain is below rounding error
                break
            moved_parts = all_parts[:n_moved]
            square = weight_change(charts, i, C, moved_parts, part_values, change)
            # the parabola's maximum, or as far as there is mass
            length = longest if square <= 0.0 else min(longest, linear / square)
            for m in range(n_moved):
                part = moved_parts[m]
                for at in range(ptr[first + part], ptr[first + part + 1]):
                    local_weights[local[at]] -= length * change[local[at]]
                    change[local[at]] = 0.0  # later entries of the same column add nothing
            for j in range(k):
                if move[j] != 0.0:
                    mass[rows[j]] += length * move[j]
                    if mass[rows[j]] < _ZERO:
                        mass[rows[j]] = 0.0
            total_gain += length * (linear - 0.5 * length * square)
            moved = True
        if moved:
            for c in range(len(local_weights)):
                weights[cols[col_starts[i] + c]] = local_weights[c]
    return total_gain


@compiled
def pairwise_gaps(charts, costs, mass, weights):
    """Return primal minus dual, summed over the charts, as a share of C."""
    offsets, part_starts, col_starts = charts[0], charts[5], charts[10]
    scores = np.empty(largest(offsets))
    part_values, column_space = np.empty(largest(part_starts)), np.empty(largest(col_starts))
    total = 0.0
    for i in range(len(offsets) - 1):
        start, n = offsets[i], offsets[i + 1] - offsets[i]
        row_scores(charts, i, gather_weights(charts, i, weights, column_space), part_values, scores)
        for row in range(n):
            scores[row] += costs[start + row]
        total += best_score(charts, i, scores[:n]) - inner(mass[start : start + n], scores[:n])
    return total


def sample() -> None:
    """Run a small example, so that `disambig doctor --compile` compiles the functions."""
    offsets, nodes = np.array([0, 2]), np.array([0, 2])
    graph = offsets, nodes, np.array([0, 1], np.int32), np.array([[-1, -1], [0, -1]], np.int32)
    parts = np.array([[0], [-1]], np.int32), np.array([0, 1]), np.array([0, 1]), np.zeros(1, np.int32)
    costs, gold, theta, weights = np.zeros(2), np.ones(2), np.zeros(2), np.zeros(1)
    for kind in (np.float32, np.float64):
        charts = (*graph, *parts, np.ones(1, kind), np.zeros(1, np.int32), np.array([0, 1]))
        etas, order = np.ones(1), np.zeros(1, np.int64)
        add_weights(charts, costs, gold, 1.0, False, theta, weights)
        online_epoch(charts, costs, 1.0, False, etas, np.zeros(1), 1, order, theta, weights)
        slopes(charts, costs, False, theta, weights, np.empty(2))
        marginal_changes(charts, theta, theta, np.zeros(2))
        gaps(charts, costs, False, theta, weights)
        pairwise_epoch(charts, costs, 1.0, 1, True, 0.0, order, np.ones(2), np.zeros(1))
        pairwise_gaps(charts, costs, np.ones(2), np.zeros(1))
