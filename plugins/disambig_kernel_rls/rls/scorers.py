"""Scorers with weights of columns or with coefficients of training rows, and the rule for ties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, CrossedRows, Kernel, SparseRows, UserError
from disambig.api.arrays import Floats, HashVocabulary
from disambig.api.batches import CrossedColumns, convert, own_columns, restricted
from disambig.api.decoding import from_the_least

TAKES: tuple[type, ...] = (CrossedRows, SparseRows)
"""Batch types that the learners accept."""


def read_batch(batch: CandidateBatch) -> CrossedRows:
    """Return a batch as crossed rows.

    Each candidate in a list becomes an instance with the single candidate "right", so that one model scores
    how likely a candidate is correct. The candidates with the lowest cost in their list are the correct ones.

    Raises D459 for a batch that can be converted in neither way.
    """
    try:
        return convert(batch, CrossedRows)
    except UserError:
        lists = convert(batch, SparseRows)
    wrong = (from_the_least(lists) > 0).astype(np.float32)
    return CrossedRows(lists.rows, wrong[:, None], CrossedColumns(lists.columns, ("right",)))


def restore_lists(crossed: CrossedRows, batch: CandidateBatch) -> CandidateBatch:
    """Convert the crossed rows that `read_batch` made of lists back to lists; leave other rows alone."""
    if len(crossed.offsets) == len(batch.offsets):
        return crossed
    columns = own_columns(crossed.columns, int(crossed.rows.shape[1]))
    return SparseRows(crossed.rows, batch.offsets, batch.cost, columns)


TIE_TOLERANCE = 1e-6
"""Scores that differ by less than this are equal. Instances with the same features and different senses
should score 0 for each of these senses; the computed scores differ by about n lambda, and by rounding errors
of coefficients of the size 1 / (n lambda)."""


def find_winners(scores: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the best candidate of each instance; ties go to the most frequent candidate, then to the first.

    One against all others, as in section 4 of the paper.

    `scores` have the shape ``(n, K)``; `frequencies`, shape ``(K,)`` or ``(n, K)``, say how often each
    candidate was correct in training.
    """
    tied = scores >= scores.max(axis=1, keepdims=True) - TIE_TOLERANCE
    return np.where(tied, frequencies, -1).argmax(axis=1).astype(np.int64)


def break_ties(scores: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return scores whose plain argmax is the result of `find_winners`.

    If the best scores are equal, the winner's score is raised above them by twice `TIE_TOLERANCE`; all other
    scores stay as they are. The shapes are those of `find_winners`.
    """
    best = scores.max(axis=1)
    tied = np.flatnonzero((scores >= best[:, None] - TIE_TOLERANCE).sum(axis=1) > 1)
    if len(tied):
        scores = scores.copy()
        scores[tied, find_winners(scores[tied], frequencies)] = best[tied] + 2 * TIE_TOLERANCE
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class ColumnWeights:
    """A scorer of candidate r by ``W_r . k(x) + b_r``, with k(x) the row as normalised by a linear kernel.

    The row is normalised over all its features, including those that no training example had; these have no
    weight. Ties go to the candidate that was most frequent in training (see `break_ties`).
    """

    kernel: Kernel  # a linear kernel
    columns: NDArray[np.int32]  # (d,): the columns that have weights, ascending
    weights: Floats  # float64 (K * d,): the weights of one candidate after the other
    bias: Floats  # float64 (K,)
    frequencies: NDArray[np.int64]  # (K,)
    # float64 (n_feature_groups,): weight of each feature group, for information; it is already included in
    # `weights`
    shares: Floats

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score per row of the batch.

        Raises `ValueError` if the batch does not have the columns and candidates of the weights.
        """
        from scipy.sparse import csr_array

        crossed = read_batch(batch)
        n, k = crossed.costs.shape
        d = len(self.columns)
        if k != len(self.bias):
            raise ValueError(f"weights of {len(self.bias)} candidates, examples of {k}")
        if d and self.columns[-1] >= crossed.rows.shape[1]:
            raise ValueError(f"weights up to column {self.columns[-1]}, {crossed.rows.shape[1]} columns")
        if not d:
            return break_ties(np.tile(self.bias, (n, 1)), self.frequencies).ravel()
        rows = self.kernel.rows(crossed)
        at = HashVocabulary(self.columns).lookup(rows.indices)
        data, at = np.where(at < 0, 0.0, rows.data), np.maximum(at, 0)
        weights = self.weights.reshape(k, d)
        if len(at) < d:  # for few rows, only the weights in use are read
            weights, at, d = weights[:, at], np.arange(len(at), dtype=np.int32), len(at)
        scores = csr_array((data, at, rows.indptr), shape=(n, d)) @ np.ascontiguousarray(weights.T)
        return break_ties(np.asarray(scores + self.bias), self.frequencies).ravel()

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, Floats]:
        """Return the normalised rows in the columns in use, and the weights.

        If there is a bias, the rows have one more column, a constant. The rule for ties is not included.
        """
        crossed = read_batch(batch)
        rows = self.kernel.rows(crossed)
        same = restricted(replace(crossed, rows=rows), self.columns)
        if not self.bias.any():
            return restore_lists(same, batch), self.weights
        weights = np.column_stack([self.weights.reshape(len(self.bias), -1), self.bias])
        return restore_lists(_with_constant(same), batch), weights.ravel()

    def state(self) -> Arrays:
        """Return weights, columns, bias, frequencies and shares."""
        return {
            "columns": self.columns,
            "weights": self.weights,
            "bias": self.bias,
            "frequencies": self.frequencies,
            "shares": self.shares,
        }

    @classmethod
    def from_state(cls, kernel: Kernel, arrays: Arrays) -> ColumnWeights:
        """Rebuild a scorer from `state`; ValueError if the arrays do not match or are not from `state`."""
        columns = _natural_numbers("columns", arrays["columns"])
        weights, bias, shares = (
            np.asarray(arrays[name], np.float64) for name in ("weights", "bias", "shares")
        )
        frequencies = _natural_numbers("frequencies", arrays["frequencies"])
        if (columns[1:] <= columns[:-1]).any():
            raise ValueError("columns are not ascending")
        if (
            bias.shape != frequencies.shape
            or weights.shape != (len(bias) * len(columns),)
            or shares.ndim != 1
        ):
            raise ValueError(
                f"weights of {len(frequencies)} candidates in {len(columns)} columns do not match"
            )
        return cls(kernel, columns.astype(np.int32), weights, bias, frequencies.astype(np.int64), shares)


def _with_constant(batch: CrossedRows) -> CrossedRows:
    """Return crossed rows with a constant of one as the last column."""
    from scipy.sparse import csr_array, hstack

    wider = own_columns(batch.columns, int(batch.rows.shape[1])).with_group("bias", [-1])
    rows = csr_array(hstack([batch.rows, np.ones((batch.rows.shape[0], 1))], format="csr"))
    candidates = batch.columns.candidates if isinstance(batch.columns, CrossedColumns) else ()
    return CrossedRows(rows, batch.costs, CrossedColumns(wider, candidates))


@dataclass(frozen=True, slots=True, eq=False)
class SupportRows:
    """A scorer of candidate r by ``sum_j c_jr k(x, x_j)`` over the training rows x_j.

    Ties go to the candidate that was most frequent in training (see `break_ties`).
    """

    kernel: Kernel
    rows: Any  # shape (m, D): the training rows in the form that the kernel takes
    coefficients: Floats  # float64 (m, K)
    frequencies: NDArray[np.int64]  # (K,)

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score per row of the batch.

        Raises `ValueError` if the batch does not have the columns and candidates of the coefficients.
        """
        crossed = read_batch(batch)
        k = crossed.costs.shape[1]
        if k != len(self.frequencies):
            raise ValueError(f"coefficients of {len(self.frequencies)} candidates, examples of {k}")
        gram = self.kernel.gram(self.kernel.rows(crossed), self.rows)
        return break_ties(np.asarray(gram @ self.coefficients), self.frequencies).ravel()

    def state(self) -> Arrays:
        """Return the training rows, their coefficients, and the frequencies."""
        return {
            "indptr": np.asarray(self.rows.indptr, np.int64),
            "indices": np.asarray(self.rows.indices, np.int32),
            "data": np.asarray(self.rows.data, np.float64),
            "width": np.array([self.rows.shape[1]], np.int64),
            "coefficients": self.coefficients,
            "frequencies": self.frequencies,
        }

    @classmethod
    def from_state(cls, kernel: Kernel, arrays: Arrays) -> SupportRows:
        """Rebuild a scorer from `state`; ValueError if the arrays do not match or are not from `state`."""
        from scipy.sparse import csr_array

        indptr, indices, width, frequencies = (
            _natural_numbers(name, arrays[name]) for name in ("indptr", "indices", "width", "frequencies")
        )
        data, coefficients = (np.asarray(arrays[name], np.float64) for name in ("data", "coefficients"))
        shape = (len(indptr) - 1, int(width[0]) if width.shape == (1,) else -1)
        ordered = shape[0] >= 0 and indptr[0] == 0 and (indptr[1:] >= indptr[:-1]).all()
        if not ordered or not data.shape == indices.shape == (indptr[-1],):
            raise ValueError("training rows are not consecutive")
        if indices.max(initial=-1) >= shape[1] or coefficients.shape != (shape[0], len(frequencies)):
            raise ValueError(f"training rows and coefficients do not match {shape[1]} columns")
        rows = csr_array((data, indices, indptr), shape=shape)
        return cls(kernel, rows, coefficients, frequencies.astype(np.int64))


def _natural_numbers(name: str, array: NDArray[np.generic]) -> NDArray[np.integer]:
    """Return a saved array of integers that are not negative; ValueError for other arrays."""
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.astype(np.int64).min(initial=0) < 0:
        raise ValueError(f"{name} are not integers of at least 0")
    return array.astype(np.int64)
