"""One score a candidate as features: what many extractors come to."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.words.learned_words import one_attribute
from disambig.types import Features


def one_score(scores: NDArray[np.float32], instances: Instances, group: Group, name: str) -> Features:
    """Return a score of each candidate as its only attribute; none counts as an n-gram that was found.

    Parameters
    ----------
    scores : array of float32, shape (n_candidates,)
        Of all instances, one after the other: of the group's candidates, or of lists of their own.
    name : str
        What the attribute is called where candidates have lists of their own.
    """
    if instances.own is None:
        return one_attribute(scores.reshape(len(instances), len(group.candidates), 1), instances, group)
    none = np.zeros(len(scores), np.int32)
    batch = DenseLists(scores[:, None], instances.own.offsets, instances.costs(group), _columns_of(name))
    return Features(batch, none, none)


@lru_cache(maxsize=256)
def _columns_of(name: str) -> Columns:
    return Columns(np.array([-1], np.int32), np.zeros(1, np.int32), (name,), [name])
