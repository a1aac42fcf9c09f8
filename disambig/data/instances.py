"""Instances: the decisions to take in a view, by columns. No spaCy object and no feature inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Instances:
    """Places of a `TokenView` where a choice between a group's candidates is to be made.

    Attributes
    ----------
    positions : array of int64, shape (n,)
        Token that the observed candidate begins at.
    lengths : array of int32, shape (n,)
        How many tokens the observed candidate takes (2 for "may be").
    groups : array of int32, shape (n,)
        Index into the task's groups.
    observed : array of int32, shape (n,)
        Index of the candidate that stands in the text, in its group; -1 where there is none.
    """

    positions: NDArray[np.int64]
    lengths: NDArray[np.int32]
    groups: NDArray[np.int32]
    observed: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, index: NDArray[np.generic] | slice) -> Instances:
        """Return the instances chosen by an index array, a mask or a slice."""
        return Instances(self.positions[index], self.lengths[index], self.groups[index], self.observed[index])
