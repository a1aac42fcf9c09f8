"""The pairs of candidates in ExpLoss, the index from features to pairs, and the base score's weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, SparseRows, UserError
from disambig.api.arrays import Floats, Ints, row_owners
from disambig.api.batches import canonical_rows, check_finite, convert, segments
from disambig.api.decoding import from_the_least
from disambig.api.settings import Constraint

GROUP_NAME = Constraint("D647", lambda value: isinstance(value, str))
_STEPS = 200
_MIN_GAIN = 1e-12
"""Minimum gain of a further step, as a share of the pairs: a weight that is never wrong has no optimum."""


def base_weights(differences: Floats) -> Floats:
    """Return the weights of the base columns that minimise ExpLoss (figure 2, step 1).

    Newton's method with step halving. Columns are scaled to at most 1, so that they have similar curvature.
    `differences`, shape ``(n_pairs, n_base)``, are reference minus other candidate. Without pairs each weight
    is 1: the base score decides.
    """
    n, width = differences.shape
    if not n:
        return np.ones(width)
    unit = np.abs(differences).max(axis=0, initial=0.0)
    unit[unit == 0] = 1.0
    scaled = differences / unit
    weights = np.zeros(width)
    loss, row_weights = float(n), np.ones(n)
    for _ in range(_STEPS if width else 0):
        slope = scaled.T @ row_weights  # descent direction
        curve = (scaled * row_weights[:, None]).T @ scaled
        step = np.linalg.lstsq(curve, slope, rcond=1e-12)[0]
        if float(step @ slope) <= _MIN_GAIN * n:
            break
        size = 1.0
        while True:
            with np.errstate(over="ignore"):
                trial = np.exp(-(scaled @ (weights + size * step)))
            if (trial_loss := float(trial.sum())) < loss or size < _MIN_GAIN:
                break
            size /= 2
        if trial_loss >= loss:
            break
        weights, loss, row_weights = weights + size * step, trial_loss, trial
    return weights / unit


_PAIRS_AT_A_TIME = 1 << 12
_MAX_CODES = 1 << 16
"""Integers in a range up to this size are numbered without sorting."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """Differences between candidates, by pair and by feature.

    A feature is a column, other than a base column, that differs in some pair. Values are encoded, so that
    the factor of a step is computed once per value.
    """

    base: Floats  # float64 (n_pairs, n_base): the differences in the base columns
    starts: Ints  # int64 (n_pairs + 1,)
    # int32 (n_entries,): pair p has the entries ``starts[p]:starts[p + 1]``
    features: NDArray[np.int32]
    codes: NDArray[np.int32]
    values: Floats  # float64 (n_codes,): the value of each code
    ends: Ints  # int64 (n_features + 1,)
    # int32 (n_entries,): feature k has the entries ``ends[k]:ends[k + 1]``, sorted by code
    pairs: NDArray[np.int32]
    pair_codes: NDArray[np.int32]
    columns: Ints  # int64 (n_features,): the flat weight of each feature
    base_columns: Ints  # int64 (n_base,)
    n_columns: int

    def __len__(self) -> int:
        return len(self.starts) - 1


def sparse_lists(batch: CandidateBatch) -> SparseRows:
    """Return a batch as sparse rows with sorted, unique columns; all numbers are finite.

    Raises D703 for features that are NaN or infinite, D645 for costs that are NaN, D705 if there are no
    lists.
    """
    from scipy.sparse import csr_array

    if len(batch.offsets) < 2:
        raise UserError("D705")
    sparse = convert(batch, SparseRows)
    rows = csr_array(sparse.rows, dtype=np.float64)
    check_finite(sparse)
    bad = np.flatnonzero(np.isnan(sparse.cost))
    if len(bad):
        example = segments.find_owner(batch.offsets, bad[0])
        raise UserError("D645", n=len(bad), example=example)
    return SparseRows(canonical_rows(rows), sparse.offsets, sparse.cost, sparse.columns)


def base_columns(batch: CandidateBatch, base: str) -> Ints:
    """Return the columns of the feature group `base`; none if there is no such group."""
    if base not in batch.columns.group_names:
        return np.zeros(0, np.int64)
    return np.flatnonzero(batch.columns.in_groups([base]))


def reference_rows(batch: SparseRows, base: Sequence[int] | Ints) -> Ints:
    """Return the reference row of each list, shape (n,).

    Of several candidates with the lowest cost, it is the one with the greatest sum of base columns.
    """
    right = from_the_least(batch) == 0
    score = np.zeros(len(batch.cost))
    if len(base):
        score = np.asarray(batch.rows[:, np.asarray(base)].sum(axis=1)).ravel()
    return segments.best_rows(np.where(right, score, -np.inf), batch.offsets)


def pair_rows(batch: SparseRows, base: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the reference and of the other candidate of each pair.

    Lists whose candidates all have the same cost have no pairs.
    """
    reference = np.repeat(reference_rows(batch, base), np.diff(batch.offsets))
    cost = from_the_least(batch)
    costs_differ = np.repeat(segments.maxima(cost, batch.offsets) > 0, np.diff(batch.offsets))
    wrong = np.flatnonzero(costs_differ & (np.arange(len(cost)) != reference))
    return reference[wrong], wrong


def build_pairs(batch: CandidateBatch, base: str) -> CandidatePairs:
    """Return the pairs of a batch of lists.

    `base` is the feature group whose weights are set first and then fixed; it need not exist. Raises the
    errors of `sparse_lists`; D459 for a batch that cannot be converted to sparse rows.
    """
    lists = sparse_lists(batch)
    rows, fixed = lists.rows, base_columns(lists, base)
    right, wrong = pair_rows(lists, fixed)
    skip = np.zeros(rows.shape[1], np.bool_)
    skip[fixed] = True
    differences = row_differences(rows, right, wrong, skip)
    starts, columns = differences.indptr.astype(np.int64), differences.indices
    occurs = np.bincount(columns, minlength=rows.shape[1]) > 0
    used = np.flatnonzero(occurs)
    number = np.cumsum(occurs, dtype=np.int64).astype(np.int32) - np.int32(1)
    features = number[columns]
    distinct, codes = encode_values(differences.data)
    ends, pairs, pair_codes = index_by_feature(starts, features, codes, len(used), len(distinct))
    base_scores = rows[:, fixed].toarray() if len(fixed) else np.zeros((rows.shape[0], 0))
    return CandidatePairs(
        base_scores[right] - base_scores[wrong], starts, features, codes, distinct, ends, pairs, pair_codes,
        used.astype(np.int64), fixed, rows.shape[1],
    )  # fmt: skip


def row_differences(rows: Any, right: Ints, wrong: Ints, skip: NDArray[np.bool_]) -> Any:
    """Return the differences of pairs of rows as a csr_array without zeros and without columns in `skip`."""
    from scipy.sparse import csr_array, vstack

    parts = [csr_array((0, rows.shape[1]))]
    # the rows of all pairs at once would take many times the memory of their differences
    for first in range(0, len(right), _PAIRS_AT_A_TIME):
        some = slice(first, first + _PAIRS_AT_A_TIME)
        part = csr_array(rows[right[some]] - rows[wrong[some]])
        part.data[skip[part.indices]] = 0.0
        part.eliminate_zeros()
        parts.append(part)
    return vstack(parts, format="csr")


def index_by_feature(
    starts: Ints, features: NDArray[np.int32], codes: NDArray[np.int32], n_features: int, n_codes: int
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32]]:
    """Return the entries sorted by feature, then code, then pair: the features' ends, pairs and codes."""
    from scipy.sparse import csr_array

    # SciPy converts rows to columns by a stable counting sort: its time is linear, and pairs stay in order
    n = len(features)
    by_code = csr_array((np.arange(n), codes, starts), (len(starts) - 1, n_codes)).tocsc().data
    by_feature = csr_array((by_code, features[by_code], np.arange(n + 1)), (n, n_features)).tocsc()
    order = by_feature.data
    return by_feature.indptr.astype(np.int64), row_owners(starts)[order].astype(np.int32), codes[order]


def encode_values(values: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return the sorted distinct values, and the index of each value among them."""
    if len(values) and np.abs(values).max() < _MAX_CODES // 2:
        whole = values.astype(np.int32)
        if (whole == values).all():
            minimum = int(whole.min())
            occurs = np.bincount(whole - minimum) > 0
            number = (np.cumsum(occurs) - 1).astype(np.int32)
            return np.flatnonzero(occurs).astype(np.float64) + minimum, number[whole - minimum]
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.astype(np.int32)
