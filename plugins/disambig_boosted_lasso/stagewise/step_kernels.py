"""Machine code of the steps: choose a feature, move its weight, and mend what its pairs touch.

What a step costs grows with the pairs that the feature separates and the features of these pairs; each of
those is set back into the tournament. Nothing else is looked at.

`Rule` says what is chosen and how far it goes, `State` holds what is kept. `State.sums` has a row a feature,
so that a pair's change touches one cache line a feature:

======  =============================================================================================
column
======  =============================================================================================
0, 1    fall of ExpLoss by steps of eps and -eps (eq. 12), for the grid and for steps back
2, 3    fall by the step back, and that step, where it is shorter than eps; 0 where it is not
4, 5    weight of the pairs of positive values, and the same times the values (eq. 7)
6, 7    weight of the pairs of negative values, and the same times their size
======  =============================================================================================
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from disambig.api.kernels import compiled

from .search_kernels import best_step, fall, gather, promised, slope
from .tree_kernels import build, change

_NEVER = -np.inf
_SAME = 1e-9
"""Shares of a step by which rounding may miss the lattice."""
_NOISE = 1e-13
"""Share of the loss that is no gain."""
LOSS, ALPHA, NORM = 0, 1, 2
"""Places in `State.now`: ExpLoss, alpha (infinite before the first step), the L1 norm."""
MORE, DONE = 0, 1


class Rule(NamedTuple):
    """How steps are chosen and how long they are; plain numbers, so that it compiles once."""

    grid: bool
    eps: float
    truncate: bool
    backward: bool
    theta: float
    smoothing: float
    shrinkage: float
    least: float


class Index(NamedTuple):
    """The arrays of `pairs.Pairs`, and what steps of eps and -eps take away of a pair, by code."""

    starts: Any
    features: Any
    codes: Any
    values: Any
    ends: Any
    pairs: Any
    pair_codes: Any
    up: Any
    down: Any


class State(NamedTuple):
    """What changes from step to step."""

    weight: Any
    sums: Any
    weights: Any
    key: Any
    tree: Any
    back_key: Any
    back_tree: Any
    sure: Any
    stamp: Any
    touched: Any
    values: Any
    totals: Any
    run_ends: Any
    now: Any


@compiled
def add(rule, index, sums, p, change_of):
    """Add a pair's change of weight to the sums of its features."""
    for at in range(index.starts[p], index.starts[p + 1]):
        k, code = index.features[at], index.codes[at]
        value = index.values[code]
        if rule.grid or rule.backward:
            sums[k, 0] += change_of * index.up[code]
            sums[k, 1] += change_of * index.down[code]
            if sums[k, 3] != 0.0:
                sums[k, 2] -= change_of * np.expm1(-sums[k, 3] * value)
        if not rule.grid:
            column = 4 if value > 0.0 else 6
            sums[k, column] += change_of
            sums[k, column + 1] += change_of * abs(value)


@compiled
def key_of(rule, sums, k):
    """Return what a step of feature k may lower ExpLoss by."""
    if rule.grid:
        return max(sums[k, 0], sums[k, 1])
    return promised(sums[k, 4:])


@compiled
def back_key_of(rule, state, k):
    """Return what the step toward zero gains for each unit of the L1 norm: less than 0; -inf without weight.

    Of steps of eps it has the order of eq. (14); shorter ones are held against their length.
    """
    weight, sums = state.weights[k], state.sums
    if weight == 0.0:
        return _NEVER
    if sums[k, 3] != 0.0:
        return sums[k, 2] / abs(sums[k, 3])
    return (sums[k, 1] if weight > 0.0 else sums[k, 0]) / rule.eps


@compiled
def refresh(rule, index, state):
    """Compute all sums and keys from the pairs' weights, so that rounding does not add up."""
    state.sums[:, :3] = 0.0
    state.sums[:, 4:] = 0.0
    for p in range(len(state.weight)):
        add(rule, index, state.sums, p, state.weight[p])
    state.now[LOSS] = state.weight.sum()
    state.sure[:] = 0
    for k in range(len(state.key)):
        state.key[k] = key_of(rule, state.sums, k)
    build(state.key, state.tree)
    if rule.backward:
        for k in range(len(state.key)):
            state.back_key[k] = back_key_of(rule, state, k)
        build(state.back_key, state.back_tree)


@compiled
def set_step_back(rule, state, k, n):
    """Note the step back of a feature whose pairs are gathered, where that is no step of eps."""
    size = abs(state.weights[k])
    if size == 0.0 or size >= rule.eps * (1.0 - _SAME):
        state.sums[k, 3] = 0.0
        state.sums[k, 2] = 0.0
        return
    state.sums[k, 3] = -state.weights[k]
    state.sums[k, 2] = fall(state.values, state.totals, n, -state.weights[k])


@compiled
def move(rule, index, state, k, n, step):
    """Take a step: reweigh the pairs of feature k, whose sums are gathered, and mend the keys that change."""
    before = state.weights[k]
    after = before + step
    if abs(after) <= _SAME * abs(step):
        after = 0.0
    state.weights[k] = after
    state.now[NORM] += abs(after) - abs(before)
    state.now[LOSS] -= fall(state.values, state.totals, n, step)
    met, at = 0, index.ends[k]
    for v in range(n):
        factor = np.exp(-step * state.values[v])
        while at < state.run_ends[v]:
            p = index.pairs[at]
            change_of = state.weight[p] * (factor - 1.0)
            state.weight[p] += change_of
            add(rule, index, state.sums, p, change_of)
            for place in range(index.starts[p], index.starts[p + 1]):
                j = index.features[place]
                if not state.stamp[j]:
                    state.stamp[j] = 1
                    state.touched[met] = j
                    met += 1
            at += 1
        state.totals[v] *= factor
    if rule.backward:
        set_step_back(rule, state, k, n)
    for i in range(met):
        j = state.touched[i]
        state.stamp[j] = 0
        state.sure[j] = 0
        change(state.key, state.tree, j, key_of(rule, state.sums, j))
        if rule.backward:
            change(state.back_key, state.back_tree, j, back_key_of(rule, state, j))


@compiled
def forward(rule, index, state):
    """Return the best feature, how many values its pairs have (gathered) and the step to take; 0: none."""
    values, totals = state.values, state.totals
    while True:
        k = np.int64(state.tree[1])
        if k < 0 or state.key[k] <= rule.least:
            return k, 0, 0.0
        n = gather(index, state.weight, k, values, totals, state.run_ends)
        if rule.grid:  # eq. (12)
            step = rule.eps
            found, down = fall(values, totals, n, step), fall(values, totals, n, -step)
            if down > found:
                step, found = -step, down
        else:  # eq. (7)
            step = best_step(values, totals, n, 0.0, np.inf)
            found = totals[:n].sum() if np.isinf(step) else fall(values, totals, n, step)
        if not state.sure[k]:
            state.sure[k] = 1
            change(state.key, state.tree, k, found)
            if state.tree[1] != k:
                continue
        if found <= rule.least:
            return k, 0, 0.0
        if rule.smoothing > 0.0:  # eq. (16), and (9)
            step = rule.shrinkage * best_step(values, totals, n, rule.smoothing * state.now[LOSS], np.inf)
        elif not rule.truncate:  # eq. (11)
            step = np.copysign(rule.eps, step)
        elif not rule.grid:  # the optimal step, where that is smaller
            step = max(-rule.eps, min(rule.eps, step))
        elif slope(values, totals, n, 0.0, step)[0] * step > 0.0:
            step = best_step(values, totals, n, 0.0, rule.eps)
        return k, n, step if fall(values, totals, n, step) > rule.least else 0.0


@compiled
def backward(rule, index, state):
    """Return the weight to draw back, how many values its pairs have (gathered) and the step; -1: none."""
    if not rule.backward or np.isinf(state.now[ALPHA]):
        return -1, 0, 0.0
    noise = _NOISE * state.now[LOSS]
    last, n = -1, 0
    while True:
        k = np.int64(state.back_tree[1])
        if k < 0 or state.back_key[k] == _NEVER:
            return -1, 0, 0.0
        size = min(abs(state.weights[k]), rule.eps)
        if size >= rule.eps * (1.0 - _SAME):
            size = rule.eps
        if size * (state.now[ALPHA] + state.back_key[k]) <= rule.theta + noise:  # eq. (15)
            return -1, 0, 0.0
        step = -np.copysign(size, state.weights[k])
        if k == last:
            return k, n, step
        n = gather(index, state.weight, k, state.values, state.totals, state.run_ends)
        change(state.back_key, state.back_tree, k, fall(state.values, state.totals, n, step) / size)
        last = k


@compiled
def run(rule, index, state, features, back, steps, losses, alphas, norms):
    """Take as many steps as `features`, and the other arrays of their size, have room for.

    Returns
    -------
    taken : int
    ended : int
        `DONE` where no step lowers ExpLoss by more than `Rule.least`, else `MORE`.
    """
    now = state.now
    for t in range(len(features)):
        k, n, step = backward(rule, index, state)
        is_forward = k < 0
        if is_forward:
            k, n, step = forward(rule, index, state)
            if step == 0.0:
                return t, DONE
        before, weight = now[LOSS], state.weights[k]
        move(rule, index, state, k, n, step)
        if is_forward:
            now[ALPHA] = min(now[ALPHA], (before - now[LOSS]) / abs(step))
        features[t], back[t], steps[t] = k, not is_forward, state.weights[k] - weight
        losses[t], alphas[t], norms[t] = now[LOSS], now[ALPHA], now[NORM]
    return len(features), MORE
