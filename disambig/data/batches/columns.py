"""What a batch's columns (the flat weights) mean: for variance subsets, kernels, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError, nearest_first
from disambig.referable import Referable


@dataclass(frozen=True, slots=True, eq=False)
class Columns(Referable):
    """One entry a column.

    Attributes
    ----------
    labels : array of int32, shape (n_columns,)
        Candidate that the column speaks for, as an index in its group; -1 where all share it.
    groups : array of int32, shape (n_columns,)
        Feature group of the column, as an index into `group_names`.
    group_names : tuple of str
        Such as ``("2-gram", "3-gram", "bias")``; subsets of weights are named by these.
    names : sequence of str
        A name for people, empty where columns are too many to name.
    """

    labels: NDArray[np.int32]
    groups: NDArray[np.int32]
    group_names: tuple[str, ...]
    names: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def in_groups(self, wanted: Sequence[str], *, setting: str = "the learner") -> NDArray[np.bool_]:
        """Return which columns belong to the named feature groups.

        Parameters
        ----------
        wanted : sequence of str
        setting : str
            What of the config named them, for the message.

        Raises
        ------
        UserError
            D451 for a name that is no feature group of this batch.
        """
        unknown = [name for name in wanted if name not in self.group_names]
        if unknown:
            names = nearest_first(unknown[0], self.group_names)
            raise UserError("D451", setting=setting, name=unknown[0], names=names)
        return np.isin(self.groups, [self.group_names.index(name) for name in wanted])


def numbered(n_columns: int, label: int = -1) -> Columns:
    """Return columns of which only the number is known."""
    return Columns(np.full(n_columns, label, np.int32), np.zeros(n_columns, np.int32), ("all",))
