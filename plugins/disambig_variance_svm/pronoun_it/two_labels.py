"""What the extractors share that describe an "it" for a task with two labels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import Columns, DenseBlocks, Features, Group, Instances, UserError


def check_two_labels(group: Group) -> None:
    """Raise D455 for a group that does not have two candidates."""
    if len(group.candidates) != 2:
        raise UserError("D455", group=group.name, n=len(group.candidates))


def opposite_attributes(
    values: NDArray[Any], instances: Instances, group: Group, *, name: str, names: tuple[str, ...]
) -> Features:
    """Return attributes with these values for the second candidate, and their negatives for the first.

    Parameters
    ----------
    values : array of float, shape (n, A)
    name : str
        Feature group of the attributes.
    names : tuple of str
        Name of each of the A attributes.
    """
    costs = (np.arange(2) != instances.observed[:, None]).astype(np.float32)
    nothing = np.zeros(2 * len(instances), np.int32)
    column_of = np.arange(2 * len(names)).reshape(2, -1)
    both = np.stack([-values, values], axis=1).astype(np.float32)
    return Features(
        DenseBlocks(both, column_of, _columns(group.candidates, name, names), costs), nothing, nothing
    )


@lru_cache(maxsize=128)
def _columns(candidates: tuple[str, ...], group_name: str, names: tuple[str, ...]) -> Columns:
    """Return the columns of a group: one object, so that what is computed from it is computed once."""
    return Columns(
        np.repeat(np.arange(2, dtype=np.int32), len(names)),
        np.zeros(2 * len(names), np.int32),
        (group_name,),
        [f"{candidate}: {name}" for candidate in candidates for name in names],
    )
