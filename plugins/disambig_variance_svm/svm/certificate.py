"""Lower bounds on the objective, from softmax shares whose slopes along free directions are made zero."""

from __future__ import annotations

import numpy as np

from .problem import Point, Problem
from .regulariser import Floats


def dual_bound(problem: Problem, point: Point) -> float:
    """Return the dual objective at the shares of `point`, made exactly feasible first.

    The dual is ``C sum alpha (cost + prior . z) - C^2/2 g' Q^+ g`` with ``z_ir = phi_ir - phi_iy`` and
    ``g = sum alpha z``, which must be orthogonal to every direction that costs nothing (the mean of a
    variance subset, a free bias). Where it is not quite, a few extreme shares are mixed in that cancel
    what is left; minus infinity where none do.
    """
    slopes, cost, weight = point.slopes, point.cost, 1.0
    null = problem.regulariser.null_space
    slack = null @ slopes
    if len(null) and np.abs(slack).max() > 0:
        repair = _repair(problem, null, slack)
        if repair is None:
            return -np.inf
        amount, push, push_cost = repair
        weight = 1.0 / (1.0 + amount)
        slopes, cost = slopes + push, cost + push_cost
        # what is left is rounding; the rows of `null` are orthogonal to each other
        slopes = slopes - null.T @ ((null @ slopes) / (null**2).sum(axis=1))
    cost += float(problem.prior @ slopes)
    return float(weight * problem.C * cost - problem.C**2 * weight**2 * problem.regulariser.conjugate(slopes))


def _repair(problem: Problem, null: Floats, slack: Floats) -> tuple[float, Floats, float] | None:
    """Return amount, slopes and cost of shares that cancel `slack`, or None.

    Extreme shares are added in the direction of what is left of it, as many as it takes.
    """
    from scipy.optimize import nnls

    left = -slack
    found: list[Floats] = []
    costs: list[float] = []
    for _ in range(20 * len(null)):
        slopes, cost = problem.extreme(left @ null)
        if (null @ slopes) @ left <= 0:
            return None
        found.append(slopes)
        costs.append(cost)
        along = null @ np.array(found).T  # (n_directions, n_found)
        amounts, residual = nnls(along, -slack)
        if residual <= 1e-9 * max(np.abs(along).max(), 1e-300):
            return float(amounts.sum()), amounts @ np.array(found), float(amounts @ costs)
        left = -slack - along @ amounts
    return None
