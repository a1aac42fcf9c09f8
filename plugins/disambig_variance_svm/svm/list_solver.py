"""Crammer-Singer SVM over candidate lists with sparse rows, solved to a certified duality gap.

The problem is eq. (2) or (4) of Bergsma, Lin and Schuurmans (2010), with costs in place of 1,

    min_w  1/2 sum_j q_j w_j^2 + C sum_i max_r [cost_ir + w . (phi_ir - phi_iy)]_+

with y the correct candidate of an instance, the first one with the lowest cost; the maximum is over the
candidates with a higher cost. It is solved in the dual, one pair of rows of an instance at a time (as in
Keerthi et al. 2008), which is exact at each step; the primal at the same weights gives the gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disambig.api import SparseRows
from disambig.api.arrays import Floats
from disambig.api.batches import segments
from disambig.api.decoding import from_the_least

_STEPS = 3
"""Maximum number of pairs of rows that exchange mass per visit of an instance."""


@dataclass(frozen=True, slots=True, eq=False)
class RankedSolution:
    """Weights with their certificate, and the state from which a solution at another C can start."""

    weights: Floats  # float64 (n_columns,)
    # the objective, and the share of it by which it may be above the minimum
    primal: float
    gap: float
    n_iter: int  # number of passes over the examples
    C: float
    mass: Floats  # float64 (n_rows,): the dual solution


def solve_lists(
    batch: SparseRows,
    C: float,
    *,
    strength: Floats | None = None,
    tolerance: float = 1e-2,
    max_iter: int = 1000,
    start: RankedSolution | None = None,
) -> RankedSolution:
    """Minimise the objective to a relative duality gap of `tolerance`, in at most `max_iter` passes.

    `strength`, shape ``(n_columns,)``, has the weights q of the regulariser, above zero; by default one.
    `start` is the solution for the same examples at another C.
    """
    from scipy.sparse import csr_array

    from ._kernels import ascend_lists, list_losses

    rows = csr_array(batch.rows, dtype=np.float64)
    # scaling the columns by 1 / sqrt(q) turns the regulariser into a plain L2 norm
    root = np.ones(rows.shape[1]) if strength is None else np.sqrt(strength)
    data = rows.data if strength is None else rows.data / root[rows.indices]
    offsets, cost = batch.offsets, from_the_least(batch)
    n = len(offsets) - 1
    gold = segments.first_rows(cost == 0, offsets)
    counts = cost > 0
    counts[gold] = True
    mass = np.zeros(len(cost))
    mass[gold] = C
    weights = np.zeros(rows.shape[1])
    if start is not None:
        mass = start.mass * (C / start.C)
        weights = start.weights * root * (C / start.C)
    order = np.random.default_rng(0).permutation(n)
    active = np.ones(n, np.bool_)
    workspace, values = np.zeros(rows.shape[1]), np.empty(int(np.diff(offsets).max(initial=1)))
    arrays = rows.indptr, rows.indices, data, offsets, cost, counts
    minimum, passes, primal, gap = 1.0, 0, np.inf, np.inf
    while True:
        primal = 0.5 * float(weights @ weights) + C * float(list_losses(*arrays, gold, weights))
        dual = float(mass @ cost) - 0.5 * float(weights @ weights)
        gap = (primal - dual) / max(primal, 1e-8 * C * n)
        if gap <= tolerance or passes >= max_iter:
            break
        active[:] = True
        for _ in range(10):
            worst = ascend_lists(*arrays, order, active, _STEPS, minimum, weights, mass, workspace, values)
            passes += 1
            if worst < minimum or passes >= max_iter:
                break
        if worst < 2 * minimum:
            minimum = max(0.3 * minimum, 1e-9)
    return RankedSolution(weights / root, primal, float(gap), passes, C, mass)
