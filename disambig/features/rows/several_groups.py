"""Instances of several groups, one group behind the other: what is the same for all is worked out once.

A text has a few decisions for each of many groups, and what is done a group costs more than the decisions. No
lists of instances' own in here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.dense import DenseBlocks
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.types import Features

Ints = NDArray[np.int64]
Part = tuple[Instances, Group]


@dataclass(frozen=True, slots=True, eq=False)
class SeveralGroups:
    """Some groups with their instances; a row is a candidate of an instance, of one group after the other.

    Attributes
    ----------
    groups : sequence of Group
    instances : Instances
        Of all groups.
    counts, sizes : arrays of int64, shape (n_groups,)
        Instances of each group, and its candidates.
    """

    groups: Sequence[Group]
    instances: Instances
    counts: Ints
    sizes: Ints

    @classmethod
    def of(cls, parts: Sequence[Part]) -> SeveralGroups:
        """Put parts, of which there is one at least, one behind the other."""
        groups = [group for _, group in parts]
        each = [instances for instances, _ in parts]
        together = each[0]
        if len(parts) > 1:
            together = Instances(
                np.concatenate([one.positions for one in each]),
                np.concatenate([one.lengths for one in each]),
                np.concatenate([one.groups for one in each]),
                np.concatenate([one.observed for one in each]),
            )
        counts, sizes = [len(one) for one in each], [len(group.candidates) for group in groups]
        return cls(groups, together, np.array(counts, np.int64), np.array(sizes, np.int64))

    @property
    def size_of_each(self) -> Ints:
        """Candidates of each instance, shape ``(n,)``."""
        return np.repeat(self.sizes, self.counts)

    @property
    def slices(self) -> list[slice]:
        """The instances of each group."""
        return _slices(self.counts)

    @property
    def rows(self) -> list[slice]:
        """The rows of each group."""
        return _slices(self.counts * self.sizes)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.counts @ self.sizes)

    def costs(self) -> NDArray[np.float32]:
        """Return what each row costs, shape ``(n_rows,)``: zero for the observed candidates, else one."""
        found = np.ones(self.n_rows, np.float32)
        begins = np.cumsum(self.size_of_each) - self.size_of_each
        known = self.instances.observed >= 0
        found[begins[known] + self.instances.observed[known]] = 0.0
        return found

    def blocks(
        self,
        values: NDArray[np.float32],
        found: NDArray[np.int32],
        asked: NDArray[np.int32],
        columns_of: Callable[[Group], Columns],
    ) -> list[Features]:
        """Return features of all rows by group, as blocks in which each candidate has columns of its own.

        Parameters
        ----------
        values : array of float32, shape (n_rows, A)
        found, asked : arrays of int32, shape (n_rows,)
        columns_of : callable
            From a group to the meaning of its ``K * A`` columns.
        """
        costs, a = self.costs(), values.shape[1]
        made = []
        for group, k, rows in zip(self.groups, self.sizes.tolist(), self.rows, strict=True):
            batch = DenseBlocks(
                values[rows].reshape(-1, k, a),
                np.arange(k * a).reshape(k, a),
                columns_of(group),
                costs[rows].reshape(-1, k),
            )
            made.append(Features(batch, found[rows], asked[rows]))
        return made


def _slices(sizes: Ints) -> list[slice]:
    return [slice(*each) for each in pairwise([0, *np.cumsum(sizes).tolist()])]
