"""Compiled pairwise steps on charts (hypergraphs) with costs."""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import best_edges, compiled

from ._chart_kernels import best_score, gather_weights, inner, largest, row_scores, sample_charts

_NEVER = -np.inf
_ZERO = 1e-13
"""Marginals below this are rounding errors."""


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
def pairwise_epoch(charts, costs, C, n_steps, whole, enough, order, mass, weights):
    """Make pairwise steps on each chart, in an order (see `PairwiseCharts`); return the dual's gain.

    Parameters
    ----------
    charts : tuple
        See `PackedCharts.arrays`.
    n_steps : int
        Maximum number of steps per chart.
    whole : bool
        Whether a step may go to any derivation of a chart, or only to those of rows with mass.
    enough : float
        Gap of a chart, as a share of C, at which its steps end.
    mass : array of float64, shape (n_rows,)
        Marginals; changed.
    weights : array of float64, shape (n_columns,)
        W; changed.
    """
    offsets, nodes, all_heads, all_tails, parts, part_starts, ptr, local, values, cols, col_starts = charts
    most_rows, most_parts, most_cols = largest(offsets), largest(part_starts), largest(col_starts)
    rows, heads = np.empty(most_rows, np.int64), np.empty(most_rows, all_heads.dtype)
    tails = np.empty((most_rows, 2), all_tails.dtype)
    slope, negative, move = np.empty(most_rows), np.empty(most_rows), np.empty(most_rows)
    # the number of the step in which a part was last scored, or last moved; its score or movement then
    step, seen, part_values = 0, np.zeros(most_parts, np.int64), np.empty(most_parts)
    moved_parts, change, column_space = (
        np.empty(most_parts, np.int64),
        np.zeros(most_cols),
        np.empty(most_cols),
    )
    total, chosen = np.empty(largest(nodes)), np.empty(largest(nodes), np.int64)
    times = np.empty(largest(nodes))
    total_gain = 0.0
    for i in order:
        first, n_nodes, moved = part_starts[i], nodes[i + 1] - nodes[i], False
        local_weights = gather_weights(charts, i, weights, column_space)
        for _ in range(n_steps):
            k = 0
            for row in range(offsets[i], offsets[i + 1]):
                if mass[row] > 0.0 or whole:
                    rows[k], heads[k] = row, all_heads[row]
                    tails[k, 0], tails[k, 1] = all_tails[row, 0], all_tails[row, 1]
                    k += 1
            step += 1
            mean = 0.0
            for j in range(k):
                score = costs[rows[j]]
                for place in range(parts.shape[1]):
                    part = parts[rows[j], place]
                    if part >= 0:
                        if seen[part] != step:
                            seen[part], part_values[part] = step, 0.0
                            for at in range(ptr[first + part], ptr[first + part + 1]):
                                part_values[part] += values[at] * local_weights[local[at]]
                        score += part_values[part]
                slope[j], move[j] = score, 0.0
                negative[j] = _NEVER
                if mass[rows[j]] > 0.0:
                    negative[j] = -score
                    mean += mass[rows[j]] * score
            best_edges(0, k, heads, tails, slope, total[:n_nodes], chosen[:n_nodes])
            if total[n_nodes - 1] - mean <= enough:
                break
            add_derivation(tails, chosen, 1.0, times[:n_nodes], move)
            best_edges(0, k, heads, tails, negative, total[:n_nodes], chosen[:n_nodes])
            add_derivation(tails, chosen, -1.0, times[:n_nodes], move)
            linear, longest, n_moved = 0.0, np.inf, 0
            step += 1
            for j in range(k):
                if move[j] != 0.0:
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
            if linear <= 0.0:  # the remaining gain is below rounding error
                break
            for m in range(n_moved):
                part = moved_parts[m]
                for at in range(ptr[first + part], ptr[first + part + 1]):
                    change[local[at]] += C * part_values[part] * values[at]
            square = 0.0
            for m in range(n_moved):  # |dW|^2 = sum over parts of their movement times dW . phi
                part = moved_parts[m]
                for at in range(ptr[first + part], ptr[first + part + 1]):
                    square += change[local[at]] * C * part_values[part] * values[at]
            length = longest if square <= 0.0 else min(longest, linear / square)
            for m in range(n_moved):
                part = moved_parts[m]
                for at in range(ptr[first + part], ptr[first + part + 1]):
                    local_weights[local[at]] -= length * change[local[at]]
                    change[local[at]] = 0.0
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
def gaps(charts, costs, mass, weights):
    """Return primal minus dual, as a share of C."""
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
    order = np.zeros(1, np.int64)
    for charts in sample_charts():
        pairwise_epoch(charts, np.zeros(2), 1.0, 1, True, 0.0, order, np.ones(2), np.zeros(1))
        gaps(charts, np.zeros(2), np.ones(2), np.zeros(1))
