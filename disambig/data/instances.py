"""Instances: decisions to take, by columns. No spaCy object and no feature inside."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.lists import CandidateLists


@dataclass(frozen=True, slots=True, eq=False)
class Instances:
    """Places of a `TokenView`, or items outside any text, where a choice is to be made.

    The candidates are those of the instance's group or, where there is `own`, a list of its own.

    Attributes
    ----------
    positions : array of int64, shape (n,)
        Token that the observed candidate begins at; of items outside any text their number.
    lengths : array of int32, shape (n,)
        How many tokens the observed candidate takes (2 for "may be", 0 for an empty place).
    groups : array of int32, shape (n,)
        Index into the task's groups.
    observed : array of int32, shape (n,)
        In use the candidate that stands in the text, as an index in its group or list; -1 where there is
        none. In training and evaluation the right one.
    own : CandidateLists, optional
        Candidates of each instance's own.
    """

    positions: NDArray[np.int64]
    lengths: NDArray[np.int32]
    groups: NDArray[np.int32]
    observed: NDArray[np.int32]
    own: CandidateLists | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, index: NDArray[np.generic] | slice) -> Instances:
        """Return the instances chosen by an index array, a mask or a slice."""
        own = None if self.own is None else self.own.take(index)
        return Instances(
            self.positions[index], self.lengths[index], self.groups[index], self.observed[index], own
        )

    def sizes(self, group: Group) -> NDArray[np.int64]:
        """Return how many candidates each instance has, shape ``(n,)``; all belong to `group`."""
        if self.own is not None:
            return np.diff(self.own.offsets)
        return np.full(len(self), len(group.candidates), np.int64)

    def offsets(self, group: Group) -> NDArray[np.int64]:
        """Return where the candidates of each instance begin, shape ``(n + 1,)``; all belong to `group`."""
        if self.own is not None:
            return self.own.offsets
        return np.arange(len(self) + 1, dtype=np.int64) * len(group.candidates)

    def costs(self, group: Group) -> NDArray[np.float32]:
        """Return what each candidate costs, shape ``(n_candidates,)``: what an extractor puts into its batch.

        Zero for the observed candidate and one for the others; in a list that knows its costs what each
        candidate costs beyond the cheapest one: there may be no perfect one to choose.
        """
        offsets = self.offsets(group)
        costs = np.ones(int(offsets[-1]), np.float32)
        known = self.observed >= 0
        costs[offsets[:-1][known] + self.observed[known]] = 0.0
        if self.own is None:
            return costs
        if len(offsets) < 2:
            return costs
        least = np.minimum.reduceat(self.own.costs, offsets[:-1])
        beyond = self.own.costs - np.repeat(least, np.diff(offsets))
        return np.where(np.isnan(beyond), costs, beyond).astype(np.float32)

    def without_right(self) -> int:
        """Return how many lists that know their costs have no candidate that costs nothing."""
        if self.own is None or not len(self):
            return 0
        return int((np.minimum.reduceat(self.own.costs, self.own.offsets[:-1]) > 0).sum())

    def unseen(self) -> Instances:
        """Return the same decisions with nothing observed and no cost known, as when a model is tried."""
        own = self.own
        if own is not None:
            own = replace(own, costs=np.full_like(own.costs, np.nan))
        return replace(self, observed=np.full_like(self.observed, -1), own=own)
