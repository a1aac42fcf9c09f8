"""Crammer-Singer SVMs under variance and L2 regularisers: a fast solver with a certified duality gap, and a slow reference."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from disambig.api import DenseBlocks, SparseRows
from disambig.api.batches import convert

from .problem import Floats, Recession, Regulariser, SolverPoint, SVMProblem, dual_bound, recession, settle


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceSolution:
    """What the general solver found."""

    weights: Floats
    objective: float


def solve_reference(
    batch: DenseBlocks, regulariser: Regulariser, C: float, *, prior: Floats | None = None
) -> ReferenceSolution:
    """Solve the primal with one slack an example by cvxpy; the parameters are those of `solve`.

    The variance of a subset is written as the least sum of squares around any mean.

    Raises
    ------
    ImportError
        Where cvxpy is not installed.
    """
    import cvxpy

    rows = convert(batch, SparseRows).rows
    n, k = batch.costs.shape
    gold = np.repeat(np.arange(n) * k + batch.costs.argmin(axis=1), k)
    w, slack = cvxpy.Variable(rows.shape[1]), cvxpy.Variable(n, nonneg=True)
    change = w if prior is None else w - prior
    penalty: Any = 0.0
    for number in np.unique(regulariser.subset):
        inside = np.flatnonzero((regulariser.subset == number) & (regulariser.strength > 0))
        if not len(inside):
            continue
        around = change[inside] - cvxpy.Variable() if number >= 0 else change[inside]
        root = np.sqrt(regulariser.strength[inside])
        penalty += 0.5 * cvxpy.sum_squares(cvxpy.multiply(root, around))
    margins = (rows - rows[gold]) @ w + batch.cost.astype(np.float64)
    constraints = [margins <= slack[np.repeat(np.arange(n), k)]]
    problem = cvxpy.Problem(cvxpy.Minimize(penalty + C * cvxpy.sum(slack)), constraints)
    objective = problem.solve(solver=cvxpy.CLARABEL)
    return ReferenceSolution(np.asarray(w.value), float(objective))


_STALLED = 15
"""Newton steps at one temperature after which the curvature is taken exactly."""
_SHORTEST = 1e-6
"""Share of a Newton step that is tried at least."""
_ROUNDING = 1e-14
_LEAST = 1e-8
"""An objective is as good as zero below this share of what zero weights cost."""
_WARM, _TEPID = 0.1, 0.02
"""The temperature to begin with, and where there is a rough solution; losses count 1."""
_MANY, _EVERY, _ROUGH, _FEW_STEPS = 1_000_000, 8, 1e-2, 60
"""Of more rows than so many, every eighth example is solved first, to a gap of a hundredth."""
_MOST_FREE = 200
"""So many free weights are looked at one by one; others of their kind are found on the way."""
_SCALES = (*0.3 ** np.arange(8), 0.0)
"""Multiples of the start that are tried, so that a good direction of the wrong length does no harm."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Weights with their certificate.

    Attributes
    ----------
    weights : array of float64, shape (n_columns,)
    primal, dual : float
        Objective at `weights`, and a lower bound on every objective.
    gap : float
        ``(primal - dual) / primal``; the divisor is at least ``1e-8 * C * n``, a tiny share of what
        zero weights cost, because data that can be separated may bring the optimum to zero.
    n_iter : int
        Newton steps.
    """

    weights: Floats
    primal: float
    dual: float
    gap: float
    n_iter: int


def solve(
    batch: DenseBlocks,
    regulariser: Regulariser,
    C: float,
    *,
    prior: Floats | None = None,
    start: Floats | None = None,
    tolerance: float = 1e-3,
    max_iter: int = 400,
) -> Solution:
    """Minimise the objective to a relative duality gap of `tolerance`.

    Parameters
    ----------
    batch : DenseBlocks
        Its zero-cost candidates are the right ones; the first of several is taken.
    prior : array, shape (n_columns,), optional
        Weights to regularise toward; zero by default.
    start : array, shape (n_columns,), optional
        Weights to begin at, such as the solution at a smaller `C`.

    Warns
    -----
    UserWarning
        Where `max_iter` Newton steps did not reach `tolerance`; the gap is in the answer.
    """
    # One thread: matrices are small, and more threads stall one another where other work is going on.
    with threadpool_limits(limits=1, user_api="blas"):
        begin, temperature = _coarse(batch, regulariser, C, prior, start)
        problem = SVMProblem(batch, regulariser, C, prior)
        solution, found, _ = _solve(problem, begin, temperature, tolerance, max_iter)
    if found:
        weights = settle(solution.weights, batch, found)
        primal = SVMProblem(batch, regulariser, C, prior).primal(weights)
        gap = float((primal - solution.dual) / max(primal, _LEAST * C * len(batch.costs)))
        solution = Solution(weights, primal, solution.dual, gap, solution.n_iter)
    if solution.gap > tolerance:
        warnings.warn(
            f"SVM stopped at a relative duality gap of {solution.gap:.2g} after {solution.n_iter} steps",
            stacklevel=2,
        )
    return solution


def _coarse(
    batch: DenseBlocks, regulariser: Regulariser, C: float, prior: Floats | None, start: Floats | None
) -> tuple[Floats | None, float]:
    """Return where to begin: of many examples, about the solution for every eighth; and the temperature."""
    if batch.costs.size <= _MANY:
        return start, _WARM
    part = batch.take(np.arange(0, len(batch.costs), _EVERY))
    begin, temperature = _coarse(part, regulariser, _EVERY * C, prior, start)
    problem = SVMProblem(part, regulariser, _EVERY * C, prior)
    rough, _, temperature = _solve(problem, begin, temperature, _ROUGH, _FEW_STEPS)
    return rough.weights, max(temperature, _TEPID)


def _solve(
    problem: SVMProblem, start: Floats | None, temperature: float, tolerance: float, max_iter: int
) -> tuple[Solution, list[Recession], float]:
    found = _one_sided(problem)
    floor = _LEAST * problem.C * problem.n
    weights = problem.prior if start is None else _scaled(problem, start)
    damping, strictness, length, n_iter, cooled_at = 0.0, 0.1, 1.0, 0, 0
    point = problem.at(weights, temperature)
    best, dual, gap = point, 0.0, np.inf  # no objective is below zero
    while True:
        if point.primal < best.primal:
            best = point
        gradient = problem.gradient(point)
        step = problem.newton(point, gradient, damping)
        decrease = -float(gradient @ step)
        smoothing = problem.C * point.temperature * point.entropy  # what the gap will be
        accepted = max(smoothing, tolerance * max(point.primal, floor))
        converged = decrease <= _ROUNDING * max(point.smoothed, floor)
        settled = converged or decrease <= strictness * accepted
        if settled:
            bound, direction = dual_bound(problem, point)
            lost_nothing = None if direction is None else recession(problem.batch, direction)
            if lost_nothing is not None and problem.rule_out(lost_nothing.rows):
                found.append(lost_nothing)
                best = point = problem.at(point.weights, point.temperature)
                continue
            dual = max(dual, bound)
        gap = (best.primal - dual) / max(best.primal, floor)
        if gap <= tolerance or n_iter >= max_iter or point.temperature < 1e-9:
            break
        if settled and (converged or point.primal - bound <= 2.0 * smoothing):
            factor = float(np.clip(0.7 * np.sqrt(tolerance / gap), 0.1, 0.5))
            point, strictness, damping = _cooled(problem, point, gradient, factor), 0.1, 0.0
            cooled_at = n_iter
            continue
        if settled:  # the bound is loose because of slopes along free directions, not of the smoothing
            strictness *= 0.1
            problem.sharpen()
        n_iter += 1
        if n_iter - cooled_at == _STALLED:
            problem.sharpen()
        moved, length = _search(problem, point, step, decrease, min(1.0, 2.0 * length))
        if moved is not None:
            point = moved
            damping = 0.1 * damping if damping > 1e-6 * float(np.abs(gradient).max()) else 0.0
            continue
        # far out the curvature vanishes and the step is too long: lean on the gradient
        largest = float(np.abs(gradient).max())
        if damping > 1e6 * largest:
            break
        damping = max(10.0 * damping, 1e-3 * largest)
        point = problem.at(point.weights, point.temperature)
    return Solution(best.weights, best.primal, dual, float(gap), n_iter), found, point.temperature


def _one_sided(problem: SVMProblem) -> list[Recession]:
    """Rule out the rows of free weights that no example holds back, before the search runs after them."""
    found: list[Recession] = []
    columns = np.flatnonzero(problem.regulariser.strength == 0)
    for column in columns[:_MOST_FREE]:
        for sign in (-1.0, 1.0):
            direction = np.zeros(problem.n_columns)
            direction[column] = sign
            if problem.extreme(direction)[0].any():
                continue
            lost_nothing = recession(problem.batch, direction)
            if problem.rule_out(lost_nothing.rows):
                found.append(lost_nothing)
    return found


def _scaled(problem: SVMProblem, start: Floats) -> Floats:
    tried: list[Floats] = [problem.prior + scale * (start - problem.prior) for scale in _SCALES]
    return tried[int(np.argmin([problem.primal(weights) for weights in tried]))]


def _cooled(problem: SVMProblem, point: SolverPoint, gradient: Floats, factor: float) -> SolverPoint:
    """Go to a lower temperature, to where the minimum is thought to be or else to the same place."""
    temperature = factor * point.temperature
    there = problem.at(problem.cooled(point, gradient, factor), temperature)
    if there.smoothed <= problem.smoothed(point.weights, temperature):
        return there
    return problem.at(point.weights, temperature)


def _search(
    problem: SVMProblem, point: SolverPoint, step: Floats, decrease: float, longest: float
) -> tuple[SolverPoint | None, float]:
    """Return the first point clearly better on the way back from `longest`, and its share of the step.

    None where there is no such point.
    """
    length = longest
    while length > _SHORTEST:
        trial = point.weights + length * step
        if length == longest:
            there = problem.at(trial, point.temperature)
            value = there.smoothed
        else:
            value = problem.smoothed(trial, point.temperature)
        if value <= point.smoothed * (1.0 + _ROUNDING) - 1e-4 * length * decrease:
            return (there if length == longest else problem.at(trial, point.temperature)), length
        length *= 0.5
    return None, 1.0
