"""Examples made ready for the linear learners: one order of the rows, one binary problem or several.

Two labels are one binary problem, more labels one for each against all others. A label without examples
gets the mean of the others' weights and an intercept that is less by one, so that it is never chosen; if
only one label has examples it is always chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CrossedRows, UserError

Floats = NDArray[np.float64]
MOST = 1e100
"""Squares of larger numbers, and their sums, leave the range of floating point."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows in the order in which learners pass over them, and their targets.

    Attributes
    ----------
    indptr, indices, data : arrays of uint64, uint32 and float64
        The rows. Columns are those that occur, the most frequent first: their weights lie together.
    used : array of int64, shape (d,)
        The dimension that each column stands for.
    targets : array of float64, shape (n_problems, n)
        1 for the label that a problem tells from others, -1 for these.
    seen : array of int64
        Labels with examples.
    n_labels, dimensions : int
    order : array of int64, shape (n,)
        Which example each row is.
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: Floats
    used: NDArray[np.int64]
    targets: Floats
    seen: NDArray[np.int64]
    n_labels: int
    dimensions: int
    order: NDArray[np.int64]

    @property
    def rows(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Floats]:
        """The rows as kernels take them."""
        return self.indptr, self.indices, self.data

    @property
    def matrix(self) -> Any:
        """The rows as a scipy.sparse.csr_array."""
        from scipy.sparse import csr_array

        shape = (len(self.indptr) - 1, len(self.used))
        return csr_array((self.data, self.indices.astype(np.int32), self.indptr.astype(np.int32)), shape)

    def zeros(self) -> tuple[Floats, Floats]:
        """Return coefficients, shape (n_problems, d), and intercepts, shape (n_problems,), of zero."""
        n = len(self.targets)
        return np.zeros((n, len(self.used))), np.zeros(n)

    def scores(self, decided: Floats) -> Floats:
        """Return the scores of labels, shape (n, n_labels), of what the problems say, (n_problems, n)."""
        full = np.zeros((decided.shape[1], self.n_labels))
        if len(self.seen) == 2:
            full[:, self.seen[1]], full[:, self.seen[0]] = decided[0] / 2, -decided[0] / 2
        elif len(self.seen) > 2:
            full[:, self.seen] = decided.T
        if len(self.seen) < self.n_labels:
            absent = np.setdiff1d(np.arange(self.n_labels), self.seen)
            full[:, absent] = full[:, self.seen].mean(axis=1, keepdims=True) - 1.0
        return full

    def weights(self, coefficients: Floats, intercepts: Floats, count: int) -> Floats:
        """Return the flat weights of all labels.

        Parameters
        ----------
        coefficients : array of float64, shape (n_problems, d)
        intercepts : array of float64, shape (n_problems,)
        count : int
            How many models they are the sum of.

        Returns
        -------
        array of float64, shape (n_labels * (dimensions + 1),)
            Label by label, the intercept last.

        Raises
        ------
        UserError
            D773 where they are no finite numbers.
        """
        if not (np.isfinite(coefficients).all() and np.isfinite(intercepts).all()):
            raise UserError("D773")
        full = np.zeros((self.n_labels, self.dimensions + 1))
        if len(self.seen) == 2:
            full[self.seen[1], self.used], full[self.seen[1], -1] = coefficients[0] / 2, intercepts[0] / 2
            full[self.seen[0]] -= full[self.seen[1]]
        elif len(self.seen) > 2:
            full[np.ix_(self.seen, self.used)], full[self.seen, -1] = coefficients, intercepts
        if len(self.seen) < self.n_labels:
            absent = np.setdiff1d(np.arange(self.n_labels), self.seen)
            full[absent] = full[self.seen].mean(axis=0)
            full[absent, -1] -= count
        return full.ravel()


def prepare(crossed: CrossedRows, seed: int) -> Problem:
    """Return the problem of a batch, its rows permuted by ``default_rng(seed)``.

    A candidate that costs nothing is right; of several the first is.

    Raises
    ------
    UserError
        D705 where there is no example, D772 for
        numbers that are NaN or infinite, D773 for such as are beyond `MOST`.
    """
    from scipy.sparse import csr_array

    if not len(crossed.costs):
        raise UserError("D705")
    order = np.random.default_rng(seed).permutation(len(crossed.costs))
    rows = csr_array(crossed.rows, dtype=np.float64)
    check_numbers(rows)
    rows = rows[order]
    rows.sum_duplicates()
    rows.eliminate_zeros()
    often = np.bincount(rows.indices, minlength=rows.shape[1])
    used = np.argsort(-often, kind="stable")[: np.count_nonzero(often)]
    column_of = np.zeros(rows.shape[1], np.uint32)
    column_of[used] = np.arange(len(used))
    right = crossed.costs[order].argmin(axis=1)
    seen = np.unique(right)
    positive = seen[1:] if len(seen) == 2 else seen if len(seen) > 2 else seen[:0]
    return Problem(
        rows.indptr.astype(np.uint64),
        column_of[rows.indices],
        rows.data,
        used.astype(np.int64),
        np.where(right == positive[:, None], 1.0, -1.0),
        seen,
        crossed.costs.shape[1],
        rows.shape[1],
        order,
    )


def check_numbers(rows: Any, offsets: NDArray[np.int64] | None = None) -> None:
    """Refuse sparse rows with numbers that are NaN or infinite (D772) or beyond `MOST` (D773).

    Examples are counted as rows or, with `offsets`, as the instances that these are of.
    """
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        example = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        if offsets is not None:
            example = int(np.searchsorted(offsets, example, side="right")) - 1
        raise UserError("D772", n=len(bad), example=example, dimension=int(rows.indices[bad[0]]))
    if np.abs(rows.data).max(initial=0.0) > MOST:
        raise UserError("D773")
