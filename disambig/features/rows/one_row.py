"""One sparse row an instance, the same for all its candidates: what extractors of such rows share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_columns import CrossedColumns
from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.sparse import CrossedRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.types import Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array

AT_ONCE = 8192
"""Instances whose features are spread out at a time: their arrays stay near the cache."""

TOKENS_AT_ONCE = 500_000
"""Tokens that are looked at at a time: many instances in a long document look at all of it each."""

Ints = NDArray[np.int64]
Rows = tuple["csr_array", Ints, Ints]
"""Features of some instances, shape ``(n, D)``, how many features are known, and how many there are."""


def as_features(
    made: Rows, columns: Columns, instances: Instances, group: Group, extractor: object
) -> Features:
    """Cross rows that an extractor made with the candidates of `group`; `columns` are those of a row.

    Raises
    ------
    UserError
        D419 for a candidate of an instance's own that is none of the group: a row says something of labels
        that training has seen.
    """
    rows, found, asked = made
    crossed, sizes = CrossedColumns(columns, group.candidates), instances.sizes(group)
    costs = instances.costs(group)
    batch: CrossedRows | CrossedLists
    if instances.own is None:
        batch = CrossedRows(rows, costs.reshape(-1, len(group.candidates)), crossed)
    else:
        labels = _labels(instances.own.texts, group, extractor)
        batch = CrossedLists(rows, labels, instances.own.offsets, costs, crossed)
    return Features(batch, *(np.repeat(each, sizes).astype(np.int32) for each in (found, asked)))


def _labels(texts: Sequence[str], group: Group, extractor: object) -> Ints:
    """Return which candidate of the group each candidate of a list is."""
    number = {name: i for i, name in enumerate(group.candidates)}
    strange = next((text for text in texts if text not in number), None)
    if strange is not None:
        seen = f"{type(extractor).__name__} (group {group.name!r}, candidate {strange!r})"
        raise UserError("D419", extractor=seen)
    return np.fromiter((number[text] for text in texts), np.int64, len(texts))


def sparse(
    rows: Ints, columns: Ints, values: NDArray[np.float64] | None, shape: tuple[int, int]
) -> csr_array:
    """Return entries as a matrix, ones where `values` is None; equal ones are added, `rows` rise."""
    from scipy.sparse import csr_array

    starts = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    data = np.ones(len(columns)) if values is None else values
    made = csr_array((data, columns.astype(np.int32), starts), shape)
    made.sum_duplicates()
    return made


def below_each_other(parts: Sequence[Rows]) -> Rows:
    """Join what was made of some instances at a time."""
    if len(parts) == 1:
        return parts[0]
    from scipy.sparse import csr_array, vstack

    found, asked = (np.concatenate([part[which] for part in parts]) for which in (1, 2))
    return csr_array(vstack([part[0] for part in parts], format="csr")), found, asked


def portions(instances: Instances, sizes: Ints | None = None) -> list[Instances]:
    """Cut instances into runs of `AT_ONCE` at most; one at least, if an empty one.

    Where `sizes` says how many tokens each looks at, a run looks at `TOKENS_AT_ONCE` about.
    """
    n = len(instances)
    run = np.arange(n) // AT_ONCE
    if sizes is not None:
        run += np.cumsum(sizes) // TOKENS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), n]
    return [instances.take(slice(*each)) for each in pairwise(bounds)]


class Named(Protocol):
    """What an extractor knows: one entry a column, with its name where names are kept."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; none where they are not kept."""
        ...

    def __len__(self) -> int: ...


_made: WeakKeyDictionary[Named, dict[str, Columns]] = WeakKeyDictionary()


def named_columns(known: Named, group_name: str) -> Columns:
    """Return the columns of a row, all of one feature group; made once for what an extractor knows."""
    made = _made.setdefault(known, {})
    if group_name not in made:
        label, nothing = (np.broadcast_to(np.int32(number), (len(known),)) for number in (-1, 0))
        made[group_name] = Columns(label, nothing, (group_name,), known.names if len(known.names) else ())
    return made[group_name]
