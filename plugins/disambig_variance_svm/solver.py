"""Crammer-Singer SVMs under a variance or L2 regulariser, with a certified duality gap.

The problem (Bergsma, Lin and Schuurmans 2010, eq. 6, one slack an example):

    min_w  1/2 w' Q w + C sum_i max_r [cost_ir + w . (phi_ir - phi_iy)]_+

`Q` is block diagonal: ``diag(p) - p p'`` on a variance subset, ``diag(q)`` on an L2 subset, zero on
free weights. The maximum is smoothed to ``t * logsumexp(./t)`` and minimised by Newton's method while
`t` falls. The softmax shares at the minimum are dual feasible but for rounding, so the gap between
the *unsmoothed* primal and the dual at these shares certifies the answer, whatever the path to it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from disambig.api import DenseBlocks, segments

Floats = NDArray[np.float64]
_SHORTEST = 1e-6
"""Share of a Newton step that is tried at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Regulariser:
    """``1/2 w' Q w`` by disjoint subsets of the weights.

    Attributes
    ----------
    strength : array of float64, shape (n_columns,)
        `p` of a variance subset (summing to its total), the weight of an L2 term, or 0: free.
    subset : array of int64, shape (n_columns,)
        Number of the variance subset that a weight belongs to; -1 for L2 and free weights.
    """

    strength: Floats
    subset: NDArray[np.int64]

    @property
    def matrix(self) -> Floats:
        """Q, shape ``(n_columns, n_columns)``."""
        q = np.diag(self.strength)
        for number in self._subsets():
            inside = self.subset == number
            p = np.where(inside, self.strength, 0.0)
            q -= np.outer(p, p) / p.sum()  # Cov = diag(p) - p p', section 3 of the paper
        return q

    @property
    def null_space(self) -> Floats:
        """A basis of the directions that cost nothing, shape ``(n_directions, n_columns)``."""
        rows = [(self.subset == number) & (self.strength > 0) for number in self._subsets()]
        rows += [np.eye(len(self.subset))[i] for i in np.flatnonzero(self.strength == 0)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.subset))

    def conjugate(self, gradient: Floats) -> float:
        """Return ``1/2 g' Q^+ g`` for a `gradient` that is orthogonal to the null space."""
        kept = self.strength > 0
        return float(0.5 * np.sum(gradient[kept] ** 2 / self.strength[kept]))

    def _subsets(self) -> list[int]:
        return [int(number) for number in np.unique(self.subset) if number >= 0]


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Weights with their certificate.

    Attributes
    ----------
    weights : array of float64, shape (n_columns,)
    primal, dual : float
        Objective at `weights`, and a lower bound on every objective.
    gap : float
        ``(primal - dual) / primal``; under the divisor stands at least ``1e-3 * C * n``, a thousandth of
        what zero weights cost, because data that can be separated bring the optimum to zero.
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
    start: Floats | None = None,
    tolerance: float = 1e-3,
    max_iter: int = 400,
) -> Solution:
    """Minimise the objective to a relative duality gap of `tolerance`.

    Parameters
    ----------
    batch : DenseBlocks
        Its zero-cost candidates are the right ones; the first of several is taken.
    start : array, shape (n_columns,), optional
        Weights to begin at, such as the solution at a smaller `C`.

    Warns
    -----
    UserWarning
        Where `max_iter` Newton steps did not reach `tolerance`; the gap is in the answer.
    """
    # One thread: matrices are small, and more threads stall one another where other work is going on.
    with threadpool_limits(limits=1, user_api="blas"):
        return _solve(_Problem(batch, regulariser, C), start, tolerance, max_iter)


def _solve(problem: _Problem, start: Floats | None, tolerance: float, max_iter: int) -> Solution:
    batch, C = problem.batch, problem.C
    weights = np.zeros(len(batch.columns)) if start is None else start.copy()
    best = Solution(weights, problem.primal(weights), 0.0, np.inf, 0)  # no objective is below zero
    temperature, n_iter = 1.0, 0
    while n_iter < max_iter and temperature > 1e-9:
        weights, steps = problem.minimise(weights, temperature, max_iter - n_iter)
        n_iter += steps
        primal = problem.primal(weights)
        dual = max(problem.dual(weights, temperature), best.dual)
        if primal > best.primal:
            primal, kept = best.primal, best.weights
        else:
            kept = weights
        gap = float((primal - dual) / max(primal, 1e-3 * C * problem.n))
        best = Solution(kept, primal, dual, gap, n_iter)
        if gap <= tolerance:
            return best
        temperature *= 0.4
    warnings.warn(
        f"SVM stopped at a relative duality gap of {best.gap:.2g} after {n_iter} steps", stacklevel=2
    )
    return best


class _Problem:
    """The objective, its smoothed form and its dual, for one batch."""

    def __init__(self, batch: DenseBlocks, regulariser: Regulariser, C: float) -> None:
        self.batch, self.regulariser, self.C = batch, regulariser, C
        self.n = len(batch.offsets) - 1
        self.offsets = batch.offsets
        self.cost = batch.cost.astype(np.float64)
        self.gold = self.offsets[:-1] + segments.argmax(-self.cost, self.offsets)
        self.sizes = np.diff(self.offsets)
        self.q = regulariser.matrix
        indicator = np.zeros(len(self.cost))
        indicator[self.gold] = 1.0
        self.indicator = indicator
        self.gold_features = batch.adjoint(indicator)

    def losses(self, weights: Floats) -> Floats:
        """Return ``cost_ir + s_ir - s_iy`` a row."""
        scores = self.batch.scores(weights)
        return self.cost + scores - np.repeat(scores[self.gold], self.sizes)

    def primal(self, weights: Floats) -> float:
        hinge = segments.maxima(self.losses(weights), self.offsets).sum()
        return float(0.5 * weights @ self.q @ weights + self.C * hinge)

    def dual(self, weights: Floats, temperature: float) -> float:
        """Return the dual objective at the softmax shares, made exactly feasible first."""
        shares = segments.softmax(self.losses(weights) / temperature, self.offsets)
        gradient = self._gradient(shares)
        null = self.regulariser.null_space
        slack = null @ gradient  # must be zero: the dual's equality constraints
        total_cost, weight = float(shares @ self.cost), 1.0
        if len(null) and np.abs(slack).max() > 0:
            repair = self._repair(slack)
            if repair is None:
                return -np.inf
            amount, push, cost = repair
            weight = 1.0 / (1.0 + amount)
            gradient = gradient + push
            total_cost += cost
            gradient = gradient - null.T @ np.linalg.lstsq(null.T, gradient, rcond=None)[0]  # rounding only
        return float(
            weight * self.C * total_cost - self.C**2 * weight**2 * self.regulariser.conjugate(gradient)
        )

    def minimise(self, weights: Floats, temperature: float, max_iter: int) -> tuple[Floats, int]:
        """Minimise the smoothed objective by Newton steps with backtracking."""
        value = self._smoothed(weights, temperature)
        damping = 0.0
        for step in range(max_iter):
            shares = segments.softmax(self.losses(weights) / temperature, self.offsets)
            gradient = self.q @ weights + self.C * self._gradient(shares)
            hessian = self.q + self.C / temperature * self.batch.curvature(shares)
            direction = -_solve_psd(hessian + damping * np.eye(len(weights)), gradient)
            slope = gradient @ direction
            if not damping and -slope <= 1e-9 * max(abs(value), 1e-3 * self.C * self.n):
                return weights, step
            length = 1.0
            while length > _SHORTEST:
                trial = weights + length * direction
                trial_value = self._smoothed(trial, temperature)
                if trial_value <= value + 1e-4 * length * slope:
                    break
                length *= 0.5
            else:  # far out the curvature vanishes and the step is too long: lean on the gradient
                if damping > 1e6 * np.abs(gradient).max():
                    return weights, step
                damping = max(10.0 * damping, 1e-3 * float(np.abs(gradient).max()))
                continue
            weights, value = trial, trial_value
            damping = 0.1 * damping if damping > 1e-12 * np.abs(gradient).max() else 0.0
        return weights, max_iter

    def _smoothed(self, weights: Floats, temperature: float) -> float:
        soft = temperature * segments.log_sums(self.losses(weights) / temperature, self.offsets).sum()
        return float(0.5 * weights @ self.q @ weights + self.C * soft)

    def _gradient(self, shares: Floats) -> Floats:
        return self.batch.adjoint(shares) - self.gold_features

    def _repair(self, slack: Floats) -> tuple[float, Floats, float] | None:
        """Return what to add to the shares, so that the slopes along the null space cancel `slack`.

        Extreme shares are added in the direction of what is left of `slack`, as many as it takes.

        Returns
        -------
        (float, array of shape (n_columns,), float) or None
            Their amount, gradient and cost; None where nothing cancels `slack`.
        """
        from scipy.optimize import nnls

        null, left = self.regulariser.null_space, -slack
        gradients: list[Floats] = []
        costs: list[float] = []
        for _ in range(20 * len(null)):
            gradient, cost = self._vertex(left @ null)
            if (null @ gradient) @ left <= 0:
                return None
            gradients.append(gradient)
            costs.append(cost)
            slopes = null @ np.array(gradients).T  # (n_directions, n_vertices)
            amounts, residual = nnls(slopes, -slack)
            if residual <= 1e-9 * max(np.abs(slopes).max(), 1e-300):
                return float(amounts.sum()), amounts @ np.array(gradients), float(amounts @ costs)
            left = -slack - slopes @ amounts
        return None

    def _vertex(self, direction: Floats) -> tuple[Floats, float]:
        """Return gradient and cost of the shares that push most along `direction`."""
        scores = self.batch.scores(direction)
        shares = np.zeros(len(scores))
        shares[self.offsets[:-1] + segments.argmax(scores, self.offsets)] = 1.0
        return self._gradient(shares), float(shares @ self.cost)


def _solve_psd(matrix: Floats, vector: Floats) -> Floats:
    """Solve with a matrix that is positive semidefinite up to rounding."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    ridge = 1e-12 * max(float(np.trace(matrix)) / len(matrix), 1e-300)
    while True:
        try:
            return cho_solve(cho_factor(matrix + ridge * np.eye(len(matrix))), vector)
        except LinAlgError:
            ridge *= 100.0
