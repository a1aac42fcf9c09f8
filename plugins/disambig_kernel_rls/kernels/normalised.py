"""What our kernels have in common: the rows that they see, of length one in one of several manners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch
from disambig.api.batches import normalised

from ..checks import check_name, check_weights
from ..reading import read

MANNERS = ("row", "groups", "none")
FULL = 0.5
"""The share of rows that have a column that is multiplied as a dense one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedRows:
    """Rows of length one as a whole ("row"), by feature group ("groups"), or as they are ("none").

    Parameters
    ----------
    normalise : {"row", "groups", "none"}
        By feature group: the inner product of two rows is the sum over the feature groups of their
        normalised inner products, each by its weight.
    weights : mapping of str to float, optional
        Of the feature groups where `normalise` is "groups"; only their ratios matter. Equal if not given.

    Raises
    ------
    UserError
        D777 and D778 for settings that make no sense; D451 and D476, from `rows`, for weights that are
        not those of the feature groups.
    """

    normalise: str = "row"
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        kind = type(self).__name__
        check_name(f"{kind}.normalise", self.normalise, MANNERS)
        check_weights(f"{kind}.weights", self.weights)
        if self.weights is not None:
            check_name(f"{kind}.normalise, with weights,", self.normalise, ("groups",))

    def rows(self, batch: CandidateBatch) -> Any:
        """Return the rows as the kernel sees them, a csr_array of shape (n, columns of the batch)."""
        from scipy.sparse import csr_array

        crossed = read(batch)
        if self.normalise == "none":
            return csr_array(crossed.rows, dtype=np.float64)
        if isinstance(crossed.rows, np.ndarray):
            crossed = replace(crossed, rows=csr_array(crossed.rows))
        if self.normalise == "row":
            return normalised(crossed, together=True).rows
        return normalised(crossed, None if self.weights is None else in_shares(self.weights)).rows


def in_shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Return weights divided by their sum, however large they are."""
    largest = max(weights.values())
    parts = {name: weight / largest for name, weight in weights.items()}
    total = sum(parts.values())
    return {name: part / total for name, part in parts.items()}


def products(left: Any, right: Any) -> NDArray[np.float64]:
    """Return the inner products of two sets of sparse rows, shape (n, m).

    Columns that most rows have, such as those of word vectors, are multiplied as dense ones.
    """
    full = np.bincount(right.indices, minlength=right.shape[1]) > FULL * right.shape[0]
    if full.sum() < 8:
        return np.asarray((left @ right.T).toarray(), np.float64)
    dense = [_some(rows, full).toarray() for rows in (left, right)]
    rest = [_some(rows, ~full) for rows in (left, right)]
    found: NDArray[np.float64] = dense[0] @ dense[1].T + (rest[0] @ rest[1].T).toarray()
    return found


def _some(rows: Any, wanted: NDArray[np.bool_]) -> Any:
    """Return some columns of sparse rows."""
    from scipy.sparse import csr_array

    kept = wanted[rows.indices]
    before = np.append(0, np.cumsum(kept))
    number = np.cumsum(wanted) - 1
    return csr_array(
        (rows.data[kept], number[rows.indices[kept]], before[rows.indptr]), (rows.shape[0], int(wanted.sum()))
    )


def squares(rows: Any) -> NDArray[np.float64]:
    """Return the squared length of each sparse row, shape (n,)."""
    return np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
