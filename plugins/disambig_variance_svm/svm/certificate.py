"""Lower bounds on the objective, from softmax shares whose slopes along free directions are made zero."""

from __future__ import annotations

import numpy as np

from .problem import Point, Problem
from .regulariser import Floats

_ZERO = 1e-9
"""Slopes below this share of the largest are rounding."""


def dual_bound(problem: Problem, point: Point) -> tuple[float, Floats | None]:
    """Return the dual objective at the shares of `point`, made exactly feasible first.

    The dual is ``C sum alpha (cost + prior . z) - C^2/2 g' Q^+ g`` with ``z_ir = phi_ir - phi_iy`` and
    ``g = sum alpha z``, which must be orthogonal to every direction that costs nothing (the mean of a
    variance subset, a free bias). Where it is not quite, a few extreme shares are mixed in that cancel
    what is left.

    Returns
    -------
    (float, array of shape (n_columns,) or None)
        Where nothing cancels it: minus infinity, and a direction that costs nothing and raises no loss.
    """
    slopes, cost, weight = point.slopes, point.cost, 1.0
    null = problem.null_space
    if len(null):
        slopes, cost = _tilted(problem, slopes, cost)
    slack = null @ slopes
    if len(null) and np.abs(slack).max() > _ZERO * np.abs(slopes).max():
        found, amounts, direction = _repair(problem, slack)
        if direction is not None:
            return -np.inf, direction
        weight = 1.0 / (1.0 + float(amounts.sum()))
        for (push, push_cost), amount in zip(found, amounts, strict=True):
            slopes, cost = slopes + amount * push, cost + amount * push_cost
    if len(null):  # what is left is rounding; the rows of `null` are orthogonal to each other
        slopes = slopes - null.T @ ((null @ slopes) / (null**2).sum(axis=1))
    cost += float(problem.prior @ slopes)
    bound = weight * problem.C * cost - problem.C**2 * weight**2 * problem.regulariser.conjugate(slopes)
    return float(bound), None


def _tilted(problem: Problem, slopes: Floats, cost: float) -> tuple[Floats, float]:
    """Return slopes and cost of shares that are tilted until free directions have no slope.

    As far as shares stay above zero; the rest is left to `_repair`.
    """
    null = problem.null_space
    curvature = np.array([null @ problem.tilt(row)[0] for row in null])
    amounts = np.linalg.lstsq(curvature, -(null @ slopes), rcond=1e-12)[0]
    push, push_cost, lowest = problem.tilt(amounts @ null)
    length = 1.0 if lowest >= -1.0 else -1.0 / lowest
    return slopes + length * push, cost + length * push_cost


def _repair(problem: Problem, slack: Floats) -> tuple[list[tuple[Floats, float]], Floats, Floats | None]:
    """Return extreme shares and their amounts that cancel `slack`, or the direction that they cannot.

    They are added in the direction of what is left of it, as many as it takes. Where even the most
    extreme do not push that way, no share does: Farkas' alternative.
    """
    from scipy.optimize import nnls

    null, left = problem.null_space, -slack
    found: list[tuple[Floats, float]] = []
    amounts = np.empty(0)
    for _ in range(20 * len(null)):
        direction = left @ null
        slopes, cost = problem.extreme(direction)
        if not slopes.any():
            return found, amounts, direction
        found.append((slopes, cost))
        along = np.array([null @ push for push, _ in found]).T  # (n_directions, n_found)
        amounts, residual = nnls(along, -slack)
        if residual <= _ZERO * np.abs(along).max():
            break
        left = -slack - along @ amounts
    return found, amounts, None
