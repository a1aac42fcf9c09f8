"""The optimisation problem: regulariser, smoothed losses, directions without loss, and lower bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks

Floats = NDArray[np.float64]


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
        for p in self._subsets():
            q -= np.outer(p, p) / p.sum()  # Cov = diag(p) - p p', section 3 of the paper
        return q

    @property
    def null_space(self) -> Floats:
        """A basis of the directions that cost nothing, shape ``(n_directions, n_columns)``."""
        rows = [p > 0 for p in self._subsets()]
        rows += [np.arange(len(self.subset)) == i for i in np.flatnonzero(self.strength == 0)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.subset))

    def apply(self, weights: Floats) -> Floats:
        """Return ``Q w`` without making Q."""
        return self.strength * self._centred(weights)

    def penalty(self, weights: Floats) -> float:
        """Return ``1/2 w' Q w``."""
        return float(0.5 * np.sum(self.strength * self._centred(weights) ** 2))

    def conjugate(self, gradient: Floats) -> float:
        """Return ``1/2 g' Q^+ g`` for a `gradient` that is orthogonal to the null space."""
        kept = self.strength > 0
        return float(0.5 * np.sum(gradient[kept] ** 2 / self.strength[kept]))

    def _centred(self, weights: Floats) -> Floats:
        """Take its mean off each variance subset; means may be large where they cost nothing."""
        centred: Floats = weights.copy()
        for p in self._subsets():
            centred[p > 0] -= (p @ weights) / p.sum()
        return centred

    def _subsets(self) -> list[Floats]:
        """Return `p` of each variance subset, zero outside of it; not those that are free altogether."""
        numbers = [number for number in np.unique(self.subset) if number >= 0]
        found = [np.where(self.subset == number, self.strength, 0.0) for number in numbers]
        return [p for p in found if p.sum() > 0]


ROUNDING = 1e-9
"""Pushes below this share of the largest count as none."""


@dataclass(frozen=True, slots=True, eq=False)
class Recession:
    """A direction that costs nothing and raises no loss.

    Attributes
    ----------
    direction : array, shape (n_columns,)
    rows : array of bool, shape (n, K)
        The rows whose losses it lowers.
    """

    direction: Floats
    rows: NDArray[np.bool_]


def recession(batch: DenseBlocks, direction: Floats) -> Recession:
    """Return `direction` with the rows that it lowers."""
    push = differences(batch, direction)
    return Recession(direction, push < -ROUNDING * np.abs(push).max(initial=0.0))


def settle(weights: Floats, batch: DenseBlocks, found: list[Recession]) -> Floats:
    """Return `weights` moved along the directions until the rows of each cost nothing.

    The last found comes first: rows ruled out before it was found are mended by their own direction.
    """
    for each in reversed(found):
        loss = batch.costs + differences(batch, weights)
        needed = loss[each.rows] / -differences(batch, each.direction)[each.rows]
        weights = weights + (1 + ROUNDING) * max(needed.max(initial=0.0), 0.0) * each.direction
    return weights


def differences(batch: DenseBlocks, weights: Floats) -> Floats:
    """Return ``w . (phi_ir - phi_iy)``, shape ``(n, K)``."""
    scores = batch.scores(weights).reshape(batch.costs.shape)
    gold = batch.costs.argmin(axis=1)[:, None]
    differences: Floats = scores - np.take_along_axis(scores, gold, axis=1)
    return differences


_MANY = 100_000
"""Rows from which the curvature is rough at first: only an example's largest shares enter it."""
_MOST_ROUGH, _LEAST_ROUGH = 16, 1e-2
_MOST_EXACT, _LEAST_EXACT = 32, 1e-12
_EXPLICIT = 2048
"""Up to so many columns the Hessian is a matrix, beyond it is only multiplied with."""


@dataclass(frozen=True, slots=True, eq=False)
class SolverPoint:
    """What one pass over the examples finds at some weights and temperature.

    Attributes
    ----------
    weights : array, shape (n_columns,)
    temperature : float
    primal, smoothed : float
        The objective and its smoothed form.
    slopes : array, shape (n_columns,)
        ``sum_ir alpha_ir (phi_ir - phi_iy)`` for the softmax shares alpha.
    cost : float
        ``sum_ir alpha_ir cost_ir``.
    entropy : float
        Of the shares, summed over examples: temperature times C times it bounds the smoothing's error.
    """

    weights: Floats
    temperature: float
    primal: float
    smoothed: float
    slopes: Floats
    cost: float
    entropy: float


class SVMProblem:
    """``min_w 1/2 (w - w0)' Q (w - w0) + C sum_i max_r [cost_ir + w . (phi_ir - phi_iy)]_+``.

    Rows that were ruled out do not count. Memory beyond the batch's is what the kept
    shares take, 12 bytes each.
    """

    def __init__(
        self,
        batch: DenseBlocks,
        regulariser: Regulariser,
        C: float,
        prior: Floats | None = None,
    ) -> None:
        self.batch, self.regulariser, self.C = batch, regulariser, C
        self.n, k, a = batch.values.shape
        self.n_columns = len(batch.columns)
        self.prior = np.zeros(self.n_columns) if prior is None else prior
        self.gold = batch.costs.argmin(axis=1)
        self.null_space = regulariser.null_space
        self._explicit = k * a <= _EXPLICIT
        flat = batch.column_of.ravel()
        self._one_to_one = len(flat) == self.n_columns == len(np.unique(flat))
        self._rows = (batch.values, batch.costs, self.gold, np.ones((1, 0), np.bool_))
        free = bool((regulariser.strength == 0).any())  # weights held by the tails of the shares alone
        rough = self.n * k > _MANY and self._explicit and not free
        self._keep(*(_MOST_ROUGH, _LEAST_ROUGH) if rough else (_MOST_EXACT, _LEAST_EXACT))

    def _keep(self, most: int, least: float) -> None:
        """Let so many shares of an example enter the curvature, none less than `least`."""
        n, k, _ = self.batch.values.shape
        self._least_share = least
        self._kept = np.full((n, min(k, most)), -1, np.int32)
        self._share = np.empty(self._kept.shape)

    def rule_out(self, rows: NDArray[np.bool_]) -> bool:
        """Leave some rows, shape ``(n, K)``, out of account from now on; say whether any was in it."""
        values, costs, gold, alive = self._rows
        before = alive if alive.shape[1] else np.ones(costs.shape, np.bool_)
        self._rows = (values, costs, gold, before & ~rows)
        return bool((before & rows).any())

    def sharpen(self) -> None:
        """Take the curvature exactly from the next point on."""
        if self._least_share > _LEAST_EXACT:
            self._keep(_MOST_EXACT, _LEAST_EXACT)

    def at(self, weights: Floats, temperature: float) -> SolverPoint:
        """Evaluate everything; the shares are kept for the curvature at this point."""
        from . import _kernels as kernels

        slopes = np.empty(self.batch.column_of.shape)
        loss, soft, cost, entropy = kernels.evaluate(
            *self._rows,
            weights[self.batch.column_of],
            temperature,
            self._least_share,
            slopes,
            self._kept,
            self._share,
        )
        penalty = self.penalty(weights)
        return SolverPoint(
            weights,
            temperature,
            penalty + self.C * loss,
            penalty + self.C * soft,
            self.flat(slopes),
            cost,
            entropy,
        )

    def penalty(self, weights: Floats) -> float:
        """Return the regulariser's part of the objective."""
        return self.regulariser.penalty(weights - self.prior)

    def primal(self, weights: Floats) -> float:
        """Return the objective."""
        from . import _kernels as kernels

        return self.penalty(weights) + self.C * float(
            kernels.losses(*self._rows, weights[self.batch.column_of])
        )

    def smoothed(self, weights: Floats, temperature: float) -> float:
        """Return the smoothed objective."""
        from . import _kernels as kernels

        soft = kernels.smoothed(*self._rows, weights[self.batch.column_of], temperature)
        return self.penalty(weights) + self.C * float(soft)

    def gradient(self, point: SolverPoint) -> Floats:
        """Return the gradient of the smoothed objective."""
        return self.regulariser.apply(point.weights - self.prior) + self.C * point.slopes

    def extreme(self, direction: Floats) -> tuple[Floats, float]:
        """Return slopes and cost of the shares that push most along `direction`."""
        from . import _kernels as kernels

        slopes = np.empty(self.batch.column_of.shape)
        cost = kernels.extreme(*self._rows, direction[self.batch.column_of], ROUNDING, slopes)
        return self.flat(slopes), float(cost)

    def newton(self, point: SolverPoint, gradient: Floats, damping: float) -> Floats:
        """Return the Newton step at the point evaluated last."""
        factor = self.C / point.temperature
        if self._explicit:
            return -_solve_psd(self._hessian(factor, damping), gradient)
        return -self._conjugate_gradients(factor, damping, gradient)

    def tilt(self, direction: Floats, cost_weight: float = 0.0) -> tuple[Floats, float, float]:
        """Return slopes and cost of a small change of the kept shares of the point evaluated last.

        Shares of rows that score high in `direction` grow at the others' expense; the third is the lowest
        change relative to a share, which -1 would bring to zero.
        """
        from . import _kernels as kernels

        slopes = np.empty(self.batch.column_of.shape)
        cost, lowest = kernels.product(
            self.batch.values,
            self.batch.costs,
            cost_weight,
            self._kept,
            self._share,
            direction[self.batch.column_of],
            slopes,
        )
        return self.flat(slopes), float(cost), float(lowest)

    def cooled(self, point: SolverPoint, gradient: Floats, factor: float) -> Floats:
        """Return about where the minimum goes when the temperature falls by `factor`.

        Shares hardly change when losses shrink with the temperature, so that is where the step leads;
        at the old place the examples at the margin would look settled.
        """
        pull, _, _ = self.tilt(point.weights, 1.0)
        force = (1.0 - factor) * self.C / point.temperature * pull
        return point.weights + self.newton(point, gradient + force, 0.0)

    def flat(self, blocks: Floats) -> Floats:
        """Sum what belongs to attributes, shape (K, A), over the columns that they share."""
        if self._one_to_one:
            result = np.empty(self.n_columns)
            result[self.batch.column_of] = blocks
            return result
        sums = np.bincount(self.batch.column_of.ravel(), blocks.ravel(), minlength=self.n_columns)
        return sums.astype(np.float64, copy=False)

    def _hessian(self, factor: float, damping: float) -> Floats:
        from . import _kernels as kernels

        k, a = self.batch.column_of.shape
        full = np.empty((k, a, k, a))
        kernels.hessian(self.batch.values, self._kept, self._share, full)
        square = full.reshape(k * a, k * a)
        flat = self.batch.column_of.ravel()
        if self._one_to_one:
            order = np.empty(k * a, np.int64)
            order[flat] = np.arange(k * a)
            ordered = np.triu(square)
            ordered = (ordered + np.triu(ordered, 1).T)[np.ix_(order, order)]
        else:
            tie = np.zeros((k * a, self.n_columns))
            tie[np.arange(k * a), flat] = 1.0
            upper = np.triu(square)
            ordered = tie.T @ (upper + np.triu(upper, 1).T) @ tie
        ordered *= factor
        ordered += self.regulariser.matrix
        ordered[np.diag_indices(self.n_columns)] += damping
        return np.asarray(ordered)

    def _conjugate_gradients(self, factor: float, damping: float, gradient: Floats) -> Floats:
        """Solve ``H d = gradient`` to a tenth of the gradient, preconditioned by H's diagonal."""
        from . import _kernels as kernels

        column_of, values = self.batch.column_of, self.batch.values
        blocks = np.empty(column_of.shape)
        kernels.diagonal(values, self._kept, self._share, blocks)
        scale = self.regulariser.strength + factor * self.flat(blocks) + damping
        scale = np.maximum(scale, 1e-12 * scale.max())
        answer = np.zeros(self.n_columns)
        left, seen = gradient.copy(), gradient / scale
        step, size = seen.copy(), float(gradient @ seen)
        goal = 0.01 * size
        for _ in range(_MOST_CG):
            curved = self.regulariser.apply(step) + factor * self.tilt(step)[0] + damping * step
            length = size / float(step @ curved)
            answer += length * step
            left -= length * curved
            seen = left / scale
            size, before = float(left @ seen), size
            if size <= goal:
                break
            step = seen + (size / before) * step
        return answer


_MOST_CG = 250


def _solve_psd(matrix: Floats, vector: Floats) -> Floats:
    """Solve with a matrix that is positive semidefinite up to rounding."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    ridge = 1e-12 * max(float(np.trace(matrix)) / len(matrix), 1e-300)
    while True:
        try:
            lifted: Any = matrix + ridge * np.eye(len(matrix))
            solution: Floats = cho_solve(cho_factor(lifted, overwrite_a=True, check_finite=False), vector)
            return solution
        except LinAlgError:
            if not np.isfinite(ridge * np.trace(matrix)):
                raise
            ridge *= 100.0


_ZERO = 1e-9
"""Slopes below this share of the largest are rounding."""


def dual_bound(problem: SVMProblem, point: SolverPoint) -> tuple[float, Floats | None]:
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


def _tilted(problem: SVMProblem, slopes: Floats, cost: float) -> tuple[Floats, float]:
    """Return slopes and cost of shares that are tilted until free directions have no slope.

    As far as shares stay above zero; the rest is left to `_repair`.
    """
    null = problem.null_space
    curvature = np.array([null @ problem.tilt(row)[0] for row in null])
    amounts = np.linalg.lstsq(curvature, -(null @ slopes), rcond=1e-12)[0]
    push, push_cost, lowest = problem.tilt(amounts @ null)
    length = 1.0 if lowest >= -1.0 else -1.0 / lowest
    return slopes + length * push, cost + length * push_cost


def _repair(problem: SVMProblem, slack: Floats) -> tuple[list[tuple[Floats, float]], Floats, Floats | None]:
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
