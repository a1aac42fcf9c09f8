"""Logistic regression over the differences of pairs, with L2: what the lasso is held against."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Fitted, LinearScorer, SparseRows
from disambig.api.batches import segments

from ..checks import check_above_zero, check_count, check_group
from ..stagewise.pairs import base_columns, canonical_rows, differing, rows_of_pairs

Floats = NDArray[np.float64]
GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Values of C tried on development data, smallest first; the smallest of the best is taken."""
DEFAULT = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseL2:
    """Rerank by logistic regression over pairs, with L2 on all weights, by scikit-learn.

    Each pair of a list's reference, its candidate of least cost, and another candidate is an example: the
    difference of their features. All weights are learned at once, that of the base score among them.

    Parameters
    ----------
    C : float, optional
        Weight of the loss of a pair. By default chosen on development data from `GRID` by what the winners
        cost; without these it is 0.03.
    base : str
        Feature group whose sum says which of several candidates of least cost is the reference. Where there
        is no such group, it is the first.
    max_iter : int
        Of the minimiser.
    """

    C: float | None = None
    base: str = "base score"
    max_iter: int = 300
    takes: ClassVar[tuple[type, ...]] = (SparseRows,)

    def __post_init__(self) -> None:
        if self.C is not None:
            check_above_zero("PairwiseL2.C", self.C)
        check_group("PairwiseL2.base", self.base)
        check_count("PairwiseL2.max_iter", self.max_iter)

    def fit(
        self,
        batch: CandidateBatch,
        *,
        dev: CandidateBatch | None = None,
        rng: np.random.Generator | None = None,
    ) -> Fitted:
        """Return the scorer of least loss; `rng` is not used (the problem is convex).

        Without any pair the weights of the base score are 1 and all others 0.

        Raises
        ------
        UserError
            D703 for features that are NaN or infinite, D645 for costs that are NaN, D705 where there is no
            list.
        """
        lists = canonical_rows(batch)
        base = base_columns(lists, self.base)
        right, wrong = rows_of_pairs(lists, base)
        if not len(right):
            weights = np.zeros(lists.rows.shape[1])
            weights[base] = 1.0
            return Fitted(LinearScorer(weights), {"C": self.C or DEFAULT, "pairs": 0, "dev_cost": {}})
        rows, labels = _examples(lists, right, wrong)
        held = None if dev is None or len(dev.offsets) < 2 or self.C is not None else canonical_rows(dev)
        costs: dict[str, float] = {}
        found: list[tuple[float, float, Floats, bool]] = []
        weights = np.zeros(rows.shape[1])
        for C in GRID if held is not None else (self.C or DEFAULT,):
            weights, converged = _solved(rows, labels, C, self.max_iter, weights)
            cost = 0.0
            if held is not None:
                winners = held.offsets[:-1] + segments.argmax(held.scores(weights), held.offsets)
                cost = costs[f"{C:g}"] = float(held.cost[winners].mean(dtype=np.float64))
            found.append((cost, C, weights, converged))
        _, C, weights, converged = min(found, key=lambda each: each[:2])
        report = {"C": C, "converged": converged, "pairs": len(right), "dev_cost": costs}
        return Fitted(LinearScorer(weights), report)

    def settled(self, reports: Sequence[Mapping[str, Any]]) -> PairwiseL2:
        """Return the learner with the C of the middle of some fits, where it is left open."""
        if self.C is not None or not reports:
            return self
        return replace(self, C=float(median(report["C"] for report in reports)))

    def from_state(self, arrays: Arrays) -> LinearScorer:
        """Rebuild a saved scorer."""
        return LinearScorer.from_state(arrays)


def _examples(
    lists: SparseRows, right: NDArray[np.int64], wrong: NDArray[np.int64]
) -> tuple[Any, NDArray[np.int64]]:
    """Return differences of pairs; scikit-learn wants two classes, so every second one is turned over."""
    from scipy.sparse import csr_array

    skip = np.zeros(lists.rows.shape[1], np.bool_)
    starts, columns, values = differing(lists.rows, right, wrong, skip)
    labels = np.where(np.arange(len(right)) % 2 == 0, 1, -1)
    values = values * np.repeat(labels, np.diff(starts))
    narrow = np.int32 if len(columns) < np.iinfo(np.int32).max else np.int64
    return csr_array((values, columns, starts.astype(narrow)), (len(right), len(skip))), labels


def _solved(
    rows: Any, labels: NDArray[np.int64], C: float, max_iter: int, start: Floats
) -> tuple[Floats, bool]:
    """Return the weights of least loss, and whether `max_iter` was enough."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    if len(labels) == 1:  # one class: the same pair, turned over, says the same
        from scipy.sparse import csr_array, vstack

        rows, labels, C = csr_array(vstack([rows, -rows])), np.array([1, -1]), C / 2
    learner = LogisticRegression(C=C, fit_intercept=False, max_iter=max_iter, warm_start=True)
    learner.coef_, learner.classes_ = start[None].copy(), np.array([-1, 1])
    learner.intercept_ = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says so
        learner.fit(rows, labels)
    return np.asarray(learner.coef_, np.float64)[0].copy(), bool(learner.n_iter_[0] < max_iter)
