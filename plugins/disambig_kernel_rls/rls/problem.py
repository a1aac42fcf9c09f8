"""Examples made ready for the solvers: rows in the columns that occur, and targets of plus and minus one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Kernel, UserError

from ..reading import read
from .scorers import ColumnWeights

Floats = NDArray[np.float64]
MOST = 1e100
"""Squares of larger numbers, and their sums, leave the range of floating point."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is learned from.

    Attributes
    ----------
    rows : scipy.sparse.csr_array, shape (n, d)
        As the kernel sees them; of a linear kernel the columns in use only.
    columns : array of int32, shape (d,)
        Which column of the batch each is, for linear kernels; empty for others.
    targets : array of float64, shape (n, K)
        One for the right candidates of an example, of which there may be several; minus one for the others.
    """

    rows: Any
    columns: NDArray[np.int32]
    targets: Floats

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which candidates are right, shape (n, K)."""
        return self.targets > 0

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """In how many examples each candidate is right, shape (K,)."""
        return self.right.sum(axis=0)

    def scorer(
        self, kernel: Kernel, weights: Floats, *, bias: Floats | None = None, shares: Floats | None = None
    ) -> ColumnWeights:
        """Return the scorer of a linear kernel.

        Parameters
        ----------
        weights : array of float64, shape (d, K)
        bias : array of float64, shape (K,), optional
        shares : array of float64, shape (n_feature_groups,), optional
            What each feature group weighs; `weights` have it in them.
        """
        bias = np.zeros(weights.shape[1]) if bias is None else bias
        shares = np.zeros(0) if shares is None else shares
        return ColumnWeights(kernel, self.columns, weights.T.ravel(), bias, self.frequencies, shares)


def prepare(batch: CandidateBatch, kernel: Kernel) -> Problem:
    """Return the problem of a batch; a candidate that no example has right is minus one in all of them.

    Raises
    ------
    UserError
        D459 for a batch that cannot be read, D705 where there is no example, D772 for
        numbers that are NaN or infinite, D773 for such as are beyond `MOST`.
    """
    from scipy.sparse import csr_array

    crossed = read(batch)
    if not len(crossed.costs):
        raise UserError("D705")
    check_numbers(crossed.rows if hasattr(crossed.rows, "indptr") else csr_array(crossed.rows))
    rows = kernel.rows(crossed)
    columns = np.zeros(0, np.int32)
    if kernel.is_linear:
        columns, at = np.unique(rows.indices, return_inverse=True)
        columns = columns.astype(np.int32)
        rows = csr_array((rows.data, at.astype(np.int32), rows.indptr), (rows.shape[0], len(columns)))
    return Problem(rows, columns, np.where(crossed.costs == 0, 1.0, -1.0))


def check_numbers(rows: Any) -> None:
    """Refuse sparse rows with numbers that are NaN or infinite (D772) or beyond `MOST` (D773)."""
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        example = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        raise UserError("D772", n=len(bad), example=example, dimension=int(rows.indices[bad[0]]))
    check_sizes(rows.data)


def check_sizes(values: Floats) -> None:
    """Refuse numbers beyond `MOST` (D773)."""
    if float(np.abs(values).max(initial=0.0)) > MOST:
        raise UserError("D773")
