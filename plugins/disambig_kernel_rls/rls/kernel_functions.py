"""Kernel functions over normalised feature rows, and constraints for the settings of kernels and learners."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch
from disambig.api.arrays import offsets_from_sizes
from disambig.api.batches import normalised
from disambig.api.settings import (
    ABOVE_ZERO,
    COUNT,
    NON_NEGATIVE,
    Constraint,
    choice,
    is_number,
    validate_settings,
)

from .scorers import read_batch

WEIGHT_CHOICES = ("alignment", "loo")
MAX_REGULARISATION, MAX_DEGREE = 1e100, 100

REGULARISATION = Constraint(
    "D776",
    lambda value: (
        value in ("auto", "loo")
        if isinstance(value, str)
        else is_number(value) and 0 < value <= MAX_REGULARISATION
    ),
)
DEGREE = Constraint("D513", lambda value: value <= MAX_DEGREE, lambda _: {"least": 1, "most": MAX_DEGREE})


def group_weights_constraint(choices: Sequence[str] = ()) -> Constraint:
    """Return the constraint (D777) for None, one of `choices`, or a mapping of weights of feature groups."""

    def accepts(value: Any) -> bool:
        if isinstance(value, Mapping):
            weights = list(value.values())
            return all(is_number(weight) and 0 <= weight < math.inf for weight in weights) and any(weights)
        return value is None or (isinstance(value, str) and value in choices)

    return Constraint("D777", accepts)


def _is_kernel(value: Any) -> bool:
    traits = ("is_linear", "rows", "gram")
    return not isinstance(value, type) and all(hasattr(value, name) for name in traits)


KERNEL = Constraint(
    "D781",
    _is_kernel,
    lambda value: {"seen": value.__name__ if isinstance(value, type) else type(value).__name__},
)


NORMALISATIONS = ("row", "groups", "none")
DENSE_SHARE = 0.5
"""Columns that are in more than this share of the rows are multiplied as dense ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedRows:
    """Rows normalised to length one as a whole ("row"), by feature group ("groups"), or not at all ("none").

    With "groups", the inner product of two rows is the weighted sum of the normalised inner products of their
    feature groups. Only the ratios of the `weights` matter; they are equal by default.

    Raises D777 and D778 for invalid settings; D451 and D476, from `rows`, if the weights do not match the
    feature groups.
    """

    normalise: str = "row"
    weights: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        validate_settings(self, normalise=choice("D778", NORMALISATIONS), weights=group_weights_constraint())
        if self.weights is not None:
            choice("D778", ("groups",)).check(
                f"{type(self).__name__}.normalise, with weights,", self.normalise
            )

    def rows(self, batch: CandidateBatch) -> Any:
        """Return the normalised rows, a csr_array of shape (n, columns of the batch)."""
        from scipy.sparse import csr_array

        crossed = read_batch(batch)
        if self.normalise == "none":
            return csr_array(crossed.rows, dtype=np.float64)
        if isinstance(crossed.rows, np.ndarray):
            crossed = replace(crossed, rows=csr_array(crossed.rows))
        if self.normalise == "row":
            return normalised(crossed, together=True).rows
        return normalised(crossed, None if self.weights is None else divide_by_sum(self.weights)).rows


def divide_by_sum(weights: Mapping[str, float]) -> dict[str, float]:
    """Return weights divided by their sum, for weights of any size."""
    largest = max(weights.values())  # divided by first: the sum may overflow
    parts = {name: weight / largest for name, weight in weights.items()}
    total = sum(parts.values())
    return {name: part / total for name, part in parts.items()}


def row_products(left: Any, right: Any) -> NDArray[np.float64]:
    """Return the inner products of two sets of sparse rows, shape (n, m).

    Columns that are in most rows, such as those of word vectors, are multiplied as dense ones, which is
    faster.
    """
    is_dense = np.bincount(right.indices, minlength=right.shape[1]) > DENSE_SHARE * right.shape[0]
    if is_dense.sum() < 8:
        return np.asarray((left @ right.T).toarray(), np.float64)
    dense = [_select_columns(rows, is_dense).toarray() for rows in (left, right)]
    rest = [_select_columns(rows, ~is_dense) for rows in (left, right)]
    products: NDArray[np.float64] = dense[0] @ dense[1].T + (rest[0] @ rest[1].T).toarray()
    return products


def _select_columns(rows: Any, selected: NDArray[np.bool_]) -> Any:
    """Return sparse rows with the wanted columns only."""
    from scipy.sparse import csr_array

    kept = selected[rows.indices]
    before = offsets_from_sizes(kept)
    number = np.cumsum(selected) - 1
    return csr_array(
        (rows.data[kept], number[rows.indices[kept]], before[rows.indptr]),
        (rows.shape[0], int(selected.sum())),
    )


def squares(rows: Any) -> NDArray[np.float64]:
    """Return the squared length of each sparse row, shape (n,)."""
    return np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearKernel(NormalisedRows):
    """The inner product of normalised rows; learners with it store weights of columns, not training rows.

    Normalised by "row" it is the kernel of RLSC-LIN, by "groups" with equal weights that of RLSC-COMB
    (Popescu 2004, section 4).

    Parameters
    ----------
    normalise : {"row", "groups", "none"}
        See `NormalisedRows`: rows are normalised as a whole, by feature group, or not at all.
    weights : mapping of str to float, optional
        Weights of the feature groups if `normalise` is "groups"; equal by default.
    """

    is_linear: ClassVar[bool] = True

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return ``<x, y>`` for each pair of rows, shape (n, m)."""
        return row_products(left, right)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialKernel(NormalisedRows):
    """The kernel ``((<x, y> + offset) / (1 + offset)) ** degree``, which is 1 for x = y of length one.

    Without normalisation there is no divisor: ``(<x, y> + offset) ** degree``.

    Parameters
    ----------
    degree : int
        1 to 100.
    offset : float
        Weight of products of fewer features; not negative.
    normalise, weights : settings of `LinearKernel`
    """

    degree: int = 2
    offset: float = 1.0
    is_linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        NormalisedRows.__post_init__(self)
        validate_settings(self, degree=COUNT)
        validate_settings(self, degree=DEGREE, offset=NON_NEGATIVE)

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the kernel of each pair of rows, shape (n, m)."""
        scale = 1.0 if self.normalise == "none" else 1.0 + self.offset
        with np.errstate(over="ignore"):  # learners raise an error for infinite values
            powers: NDArray[np.float64] = ((row_products(left, right) + self.offset) / scale) ** self.degree
        return powers


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianKernel(NormalisedRows):
    """The kernel ``exp(-gamma |x - y|^2)``.

    Parameters
    ----------
    gamma : float
        Above zero. The distance of normalised rows without negative numbers is at most the square root of 2.
    normalise, weights : settings of `LinearKernel`
    """

    gamma: float = 1.0
    is_linear: ClassVar[bool] = False

    def __post_init__(self) -> None:
        NormalisedRows.__post_init__(self)
        validate_settings(self, gamma=ABOVE_ZERO)

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the kernel of each pair of rows, shape (n, m)."""
        distances = squares(left)[:, None] + squares(right) - 2.0 * row_products(left, right)
        # rounding can make the distance of equal rows negative
        similarity: NDArray[np.float64] = np.exp(-self.gamma * np.maximum(distances, 0.0))
        return similarity
