"""Shared by the learners: checks, the search for C, the scorer of crossed attributes, the summed attribute.

A sum of attributes is linear in the attributes, so weights that were learned with the sum ("+" in CS-SVM+
and K-SVM+) are folded back to the original columns; saved models never contain a sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Columns, CrossedRows, DenseBlocks, Scorer, UserError
from disambig.api.arrays import Floats
from disambig.api.batches import check_finite, convert, segments
from disambig.api.decoding import from_the_least
from disambig.api.settings import SVM_C, is_number

AnyScorer = TypeVar("AnyScorer", bound=Scorer)
Extra = TypeVar("Extra")


def real_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return `values` as an array of any shape, or None if they are not numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


def check_settings(
    *, C: float | None, p: Mapping[str, float] | None, subsets: Sequence[Sequence[str]]
) -> None:
    """Raise an error for settings that are invalid for any training examples.

    Raises D700 for `C`, D701 for a feature group in two subsets, D702 for an invalid `p`.
    """
    SVM_C.or_none.check("C", C)
    names = [name for subset in subsets for name in subset]
    for name in names:
        if names.count(name) > 1:
            raise UserError("D701", name=name)
    if not isinstance(p, Mapping | None):
        raise UserError("D702", problem=f"{p!r} is not a mapping from feature groups to weights")
    for name, weight in (p or {}).items():
        if not (is_number(weight) and 0 <= weight < np.inf):
            raise UserError("D702", problem=f"{name!r} has {weight!r}")


def check_names(setting: str, names: Any, *, nested: bool = False) -> None:
    """Raise D710 unless `names` is a list of feature groups; a single string is not.

    `nested` says whether the list may also contain lists of feature groups.
    """

    def fits(item: Any) -> bool:
        return isinstance(item, str) or (nested and _is_list(item) and all(isinstance(x, str) for x in item))

    if not (_is_list(names) and all(fits(item) for item in names)):
        raise UserError("D710", setting=setting, value=names)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def check_attributes(batch: CandidateBatch, prior: Sequence[float] | NDArray[np.float64] | None) -> None:
    """Raise an error for unusable training examples.

    Raises D703 for attributes that are NaN or infinite, D704 for a `prior` of another length or with values
    that are not finite numbers, D705 if there is no example.
    """
    if len(batch.offsets) < 2:
        raise UserError("D705")
    check_finite(batch)
    if prior is None:
        return
    numbers, expected = real_numbers(prior), len(batch.columns)
    if numbers is None:
        raise UserError("D704", seen="not numeric", expected=expected)
    if numbers.shape != (expected,):
        raise UserError("D704", seen=len(numbers) if numbers.ndim == 1 else numbers.shape, expected=expected)
    if not np.isfinite(numbers).all():
        raise UserError("D704", seen="NaN or infinite", expected=expected)


_PATIENCE, _PATIENT_TO = 3, 1e-3
"""The search for C ends after `_PATIENCE` consecutive values of C * n, from `_PATIENT_TO` on, that are worse
than the best by more than one standard error. Plateaus do not end it: as long as the weights only reproduce
the most frequent candidate or the sum of counts, better values may still follow."""


def fit_best_c(
    train: Callable[[float], tuple[AnyScorer, Extra]],
    n_train: int,
    dev: CandidateBatch | None,
    *,
    C: float | None,
    default: float,
    grid: Sequence[float],
) -> tuple[AnyScorer, Extra, float, dict[str, float]]:
    """Train with the given C or, if it is None and there is development data, with the best C of a grid.

    `train` returns the scorer for a C, and anything else that the caller reports; it is called with C from
    small to large. `grid` has values of C times `n_train`, the number of training examples; among equally
    accurate ones the smallest wins. Without development data C is `default`.

    Return the scorer, what `train` returned with it, its C, and the accuracy on development data for each C
    that was tried, as it is saved with models.
    """
    if C is not None or dev is None or len(dev.offsets) < 2:
        used = default if C is None else C
        return (*train(used), used, {})
    check_finite(dev)
    path: dict[str, float] = {}
    best: tuple[float, tuple[AnyScorer, Extra, float]] | None = None
    n_worse = 0
    for scaled in grid:
        tried = round_c(scaled / n_train)
        scorer, extra = train(tried)
        accuracy = path[f"{tried:g}"] = dev_quality(dev, scorer.scores(dev))
        if best is None or accuracy > best[0]:
            best = accuracy, (scorer, extra, tried)
        error = math.sqrt(best[0] * (1 - best[0]) / (len(dev.offsets) - 1))
        clearly_worse = tried * n_train >= _PATIENT_TO * (1 - 1e-6) and accuracy < best[0] - error
        n_worse = n_worse + 1 if clearly_worse else 0
        if n_worse == _PATIENCE or accuracy >= 1.0:
            break
    assert best is not None
    return (*best[1], path)


def round_c(C: float) -> float:
    """Return C with six digits, as it is printed in reports."""
    return float(f"{C:g}")


def dev_quality(batch: CandidateBatch, scores: NDArray[np.float64]) -> float:
    """Return the accuracy or, for lists, its generalisation to graded costs.

    For lists the value is one minus the mean cost of the best-scored candidates. Costs are measured from the
    lowest cost of the instance, as shares of the largest cost.
    """
    best = segments.best_rows(scores, batch.offsets)
    if isinstance(batch, DenseBlocks | CrossedRows):
        return float(np.mean(batch.cost[best] == 0))
    cost = from_the_least(batch)
    return 1.0 - float(np.mean(cost[best])) / max(float(cost.max(initial=0.0)), 1e-300)


@dataclass(frozen=True, slots=True, eq=False)
class CrossedScorer:
    """A scorer of class r by ``W_r . x``, with the attributes x of all classes (the paper's eq. 1)."""

    weights: NDArray[np.float64]  # (K * K * A,): the rows of W one after the other, as in `CrossedRows`

    def scores(self, batch: CandidateBatch) -> NDArray[np.float64]:
        """Return one score per row of a batch of dense class blocks or lists.

        Raises `ValueError` if the batch does not have the columns of the weights.
        """
        rows = _as_crossed_rows(batch)
        if len(self.weights) != len(rows.columns):
            raise ValueError(f"{len(self.weights)} weights for {len(rows.columns)} crossed columns")
        return np.asarray(rows.scores(self.weights))

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, NDArray[np.float64]]:
        """Return the batch as crossed rows, and the weights over them."""
        return _as_crossed_rows(batch), self.weights

    def columns(self, batch: CandidateBatch) -> Columns:
        """Return the meaning of each weight: a class, and an attribute of this or another class."""
        return _as_crossed_rows(batch).columns

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.weights}

    @classmethod
    def from_state(cls, arrays: Arrays) -> CrossedScorer:
        """Rebuild a scorer from `state`."""
        return cls(np.asarray(arrays["weights"], dtype=np.float64))


def _as_crossed_rows(batch: CandidateBatch) -> CandidateBatch:
    """Return a batch as crossed rows; lists are returned unchanged."""
    try:
        return convert(batch, CrossedRows)
    except UserError:
        return batch


SUM = "sum"
"""Feature group of the added columns."""


def with_sum(batch: DenseBlocks, groups: Sequence[str]) -> DenseBlocks:
    """Add the sum of a candidate's attributes in `groups` as its last attribute.

    The new columns follow the existing ones, in the feature group ``"sum"``: one per candidate, or a single
    one if the candidates share the summed columns.

    Raises D451 for a name that is not a feature group of the batch. Raises `ValueError` if only some
    candidates share summed columns: `fold_sum` could not express the sum by weights then.
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
    return DenseBlocks(
        np.concatenate([batch.values, total[:, :, None]], axis=2),
        np.column_stack([batch.column_of, added]),
        batch.columns.with_group(SUM, [-1] if shared else range(k)),
        batch.costs,
    )


def fold_sum(weights: Floats, batch: DenseBlocks, groups: Sequence[str]) -> Floats:
    """Return weights over `batch`'s columns with the scores of `weights` on `with_sum(batch, groups)`.

    `weights` have the shape ``(n_columns + n_sums,)``; `batch` is the one without the sum.
    """
    n_columns, k = len(batch.columns), len(batch.column_of)
    inside = batch.columns.in_groups(groups, setting="sum")
    sums = np.broadcast_to(weights[n_columns:], k)
    folded: Floats = weights[:n_columns].copy()
    for r, columns in enumerate(batch.column_of):
        summed = np.unique(columns[inside[columns]])
        folded[summed] = weights[summed] + sums[r]
    return folded


def fold_crossed_sum(weights: Floats, batch: DenseBlocks, groups: Sequence[str]) -> Floats:
    """Return the weights of a K-SVM+ without the sum, shape ``(K * K * A,)``.

    `weights`, shape ``(K * K * (A + 1),)``, are those of the crossed rows of `with_sum(batch, groups)`;
    `batch` is the one without the sum.
    """
    k, a = batch.column_of.shape
    inside = batch.columns.in_groups(groups, setting="sum")[batch.column_of]  # (K, A)
    cube = weights.reshape(k, k, a + 1)
    folded: Floats = (cube[:, :, :a] + cube[:, :, a:] * inside).ravel()
    return folded
