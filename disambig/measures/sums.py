"""Measures that are made of sums: what they share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from disambig.measures.outcomes import Outcomes

Floats = NDArray[np.float64]


class Summed:
    """A measure whose value is that of its sums over all instances."""

    __slots__ = ()

    @abstractmethod
    def terms(self, outcomes: Outcomes) -> Floats:
        """Return what each instance adds to each sum, shape ``(n, k)``."""

    def of_sums(self, sums: Floats) -> Floats:
        """Return the first sum divided by the second."""
        return ratio(sums[..., 0], sums[..., 1])

    def value(self, outcomes: Outcomes) -> float:
        """Return the figure; NaN where it is not defined."""
        return float(self.of_sums(self.terms(outcomes).sum(axis=0)))


def ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients; NaN where nothing is divided by."""
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    return np.divide(above, below, out=np.full(shape, np.nan), where=np.asarray(below) != 0)


def columns(*terms: NDArray[np.generic]) -> Floats:
    """Return terms side by side, shape ``(n, k)``."""
    return np.stack([np.asarray(term, np.float64) for term in terms], axis=1)
