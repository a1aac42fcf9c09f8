"""One sparse row a candidate, in columns that all candidates share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.sparse import SparseRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.errors import UserError
from disambig.types import Features


def own_lists(instances: Instances, extractor: object) -> CandidateLists:
    """Return the candidates of instances that have their own.

    Raises
    ------
    UserError
        D418 where they are those of a group.
    """
    if instances.own is None:
        raise UserError("D418", extractor=type(extractor).__name__)
    return instances.own


def as_features(
    rows: Any, columns: Columns, instances: Instances, group: Group, known: NDArray[Any]
) -> Features:
    """Return rows of candidates as features.

    Parameters
    ----------
    rows : scipy.sparse.csr_array of shape (n_candidates, n_columns)
    known : array of int, shape (n_candidates,)
        How many of a candidate's features were seen in training, and not.
    """
    batch = SparseRows(rows, instances.offsets(group), instances.costs(group), columns)
    found = np.diff(rows.indptr).astype(np.int32)
    return Features(batch, found, np.maximum(found, known).astype(np.int32))


def columns_named(names: Sequence[str], groups: NDArray[np.int32], group_names: tuple[str, ...]) -> Columns:
    """Return columns that belong to no candidate."""
    return Columns(np.full(len(groups), -1, np.int32), groups, group_names, names)
