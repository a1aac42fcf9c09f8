"""The optimisation problem: regulariser, smoothed losses, directions of recession, and lower bounds.

Along a direction of recession nothing is lost: a free bias of a class that never occurs, or a sum that is
always right. Moving far enough along it costs nothing and removes the losses of some rows, while the
smoothed problem would creep towards infinity. The rows are therefore ruled out of the search, and at the
end the weights move as far along the direction as these rows need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks
from disambig.api.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Regulariser:
    """The regulariser ``1/2 w' Q w`` over disjoint subsets of the weights."""

    # (n_columns,): p in a variance subset (its sum is the strength of the subset), the factor of an L2 term,
    # or 0 for weights without regularisation
    strength: Floats
    # (n_columns,): index of each weight's variance subset; -1 for L2 and free weights
    subset: NDArray[np.int64]

    @property
    def matrix(self) -> Floats:
        """Q, shape ``(n_columns, n_columns)``."""
        q = np.diag(self.strength)
        for p in self._subsets():
            q -= np.outer(p, p) / p.sum()  # diag(p) - p p', eq. (7) of the paper
        return q

    @property
    def null_space(self) -> Floats:
        """A basis of the directions without penalty, shape ``(n_directions, n_columns)``."""
        rows = [p > 0 for p in self._subsets()]
        rows += [np.arange(len(self.subset)) == i for i in np.flatnonzero(self.strength == 0)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.subset))

    def apply(self, weights: Floats) -> Floats:
        """Return ``Q w`` without building Q."""
        return self.strength * self._centred(weights)

    def penalty(self, weights: Floats) -> float:
        """Return ``1/2 w' Q w``."""
        return float(0.5 * np.sum(self.strength * self._centred(weights) ** 2))

    def conjugate(self, gradient: Floats) -> float:
        """Return ``1/2 g' Q^+ g`` for a `gradient` that is orthogonal to the null space."""
        kept = self.strength > 0
        return float(0.5 * np.sum(gradient[kept] ** 2 / self.strength[kept]))

    def _centred(self, weights: Floats) -> Floats:
        """Subtract the mean of each variance subset; since it is not penalised, it may be large."""
        centred: Floats = weights.copy()
        for p in self._subsets():
            centred[p > 0] -= (p @ weights) / p.sum()
        return centred

    def _subsets(self) -> list[Floats]:
        """Return p of each variance subset with zeros outside, except for unregularised subsets."""
        numbers = [number for number in np.unique(self.subset) if number >= 0]
        strengths = [np.where(self.subset == number, self.strength, 0.0) for number in numbers]
        return [p for p in strengths if p.sum() > 0]


ROUNDING = 1e-9
"""Pushes below this share of the largest push count as zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Recession:
    """A direction of recession: it has no penalty and increases no loss."""

    direction: Floats  # shape (n_columns,)
    rows: NDArray[np.bool_]  # (n, K): the rows whose losses decrease along the direction


def recession(batch: DenseBlocks, direction: Floats) -> Recession:
    """Return `direction` with the rows whose losses decrease along it."""
    push = differences(batch, direction)
    return Recession(direction, push < -ROUNDING * np.abs(push).max(initial=0.0))


def settle(weights: Floats, batch: DenseBlocks, directions: list[Recession]) -> Floats:
    """Return `weights` moved along the directions until the rows of each direction have no loss.

    The direction found last is applied first, since it may raise the losses of rows that were ruled out
    before; these are lowered again by their own direction.
    """
    for item in reversed(directions):
        loss = batch.costs + differences(batch, weights)
        needed = loss[item.rows] / -differences(batch, item.direction)[item.rows]
        weights = weights + (1 + ROUNDING) * max(needed.max(initial=0.0), 0.0) * item.direction
    return weights


def differences(batch: DenseBlocks, weights: Floats) -> Floats:
    """Return ``w . (phi_ir - phi_iy)``, shape ``(n, K)``."""
    scores = batch.scores(weights).reshape(batch.costs.shape)
    gold = batch.costs.argmin(axis=1)[:, None]
    differences: Floats = scores - np.take_along_axis(scores, gold, axis=1)
    return differences


_MANY = 100_000
"""From this number of rows on, the curvature is approximate at first: only each example's largest shares
enter it."""
_MAX_ROUGH, _MIN_ROUGH = 16, 1e-2
_MAX_EXACT, _MIN_EXACT = 32, 1e-12
_EXPLICIT = 2048
"""Maximum number of columns for an explicit Hessian matrix; for more, only its products are computed."""
_MAX_CG = 250
"""Maximum number of steps of conjugate gradients."""


@dataclass(frozen=True, slots=True, eq=False)
class SolverPoint:
    """The result of one pass over the examples for given weights and a given temperature."""

    weights: Floats  # shape (n_columns,)
    temperature: float
    # the objective and its smoothed form
    primal: float
    smoothed: float
    slopes: Floats  # shape (n_columns,): ``sum_ir alpha_ir (phi_ir - phi_iy)`` for the softmax shares alpha
    cost: float  # ``sum_ir alpha_ir cost_ir``
    # entropy of the shares, summed over examples; times the temperature and C it bounds the error of the
    # smoothing
    entropy: float


class SVMProblem:
    """``min_w 1/2 (w - w0)' Q (w - w0) + C sum_i max_r [cost_ir + w . (phi_ir - phi_iy)]_+``.

    With costs of 1 and without w0 this is eq. (6) of the paper, and with ``Q = I`` eq. (4), whose slack
    variables are at their optimum, the maximum.

    Rows that were ruled out are ignored. Apart from the batch, memory is only needed for the kept shares, 12
    bytes each.
    """

    def __init__(
        self, batch: DenseBlocks, regulariser: Regulariser, C: float, prior: Floats | None = None
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
        self._keep(*(_MAX_ROUGH, _MIN_ROUGH) if rough else (_MAX_EXACT, _MIN_EXACT))

    def _keep(self, maximum: int, minimum: float) -> None:
        """Use at most `maximum` shares per example for the curvature, each at least `minimum`."""
        n, k, _ = self.batch.values.shape
        self._least_share = minimum
        self._kept = np.full((n, min(k, maximum)), -1, np.int32)
        self._share = np.empty(self._kept.shape)

    def rule_out(self, rows: NDArray[np.bool_]) -> bool:
        """Ignore some rows, shape ``(n, K)``, from now on; return True if any of them counted before."""
        values, costs, gold, alive = self._rows
        before = alive if alive.shape[1] else np.ones(costs.shape, np.bool_)
        self._rows = (values, costs, gold, before & ~rows)
        return bool((before & rows).any())

    def sharpen(self) -> None:
        """Compute the curvature exactly from the next point on."""
        if self._least_share > _MIN_EXACT:
            self._keep(_MAX_EXACT, _MIN_EXACT)

    def at(self, weights: Floats, temperature: float) -> SolverPoint:
        """Evaluate the objective and its slopes, and store the shares for the curvature at this point."""
        from . import _kernels as kernels

        slopes = np.empty(self.batch.column_of.shape)
        shares = self._least_share, slopes, self._kept, self._share
        loss, soft, cost, entropy = kernels.evaluate(
            *self._rows, weights[self.batch.column_of], temperature, *shares
        )
        penalty = self.penalty(weights)
        primal, smoothed = penalty + self.C * loss, penalty + self.C * soft
        return SolverPoint(weights, temperature, primal, smoothed, self.flat(slopes), cost, entropy)

    def penalty(self, weights: Floats) -> float:
        """Return the regularisation term of the objective."""
        return self.regulariser.penalty(weights - self.prior)

    def primal(self, weights: Floats) -> float:
        """Return the objective."""
        from . import _kernels as kernels

        # with hardly any smoothing, no exponential is computed for other candidates than the best one
        loss, _ = kernels.smoothed(*self._rows, weights[self.batch.column_of], 1e-12)
        return self.penalty(weights) + self.C * float(loss)

    def smoothed(self, weights: Floats, temperature: float) -> float:
        """Return the smoothed objective."""
        from . import _kernels as kernels

        _, soft = kernels.smoothed(*self._rows, weights[self.batch.column_of], temperature)
        return self.penalty(weights) + self.C * float(soft)

    def gradient(self, point: SolverPoint) -> Floats:
        """Return the gradient of the smoothed objective."""
        return self.regulariser.apply(point.weights - self.prior) + self.C * point.slopes

    def extreme(self, direction: Floats) -> tuple[Floats, float]:
        """Return the slopes and the cost of the shares that push most along `direction`."""
        from . import _kernels as kernels

        slopes = np.empty(self.batch.column_of.shape)
        cost = kernels.extreme(*self._rows, direction[self.batch.column_of], ROUNDING, slopes)
        return self.flat(slopes), float(cost)

    def newton(self, point: SolverPoint, gradient: Floats, damping: float) -> Floats:
        """Return the Newton step at the last evaluated point."""
        factor = self.C / point.temperature
        if self._explicit:
            return -_solve_psd(self._hessian(factor, damping), gradient)
        return -self._conjugate_gradients(factor, damping, gradient)

    def tilt(self, direction: Floats, cost_weight: float = 0.0) -> tuple[Floats, float, float]:
        """Return the slopes and the cost of a small change of the shares at the last evaluated point.

        The shares of rows that score high in `direction` grow at the expense of the others. The third value
        is the lowest change relative to a share; at -1 that share would become zero.
        """
        from . import _kernels as kernels

        slopes = np.empty(self.batch.column_of.shape)
        along = direction[self.batch.column_of]
        cost, lowest = kernels.product(
            self.batch.values, self.batch.costs, cost_weight, self._kept, self._share, along, slopes
        )
        return self.flat(slopes), float(cost), float(lowest)

    def cooled(self, point: SolverPoint, gradient: Floats, factor: float) -> Floats:
        """Return an estimate of the minimum after the temperature is multiplied by `factor`.

        The shares hardly change if the losses shrink with the temperature, and the step assumes that. At the
        old weights, the examples at the margin would seem to be decided.
        """
        slopes, _, _ = self.tilt(point.weights, 1.0)
        change = (1.0 - factor) * self.C / point.temperature * slopes
        return point.weights + self.newton(point, gradient + change, 0.0)

    def flat(self, blocks: Floats) -> Floats:
        """Sum values of attributes, shape (K, A), over the columns that the attributes share."""
        if self._one_to_one:
            result = np.empty(self.n_columns)
            result[self.batch.column_of] = blocks
            return result
        sums = np.bincount(self.batch.column_of.ravel(), blocks.ravel(), minlength=self.n_columns)
        return sums.astype(np.float64, copy=False)

    def _hessian(self, factor: float, damping: float) -> Floats:
        """Return the matrix of second derivatives of the smoothed loss, with the regulariser."""
        from . import _kernels as kernels

        k, a = self.batch.column_of.shape
        full = np.empty((k, a, k, a))
        kernels.hessian(self.batch.values, self._kept, self._share, full)
        square = full.reshape(k * a, k * a)
        flat = self.batch.column_of.ravel()
        upper = np.triu(square)
        symmetric = upper + np.triu(upper, 1).T
        if self._one_to_one:
            order = np.empty(k * a, np.int64)
            order[flat] = np.arange(k * a)
            hessian = symmetric[np.ix_(order, order)]
        else:  # sum the rows and columns of attributes that share a column
            sums = np.zeros((k * a, self.n_columns))
            sums[np.arange(k * a), flat] = 1.0
            hessian = sums.T @ symmetric @ sums
        hessian *= factor
        hessian += self.regulariser.matrix
        hessian[np.diag_indices(self.n_columns)] += damping
        return np.asarray(hessian)

    def _conjugate_gradients(self, factor: float, damping: float, gradient: Floats) -> Floats:
        """Solve ``H d = gradient`` roughly by conjugate gradients, preconditioned by the diagonal of H.

        The iteration ends when the norm of the residual is a tenth of that of the gradient.
        """
        from . import _kernels as kernels

        column_of, values = self.batch.column_of, self.batch.values
        blocks = np.empty(column_of.shape)
        kernels.diagonal(values, self._kept, self._share, blocks)
        scale = self.regulariser.strength + factor * self.flat(blocks) + damping
        scale = np.maximum(scale, 1e-12 * scale.max())
        solution = np.zeros(self.n_columns)
        residual, preconditioned = gradient.copy(), gradient / scale
        step, size = preconditioned.copy(), float(gradient @ preconditioned)
        goal = 0.01 * size
        for _ in range(_MAX_CG):
            product = self.regulariser.apply(step) + factor * self.tilt(step)[0] + damping * step
            length = size / float(step @ product)
            solution += length * step
            residual -= length * product
            preconditioned = residual / scale
            size, before = float(residual @ preconditioned), size
            if size <= goal:
                break
            step = preconditioned + (size / before) * step
        return solution


def _solve_psd(matrix: Floats, vector: Floats) -> Floats:
    """Solve a linear system whose matrix is positive semidefinite up to rounding."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    ridge = 1e-12 * max(float(np.trace(matrix)) / len(matrix), 1e-300)
    while True:
        try:
            regularised: Any = matrix + ridge * np.eye(len(matrix))
            solution: Floats = cho_solve(
                cho_factor(regularised, overwrite_a=True, check_finite=False), vector
            )
            return solution
        except LinAlgError:
            if not np.isfinite(ridge * np.trace(matrix)):
                raise
            ridge *= 100.0


_ZERO = 1e-9
"""Slopes below this share of the largest slope are rounding errors."""


def dual_bound(problem: SVMProblem, point: SolverPoint) -> tuple[float, Floats | None]:
    """Return the dual objective at the shares of `point`, after making these exactly feasible.

    The dual is ``C sum alpha (cost + prior . z) - C^2/2 g' Q^+ g`` with ``z_ir = phi_ir - phi_iy`` and
    ``g = sum alpha z``, which must be orthogonal to every direction without penalty (the mean of a variance
    subset, a free bias). If it is not, a few extreme shares are mixed in that cancel the remainder.

    Return the bound and None or, if the remainder cannot be cancelled, minus infinity and a direction without
    penalty, shape ``(n_columns,)``, that increases no loss.
    """
    slopes, cost, weight = point.slopes, point.cost, 1.0
    null = problem.null_space
    if len(null):
        slopes, cost = _tilted(problem, slopes, cost)
    slack = null @ slopes
    if len(null) and np.abs(slack).max() > _ZERO * np.abs(slopes).max():
        pushes, amounts, direction = _repair(problem, slack)
        if direction is not None:
            return -np.inf, direction
        weight = 1.0 / (1.0 + float(amounts.sum()))
        for (push, push_cost), amount in zip(pushes, amounts, strict=True):
            slopes, cost = slopes + amount * push, cost + amount * push_cost
    if len(null):  # remove rounding errors by projection; the rows of `null` are orthogonal to each other
        slopes = slopes - null.T @ ((null @ slopes) / (null**2).sum(axis=1))
    cost += float(problem.prior @ slopes)
    bound = weight * problem.C * cost - problem.C**2 * weight**2 * problem.regulariser.conjugate(slopes)
    return float(bound), None


def _tilted(problem: SVMProblem, slopes: Floats, cost: float) -> tuple[Floats, float]:
    """Return the slopes and the cost of shares that are tilted until free directions have no slope.

    The tilt stops before a share becomes negative; `_repair` handles the remainder.
    """
    null = problem.null_space
    curvature = np.array([null @ problem.tilt(row)[0] for row in null])
    amounts = np.linalg.lstsq(curvature, -(null @ slopes), rcond=1e-12)[0]
    push, push_cost, lowest = problem.tilt(amounts @ null)
    length = 1.0 if lowest >= -1.0 else -1.0 / lowest
    return slopes + length * push, cost + length * push_cost


def _repair(problem: SVMProblem, slack: Floats) -> tuple[list[tuple[Floats, float]], Floats, Floats | None]:
    """Return extreme shares and their amounts that cancel `slack`, or a direction that they cannot cancel.

    Shares are added one by one in the direction of the remainder. If even the most extreme shares do not push
    in that direction, none does (Farkas' lemma).
    """
    from scipy.optimize import nnls

    null, remainder = problem.null_space, -slack
    pushes: list[tuple[Floats, float]] = []
    amounts = np.empty(0)
    for _ in range(20 * len(null)):
        direction = remainder @ null
        slopes, cost = problem.extreme(direction)
        if not slopes.any():
            return pushes, amounts, direction
        pushes.append((slopes, cost))
        along = np.array([null @ push for push, _ in pushes]).T  # (n_directions, n_found)
        amounts, residual = nnls(along, -slack)
        if residual <= _ZERO * np.abs(along).max():
            break
        remainder = -slack - along @ amounts
    return pushes, amounts, None
