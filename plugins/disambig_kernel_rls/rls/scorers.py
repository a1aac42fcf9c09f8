"""Rows of batches, the rule for ties, and the scorers: weights of columns, or training rows with coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, CandidateBatch, Columns, CrossedRows, Kernel, SparseRows, UserError
from disambig.api.batches import CrossedColumns, convert, own_columns, restricted
from disambig.api.decoding import from_the_least

TAKES: tuple[type, ...] = (CrossedRows, SparseRows)
"""Storages that the learners take."""


def read_batch(batch: CandidateBatch) -> CrossedRows:
    """Return a batch as crossed rows.

    Candidates of lists become instances of their own, between being right and nothing else: one model, whose
    score says how right a candidate is. Right are those of least cost in their list.

    Raises
    ------
    UserError
        D459 for a batch that can be read in neither way.
    """
    try:
        return convert(batch, CrossedRows)
    except UserError:
        lists = convert(batch, SparseRows)
    wrong = (from_the_least(lists) > 0).astype(np.float32)
    return CrossedRows(lists.rows, wrong[:, None], CrossedColumns(lists.columns, ("right",)))


def read_unchanged(read_rows: CrossedRows, batch: CandidateBatch) -> CandidateBatch:
    """Return what was read of lists, perhaps in other columns, as lists again; other rows as they are."""
    if len(read_rows.offsets) == len(batch.offsets):
        return read_rows
    columns = own_columns(read_rows.columns, int(read_rows.rows.shape[1]))
    return SparseRows(read_rows.rows, batch.offsets, batch.cost, columns)


WITHIN = 1e-6
"""Scores that differ by less are equal. Instances with the same features and different senses score 0 for
each of these up to n lambda and up to what rounding leaves of coefficients of 1 / (n lambda)."""


def find_winners(scores: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the best candidate of each instance; of equal ones the most frequent, then the first.

    Parameters
    ----------
    scores : array of float64, shape (n, K)
    frequencies : array of int, shape (K,) or (n, K)
        How often each candidate was right in training.

    Returns
    -------
    array of int64, shape (n,)
    """
    tied = scores >= scores.max(axis=1, keepdims=True) - WITHIN
    return np.where(tied, frequencies, -1).argmax(axis=1).astype(np.int64)


def break_ties(scores: NDArray[np.float64], frequencies: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return scores of which a plain argmax decides ties as `winners` does.

    Where the best scores are equal, that of the winner is raised above them by twice `WITHIN`; all other
    scores stay as they are. Shapes as of `winners`.
    """
    best = scores.max(axis=1)
    tied = np.flatnonzero((scores >= best[:, None] - WITHIN).sum(axis=1) > 1)
    if len(tied):
        scores = scores.copy()
        scores[tied, find_winners(scores[tied], frequencies)] = best[tied] + 2 * WITHIN
    return scores


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnWeights:
    """Scores candidate r by ``W_r . k(x) + b_r``, where k(x) is the row as a linear kernel sees it.

    The row is normalised over all its features, also those that no training example had; these weigh
    nothing. Equal scores fall to the candidate that training saw most (see `ties.settled`).

    Attributes
    ----------
    kernel : Kernel
        A linear one.
    columns : array of int32, shape (d,)
        The columns that have weights, rising.
    weights : array of float64, shape (K * d,)
        Candidate by candidate.
    bias : array of float64, shape (K,)
    frequencies : array of int64, shape (K,)
    shares : array of float64, shape (n_feature_groups,) or (0,)
        What each feature group weighs, for people: `weights` have it in them.
    """

    kernel: Kernel
    columns: NDArray[np.int32]
    weights: Floats
    bias: Floats
    frequencies: NDArray[np.int64]
    shares: Floats

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score a row of the batch.

        Raises
        ------
        ValueError
            For a batch of other columns or candidates than the weights are for.
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
        at = np.minimum(self.columns.searchsorted(rows.indices), d - 1)
        data = np.where(self.columns[at] == rows.indices, rows.data, 0.0)
        weights = self.weights.reshape(k, d)
        if len(at) < d:  # few rows: only the weights in use are read
            weights, at, d = weights[:, at], np.arange(len(at), dtype=np.int32), len(at)
        scores = csr_array((data, at, rows.indptr), shape=(n, d)) @ np.ascontiguousarray(weights.T)
        return break_ties(np.asarray(scores + self.bias), self.frequencies).ravel()

    def linear(self, batch: CandidateBatch) -> tuple[CandidateBatch, Floats]:
        """Return the normalised rows in the columns in use, and the weights.

        Where there is a bias, the rows have one more column, a constant. What settles ties is left out.
        """
        crossed = read_batch(batch)
        rows = self.kernel.rows(crossed)
        same = restricted(replace(crossed, rows=rows), self.columns)
        if not self.bias.any():
            return read_unchanged(same, batch), self.weights
        weights = np.column_stack([self.weights.reshape(len(self.bias), -1), self.bias])
        return read_unchanged(_with_constant(same), batch), weights.ravel()

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
        """Rebuild a scorer from `state`; ValueError where arrays do not fit, or are none that it gives."""
        columns = _whole("columns", arrays["columns"])
        weights, bias, shares = (
            np.asarray(arrays[name], np.float64) for name in ("weights", "bias", "shares")
        )
        frequencies = _whole("frequencies", arrays["frequencies"])
        if (columns[1:] <= columns[:-1]).any():
            raise ValueError("columns do not rise")
        if (
            bias.shape != frequencies.shape
            or weights.shape != (len(bias) * len(columns),)
            or shares.ndim != 1
        ):
            raise ValueError(f"weights of {len(frequencies)} candidates in {len(columns)} columns do not fit")
        return cls(kernel, columns.astype(np.int32), weights, bias, frequencies.astype(np.int64), shares)


def _with_constant(batch: CrossedRows) -> CrossedRows:
    from scipy.sparse import csr_array, hstack

    own = own_columns(batch.columns, int(batch.rows.shape[1]))
    wider = Columns(
        np.append(own.labels, np.int32(-1)),
        np.append(own.groups, np.int32(len(own.group_names))),
        (*own.group_names, "bias"),
        [*own.names, "bias"] if len(own.names) else (),
    )
    rows = csr_array(hstack([batch.rows, np.ones((batch.rows.shape[0], 1))], format="csr"))
    candidates = batch.columns.candidates if isinstance(batch.columns, CrossedColumns) else ()
    return CrossedRows(rows, batch.costs, CrossedColumns(wider, candidates))


@dataclass(frozen=True, slots=True, eq=False)
class SupportRows:
    """Scores candidate r by ``sum_j c_jr k(x, x_j)`` over the training rows x_j.

    Equal scores fall to the candidate that training saw most (see `ties.settled`).

    Attributes
    ----------
    kernel : Kernel
    rows : scipy.sparse.csr_array, shape (m, D)
        As the kernel sees them.
    coefficients : array of float64, shape (m, K)
    frequencies : array of int64, shape (K,)
    """

    kernel: Kernel
    rows: Any
    coefficients: Floats
    frequencies: NDArray[np.int64]

    def scores(self, batch: CandidateBatch) -> Floats:
        """Return one score a row of the batch.

        Raises
        ------
        ValueError
            For a batch of other columns or candidates than the coefficients are for.
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
        """Rebuild a scorer from `state`; ValueError where arrays do not fit, or are none that it gives."""
        from scipy.sparse import csr_array

        indptr, indices, width, frequencies = (
            _whole(name, arrays[name]) for name in ("indptr", "indices", "width", "frequencies")
        )
        data, coefficients = (np.asarray(arrays[name], np.float64) for name in ("data", "coefficients"))
        shape = (len(indptr) - 1, int(width[0]) if width.shape == (1,) else -1)
        ordered = shape[0] >= 0 and indptr[0] == 0 and (indptr[1:] >= indptr[:-1]).all()
        if not ordered or not data.shape == indices.shape == (indptr[-1],):
            raise ValueError("training rows do not lie behind one another")
        if indices.max(initial=-1) >= shape[1] or coefficients.shape != (shape[0], len(frequencies)):
            raise ValueError(f"training rows and coefficients do not fit {shape[1]} columns")
        rows = csr_array((data, indices, indptr), shape=shape)
        return cls(kernel, rows, coefficients, frequencies.astype(np.int64))


def _whole(name: str, given: NDArray[np.generic]) -> NDArray[np.integer]:
    """Return a saved column of whole numbers from 0 on; ValueError for another."""
    if given.ndim != 1 or given.dtype.kind not in "iu" or given.astype(np.int64).min(initial=0) < 0:
        raise ValueError(f"{name} are no whole numbers from 0 on")
    return given.astype(np.int64)
