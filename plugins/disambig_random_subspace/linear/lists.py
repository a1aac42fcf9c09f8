"""Lists of candidates made ready for the linear learners: rows, costs, and the order of the instances.

What is learned is one weight a column. Candidates of crossed lists have columns of their own label, and one
more, a constant of one: the label's intercept, which no mask removes. Lists whose candidates share their
columns have no intercept: it would raise all scores alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, SparseRows, UserError
from disambig.api.batches import CrossedLists, convert
from disambig.api.decoding import from_the_least

from .intercepts import wider_columns
from .problem import check_numbers

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ListProblem:
    """Candidates as kernels take them.

    Attributes
    ----------
    indptr, indices, data : arrays of uint64, uint32 and float64
        The rows of all candidates. Columns are those that occur, the most frequent first.
    offsets : array of int64, shape (n + 1,)
    cost : array of float64, shape (n_rows,)
        Counted from the least of an instance.
    order : array of int64, shape (n,)
        In which the instances are passed over.
    used : array of int64, shape (d,)
        The flat weight that each column stands for.
    dimension_of : array of int64, shape (d,)
        The dimension of each column, which masks remove; -1 for intercepts.
    dimensions, n_weights : int
    """

    indptr: NDArray[np.uint64]
    indices: NDArray[np.uint32]
    data: Floats
    offsets: NDArray[np.int64]
    cost: Floats
    order: NDArray[np.int64]
    used: NDArray[np.int64]
    dimension_of: NDArray[np.int64]
    dimensions: int
    n_weights: int

    @property
    def examples(self) -> tuple[Any, Any, Any, Any, Any, Any]:
        """The first arguments of all kernels."""
        return self.indptr, self.indices, self.data, self.offsets, self.cost, self.order

    @property
    def longest(self) -> int:
        """Candidates of the longest list."""
        return int(np.diff(self.offsets).max())

    def keep(self, masks: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Return masks of dimensions side by side as masks of columns, shape (d, LANES)."""
        from .kernels import LANES

        keep = np.zeros((len(self.used), LANES), np.uint8)
        removable = self.dimension_of >= 0
        keep[:, : len(masks)] = 1
        keep[removable, : len(masks)] = np.ascontiguousarray(masks.T)[self.dimension_of[removable]]
        return keep

    def weights(self, of_used: Floats) -> Floats:
        """Return flat weights from those of the used columns; D773 where they are no finite numbers."""
        if not np.isfinite(of_used).all():
            raise UserError("D773")
        full = np.zeros(self.n_weights)
        full[self.used] = of_used
        return full


def prepare_lists(batch: CandidateBatch, seed: int) -> ListProblem:
    """Return the problem of a batch of lists; the instances are permuted by ``default_rng(seed)``.

    Raises
    ------
    UserError
        As `problem.prepare`.
    """
    from scipy.sparse import csr_array

    if len(batch.offsets) < 2:
        raise UserError("D705")
    dimensions = len(batch.columns)
    crossed = isinstance(batch, CrossedLists)
    if isinstance(batch, CrossedLists):
        dimensions = int(batch.rows.shape[1])
        batch = with_constant(batch)
    rows = csr_array(convert(batch, SparseRows).rows, dtype=np.float64)
    check_numbers(rows, batch.offsets)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    often = np.bincount(rows.indices, minlength=rows.shape[1])
    used = np.argsort(-often, kind="stable")[: np.count_nonzero(often)].astype(np.int64)
    column_of = np.zeros(rows.shape[1], np.uint32)
    column_of[used] = np.arange(len(used))
    dimension_of = used
    if crossed:
        dimension_of = np.where(used % (dimensions + 1) < dimensions, used % (dimensions + 1), -1)
    return ListProblem(
        rows.indptr.astype(np.uint64),
        column_of[rows.indices],
        rows.data,
        batch.offsets,
        from_the_least(batch),
        np.random.default_rng(seed).permutation(len(batch.offsets) - 1),
        used,
        dimension_of,
        dimensions,
        rows.shape[1],
    )


def with_constant(batch: CrossedLists) -> CrossedLists:
    """Return crossed lists with a constant of one as the last column of each label."""
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([csr_array(batch.rows), np.ones((batch.rows.shape[0], 1))], format="csr"))
    columns = wider_columns(batch.columns, batch.n_labels)
    return CrossedLists(rows, batch.labels, batch.offsets, batch.cost, columns)
