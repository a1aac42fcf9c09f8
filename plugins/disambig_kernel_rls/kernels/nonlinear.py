"""True kernels over normalised rows: the learner keeps training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import check_above_zero, check_degree, check_not_negative
from .normalised import NormalisedRows, products, squares


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial(NormalisedRows):
    """``((<x, y> + offset) / (1 + offset)) ** degree``, which is 1 for x = y of length one.

    Rows that are not normalised are not divided either: ``(<x, y> + offset) ** degree``.

    Parameters
    ----------
    degree : int
        1 to 100.
    offset : float
        From 0 on: how much products of fewer features count.
    """

    degree: int = 2
    offset: float = 1.0

    def __post_init__(self) -> None:
        NormalisedRows.__post_init__(self)
        check_degree("Polynomial.degree", self.degree)
        check_not_negative("Polynomial.offset", self.offset)

    @property
    def is_linear(self) -> bool:
        """False."""
        return False

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the kernel of each pair of rows, shape (n, m)."""
        scale = 1.0 if self.normalise == "none" else 1.0 + self.offset
        with np.errstate(over="ignore"):  # learners refuse what is infinite
            powers: NDArray[np.float64] = ((products(left, right) + self.offset) / scale) ** self.degree
        return powers


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaussian(NormalisedRows):
    """``exp(-gamma |x - y|^2)``.

    Parameters
    ----------
    gamma : float
        Above zero. Normalised rows are at most the square root of 2 apart where all numbers are positive.
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        NormalisedRows.__post_init__(self)
        check_above_zero("Gaussian.gamma", self.gamma)

    @property
    def is_linear(self) -> bool:
        """False."""
        return False

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the kernel of each pair of rows, shape (n, m)."""
        distances = squares(left)[:, None] + squares(right) - 2.0 * products(left, right)
        alike: NDArray[np.float64] = np.exp(-self.gamma * np.maximum(distances, 0.0))
        return alike
