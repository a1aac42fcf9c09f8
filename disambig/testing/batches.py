"""The contract of a batch: storages of somebody else's hold it as well as ours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.conversions import convert
from disambig.data.batches.sparse import SparseRows
from disambig.errors import UserError
from disambig.testing.checks import Check, checks_of, require, require_close, require_equal
from disambig.types import CandidateBatch


def check_batch(batch: CandidateBatch) -> list[Check]:
    """Return the checks of a batch.

    Parameters
    ----------
    batch : CandidateBatch
        A few instances with a few columns: all features are looked at.
    """
    return checks_of(_Checks(batch))


@dataclass
class _Checks:
    _batch: CandidateBatch

    def says_where_the_rows_of_each_instance_begin(self) -> None:
        offsets, n_rows = self._batch.offsets, len(self._batch.cost)
        require(offsets.dtype == np.int64, f"offsets of {offsets.dtype}, not int64")
        covered = offsets[0] == 0 and offsets[-1] == n_rows
        require(bool(covered), f"offsets do not cover the {n_rows} rows")
        require(bool((np.diff(offsets) > 0).all()), "an instance has no row")

    def says_what_rows_cost(self) -> None:
        cost = self._batch.cost
        require(cost.dtype == np.float32, f"costs of {cost.dtype}, not float32")
        require(bool((cost >= 0).all()), "a cost is negative, or NaN")

    def says_what_its_columns_mean(self) -> None:
        columns = self._batch.columns
        n = len(columns)
        require(columns.labels.shape == (n,), f"labels of shape {columns.labels.shape} for {n} columns")
        require(columns.groups.shape == (n,), f"groups of shape {columns.groups.shape} for {n} columns")
        known = (columns.groups >= 0) & (columns.groups < len(columns.group_names))
        require(bool(known.all()), "a column is of a feature group that has no name")
        require(len(columns.names) in (0, n), f"{len(columns.names)} names for {n} columns")

    def scores_are_linear(self) -> None:
        rows, rng = self._rows(), np.random.default_rng(0)
        for _ in range(3):
            weights = rng.normal(size=len(self._batch.columns))
            scores = self._batch.scores(weights)
            require(scores.dtype == np.float64, f"scores of {scores.dtype}, not float64")
            require_close(scores, rows @ weights, "scores", within=1e-5)

    def adjoint_is_that_of_scores(self) -> None:
        mass = np.random.default_rng(0).normal(size=len(self._batch.cost))
        sums = self._batch.adjoint(mass)
        require(sums.dtype == np.float64, f"adjoint of {sums.dtype}, not float64")
        require_close(sums, self._rows().T @ mass, "adjoint", within=1e-4)

    def knows_the_length_of_its_rows(self) -> None:
        squares = (self._rows() ** 2).sum(axis=1)
        require_close(self._batch.row_sqnorm(), squares, "row_sqnorm", within=1e-4)

    def takes_instances_in_any_order(self) -> None:
        n, offsets, rows = len(self._batch.offsets) - 1, self._batch.offsets, self._rows()
        for index in (np.arange(n)[::-1], np.array([0]), np.array([n - 1, 0, 0]), np.arange(0)):
            part = self._batch.take(index)
            own = [np.arange(offsets[i], offsets[i + 1]) for i in index]
            wanted = np.concatenate([np.zeros(0, np.int64), *own])
            require_equal(np.diff(part.offsets), np.diff(offsets)[index], f"candidates of {index}")
            require_equal(part.cost, self._batch.cost[wanted], f"costs of {index}")
            require(len(part.columns) == len(self._batch.columns), "take changes the columns")
            if len(index):
                require_close(_rows(part), rows[wanted], f"features of {index}", within=1e-5)

    def is_the_same_written_out(self) -> None:
        """Learners of sparse rows take it, if it can be converted; see `conversions.WritesOut`."""
        try:
            sparse = convert(self._batch, SparseRows)
        except UserError:
            return
        require_close(_rows(sparse), self._rows(), "features as sparse rows", within=1e-5)
        require_equal(sparse.cost, self._batch.cost, "costs as sparse rows")
        require_equal(sparse.offsets, self._batch.offsets, "offsets as sparse rows")

    def _rows(self) -> NDArray[np.float64]:
        return _rows(self._batch)


def _rows(batch: CandidateBatch) -> NDArray[np.float64]:
    """Return all features, shape (n_rows, n_columns), from scores alone."""
    units = np.eye(len(batch.columns))
    return np.array([batch.scores(unit) for unit in units]).reshape(len(units), -1).T
