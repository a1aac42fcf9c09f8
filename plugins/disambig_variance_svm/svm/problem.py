"""One learning problem: its losses, their smoothed form and curvature, by passes over the examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks

from .recession import ROUNDING
from .regulariser import Floats, Regulariser

_MANY = 100_000
"""Rows from which the curvature is rough at first: only an example's largest shares enter it."""
_MOST_ROUGH, _LEAST_ROUGH = 16, 1e-2
_MOST_EXACT, _LEAST_EXACT = 32, 1e-12
_EXPLICIT = 2048
"""Up to so many columns the Hessian is a matrix, beyond it is only multiplied with."""


@dataclass(frozen=True, slots=True, eq=False)
class Point:
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


class Problem:
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

    def at(self, weights: Floats, temperature: float) -> Point:
        """Evaluate everything; the shares are kept for the curvature at this point."""
        from . import kernels

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
        return Point(
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
        from . import kernels

        return self.penalty(weights) + self.C * float(
            kernels.losses(*self._rows, weights[self.batch.column_of])
        )

    def smoothed(self, weights: Floats, temperature: float) -> float:
        """Return the smoothed objective."""
        from . import kernels

        soft = kernels.smoothed(*self._rows, weights[self.batch.column_of], temperature)
        return self.penalty(weights) + self.C * float(soft)

    def gradient(self, point: Point) -> Floats:
        """Return the gradient of the smoothed objective."""
        return self.regulariser.apply(point.weights - self.prior) + self.C * point.slopes

    def extreme(self, direction: Floats) -> tuple[Floats, float]:
        """Return slopes and cost of the shares that push most along `direction`."""
        from . import kernels

        slopes = np.empty(self.batch.column_of.shape)
        cost = kernels.extreme(*self._rows, direction[self.batch.column_of], ROUNDING, slopes)
        return self.flat(slopes), float(cost)

    def newton(self, point: Point, gradient: Floats, damping: float) -> Floats:
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
        from . import kernels

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

    def cooled(self, point: Point, gradient: Floats, factor: float) -> Floats:
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
        from . import kernels

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
        from . import kernels

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
