"""Dynamic programmes over a batch of hypergraphs, for Numba: one call for all instances.

Arrays are those of `disambig.decode.hypergraphs.Hypergraphs`. A score of minus infinity forbids an edge.
Sums are over ``exp(score)``; in each node they are taken relative to its largest, so nothing overflows, and
what goes down from the goal are probabilities of nodes: products of shares, never of scores.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled

_NEVER = -np.inf


@compiled
def first_problem(offsets, nodes, heads, tails):
    """Return the number of the first problem of a layout, 0 for none, with its instance and row."""
    for i in range(len(offsets) - 1):
        if offsets[i + 1] < offsets[i]:
            return 6, i, len(heads)
        if offsets[i + 1] == offsets[i]:
            return 1, i, len(heads)
        before, n_nodes = 0, nodes[i + 1] - nodes[i]
        for row in range(offsets[i], min(offsets[i + 1], len(heads))):
            head, left, right = heads[row], tails[row, 0], tails[row, 1]
            if head < 0 or head >= n_nodes:
                return 2, i, row
            if head < before:
                return 3, i, row
            if left < -1 or right < -1 or left >= head or right >= head:
                return 4, i, row
            if left < 0 and right >= 0:
                return 5, i, row
            before = head
    return 0, 0, 0


@compiled
def in_derivations(offsets, nodes, heads, tails, wanted, out):
    """Mark in `out` the rows that are in a derivation of `wanted` rows alone."""
    for i in range(len(offsets) - 1):
        n = nodes[i + 1] - nodes[i]
        derived, needed = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        for row in range(offsets[i], offsets[i + 1]):
            left, right = tails[row, 0], tails[row, 1]
            out[row] = wanted[row] and (left < 0 or derived[left]) and (right < 0 or derived[right])
            if out[row]:
                derived[heads[row]] = True
        needed[n - 1] = True
        for row in range(offsets[i + 1] - 1, offsets[i] - 1, -1):
            out[row] = out[row] and needed[heads[row]]
            if out[row]:
                if tails[row, 0] >= 0:
                    needed[tails[row, 0]] = True
                if tails[row, 1] >= 0:
                    needed[tails[row, 1]] = True


@compiled
def best_edges(start, stop, heads, tails, scores, total, chosen):
    """Put the score of each node's best derivation into `total`, its edge into `chosen`; ties: the first."""
    total[:] = _NEVER
    chosen[:] = -1
    for row in range(start, stop):
        value = scores[row]
        if tails[row, 0] >= 0:
            value += total[tails[row, 0]]
            if tails[row, 1] >= 0:
                value += total[tails[row, 1]]
        head = heads[row]
        if value > total[head]:
            total[head] = value
            chosen[head] = row


@compiled
def best_derivations(offsets, nodes, heads, tails, scores, mass):
    """Put the rows of each instance's best derivation into `mass`; return the first without one, or -1."""
    for i in range(len(offsets) - 1):
        n = nodes[i + 1] - nodes[i]
        total, chosen = np.empty(n), np.empty(n, np.int64)
        best_edges(offsets[i], offsets[i + 1], heads, tails, scores, total, chosen)
        if total[n - 1] == _NEVER:
            return i
        times = np.zeros(n)  # how often a node is in the derivation: tails come before heads
        times[n - 1] = 1.0
        for node in range(n - 1, -1, -1):
            if times[node] > 0.0:
                row = chosen[node]
                mass[row] = times[node]
                if tails[row, 0] >= 0:
                    times[tails[row, 0]] += times[node]
                    if tails[row, 1] >= 0:
                        times[tails[row, 1]] += times[node]
    return -1


@compiled
def inside(start, stop, heads, tails, scores, total, shares):
    """Put the log sum over each node's derivations into `total`, each edge's share of that into `shares`."""
    total[:] = _NEVER
    row = start
    while row < stop:
        head, first, most = heads[row], row, _NEVER
        while row < stop and heads[row] == head:
            value = scores[row]
            if tails[row, 0] >= 0:
                value += total[tails[row, 0]]
                if tails[row, 1] >= 0:
                    value += total[tails[row, 1]]
            shares[row] = value
            most = max(most, value)
            row += 1
        if most == _NEVER:
            shares[first:row] = 0.0
            continue
        mass = 0.0
        for each in range(first, row):
            shares[each] = np.exp(shares[each] - most)
            mass += shares[each]
        for each in range(first, row):
            shares[each] /= mass
        total[head] = most + np.log(mass)


@compiled
def inside_outside(offsets, nodes, heads, tails, scores, mass, partition):
    """Put how often each row is used on average into `mass`; return the first without derivation, or -1."""
    for i in range(len(offsets) - 1):
        start, stop, n = offsets[i], offsets[i + 1], nodes[i + 1] - nodes[i]
        total, outside = np.empty(n), np.zeros(n)
        inside(start, stop, heads, tails, scores, total, mass)
        partition[i] = total[n - 1]
        if partition[i] == _NEVER:
            return i
        outside[n - 1] = 1.0
        for row in range(stop - 1, start - 1, -1):
            mass[row] *= outside[heads[row]]
            if tails[row, 0] >= 0:
                outside[tails[row, 0]] += mass[row]
                if tails[row, 1] >= 0:
                    outside[tails[row, 1]] += mass[row]
    return -1


@compiled
def expectations(offsets, nodes, heads, tails, scores, values, out):
    """Put the mean of the sum of a derivation's `values` into `out`; return the first without one, or -1.

    The expectation semiring (Li and Eisner 2009) with its second part divided by the first: the mean over
    the derivations of each node, which needs no outside pass and no logarithm of numbers below zero.
    """
    shares = np.empty(len(heads))
    for i in range(len(offsets) - 1):
        start, stop, n = offsets[i], offsets[i + 1], nodes[i + 1] - nodes[i]
        total, mean = np.empty(n), np.zeros(n)
        inside(start, stop, heads, tails, scores, total, shares)
        if total[n - 1] == _NEVER:
            return i
        for row in range(start, stop):
            if shares[row] > 0.0:
                value = values[row]
                if tails[row, 0] >= 0:
                    value += mean[tails[row, 0]]
                    if tails[row, 1] >= 0:
                        value += mean[tails[row, 1]]
                mean[heads[row]] += shares[row] * value
        out[i] = mean[n - 1]
    return -1


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    heads, tails = np.array([0, 1], np.int32), np.array([[-1, -1], [0, -1]], np.int32)
    layout = np.array([0, 2]), np.array([0, 2]), heads, tails
    first_problem(*layout)
    in_derivations(*layout, np.ones(2, np.bool_), np.ones(2, np.bool_))
    best_derivations(*layout, np.zeros(2), np.zeros(2))
    inside_outside(*layout, np.zeros(2), np.zeros(2), np.zeros(1))
    expectations(*layout, np.zeros(2), np.zeros(2), np.zeros(1))
