"""The regulariser of eq. (6) and (7): variance on some subsets of the weights, L2 on others or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Regulariser:
    """``1/2 w' Q w`` by disjoint subsets of the weights.

    Attributes
    ----------
    strength : array of float64, shape (n_columns,)
        `p` of a variance subset (summing to its total), the weight of an L2 term, or 0: free.
    subset : array of int64, shape (n_columns,)
        Number of the variance subset that a weight belongs to; -1 for L2 and free weights.
    """

    strength: Floats
    subset: NDArray[np.int64]

    @property
    def matrix(self) -> Floats:
        """Q, shape ``(n_columns, n_columns)``."""
        q = np.diag(self.strength)
        for p in self._subsets():
            q -= np.outer(p, p) / p.sum()  # Cov = diag(p) - p p', section 3 of the paper
        return q

    @property
    def null_space(self) -> Floats:
        """A basis of the directions that cost nothing, shape ``(n_directions, n_columns)``."""
        rows = [p > 0 for p in self._subsets()]
        rows += [np.arange(len(self.subset)) == i for i in np.flatnonzero(self.strength == 0)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.subset))

    def apply(self, weights: Floats) -> Floats:
        """Return ``Q w`` without making Q."""
        return self.strength * self._centred(weights)

    def penalty(self, weights: Floats) -> float:
        """Return ``1/2 w' Q w``."""
        return float(0.5 * np.sum(self.strength * self._centred(weights) ** 2))

    def conjugate(self, gradient: Floats) -> float:
        """Return ``1/2 g' Q^+ g`` for a `gradient` that is orthogonal to the null space."""
        kept = self.strength > 0
        return float(0.5 * np.sum(gradient[kept] ** 2 / self.strength[kept]))

    def _centred(self, weights: Floats) -> Floats:
        """Take its mean off each variance subset; means may be large where they cost nothing."""
        centred: Floats = weights.copy()
        for p in self._subsets():
            centred[p > 0] -= (p @ weights) / p.sum()
        return centred

    def _subsets(self) -> list[Floats]:
        """Return `p` of each variance subset, zero outside of it; not those that are free altogether."""
        numbers = [number for number in np.unique(self.subset) if number >= 0]
        found = [np.where(self.subset == number, self.strength, 0.0) for number in numbers]
        return [p for p in found if p.sum() > 0]
