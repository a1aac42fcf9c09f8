"""The dual problem of listed candidates, with an alpha for each: online steps, dual and gap.

    Q(alpha) = C sum_i sum_y alpha_iy L_iy - 1/2 |W|^2,  W = C sum_i sum_y alpha_iy (phi_i,gold - phi_iy)

For the log-linear dual the entropy of alpha_i stands for ``sum_y alpha_iy L_iy`` (Collins, Globerson, Koo,
Carreras and Bartlett, JMLR 2008, equation 5).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .listed import Listed

Floats = NDArray[np.float64]
FLOOR = 40.0
"""So far the logarithm of an alpha may fall behind the list's largest: it can come back from there."""
HARDLY = 1e-9
"""A change of alpha that is too little to tell how long a step should be."""
STEPS = 6
"""Steps at one visit to a list, at most."""
STEPS_OF_PARTS = 3
"""Steps at one visit to an instance whose alphas are kept by parts, each of which asks for marginals."""
KAPPAS = (16.0, 12.0, 8.0, 6.0, 4.0, 2.0)
"""Starts that are tried: alpha proportional to ``exp(-kappa L)``, in units of the mean loss of a rival."""


class ListedDual:
    """Alphas of listed candidates and the weights that they make.

    Parameters
    ----------
    lists : Listed
    loss : str
        ``"hinge"``, ``"cost"`` or ``"log"``.
    C : float
    steps : int
        Of a visit.
    floor : float
        How far the logarithm of an alpha may fall behind the list's largest.

    Attributes
    ----------
    theta : array of float64, shape (n_rows,)
        Logarithms of the alphas; minus infinity for candidates that take no part.
    weights : array of float64, shape (n_columns,)
        W.
    dual : float
    """

    def __init__(
        self, lists: Listed, loss: str, C: float, *, steps: int = STEPS, floor: float = FLOOR
    ) -> None:
        from .pass_kernels import spans

        self.lists, self.C, self.steps = lists, C, steps
        self.log_linear = loss == "log"
        self._floor = np.inf if self.log_linear else floor
        taking_part = lists.cost >= 0
        self.loss = lists.cost if loss != "hinge" else np.where(taking_part, np.sign(lists.cost), -1.0)
        self._sizes, self._out = np.diff(lists.offsets), ~taking_part
        self._spans = np.empty(len(lists.gold))
        spans(lists.arrays, self._spans)
        rivals = self.loss[self.loss > 0]
        start(self, float(rivals.mean()) if len(rivals) else 1.0)

    def restart(self, kappa: float, eta: float) -> None:
        """Begin at alpha proportional to ``exp(-kappa L)``, with steps of `eta`."""
        self._eta, self._etas = eta, np.full(len(self), eta)
        theta = np.where(self._out, -np.inf, -kappa * self.loss)
        self.theta = theta - np.repeat(_log_sums(theta, self.lists.offsets), self._sizes)
        self.weights = self._weights_of(self.theta)
        self.dual = self._dual_of(self.theta, self.weights)

    def _weights_of(self, theta: Floats) -> Floats:
        from .pass_kernels import weigh

        weights = np.zeros(self.lists.n_columns)
        weigh(self.lists.arrays, self.lists.gold, self.C, theta, weights)
        return weights

    def _dual_of(self, theta: Floats, weights: Floats) -> float:
        alpha = np.exp(theta)
        if self.log_linear:
            used = alpha > 0
            bonus = -float(alpha[used] @ theta[used])
        else:
            bonus = float(alpha @ np.maximum(self.loss, 0.0))
        return self.C * bonus - 0.5 * float(weights @ weights)

    def epoch(self, order: NDArray[np.int64], enough: float = 0.0) -> None:
        """Visit the lists in an order; those whose own gap is `enough` (a share of C) or less stay."""
        from .pass_kernels import online

        online(
            self.lists.arrays, self.loss, self.lists.gold, self.C, self.log_linear, self._floor, self._etas,
            safe_etas(self._spans, self.C, self.log_linear), self.steps, enough, order, self.theta,
            self.weights,
        )  # fmt: skip
        self.dual = self._dual_of(self.theta, self.weights)

    def batch_step(self) -> None:
        """Move all alphas by one step with one eta, as in the slides; it is halved where the dual falls."""
        from .pass_kernels import nablas

        offsets = self.lists.offsets
        nabla = np.empty(len(self.theta))
        arrays = self.lists.arrays, self.loss, self.lists.gold
        nablas(*arrays, self.log_linear, self.theta, self.weights, nabla)
        alpha = np.exp(self.theta)
        safe = float(safe_etas(len(self) * self._spans.max(), self.C, self.log_linear))
        while True:
            then = self.theta + self._eta * nabla
            then = np.maximum(
                then, np.repeat(np.maximum.reduceat(then, offsets[:-1]), self._sizes) - self._floor
            )
            then[self._out] = -np.inf
            then -= np.repeat(_log_sums(then, offsets), self._sizes)
            weights = self._weights_of(then)
            dual = self._dual_of(then, weights)
            if dual >= self.dual:
                delta = np.exp(then) - alpha
                linear, far = self.C * float(delta @ nabla), float(np.abs(delta).sum())
                bend = linear - (dual - self.dual)
                self._eta = next_eta(self._eta, linear, bend, far, self.log_linear)
                self.theta, self.weights, self.dual = then, weights, dual
                return
            if self._eta <= safe:  # what is left to gain is lost in rounding
                return
            self._eta = max(0.5 * self._eta, safe)

    def at(self, C: float) -> None:
        """Go on with another C, from the same alphas."""
        self.weights *= C / self.C
        self.C = C
        self.dual = self._dual_of(self.theta, self.weights)

    def gap(self) -> float:
        """Return primal less dual at these weights."""
        from .pass_kernels import gaps

        arrays = self.lists.arrays, self.loss, self.lists.gold
        return self.C * float(gaps(*arrays, self.log_linear, self.theta, self.weights))

    def __len__(self) -> int:
        return len(self.lists.gold)


def start(dual: Any, unit: float) -> None:
    """Begin where the dual is greatest of some starts near gold.

    Parameters
    ----------
    dual : ListedDual or PackedDual
    unit : float
        The mean loss of what has a loss: with other units of costs it all goes the same way.
    """
    best, eta = KAPPAS[0], 0.5 if dual.log_linear else 1.0 / unit
    dual.restart(best / unit, eta)
    for kappa in KAPPAS[1:]:
        before = dual.dual
        dual.restart(kappa / unit, eta)
        if dual.dual < before:
            dual.restart(best / unit, eta)
            return
        best = kappa


def safe_etas(spans: Any, C: float, log_linear: bool) -> Any:
    """Return an eta with which a step never makes the dual fall, but for rounding.

    The step gains ``C KL / eta`` at least on the slope and loses ``1/2 C^2 |sum delta phi|^2``, which is
    ``1/2 C^2 span |delta|_1^2`` at most; and KL is ``1/2 |delta|_1^2`` at least (Pinsker).

    Parameters
    ----------
    spans : float or array of float64
        Bounds of squared distances between candidates' features.
    """
    return 1.0 / np.maximum(C * spans + (1.0 if log_linear else 0.0), 1e-30)


def next_eta(eta: float, linear: float, bend: float, far: float, log_linear: bool) -> float:
    """Return the eta to begin the next step with, after one that gained ``linear - bend``.

    On the line from alpha to where the step went the best place is at ``linear / (2 bend)``: next time's step
    is so much longer or shorter, within a factor of two. The log-linear dual's is one at most: that is where
    alpha forgets what it was. Where alpha hardly changed, by `far` in all, it becomes longer.
    """
    factor = 2.0 if bend <= 0.0 or far <= HARDLY else min(2.0, max(0.5, 0.5 * linear / bend))
    return min(eta * factor, 1.0) if log_linear else eta * factor


def _log_sums(theta: Floats, offsets: NDArray[np.int64]) -> Floats:
    most = np.maximum.reduceat(theta, offsets[:-1])
    shifted = np.exp(theta - np.repeat(most, np.diff(offsets)))
    found: Floats = most + np.log(np.add.reduceat(shifted, offsets[:-1]))
    return found
