"""The smallest possible learner of each kind that plugins contain.

`Perceptron` need not know whether rows are candidates or parts of candidates: the costs show the right rows,
and the decoder combines them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from disambig.api import CrossedRows, Enumerated, Fitted, LinearScorer, SparseRows


def gold(decoder, batch, scores):
    """Return the rows of the best right candidate, all of whose parts have cost 0."""
    return decoder.best(np.where(batch.cost > 0, -np.inf, scores), batch.layout)


@dataclass(frozen=True)
class Linear:
    """Base class of learners of weights."""

    needs_training: bool = field(default=True, kw_only=True)

    def from_state(self, arrays):
        return LinearScorer.from_state(arrays)


@dataclass(frozen=True)
class Perceptron(Linear):
    """The structured perceptron with a margin: predict with ``scores + cost``."""

    decoder: object = Enumerated()
    epochs: int = 60

    def fit(self, batch, *, dev=None, rng=None):
        weights, mistakes = np.zeros(len(batch.columns)), 0
        for _ in range(self.epochs):
            mistakes = 0
            for i in range(len(batch.offsets) - 1):
                example = batch.take(np.array([i]))
                scores = example.scores(weights)
                predicted = self.decoder.best(scores + example.cost, example.layout)
                if predicted @ example.cost > 0:
                    weights += example.adjoint(gold(self.decoder, example, scores) - predicted)
                    mistakes += 1
            if not mistakes:
                break
        return Fitted(LinearScorer(weights), {"mistakes": mistakes})


@dataclass(frozen=True, eq=False)
class KernelScorer:
    """A scorer without weights: support rows (m, D), and their coefficients by label (m, K)."""

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
            raise TypeError(f"KernelRidge needs one row per instance, not {type(batch).__name__}")
        rows = dense(batch.rows)
        kernel = (1.0 + rows @ rows.T) ** self.degree
        signs = np.where(batch.costs == 0, 1.0, -1.0)  # (n, K)
        coefficients = np.linalg.solve(kernel + len(rows) * self.ridge * np.eye(len(rows)), signs)
        return Fitted(KernelScorer(rows, coefficients, self.degree))

    def from_state(self, arrays):
        return KernelScorer(arrays["support"], arrays["coefficients"], int(arrays["degree"]))


def dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, np.float64)


@dataclass(frozen=True)
class Constant(Linear):
    """A baseline: all candidates score the same."""

    needs_training: bool = field(default=False, kw_only=True)

    def fit(self, batch, *, dev=None, rng=None):
        return Fitted(LinearScorer(np.zeros(len(batch.columns))))


@dataclass(frozen=True)
class MeanDifference:
    """Weights are the mean difference between right candidates and all candidates of their lists."""

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
