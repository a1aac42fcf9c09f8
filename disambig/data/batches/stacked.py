"""Batches one after another: more instances, in the same columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from disambig.data.batches.columns import Columns
from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.batches.sparse import CrossedRows, SparseRows
from disambig.types import CandidateBatch


def stacked(batches: Sequence[CandidateBatch]) -> CandidateBatch | None:
    """Return the instances of all batches as one batch; None where storage or columns are not the same."""
    first = batches[0]
    stack = _STACKS.get(type(first))
    if stack is None or any(type(batch) is not type(first) for batch in batches):
        return None
    if any(not _mean_the_same(first.columns, batch.columns) for batch in batches):
        return None
    found: CandidateBatch = stack(batches)
    return found


def _mean_the_same(first: Columns, other: Columns) -> bool:
    return first is other or (
        len(first) == len(other)
        and first.group_names == other.group_names
        and np.array_equal(first.labels, other.labels)
        and np.array_equal(first.groups, other.groups)
        and list(first.names) == list(other.names)
    )


def _blocks(batches: Sequence[DenseBlocks]) -> DenseBlocks:
    first = batches[0]
    return DenseBlocks(
        _beneath(batches, "values"), first.column_of, first.columns, _beneath(batches, "costs")
    )


def _dense_lists(batches: Sequence[DenseLists]) -> DenseLists:
    return DenseLists(_beneath(batches, "values"), *_ends(batches), batches[0].columns)


def _sparse(batches: Sequence[SparseRows]) -> SparseRows:
    return SparseRows(_beneath(batches, "rows"), *_ends(batches), batches[0].columns)


def _crossed(batches: Sequence[CrossedRows]) -> CrossedRows:
    return CrossedRows(_beneath(batches, "rows"), _beneath(batches, "costs"), batches[0].columns)


def _crossed_lists(batches: Sequence[CrossedLists]) -> CrossedLists:
    return CrossedLists(
        _beneath(batches, "rows"), _beneath(batches, "labels"), *_ends(batches), batches[0].columns
    )


_STACKS: dict[type, Callable[[Any], Any]] = {
    DenseBlocks: _blocks,
    DenseLists: _dense_lists,
    SparseRows: _sparse,
    CrossedRows: _crossed,
    CrossedLists: _crossed_lists,
}


def _beneath(batches: Sequence[Any], name: str) -> Any:
    parts = [getattr(batch, name) for batch in batches]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr"))


def _ends(batches: Sequence[Any]) -> tuple[Any, Any]:
    """Return offsets and costs of lists."""
    sizes = np.concatenate([np.diff(batch.offsets) for batch in batches])
    return np.append(0, np.cumsum(sizes)).astype(np.int64), _beneath(batches, "cost")
