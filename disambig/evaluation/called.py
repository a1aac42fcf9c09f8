"""Candidates by what they are called: what one means from one instance to the next, whatever its list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.data import segments
from disambig.data.groups import Group
from disambig.data.instances import Instances

Ints = NDArray[np.int64]


def called(instances: Instances, group: Group) -> tuple[Sequence[str], Ints]:
    """Return the names of all candidates of instances of a group, and the number of each one's name.

    Returns
    -------
    names : sequence of str
        Each once.
    numbers : array of int64, shape (n_candidates,)
    """
    if instances.own is None:
        return group.candidates, np.tile(np.arange(len(group.candidates)), len(instances))
    number: dict[str, int] = {}
    texts = instances.own.texts
    numbers = np.fromiter((number.setdefault(text, len(number)) for text in texts), np.int64, len(texts))
    return list(number), numbers


def most_frequent(
    instances: Instances,
    group: Group,
    *,
    right: NDArray[np.bool_] | None = None,
    seen: Instances | None = None,
) -> Ints:
    """Return the candidate of each instance that is right most often, the first of several.

    Parameters
    ----------
    instances : Instances
        Of `group`.
    right : array of bool, shape (n_candidates,), optional
        Which candidates of the instances are right; by default those observed.
    seen : Instances, optional
        Where is counted how often each is right; by default the instances themselves.
    """
    names, numbers = called(instances, group)
    if seen is None:
        counts = np.bincount(
            numbers[_right(instances, group) if right is None else right], minlength=len(names)
        )
    else:
        others, theirs = called(seen, group)
        found = np.bincount(theirs[_right(seen, group)], minlength=len(others)).tolist()
        known = dict(zip(others, found, strict=True))
        counts = np.array([known.get(name, 0) for name in names], np.int64)
    return segments.argmax(counts[numbers].astype(np.float64), instances.offsets(group))


def _right(instances: Instances, group: Group) -> Ints:
    """Return the rows of the observed candidates."""
    known = instances.observed >= 0
    return instances.offsets(group)[:-1][known] + instances.observed[known]
