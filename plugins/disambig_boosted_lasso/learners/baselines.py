"""Baseline rerankers: the averaged perceptron (Collins 2002) and logistic regression over pairs with L2."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, SparseRows
from disambig.api.arrays import Floats
from disambig.api.settings import ABOVE_ZERO, COUNT, NON_NEGATIVE_COUNT, validate_settings
from disambig.api.training import mean_cost, with_median

from .pairs import (
    GROUP_NAME,
    base_columns,
    base_weights,
    pair_rows,
    reference_rows,
    row_differences,
    sparse_lists,
)

_MAX_PASSES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragedPerceptron:
    """Rerank by the averaged perceptron: after each wrong winner, step towards the list's reference.

    The reference is the candidate with the lowest cost and, among equals, the best base score.

    Parameters
    ----------
    base : str
        Feature group of the base score: its weight is set first, to minimise ExpLoss, and then fixed, as
        in the other learners here. If there is no such group, no weight is fixed.
    passes : int, optional
        Number of passes over the lists. By default the number up to 20 after which the average's winners have
        the lowest cost on development data; without development data 10.
    seed : int
        Seed for the order of the lists, which is the same in each pass.
    """

    base: str = "base score"
    passes: int | None = None
    seed: int = 0
    takes: ClassVar[tuple[type, ...]] = (SparseRows,)

    def __post_init__(self) -> None:
        validate_settings(self, base=GROUP_NAME, passes=COUNT.or_none, seed=NON_NEGATIVE_COUNT)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer for the averaged weights; the order depends on `seed`, `rng` is not used.

        Raises D703 for unusable features, D645 for unusable costs, D705 for no lists.
        """
        from ._kernels import perceptron_pass

        lists = sparse_lists(batch)
        rows, base = lists.rows, base_columns(lists, self.base)
        right, wrong = pair_rows(lists, base)
        base_scores = rows[:, base].toarray()
        weights = np.zeros(rows.shape[1])
        weights[base] = base_weights(base_scores[right] - base_scores[wrong])
        fixed = np.zeros(len(weights), np.bool_)
        fixed[base] = True
        arrays = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, lists.offsets)
        reference = reference_rows(lists, base)
        order = np.random.default_rng(self.seed).permutation(len(reference))
        late, mistakes = np.zeros(len(weights)), []
        dev_lists = None
        if dev is not None and len(dev.offsets) > 1 and self.passes is None:
            dev_lists = sparse_lists(dev)
        losses: list[tuple[float, int]] = []
        average = best = weights.copy()
        for number in range(1, (self.passes or (10 if dev_lists is None else _MAX_PASSES)) + 1):
            time = float((number - 1) * len(order))
            mistakes.append(
                int(perceptron_pass(*arrays, lists.cost, reference, order, fixed, weights, late, time))
            )
            average = weights - late / (time + len(order))
            if dev_lists is None:
                best = average
                continue
            losses.append((mean_cost(LinearScorer(average), dev_lists), number))
            if losses[-1] == min(losses):
                best = average
        passes = min(losses)[1] if losses else len(mistakes)
        report = {"passes": passes, "mistakes": mistakes, "dev_cost": [cost for cost, _ in losses]}
        return Fitted(LinearScorer(best), report)

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> AveragedPerceptron:
        """Return the learner with the median number of passes of earlier fits, if its own is not set."""
        return with_median(self, "passes", reports)

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)


C_GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Values of C tried on development data, in ascending order; the smallest of the best is chosen."""
DEFAULT_C = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseL2:
    """Rerank by logistic regression over pairs, with an L2 penalty on all weights, by scikit-learn.

    Each pair of a list's reference (the candidate with the lowest cost) and another candidate is an example:
    the difference of their features. All weights are learned together, including that of the base score.

    Parameters
    ----------
    C : float, optional
        Weight of the loss of a pair. By default chosen from `C_GRID` by the cost of the winners on
        development data; without development data 0.03.
    base : str
        Feature group whose sum decides which of several candidates with the lowest cost is the reference. If
        there is no such group, the first candidate is.
    max_iter : int
        Maximum number of iterations of the minimiser.
    """

    C: float | None = None
    base: str = "base score"
    max_iter: int = 300
    takes: ClassVar[tuple[type, ...]] = (SparseRows,)

    def __post_init__(self) -> None:
        validate_settings(self, C=ABOVE_ZERO.or_none, base=GROUP_NAME, max_iter=COUNT)

    def fit(
        self, batch: CandidateBatch, *, dev: CandidateBatch | None = None, rng: Generator | None = None
    ) -> Fitted:
        """Return the scorer with the lowest loss; `rng` is not used (the problem is convex).

        Without pairs, the weights of the base score are 1 and all others 0.

        Raises D703 for unusable features, D645 for unusable costs, D705 for no lists.
        """
        lists = sparse_lists(batch)
        base = base_columns(lists, self.base)
        right, wrong = pair_rows(lists, base)
        if not len(right):
            weights = np.zeros(lists.rows.shape[1])
            weights[base] = 1.0
            return Fitted(LinearScorer(weights), {"C": self.C or DEFAULT_C, "pairs": 0, "dev_cost": {}})
        rows, labels = _signed_differences(lists, right, wrong)
        dev_lists = None
        if dev is not None and len(dev.offsets) > 1 and self.C is None:
            dev_lists = sparse_lists(dev)
        costs: dict[str, float] = {}
        results: list[tuple[float, float, Floats, bool]] = []
        weights = np.zeros(rows.shape[1])
        for C in C_GRID if dev_lists is not None else (self.C or DEFAULT_C,):
            weights, converged = _minimise(rows, labels, C, self.max_iter, weights)
            cost = 0.0
            if dev_lists is not None:
                cost = costs[f"{C:g}"] = mean_cost(LinearScorer(weights), dev_lists)
            results.append((cost, C, weights, converged))
        _, C, weights, converged = min(results, key=lambda row: row[:2])
        report = {"C": C, "converged": converged, "pairs": len(right), "dev_cost": costs}
        return Fitted(LinearScorer(weights), report)

    def with_tuned(self, reports: Sequence[Mapping[str, Any]]) -> PairwiseL2:
        """Return the learner with the median C of earlier fits, if its own is not set."""
        return with_median(self, "C", reports)

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)


def _signed_differences(
    lists: SparseRows, right: NDArray[np.int64], wrong: NDArray[np.int64]
) -> tuple[Any, NDArray[np.int64]]:
    """Return the differences of pairs; scikit-learn needs two classes, so every second one is negated."""
    differences = row_differences(lists.rows, right, wrong, np.zeros(lists.rows.shape[1], np.bool_))
    labels = np.where(np.arange(len(right)) % 2 == 0, 1, -1)
    differences.data *= np.repeat(labels, np.diff(differences.indptr))
    return differences, labels


def _minimise(
    rows: Any, labels: NDArray[np.int64], C: float, max_iter: int, start: Floats
) -> tuple[Floats, bool]:
    """Return the weights with the lowest loss, and whether `max_iter` was sufficient."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if len(labels) == 1:  # only one class: the negated pair is equivalent
        from scipy.sparse import csr_array, vstack

        rows, labels, C = csr_array(vstack([rows, -rows])), np.array([1, -1]), C / 2
    learner = LogisticRegression(C=C, fit_intercept=False, max_iter=max_iter, warm_start=True)
    learner.coef_, learner.classes_ = start[None].copy(), np.array([-1, 1])
    learner.intercept_ = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report contains this
        learner.fit(rows, labels)
    return np.asarray(learner.coef_, np.float64)[0].copy(), bool(learner.n_iter_[0] < max_iter)
