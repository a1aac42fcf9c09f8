"""The dual problem of structures, with alphas kept by their parts (slides, "local representations").

    alpha_iy = exp(sum_{r in y} theta_ir) / sum_y' exp(sum_{r in y'} theta_ir)
    theta_ir <- theta_ir + eta (l_ir + W . phi_ir)

The decoder gives the marginals mu of parts under theta: ``W = C sum_i (phi_i,gold - sum_r mu_ir phi_ir)``.
The dual ``C sum mu_ir l_ir - 1/2 |W|^2`` needs no more than these; the log-linear one has the entropy
``log Z_i - sum_r mu_ir theta_ir`` in place of the costs, and theta goes towards ``W . phi_ir``.

Where several candidates cost nothing, gold is the first of them by the decoder; the others stay, at no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Decoder, UserError
from disambig.api.decoding import HasTerms, Narrows, structures_of

from .listed import checked_costs
from .listed_dual import STEPS_OF_PARTS, next_eta, safe_etas, start

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """One instance in the columns that it uses.

    Attributes
    ----------
    batch : CandidateBatch
    columns : array of int64
        Which of all columns the batch's are.
    decoder : Decoder
    layout : object
    cost : array of float64
        Of each row, or terms of these.
    gold : array of float64, shape (n_rows,)
        Mass of the gold candidate's parts.
    span : float
        A bound of the squared distance between two candidates' features.
    """

    batch: CandidateBatch
    columns: Ints
    decoder: Decoder
    layout: Any
    cost: Floats
    gold: Floats
    span: float

    def scores(self, weights: Floats) -> Floats:
        """Return scores of the rows, or terms of these, by weights of all columns."""
        own = weights[self.columns]
        return self.batch.terms(own) if isinstance(self.batch, HasTerms) else self.batch.scores(own)

    def rows(self, terms: Floats) -> Floats:
        """Return the numbers of rows that have these terms."""
        return self.batch.of_terms(terms) if isinstance(self.batch, HasTerms) else terms

    def marginals(self, theta: Floats) -> tuple[Floats, float]:
        """Return the marginals of the rows, and the log partition."""
        mass, partition = self.decoder.marginals(self.rows(theta), self.layout)
        return mass, float(partition[0])


class PackedDual:
    """Parameters of parts and the weights that their marginals make (see `ListedDual`).

    Parameters
    ----------
    batch : CandidateBatch
    decoder : Decoder
    loss : str
        ``"cost"`` or ``"log"``.
    C : float
    steps : int
        Of a visit to an instance.
    """

    def __init__(
        self, batch: CandidateBatch, decoder: Decoder, loss: str, C: float, *, steps: int = STEPS_OF_PARTS
    ) -> None:
        if len(batch.offsets) < 2:
            raise UserError("D705")
        checked_costs(batch)
        features = np.flatnonzero(~np.isfinite(batch.row_sqnorm()))
        if len(features):
            example = int(np.searchsorted(batch.offsets, features[0], side="right")) - 1
            raise UserError("D703", n=f"those of {len(features)} rows", example=example, attribute="unknown")
        examples = structures_of(batch, decoder)
        self.C, self.steps, self.log_linear, self.missing = C, steps, loss == "log", 0
        self._each: list[Structure] = []
        for i in range(len(examples)):
            one = examples.only(i)
            taken, columns = (
                one.batch.narrowed()
                if isinstance(one.batch, Narrows)
                else (one.batch, np.arange(len(batch.columns)))
            )
            terms = isinstance(taken, HasTerms)
            cost = taken.cost_terms if terms else one.cost  # type: ignore[attr-defined]
            rows = taken.of_terms(cost) if terms else cost  # type: ignore[attr-defined]
            layout = taken.layout
            gold = decoder.best(np.where(rows > 0, -np.inf, 0.0), layout)
            self.missing += bool(gold @ taken.cost > 0)
            most = float(decoder.best(np.ones(len(rows)), layout).sum())
            span = 4.0 * most * most * float(taken.row_sqnorm().max())
            self._each.append(Structure(taken, columns, decoder, layout, cost, gold, span))
        self._n_columns = len(examples.batch.columns)
        start(self, self._unit())

    def restart(self, kappa: float, eta: float) -> None:
        """Begin at alpha proportional to ``exp(-kappa L)``, with steps of `eta`."""
        self._eta, self._etas = eta, np.full(len(self), eta)
        self.theta = [-kappa * one.cost for one in self._each]
        self.dual, self.weights = self._evaluated(self.theta)

    def __len__(self) -> int:
        return len(self._each)

    def _unit(self) -> float:
        total, n = 0.0, 0
        for one in self._each:
            total += float(one.cost.sum())
            n += int((one.cost > 0).sum())
        return total / n if n else 1.0

    def _bonus(self, one: Structure, theta: Floats, mass: Floats, partition: float) -> float:
        """Return what alpha gains the dual besides the weights, as a share of C."""
        if self.log_linear:
            return partition - _inner(mass, one.rows(theta))
        return float(mass @ one.rows(one.cost))

    def _evaluated(self, theta: list[Floats]) -> tuple[float, Floats]:
        """Return the dual and the weights of given parameters."""
        weights, bonus = np.zeros(self._n_columns), 0.0
        for one, own in zip(self._each, theta, strict=True):
            mass, partition = one.marginals(own)
            weights[one.columns] += self.C * one.batch.adjoint(one.gold - mass)
            bonus += self._bonus(one, own, mass, partition)
        return self.C * bonus - 0.5 * float(weights @ weights), weights

    def _slope(self, one: Structure, theta: Floats) -> Floats:
        """Return the direction of a step, up to what all candidates have in common, as rows or terms."""
        scores = one.scores(self.weights)
        return scores - theta if self.log_linear else one.cost + scores

    def epoch(self, order: Ints, enough: float = 0.0) -> None:
        """Make steps for each instance, in an order; `enough` is not used."""
        for i in order.tolist():
            self._visit(i)

    def _visit(self, i: int) -> None:
        one, eta = self._each[i], float(self._etas[i])
        safe = float(safe_etas(one.span, self.C, self.log_linear))
        mass, partition = one.marginals(self.theta[i])
        for _ in range(self.steps):
            theta = self.theta[i]
            slope = self._slope(one, theta)
            rows = one.rows(slope)
            while True:
                then = theta + eta * slope
                other, after = one.marginals(then)
                linear = self.C * _inner(other - mass, rows)
                change = self.C * one.batch.adjoint(mass - other)
                bend = 0.5 * float(change @ change)
                if self.log_linear:
                    bend += self.C * (_inner(other, one.rows(then - theta)) - after + partition)
                if linear - bend >= 0.0 or eta <= safe:
                    break
                eta = max(0.5 * eta, safe)
            if linear - bend < 0.0:  # what is left to gain is lost in rounding
                break
            self.theta[i] = then
            self.weights[one.columns] += change
            self.dual += linear - bend
            eta = next_eta(eta, linear, bend, float(np.abs(other - mass).sum()), self.log_linear)
            mass, partition = other, after
        self._etas[i] = eta

    def batch_step(self) -> None:
        """Move all parameters by one step with the same eta; it is halved where the dual falls."""
        slopes = [self._slope(one, theta) for one, theta in zip(self._each, self.theta, strict=True)]
        safe = float(safe_etas(len(self) * max(one.span for one in self._each), self.C, self.log_linear))
        while True:
            then = [theta + self._eta * slope for theta, slope in zip(self.theta, slopes, strict=True)]
            dual, weights = self._evaluated(then)
            if dual >= self.dual:
                linear = far = 0.0
                for one, before, after, slope in zip(self._each, self.theta, then, slopes, strict=True):
                    moved = one.marginals(after)[0] - one.marginals(before)[0]
                    linear += self.C * _inner(moved, one.rows(slope))
                    far += float(np.abs(moved).sum())
                bend = linear - (dual - self.dual)
                self._eta = next_eta(self._eta, linear, bend, far, self.log_linear)
                self.theta, self.weights, self.dual = then, weights, dual
                return
            if self._eta <= safe:  # what is left to gain is lost in rounding
                return
            self._eta = max(0.5 * self._eta, safe)

    def gap(self) -> float:
        """Return primal less dual at these weights."""
        total = 0.0
        for one, theta in zip(self._each, self.theta, strict=True):
            mass, partition = one.marginals(theta)
            scores = one.rows(one.scores(self.weights))
            if self.log_linear:
                total += float(one.decoder.marginals(scores, one.layout)[1][0]) - _inner(mass, scores)
                total -= self._bonus(one, theta, mass, partition)
            else:
                augmented = scores + one.rows(one.cost)
                rival = one.decoder.best(augmented, one.layout)
                total += _inner(rival - mass, augmented)
        return self.C * total

    def at(self, C: float) -> None:
        """Go on with another C, from the same alphas."""
        self.C = C
        self.dual, self.weights = self._evaluated(self.theta)


def _inner(mass: Floats, values: Floats) -> float:
    """Return the inner product; what is forbidden has no mass, and counts nothing."""
    used = mass != 0.0
    return float(mass[used] @ values[used])
