"""What the SVM learners share: the search for C, the scorer of crossed attributes, and the summed attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Columns, CrossedRows, DenseBlocks, UserError
from disambig.api.batches import convert, segments
from disambig.api.decoding import from_the_least

Answer = TypeVar("Answer")

_PATIENCE, _PATIENT_TO = 3, 1e-3
"""The path ends when so many values in a row, from the second one on, were worse than the best by more than a
standard error. Level stretches do not end it: where all is still decided for the most frequent candidate,
or as the sum does, better values lie behind."""


@dataclass(slots=True)
class CSearch(Generic[Answer]):
    """The best answer so far: of equals that of the smallest C.

    Attributes
    ----------
    n_train, n_dev : int
        Examples to learn from, and those that accuracy is measured on.
    path : dict of float to float
        Accuracy at each C.
    best : tuple of (float, float, Answer), optional
        Accuracy, C and answer.
    """

    n_train: int
    n_dev: int
    path: dict[float, float] = field(default_factory=dict)
    best: tuple[float, float, Answer] | None = None
    _worse: int = 0

    def add(self, C: float, accuracy: float, answer: Answer) -> bool:
        """Take in the answer at a larger C than before; return whether to go on."""
        self.path[C] = accuracy
        if self.best is None or accuracy > self.best[0]:
            self.best = accuracy, C, answer
        error = math.sqrt(self.best[0] * (1 - self.best[0]) / self.n_dev)
        clearly = C * self.n_train >= _PATIENT_TO * (1 - 1e-6) and accuracy < self.best[0] - error
        self._worse = self._worse + 1 if clearly else 0
        return self._worse < _PATIENCE and accuracy < 1.0

    def report(self) -> dict[str, float]:
        """Return the path in the form that models are saved with."""
        return {f"{C:g}": accuracy for C, accuracy in self.path.items()}


def with_median_c(learner: Any, reports: Sequence[Mapping[str, Any]]) -> Any:
    """Return a learner that leaves C open with the middle one of those that some fits chose, if all did."""
    chosen = [report.get("C") for report in reports]
    if learner.C is not None or not chosen or not all(chosen):
        return learner
    return replace(learner, C=float(np.median([float(C) for C in chosen if C])))


def dev_quality(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return `accuracy` or, of lists, what it becomes for graded costs: one where all are decided right.

    Costs are counted from an instance's least, as shares of the largest there is.
    """
    if isinstance(batch, DenseBlocks | CrossedRows):
        return dev_accuracy(batch, scores)
    cost = from_the_least(batch)
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return 1.0 - float(np.mean(cost[best])) / max(float(cost.max(initial=0.0)), 1e-300)


def dev_accuracy(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return the share of instances whose best-scored candidate costs nothing."""
    best = batch.offsets[:-1] + segments.argmax(scores, batch.offsets)
    return float(np.mean(batch.cost[best] == 0))


@dataclass(frozen=True, slots=True, eq=False)
class CrossedScorer:
    """Scores class r by ``W_r . x``, `x` the attributes of all classes.

    Attributes
    ----------
    weights : array of float64, shape (K * K * A,)
        Row by row of W, as in `CrossedRows`.
    """

    weights: NDArray[np.float64]

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score a row of a batch of dense class blocks, or of any lists.

        Raises
        ------
        ValueError
            For a batch of other columns than the weights are for.
        """
        rows = _read(batch)
        if len(self.weights) != len(rows.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(rows.columns)} crossed columns")
        return np.asarray(rows.scores(self.weights))

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as crossed rows, and the weights over them."""
        return _read(batch), self.weights

    def columns(self, batch: CandidateBatch) -> Columns:
        """Return what the weights mean: a class and one of its or another class's attributes."""
        return _read(batch).columns

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}

    @classmethod
    def from_state(cls, arrays: Arrays) -> CrossedScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))


def _read(batch: CandidateBatch) -> CandidateBatch:
    """Return a batch as crossed rows, or lists as they are."""
    try:
        return convert(batch, CrossedRows)
    except UserError:
        return batch


SUM = "sum"
"""Feature group of the added columns."""

Floats = NDArray[np.float64]


def with_sum(batch: DenseBlocks, groups: Sequence[str]) -> DenseBlocks:
    """Add to every candidate the sum of its attributes in `groups`, as its last attribute.

    The new columns come after the given ones, in the feature group ``"sum"``: one a candidate, or one
    for all where the candidates share the summed columns.

    Raises
    ------
    UserError
        D451 for a name that is no feature group of the batch.
    ValueError
        Where some candidates share summed columns and others do not: no weights then say the same.
    """
    k = len(batch.column_of)
    summed = batch.columns.in_groups(groups, setting="sum")[batch.column_of]  # (K, A)
    used = [set(columns[inside].tolist()) for columns, inside in zip(batch.column_of, summed, strict=True)]
    shared = k > 1 and all(columns == used[0] for columns in used)
    if not shared and sum(map(len, used)) > len(set().union(*used)):
        raise ValueError("candidates share some of the summed columns, but not all")
    total = np.stack([batch.values[:, r, inside].sum(axis=1) for r, inside in enumerate(summed)], axis=1)
    n_columns = len(batch.columns)
    added = np.full(k, n_columns) if shared else np.arange(n_columns, n_columns + k)
    labels = np.array([-1] if shared else np.arange(k), np.int32)
    old = batch.columns
    columns = Columns(
        np.concatenate([old.labels, labels]),
        np.concatenate([old.groups, np.full(len(labels), len(old.group_names), np.int32)]),
        (*old.group_names, SUM),
        [*old.names, *[SUM] * len(labels)] if len(old.names) else (),
    )
    return DenseBlocks(
        np.concatenate([batch.values, total[:, :, None]], axis=2),
        np.column_stack([batch.column_of, added]),
        columns,
        batch.costs,
    )


def fold_sum(weights: Floats, batch: DenseBlocks, groups: Sequence[str]) -> Floats:
    """Return weights over `batch`'s columns that score as `weights` do on `with_sum(batch, groups)`.

    Parameters
    ----------
    weights : array of float64, shape (n_columns + n_sums,)
    batch : DenseBlocks
        The batch without the sum.
    """
    n_columns, k = len(batch.columns), len(batch.column_of)
    inside = batch.columns.in_groups(groups, setting="sum")
    sums = np.broadcast_to(weights[n_columns:], k)
    folded: Floats = weights[:n_columns].copy()
    for r, columns in enumerate(batch.column_of):
        own = np.unique(columns[inside[columns]])
        folded[own] = weights[own] + sums[r]
    return folded


def fold_crossed_sum(weights: Floats, batch: DenseBlocks, groups: Sequence[str]) -> Floats:
    """Return the K-SVM+'s weights without the sum, shape ``(K * K * A,)``.

    Parameters
    ----------
    weights : array of float64, shape (K * K * (A + 1),)
        Weights over the crossed rows of `with_sum(batch, groups)`.
    batch : DenseBlocks
        The batch without the sum.
    """
    k, a = batch.column_of.shape
    inside = batch.columns.in_groups(groups, setting="sum")[batch.column_of]  # (K, A)
    cube = weights.reshape(k, k, a + 1)
    folded: Floats = (cube[:, :, :a] + cube[:, :, a:] * inside).ravel()
    return folded
