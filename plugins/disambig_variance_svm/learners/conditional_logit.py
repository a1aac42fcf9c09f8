"""Conditional logit: weights shared by all candidates, plus candidate-specific deviations.

The log-linear counterpart of VAR-SVM: scores are log-odds. The weight of attribute a for candidate r is
``shared_a + own_ra`` (McFadden 1974, with alternative-specific weights). A ridge penalty pulls the own
weights to zero, and the shared weights to those learned from other groups, if there are any. Columns that do
not belong to a candidate, as in lists, have shared weights only. With a decoder the learner is the
conditional random field over that decoder's structures.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from disambig.api import (
    Arrays,
    CandidateBatch,
    CrossedRows,
    DenseBlocks,
    Enumerated,
    Fitted,
    LinearScorer,
    Scorer,
    UserError,
    fitted_field,
)
from disambig.api.arrays import Floats, offsets_from_sizes, row_ranks
from disambig.api.batches import SequenceRows, check_finite, segments
from disambig.api.decoding import ChainScorer, structured_examples
from disambig.api.settings import ABOVE_ZERO, DECODER, validate_settings
from disambig.api.training import with_median

from ._fitting import check_attributes

Loss = Callable[[Floats], tuple[float, Floats]]
"""A function from weights to a loss and its gradient."""
GRID = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0)
"""Strengths tried on development data; each fit starts at the previous solution."""
DEFAULT = 300.0
ONE_RIDGE_GRID, ONE_RIDGE = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1), 10.0
"""The same with one ridge for all weights: if no column belongs to a candidate, or with a decoder."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedScorer:
    """A scorer with the same weights for the candidates of any group."""

    weights: Floats  # float64 (A,): one weight per attribute of a candidate

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score per row; ValueError for a batch with other attributes."""
        return batch.scores(self.weights[attributes(batch, len(self.weights))])

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, Floats]:
        """Return the batch unchanged, and the weights of its columns."""
        return batch, self.weights[attributes(batch, len(self.weights))]

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalLogit:
    """Maximise the likelihood of the correct candidates under shared and own weights.

    Parameters
    ----------
    strength : float, optional
        Strength of the ridge on each candidate's own weights, in examples. By default it is chosen on
        development data from `GRID` by the log loss, strongest first; without development data it is 300.
        If there are no own weights, and with a decoder, it applies to all weights and is chosen from
        `ONE_RIDGE_GRID`, or is 10 without development data.
    shared_strength : float
        Strength of the ridge that pulls the shared weights to those of all groups together, or to zero.
    prior : SharedScorer, optional
        The weights learned from all groups together; the trainer sets it by `with_prior`.
    decoder : Decoder, optional
        A decoder for sequences, charts and so on, which sums over all possible structures. By default each
        row is a candidate.
    """

    strength: float | None = None
    shared_strength: float = 30.0
    prior: SharedScorer | None = fitted_field(None)
    decoder: Any = None

    def __post_init__(self) -> None:
        strength = ABOVE_ZERO.or_none
        validate_settings(self, decoder=DECODER, strength=strength, shared_strength=ABOVE_ZERO)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer of maximum penalised likelihood; `rng` is not used (the problem is convex).

        Raises D703 for attributes that are NaN or infinite, D705 if there is no example. Warns if the
        optimiser did not converge.
        """
        check_attributes(batch, None)
        if dev is not None:
            check_finite(dev)
        if self.decoder is not None and not isinstance(self.decoder, Enumerated):
            return self._fit_ridge(batch, dev, np.zeros(len(batch.columns)))
        column_attribute = attributes(batch)
        n_shared = int(column_attribute.max(initial=-1)) + 1
        centre = np.zeros(n_shared) if self.prior is None else self.prior.weights
        if len(centre) != n_shared:
            raise ValueError(f"{len(centre)} shared weights for {n_shared} attributes")
        loss = _loss(batch)
        has_own = batch.columns.labels >= 0  # columns of one candidate; the others have a shared weight only
        if not has_own.any():
            return self._fit_ridge(batch, dev, centre)

        def objective(strength: float, x: Floats) -> tuple[float, Floats]:
            shared, own_weights = x[:n_shared], x[n_shared:]
            value, slope = loss(shared[column_attribute] + own_weights)
            pull = shared - centre
            value += float(
                0.5 * self.shared_strength * (pull @ pull) + 0.5 * strength * (own_weights @ own_weights)
            )
            by_attribute = np.bincount(column_attribute, slope, minlength=n_shared)
            slope_own = slope + strength * own_weights
            slope_own[~has_own] = 0.0
            return value, np.concatenate([by_attribute + self.shared_strength * pull, slope_own])

        weights, report = self._fit_best(
            objective,
            np.concatenate([centre, np.zeros(len(batch.columns))]),
            (DEFAULT, GRID),
            dev,
            _loss,
            lambda x: x[:n_shared][column_attribute] + x[n_shared:],
        )
        return Fitted(LinearScorer(weights), report)

    def _fit_ridge(self, batch: CandidateBatch, dev: CandidateBatch | None, centre: Floats) -> Fitted:
        """Fit shared weights only, with one ridge that pulls them to `centre`."""
        loss_of = partial(_structured, decoder=self.decoder)
        loss = loss_of(batch)

        def objective(strength: float, x: Floats) -> tuple[float, Floats]:
            value, slope = loss(x)
            pull = x - centre
            return value + 0.5 * strength * float(pull @ pull), slope + strength * pull

        weights, report = self._fit_best(objective, centre, (ONE_RIDGE, ONE_RIDGE_GRID), dev, loss_of)
        if isinstance(batch, SequenceRows):
            return Fitted(ChainScorer.of_weights(weights, batch.costs.shape[1]), report)
        return Fitted(LinearScorer(weights), report)

    def _fit_best(
        self,
        objective: Callable[[float, Floats], tuple[float, Floats]],
        x: Floats,
        strengths: tuple[float, tuple[float, ...]],
        dev: CandidateBatch | None,
        loss_of: Callable[[CandidateBatch], Loss],
        weights_of: Callable[[Floats], Floats] = lambda x: x,
    ) -> tuple[Floats, dict[str, Any]]:
        """Return the weights with the lowest log loss on development data, and the report.

        Of `strengths`, the first is for fits without development data; the others are tried until the log
        loss rises. The first fit starts at `x`, each other one at the previous solution.
        """
        tried: tuple[float, ...] = (strengths[0] if self.strength is None else self.strength,)
        dev_loss = None
        if self.strength is None and dev is not None and len(dev.offsets) > 1:
            tried, dev_loss = strengths[1], loss_of(dev)
        fits: list[tuple[float, float, Floats]] = []
        for strength in tried:
            x = _minimise(partial(objective, strength), x)
            weights = weights_of(x)
            fits.append((0.0 if dev_loss is None else dev_loss(weights)[0], strength, weights))
            if len(fits) > 1 and fits[-1][0] > fits[-2][0]:
                break
        _, strength, weights = min(fits, key=lambda fit: fit[0])
        report: dict[str, Any] = {"strength": strength}
        if dev is not None and dev_loss is not None:
            n = len(dev.offsets) - 1
            report["dev_log_loss"] = {f"{tried:g}": round(value / n, 6) for value, tried, _ in fits}
        return weights, report

    def fit_shared(self, batches: Sequence[CandidateBatch]) -> SharedScorer:
        """Return the weights learned from several groups together, the same for all candidates.

        Groups without examples are ignored.

        Raises D703 for attributes that are NaN or infinite, D705 if no group has an example. Warns if the
        optimiser did not converge.
        """
        batches = [batch for batch in batches if len(batch.offsets) > 1]
        if not batches:
            raise UserError("D705")
        for batch in batches:
            check_finite(batch)
        losses = [(_loss(batch), attributes(batch)) for batch in batches]
        n_shared = int(losses[0][1].max(initial=-1)) + 1

        def objective(x: Floats) -> tuple[float, Floats]:
            value, slope = float(0.5 * self.shared_strength * (x @ x)), self.shared_strength * x
            for loss, column_attribute in losses:
                group_value, gradient = loss(x[column_attribute])
                value += group_value
                slope = slope + np.bincount(column_attribute, gradient, minlength=n_shared)
            return value, slope

        return SharedScorer(_minimise(objective, np.zeros(n_shared)))

    def with_prior(self, shared: SharedScorer) -> ConditionalLogit:
        """Return this learner with the shared weights of all groups as its prior."""
        return replace(self, prior=shared)

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> ConditionalLogit:
        """Return the learner with the median strength of earlier fits, if its own is not set."""
        return with_median(self, "strength", reports)

    def from_state(self, arrays: Arrays) -> Scorer:
        """Rebuild a saved scorer."""
        if "weights" not in arrays:
            return ChainScorer.from_state(arrays)
        return LinearScorer.from_state(arrays)

    def shared_from_state(self, arrays: Arrays) -> SharedScorer:
        """Rebuild a saved scorer that all groups share."""
        return SharedScorer(np.asarray(arrays["weights"], np.float64))


def attributes(batch: CandidateBatch, n_shared: int | None = None) -> NDArray[np.int64]:
    """Return the index of each column among the attributes of its candidate, shape ``(n_columns,)``.

    Columns that do not belong to a candidate are attributes of all candidates; they are numbered last.

    Raises `ValueError` if the candidates have different numbers of attributes, or not `n_shared` of them.
    """
    common = batch.columns.labels < 0
    labels = batch.columns.labels[~common]
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    n_common, n_own = int(common.sum()), int(sizes.max(initial=0))
    if len(set(sizes.tolist())) > 1 or (n_shared is not None and n_own + n_common != n_shared):
        seen = [size + n_common for size in sorted(set(sizes.tolist())) or [0]]
        raise ValueError(f"candidates have {seen} attributes, not {n_shared}")
    own_numbers = np.empty(len(labels), np.int64)
    own_numbers[order] = row_ranks(offsets_from_sizes(sizes))
    numbers = np.empty(len(common), np.int64)
    numbers[~common], numbers[common] = own_numbers, n_own + np.arange(n_common)
    return numbers


def _loss(batch: CandidateBatch) -> Loss:
    """Return a function from flat weights to the log loss of the correct candidates and its gradient.

    If an instance of a group has several correct candidates, the first one counts; in lists, the sum of their
    probabilities does.
    """
    if not isinstance(batch, DenseBlocks | CrossedRows):
        return _structured(batch, None)
    offsets = batch.offsets
    cost = batch.cost.astype(np.float64)
    right = np.flatnonzero(cost == 0)
    instance = np.searchsorted(offsets, right, side="right") - 1
    right = right[np.unique(instance, return_index=True)[1]]  # the first correct candidate per instance
    is_right = np.zeros(len(cost))
    is_right[right] = 1.0
    # an instance without a correct candidate has no loss
    counts = np.repeat(np.add.reduceat(is_right, offsets[:-1]) if len(offsets) > 1 else [], np.diff(offsets))

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = batch.scores(weights)
        if not len(scores):
            return 0.0, np.zeros(len(weights))
        log_sums = segments.log_sums(scores, offsets)
        probabilities = np.exp(scores - np.repeat(log_sums, np.diff(offsets))) * counts
        value = float((log_sums * counts[offsets[:-1]]).sum() - scores[right].sum())
        return value, batch.adjoint(probabilities - is_right)

    return loss


def _structured(batch: CandidateBatch, decoder: Any) -> Loss:
    """Return a function from weights to the log loss of structures or listed candidates and its gradient."""
    if len(batch.offsets) < 2:
        return lambda weights: (0.0, np.zeros(len(weights)))
    blocks = structured_examples(batch, decoder).blocks()

    def loss(weights: Floats) -> tuple[float, Floats]:
        parts = [block.log_loss(weights) for block in blocks]
        return sum(value for value, _ in parts), np.sum([slope for _, slope in parts], axis=0)

    return loss


def _minimise(objective: Loss, start: Floats) -> Floats:
    from scipy.optimize import minimize

    options = {"maxiter": 500, "ftol": 1e-9, "gtol": 1e-6}
    # for sums of vectors, threads cost more than they save
    with threadpool_limits(limits=1, user_api="blas"):
        result = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    # Near the minimum, the value changes by less than its rounding error: the line search then fails although
    # the gradient is almost zero.
    converged = result.success or np.abs(result.jac).max() <= 10 * options["gtol"] * max(1.0, abs(result.fun))
    if not converged:
        warnings.warn(
            f"conditional logit stopped after {result.nit} steps: {result.message.strip()}", stacklevel=3
        )
    return np.asarray(result.x)
