"""Perceptron, SGD, passive-aggressive and confidence-weighted learning, with and without masks.

The weights of the first three without masks are bit for bit those of scikit-learn's `SGDClassifier` without
shuffling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, Fitted, LinearScorer, SparseRows, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import SequenceRows, convert, has_own_labels
from disambig.api.decoding import ChainScorer, structured_examples, subgradient
from disambig.api.settings import (
    ABOVE_ZERO,
    COUNT,
    DECODER,
    NON_NEGATIVE_COUNT,
    real_number,
    validate_settings,
)

from .problem import InterceptScorer, LinearProblem, ListProblem, prepare_labels, prepare_lists

Masks = NDArray[np.bool_]
TAKES: tuple[type, ...] = (CrossedRows, SparseRows)


class LinearLearner:
    """Learner with one weight per dimension and label and an intercept, for crossed rows or lists.

    For lists, a step goes from the best candidate with a cost to the best candidate without cost (see the
    list functions of `_kernels`), and there is one weight per column.

    Rows are not normalised. The intercept is learned with the weights and is not a dimension, so masks never
    remove it. The weights of dimensions without examples are zero, and a row without known dimensions is
    decided by the intercepts. See `problem` for labels, including labels without examples.
    """

    __slots__ = ()
    seed: int
    own_labels = True

    @property
    def takes(self) -> tuple[type, ...]:
        """Crossed rows, with any labels, and sparse lists."""
        return TAKES

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer; `dev` and `rng` are not used: nothing is tuned, `seed` orders the rows.

        Raises D705 and D772 for invalid examples, D773 for rows with too large numbers.
        """
        problem = self.prepare(batch)
        weights = self.fit_masked(problem, np.ones((1, problem.dimensions), np.bool_))
        return Fitted(InterceptScorer(weights), {"seen_dimensions": len(problem.used)})

    def from_state(self, arrays: Arrays) -> InterceptScorer:
        """Rebuild a saved scorer."""
        return InterceptScorer.from_state(arrays)

    def dimensions(self, batch: CandidateBatch) -> int:
        """Return the number of dimensions of the masks of `fit_masked`."""
        converted = convert(batch, *TAKES, own_labels=True)
        if isinstance(converted, CrossedRows) and not has_own_labels(converted):
            return len(converted.columns) // converted.n_labels
        return int(converted.rows.shape[1])

    def prepare(self, batch: CandidateBatch) -> LinearProblem | ListProblem:
        """Return a prepared form of `batch` for `fit_masked`, with the work that all masks share."""
        converted = convert(batch, *TAKES, own_labels=True)
        if isinstance(converted, CrossedRows) and not has_own_labels(converted):
            return prepare_labels(converted, self.seed)
        return prepare_lists(converted, self.seed)

    def fit_masked(self, batch: CandidateBatch | LinearProblem | ListProblem, masks: Masks) -> Floats:
        """Return the sum of the weights learned under each mask.

        Raises the errors of `fit`.

        `masks`, shape ``(n_masks, dimensions)``, are false for removed dimensions. The sum has the shape
        ``(n_labels * (dimensions + 1),)``: the weights of each label, its intercept last; for lists one
        weight per column.
        """
        from ._kernels import LANES, add_lanes

        problem = batch if isinstance(batch, LinearProblem | ListProblem) else self.prepare(batch)
        if isinstance(problem, ListProblem):
            total = np.zeros(len(problem.used))
            for start in range(0, len(masks), LANES):
                block = masks[start : start + LANES]
                weights = self._train_lists(problem, problem.column_masks(block), len(block))
                add_lanes(total, weights, len(block))
            return problem.weights(total)
        coefficients, intercepts = problem.zeros()
        for keep, lanes in _lane_masks(masks, problem.used):
            for p, targets in enumerate(problem.targets):
                weights, lane_intercepts = self._fit_lanes(problem, targets, keep, lanes)
                add_lanes(coefficients[p], weights, lanes)
                add_lanes(intercepts[p : p + 1], lane_intercepts[None], lanes)
        return problem.weights(coefficients, intercepts, len(masks))

    def _fit_lanes(
        self, problem: LinearProblem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        """Return the weights of each lane, shape (d, LANES), and the intercepts, shape (lanes,)."""
        raise NotImplementedError

    def _train_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        """Return the weights of each lane, shape (d, LANES), trained on lists."""
        raise NotImplementedError


def _lane_masks(masks: Masks, used: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.uint8], int]]:
    """Yield blocks of masks over the used dimensions, shape (d, LANES), with the number of masks in each."""
    from ._kernels import LANES

    for start in range(0, len(masks), LANES):
        block = masks[start : start + LANES]
        keep = np.zeros((len(used), LANES), np.uint8)
        keep[:, : len(block)] = np.ascontiguousarray(block.T)[used]
        yield keep, len(block)


def descend_folds(
    problem: LinearProblem, folds: NDArray[np.int64], *, passes: int, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Train with the hinge loss without each fold, and on all examples.

    `folds` has the fold of each example in the given order, not in the problem's order. Returned are the
    score of each example by the model that was trained without its fold, in the given order, shape ``(n,
    n_labels)``, and the coefficients, shape ``(n_problems, d)``, and intercepts, shape ``(n_problems,)``,
    trained on all examples.
    """
    from ._kernels import LANES, descend_without_folds

    row_folds = folds[problem.order]
    models = np.append(np.unique(folds), -1)  # the fold that each model leaves out; -1 for none
    coefficients, intercepts = problem.zeros()
    n = len(row_folds)
    problem_scores = np.zeros((len(problem.targets), n))
    for first in range(0, len(models), LANES):
        left_out = models[first : first + LANES]
        lane_of = np.searchsorted(left_out[left_out >= 0], row_folds)
        rows = np.flatnonzero(np.isin(row_folds, left_out))
        keep = np.ones((len(problem.used), LANES), np.uint8)
        matrix = problem.matrix[rows]
        for p, targets in enumerate(problem.targets):
            weights, biases = np.zeros(keep.shape), np.zeros(len(left_out))
            settings = left_out, passes, 1.0, alpha
            descend_without_folds(*problem.rows, targets, row_folds, *settings, weights, biases, keep)
            scores = np.asarray(matrix @ weights)
            problem_scores[p, rows] = scores[np.arange(len(rows)), lane_of[rows]] + biases[lane_of[rows]]
            if left_out[-1] < 0:
                coefficients[p], intercepts[p] = weights[:, len(left_out) - 1], biases[-1]
    held_out = np.zeros((n, problem.n_labels))
    held_out[problem.order] = problem.scores(problem_scores)
    return held_out, coefficients, intercepts


class GradientDescent(LinearLearner):
    """A linear learner by stochastic gradient descent on the loss of examples within a margin."""

    __slots__ = ()
    passes: int
    margin: ClassVar[float]

    def decay(self, n: int) -> float:
        """Return the weight of half the squared norm beside the mean loss of `n` examples."""
        raise NotImplementedError

    def _fit_lanes(
        self, problem: LinearProblem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        from ._kernels import descend_labels

        weights, intercepts = np.zeros(keep.shape), np.zeros(lanes)
        settings = (self.passes, self.margin, self.decay(len(problem.order)))
        descend_labels(*problem.rows, targets, keep, *settings, weights, intercepts)
        return weights, intercepts

    def _train_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        from ._kernels import descend_lists

        weights = np.zeros(keep.shape)
        settings = (self.passes, self.margin, self.decay(len(problem.order)))
        descend_lists(*problem.examples, keep, *settings, problem.longest, weights, lanes)
        return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceptron(GradientDescent):
    """The perceptron (Rosenblatt 1958; eq. 5 of the paper) with steps of one; the last weights are returned.

    Parameters
    ----------
    passes : int
        Number of passes over the examples.
    seed : int
        Seed for the order of the examples, which is the same in all passes.
    """

    passes: int = 5
    seed: int = 0
    margin: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        validate_settings(self, passes=COUNT, seed=NON_NEGATIVE_COUNT)

    def decay(self, n: int) -> float:
        """Return zero: the perceptron has no penalty."""
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SGD(GradientDescent):
    """Stochastic gradient descent on the hinge loss with a penalty on the squared norm (Zhang 2004).

    Step sizes are scikit-learn's "optimal" ones: ``1 / (alpha (t0 + t))``, t0 as in Bottou's heuristic.

    Parameters
    ----------
    alpha : float or sequence of float
        Weight of half the squared norm. If several are given, the one with the highest held-out accuracy is
        used if training has folds, otherwise the first.
    per_example : bool
        Whether to divide `alpha` by the number of examples. The same value then suits small and large sets:
        ``1 / alpha`` is the C of a linear SVM, the weight of the summed losses.
    passes, seed : int
        See `Perceptron`.
    decoder : Decoder, optional
        For sequences, charts, ...: the loss is then the structured hinge with cost-augmented margins.
        By default each row is a separate candidate.
    """

    alpha: float | Sequence[float] = 1e-4
    per_example: bool = False
    passes: int = 5
    seed: int = 0
    decoder: Any = None
    margin: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        validate_settings(self, decoder=DECODER)
        if not self.alphas:
            raise UserError("D760", setting="SGD.alpha", value=self.alpha)
        for alpha in self.alphas:
            ABOVE_ZERO.check("SGD.alpha", alpha)
        validate_settings(self, passes=COUNT, seed=NON_NEGATIVE_COUNT)

    @property
    def alphas(self) -> tuple[float, ...]:
        """The candidate values of `alpha`."""
        several = isinstance(self.alpha, Sequence) and not isinstance(self.alpha, str)
        return tuple(self.alpha) if several else (self.alpha,)  # type: ignore

    def penalty(self, alpha: float, n: int) -> float:
        """Return the weight of half the squared norm beside the mean loss of `n` examples."""
        return float(alpha) / n if self.per_example else float(alpha)

    @property
    def takes(self) -> tuple[type, ...]:
        """Crossed rows and lists; with a decoder any batch."""
        return TAKES if self.decoder is None else ()

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer; see `LinearLearner.fit`."""
        if self.decoder is None:
            return LinearLearner.fit(self, batch)
        if len(batch.offsets) < 2:
            raise UserError("D705")
        examples = structured_examples(batch, self.decoder)
        alpha = self.penalty(self.alphas[0], len(batch.offsets) - 1)
        weights = subgradient(examples, alpha=alpha, passes=self.passes, seed=self.seed)
        if isinstance(batch, SequenceRows):
            return Fitted(ChainScorer.of_weights(weights, batch.costs.shape[1]))
        return Fitted(LinearScorer(weights))

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> SGD:
        """Return the learner with the median alpha of earlier fits, if all of them chose one."""
        alphas = sorted(float(report["alpha"]) for report in reports if "alpha" in report)
        if not alphas or len(alphas) < len(reports):
            return self
        return replace(self, alpha=alphas[len(alphas) // 2])

    def fit_folds(self, batch: CandidateBatch, folds: NDArray[np.int64]) -> tuple[Fitted, Floats] | None:
        """Return the scorer for all examples, and scores from models trained without each example's fold.

        Each model is what `fit` returns, except that all use one order of the examples. For lists and
        sequences the result is None: there is no faster way than to fit one fold at a time.
        """
        converted = None if self.decoder is not None else convert(batch, *TAKES, own_labels=True)
        if not isinstance(converted, CrossedRows) or has_own_labels(converted):
            return None
        problem = prepare_labels(converted, self.seed)
        tried: dict[str, float] = {}
        best: tuple[float, float, tuple[Floats, Floats, Floats]] | None = None
        for alpha in map(float, self.alphas):
            penalty = self.penalty(alpha, len(folds))
            weights = descend_folds(problem, folds, passes=self.passes, alpha=penalty)
            accuracy = float((converted.costs[np.arange(len(folds)), weights[0].argmax(axis=1)] == 0).mean())
            tried[f"{alpha:g}"] = accuracy
            if best is None or accuracy > best[0]:
                best = accuracy, alpha, weights
        assert best is not None
        _, alpha, (held_out, coefficients, intercepts) = best
        scorer = InterceptScorer(problem.weights(coefficients, intercepts, 1)).rounded()
        report = {"seen_dimensions": len(problem.used), "alpha": alpha, "accuracy": tried}
        return Fitted(scorer, report), held_out.ravel()

    def from_state(self, arrays: Arrays) -> Any:
        """Rebuild a saved scorer."""
        if "weights" not in arrays:
            return ChainScorer.from_state(arrays)
        if self.decoder is not None:
            return LinearScorer.from_state(arrays)
        return LinearLearner.from_state(self, arrays)

    def decay(self, n: int) -> float:
        """Return the penalty for the first `alpha`."""
        return self.penalty(self.alphas[0], n)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassiveAggressive(LinearLearner):
    """Passive-aggressive learning, PA-I (Crammer et al. 2006).

    Parameters
    ----------
    C : float
        Maximum step size, in units of the row.
    passes, seed : int
        See `Perceptron`.
    """

    C: float = 1.0
    passes: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        validate_settings(self, C=ABOVE_ZERO, passes=COUNT, seed=NON_NEGATIVE_COUNT)

    def _fit_lanes(
        self, problem: LinearProblem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        from ._kernels import passive_aggressive_labels

        weights, intercepts = np.zeros(keep.shape), np.zeros(lanes)
        maximum = float(self.C)
        passive_aggressive_labels(*problem.rows, targets, keep, self.passes, maximum, weights, intercepts)
        return weights, intercepts

    def _train_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        from ._kernels import passive_aggressive_lists

        weights, maximum = np.zeros(keep.shape), float(self.C)
        passive_aggressive_lists(
            *problem.examples, keep, self.passes, maximum, problem.longest, weights, lanes
        )
        return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceWeighted(LinearLearner):
    """Keep a mean and a variance for each weight; rare dimensions have a high variance and change the most.

    Each row asks for the nearest weights, in Kullback-Leibler divergence, that decide it correctly with the
    probability `confidence`: ``y m . x >= phi x' S x``, where phi is the normal quantile of `confidence` and
    S the variances, initially one. The intercept is the weight of a constant of one.

    Parameters
    ----------
    confidence : float
        Above 0.5 and below 1.
    passes : int
        Number of passes over the examples.
    seed : int
        Seed for the order of the examples, which is the same in all passes.
    """

    confidence: float = 0.9
    passes: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        confidence = real_number("D771", lambda value: 0.5 < value < 1)
        validate_settings(self, confidence=confidence, passes=COUNT, seed=NON_NEGATIVE_COUNT)

    @property
    def quantile(self) -> float:
        """Phi: the quantile of the normal distribution at `confidence`."""
        return NormalDist().inv_cdf(float(self.confidence))

    def _fit_lanes(
        self, problem: LinearProblem, targets: Floats, keep: NDArray[np.uint8], lanes: int
    ) -> tuple[Floats, Floats]:
        from ._kernels import confidence_labels

        means, variances, intercepts = np.zeros(keep.shape), keep.astype(np.float64), np.zeros(lanes)
        confidence_labels(*problem.rows, targets, self.passes, self.quantile, means, variances, intercepts)
        return means, intercepts

    def _train_lists(self, problem: ListProblem, keep: NDArray[np.uint8], lanes: int) -> Floats:
        from ._kernels import confidence_lists

        means, variances = np.zeros(keep.shape), keep.astype(np.float64)
        settings = self.passes, self.quantile, problem.longest
        confidence_lists(*problem.examples, *settings, means, variances, lanes)
        return means
