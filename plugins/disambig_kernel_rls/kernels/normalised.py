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
    """Return the inner products of two sets of sparse rows, shape (n, m)."""
    return np.asarray((left @ right.T).toarray(), np.float64)


def squares(rows: Any) -> NDArray[np.float64]:
    """Return the squared length of each sparse row, shape (n,)."""
    return np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
