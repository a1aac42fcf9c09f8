"""A learner of each kind that a later plugin brings, as small as it can be.

`Perceptron` and `ExponentiatedGradient` do not know whether rows are candidates or parts: the right
rows are found through `cost`, the decoder does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from disambig.api import CrossedRows, Enumerated, Fitted, LinearScorer, SparseRows
from disambig.api.batches import segments


def gold(decoder, batch, scores):
    """Return the mass of the right candidate nearest to winning: no part of it costs anything."""
    return decoder.best(np.where(batch.cost > 0, -np.inf, scores), batch.layout)


@dataclass(frozen=True)
class Linear:
    """What every learner of weights has in common."""

    needs_training: bool = field(default=True, kw_only=True)

    def from_state(self, arrays):
        return LinearScorer.from_state(arrays)


@dataclass(frozen=True)
class Perceptron(Linear):
    """The structured perceptron with a margin: guess by ``scores + cost``."""

    decoder: object = Enumerated()
    epochs: int = 60

    def fit(self, batch, *, dev=None, rng=None):
        weights, mistakes = np.zeros(len(batch.columns)), 0
        for _ in range(self.epochs):
            mistakes = 0
            for i in range(len(batch.offsets) - 1):
                one = batch.take(np.array([i]))
                scores = one.scores(weights)
                guess = self.decoder.best(scores + one.cost, one.layout)
                if guess @ one.cost > 0:
                    weights += one.adjoint(gold(self.decoder, one, scores) - guess)
                    mistakes += 1
            if not mistakes:
                break
        return Fitted(LinearScorer(weights), {"mistakes": mistakes})


@dataclass(frozen=True)
class ExponentiatedGradient(Linear):
    """The max-margin dual by multiplicative updates, batch by batch (Collins 2005)."""

    decoder: object = Enumerated()
    C: float = 1.0
    eta: float = 0.1
    steps: int = 500

    def fit(self, batch, *, dev=None, rng=None):
        right = batch.adjoint(gold(self.decoder, batch, np.zeros(len(batch.cost))))
        theta = np.zeros(len(batch.cost))  # alpha_iy = exp(sum of theta over the parts of y) / normaliser
        duals = []
        for _ in range(self.steps + 1):
            alpha, _ = self.decoder.marginals(theta, batch.layout)
            weights = self.C * (right - batch.adjoint(alpha))
            duals.append(float(self.C * alpha @ batch.cost - 0.5 * weights @ weights))
            theta = theta + self.eta * (batch.cost + batch.scores(weights))
        return Fitted(LinearScorer(weights), {"duals": duals})


def right_share(batch, scores):
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return np.mean(batch.cost[best] == 0)


@dataclass(frozen=True, eq=False)
class KernelScorer:
    """No weights to look at: support rows (m, D), and a coefficient a support row and label (m, K)."""

    support: np.ndarray
    coefficients: np.ndarray
    degree: int

    def scores(self, batch):
        kernel = (1.0 + dense(batch.rows) @ self.support.T) ** self.degree
        return (kernel @ self.coefficients).ravel()

    def state(self):
        return {
            "support": self.support,
            "coefficients": self.coefficients,
            "degree": np.array(self.degree),
        }


@dataclass(frozen=True)
class KernelRidge:
    """Regularised least squares with a polynomial kernel, one-versus-all (Popescu 2004)."""

    degree: int = 2
    ridge: float = 1e-3
    needs_training: bool = True

    def fit(self, batch, *, dev=None, rng=None):
        if not isinstance(batch, CrossedRows):
            raise TypeError(f"KernelRidge needs a row an instance, not {type(batch).__name__}")
        rows = dense(batch.rows)
        kernel = (1.0 + rows @ rows.T) ** self.degree
        signs = np.where(batch.costs == 0, 1.0, -1.0)  # (n, K)
        coefficients = np.linalg.solve(kernel + len(rows) * self.ridge * np.eye(len(rows)), signs)
        return Fitted(KernelScorer(rows, coefficients, self.degree))

    def from_state(self, arrays):
        return KernelScorer(arrays["support"], arrays["coefficients"], int(arrays["degree"]))


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, np.float64)


@dataclass(frozen=True, eq=False)
class Masked:
    """A batch without some of its columns: a random subspace (Sogaard and Johannsen 2012)."""

    batch: object
    mask: np.ndarray

    offsets = property(lambda self: self.batch.offsets)
    cost = property(lambda self: self.batch.cost)
    columns = property(lambda self: self.batch.columns)
    layout = property(lambda self: self.batch.layout)

    def scores(self, weights):
        return self.batch.scores(weights * self.mask)

    def adjoint(self, mass):
        return self.batch.adjoint(mass) * self.mask

    def row_sqnorm(self):
        raise NotImplementedError

    def take(self, index):
        return Masked(self.batch.take(index), self.mask)


@dataclass(frozen=True)
class RandomSubspaces(Linear):
    """The mean of base learners, each without a random tenth of the columns."""

    base: object = Perceptron(epochs=4)
    n_subspaces: int = 4
    rate: float = 0.1

    def fit(self, batch, *, dev=None, rng=None):
        rng = np.random.default_rng(0) if rng is None else rng
        n = len(batch.columns)
        weights = np.zeros(n)
        for _ in range(self.n_subspaces):
            mask = np.ones(n)
            mask[rng.choice(n, round(self.rate * n), replace=False)] = 0.0
            weights += self.base.fit(Masked(batch, mask)).scorer.weights
        return Fitted(LinearScorer(weights / self.n_subspaces))


@dataclass(frozen=True)
class Constant(Linear):
    """A baseline: all candidates score the same."""

    needs_training: bool = field(default=False, kw_only=True)

    def fit(self, batch, *, dev=None, rng=None):
        return Fitted(LinearScorer(np.zeros(len(batch.columns))))


@dataclass(frozen=True)
class MeanDifference:
    """Weights are what right candidates have and the others of their lists have not, on average."""

    needs_training: bool = True
    takes: tuple = (SparseRows,)

    def fit(self, batch, *, dev=None, rng=None):
        sizes = np.diff(batch.offsets)
        right = (batch.cost == 0).astype(float)
        share = right / np.repeat(np.maximum(np.add.reduceat(right, batch.offsets[:-1]), 1.0), sizes)
        weights = batch.adjoint(share - 1.0 / np.repeat(sizes, sizes)) / len(sizes)
        return Fitted(LinearScorer(weights))

    def from_state(self, arrays):
        return LinearScorer.from_state(arrays)
