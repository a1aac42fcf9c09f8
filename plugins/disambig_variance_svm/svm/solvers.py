"""A solver of Crammer-Singer SVMs with variance and L2 regularisers, with a certified duality gap.

The problem (Bergsma, Lin and Schuurmans 2010, eq. 6, with one slack variable per example) is

    min_w  1/2 (w - w0)' Q (w - w0) + C sum_i max_r [cost_ir + w . (phi_ir - phi_iy)]_+

`Q` is block diagonal: ``diag(p) - p p'`` on a variance subset, ``diag(q)`` on an L2 subset, zero on free
weights; `w0` is zero or the prior. The maximum is smoothed to ``t * logsumexp(./t)`` and minimised by
Newton's method while the temperature `t` falls. The softmax shares are dual feasible except for slopes
along the free directions, which are corrected exactly. The gap between the *unsmoothed* primal and the dual
therefore certifies the result, regardless of the path to it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from disambig.api import DenseBlocks
from disambig.api.arrays import Floats

from .problem import Recession, Regulariser, SolverPoint, SVMProblem, dual_bound, recession, settle

_STALLED = 15
"""Number of Newton steps at one temperature after which the curvature is computed exactly."""
_SHORTEST = 1e-6
"""The smallest share of a Newton step that the line search tries."""
_ROUNDING = 1e-14
_NEGLIGIBLE = 1e-8
"""An objective below this share of the objective at zero weights counts as zero."""
_WARM, _TEPID = 0.1, 0.02
"""The initial temperature, without and with a rough solution; the margin is 1."""
_MANY, _EVERY, _ROUGH, _FEW_STEPS = 1_000_000, 8, 1e-2, 60
"""For more rows than `_MANY`, every eighth example is solved first, to a gap of 0.01."""
_MAX_FREE = 200
"""Number of free weights that are checked one by one in advance; the search discovers others."""
_SCALES = (*0.3 ** np.arange(8), 0.0)
"""Multiples of the start that are tried, so that a good direction with the wrong length is still useful."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Weights with their certificate."""

    weights: Floats  # float64 (n_columns,)
    # objective at `weights`, and a lower bound on every objective
    primal: float
    dual: float
    # ``(primal - dual) / primal``; the divisor is at least ``1e-8 * C * n``, a tiny share of the objective at
    # zero weights, because the optimum of separable data may be zero
    gap: float
    n_iter: int  # number of Newton steps


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

    Candidates without cost are correct; if there are several, the first one counts. `prior` are weights to
    regularise towards, zero by default; `start` are initial weights, such as the solution at a smaller `C`.
    Warns if `max_iter` Newton steps did not reach `tolerance`; the result contains the gap.
    """
    # One thread: the matrices are small, and on a busy machine several threads wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        begin, temperature = _coarse(batch, regulariser, C, prior, start)
        problem = SVMProblem(batch, regulariser, C, prior)
        solution, directions, _ = _solve(problem, begin, temperature, tolerance, max_iter)
    if directions:
        weights = settle(solution.weights, batch, directions)
        primal = SVMProblem(batch, regulariser, C, prior).primal(weights)
        gap = float((primal - solution.dual) / max(primal, _NEGLIGIBLE * C * len(batch.costs)))
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
    """Return the initial weights and temperature; for many examples, the rough solution for every eighth."""
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
    """Minimise the objective by Newton's method while the smoothing of the maximum is reduced.

    `start` are the weights to begin at, by default those of the prior; `temperature` is the strength of the
    smoothing at the beginning, and `tolerance` the relative duality gap at which the search ends.

    Return the solution, the directions of recession (the rows whose losses decrease along them no longer
    count), and the strength of the smoothing at the end.
    """
    directions = _one_sided(problem)
    floor = _NEGLIGIBLE * problem.C * problem.n
    weights = problem.prior
    if start is not None:  # the multiple of the initial weights with the lowest objective
        tried = [problem.prior + scale * (start - problem.prior) for scale in _SCALES]
        weights = min(tried, key=problem.primal)
    damping, strictness, length, n_iter, cooled_at = 0.0, 0.1, 1.0, 0, 0
    point = problem.at(weights, temperature)
    best, dual, gap = point, 0.0, np.inf  # no objective is below zero
    while True:
        # the Newton step, and whether its gain is small beside the gap that the smoothing causes
        if point.primal < best.primal:
            best = point
        gradient = problem.gradient(point)
        step = problem.newton(point, gradient, damping)
        decrease = -float(gradient @ step)
        smoothing = problem.C * point.temperature * point.entropy  # the gap at the smoothed minimum
        accepted = max(smoothing, tolerance * max(point.primal, floor))
        converged = decrease <= _ROUNDING * max(point.smoothed, floor)
        settled = converged or decrease <= strictness * accepted

        # then a bound from below, or rows that do not count, with which the search begins again
        if settled:
            bound, direction = dual_bound(problem, point)
            ray = None if direction is None else recession(problem.batch, direction)
            if ray is not None and problem.rule_out(ray.rows):
                directions.append(ray)
                best = point = problem.at(point.weights, point.temperature)
                continue
            dual = max(dual, bound)

        # the end, or less smoothing, if it is what keeps the bound and the objective apart
        gap = (best.primal - dual) / max(best.primal, floor)
        if gap <= tolerance or n_iter >= max_iter or point.temperature < 1e-9:
            break
        if settled and (converged or point.primal - bound <= 2.0 * smoothing):
            factor = float(np.clip(0.7 * np.sqrt(tolerance / gap), 0.1, 0.5))
            point, strictness, damping = _cooled(problem, point, gradient, factor), 0.1, 0.0
            cooled_at = n_iter
            continue
        if settled:
            # the bound is loose because of slopes along free directions, not because of the smoothing
            strictness *= 0.1
            problem.sharpen()

        # a step as long as it lowers the smoothed objective
        n_iter += 1
        if n_iter - cooled_at == _STALLED:
            problem.sharpen()
        moved, length = _search(problem, point, step, decrease, min(1.0, 2.0 * length))
        if moved is not None:
            point = moved
            damping = 0.1 * damping if damping > 1e-6 * float(np.abs(gradient).max()) else 0.0
            continue
        # far from the minimum the curvature vanishes and the step is too long: damping turns it to the
        # gradient
        largest = float(np.abs(gradient).max())
        if damping > 1e6 * largest:
            break
        damping = max(10.0 * damping, 1e-3 * largest)
        point = problem.at(point.weights, point.temperature)
    return Solution(best.weights, best.primal, dual, float(gap), n_iter), directions, point.temperature


def _one_sided(problem: SVMProblem) -> list[Recession]:
    """Rule out rows that some free weight can satisfy without limit, so that the search does not diverge."""
    directions: list[Recession] = []
    columns = np.flatnonzero(problem.regulariser.strength == 0)
    for column in columns[:_MAX_FREE]:
        for sign in (-1.0, 1.0):
            direction = np.zeros(problem.n_columns)
            direction[column] = sign
            if problem.extreme(direction)[0].any():
                continue
            one_sided = recession(problem.batch, direction)
            if problem.rule_out(one_sided.rows):
                directions.append(one_sided)
    return directions


def _cooled(problem: SVMProblem, point: SolverPoint, gradient: Floats, factor: float) -> SolverPoint:
    """Lower the temperature, moving to the estimated minimum if that is better than the current weights."""
    temperature = factor * point.temperature
    cooled_point = problem.at(problem.cooled(point, gradient, factor), temperature)
    if cooled_point.smoothed <= problem.smoothed(point.weights, temperature):
        return cooled_point
    return problem.at(point.weights, temperature)


def _search(
    problem: SVMProblem, point: SolverPoint, step: Floats, decrease: float, longest: float
) -> tuple[SolverPoint | None, float]:
    """Return the first clearly better point of a backtracking line search, and its step length.

    The point is None if there is none.
    """
    length = longest
    while length > _SHORTEST:
        trial = point.weights + length * step
        if length == longest:
            trial_point = problem.at(trial, point.temperature)
            value = trial_point.smoothed
        else:
            value = problem.smoothed(trial, point.temperature)
        if value <= point.smoothed * (1.0 + _ROUNDING) - 1e-4 * length * decrease:
            return (trial_point if length == longest else problem.at(trial, point.temperature)), length
        length *= 0.5
    return None, 1.0
