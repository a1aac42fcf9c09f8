"""Features of several extractors side by side: one batch with all their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce

import numpy as np

from disambig.data.batches.columns import Columns
from disambig.data.batches.conversions import convert, crossed_beside
from disambig.data.batches.crossed_columns import CrossedColumns, beside, candidates_of, own_columns
from disambig.data.batches.crossed_lists import CrossedLists
from disambig.data.batches.dense import DenseBlocks
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.batches.joined import JoinedColumns, JoinedRows
from disambig.data.batches.sparse import CrossedRows, SparseRows
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.features.contract import transformed_all
from disambig.text.view import TokenView
from disambig.types import CandidateBatch, FeatureExtractor, Features

_WRITTEN_OUT = (SparseRows, DenseLists)
"""A row a candidate in columns that all share: sparse with dense gives sparse."""


def described(
    extractors: Sequence[FeatureExtractor], view: TokenView, instances: Instances, group: Group
) -> Features:
    """Return what extractors say of instances of one group, checked and side by side."""
    return described_all(extractors, view, [(instances, group)])[0]


def described_all(
    extractors: Sequence[FeatureExtractor], view: TokenView, parts: Sequence[tuple[Instances, Group]]
) -> list[Features]:
    """Return the same of instances of several groups, part by part; there is one at least."""
    names = names_of(extractors)
    of_each = [transformed_all(each, view, parts) for each in extractors]
    return [join(found, names) for found in zip(*of_each, strict=True)]


def names_of(extractors: Sequence[FeatureExtractor]) -> list[str]:
    """Return what extractors are called in messages."""
    return [type(extractor).__name__ for extractor in extractors]


def join(parts: Sequence[Features], names: Sequence[str] = ()) -> Features:
    """Put features of the same candidates side by side; evidence is that of all parts together.

    Batches of one storage give one of that storage, lists of dense and of sparse rows sparse rows; class
    blocks and crossed rows, and other mixtures, stay as they are beside one another (`JoinedRows`). Columns
    keep their names, labels and feature groups; groups of one name become one. Costs are the first's.

    Parameters
    ----------
    parts : sequence of Features
    names : sequence of str, optional
        What the parts are called in messages; by default by their numbers.

    Raises
    ------
    UserError
        D416 for parts that do not say something of the same candidates, or are sequences.
    """
    if len(parts) == 1:
        return parts[0]
    called = list(names) or [f"{number}" for number in range(1, len(parts) + 1)]
    batches = [part.batch for part in parts]
    for batch, name in zip(batches[1:], called[1:], strict=True):
        _check(batches[0], called[0], batch, name)
    found, asked = (reduce(np.add, [getattr(part, name) for part in parts]) for name in ("found", "asked"))
    return Features(_joined(batches), found.astype(np.int32), asked.astype(np.int32))


def _check(first: CandidateBatch, first_name: str, other: CandidateBatch, name: str) -> None:
    """Refuse batches that do not say something of the same candidates, or that are decided together."""
    known = (DenseBlocks, CrossedRows, DenseLists, CrossedLists, SparseRows, JoinedRows)
    if (
        isinstance(first, DenseBlocks)
        and isinstance(other, DenseBlocks)
        and first.costs.shape == other.costs.shape
    ):
        return
    problem = ""
    for batch in (first, other):
        if not isinstance(batch, known) and not _is_offsets(batch):
            problem = f"{type(batch).__name__} is decided together"
    n, n_other = len(first.offsets) - 1, len(other.offsets) - 1
    if problem:
        pass
    elif n != n_other:
        problem = f"one has {n:,} instances and the other {n_other:,}"
    elif not np.array_equal(first.offsets, other.offsets):
        at = int(np.flatnonzero(np.diff(first.offsets) != np.diff(other.offsets))[0])
        sizes = int(np.diff(first.offsets)[at]), int(np.diff(other.offsets)[at])
        problem = f"instance {at:,} has {sizes[0]} candidates in one and {sizes[1]} in the other"
    if problem:
        kinds = type(first).__name__, type(other).__name__
        raise UserError(
            "D416", first=f"{first_name} ({kinds[0]})", second=f"{name} ({kinds[1]})", problem=problem
        )


def _is_offsets(batch: CandidateBatch) -> bool:
    """Tell whether each row of a batch is a candidate of its own."""
    layout = batch.layout
    return isinstance(layout, np.ndarray) and np.array_equal(layout, batch.offsets)


def _joined(batches: Sequence[CandidateBatch]) -> CandidateBatch:
    kinds = {type(batch) for batch in batches}
    if kinds == {DenseBlocks}:
        return _blocks([batch for batch in batches if isinstance(batch, DenseBlocks)])
    if kinds == {CrossedRows}:
        return crossed_beside([batch for batch in batches if isinstance(batch, CrossedRows)])
    if kinds == {DenseLists}:
        return _dense_lists([batch for batch in batches if isinstance(batch, DenseLists)])
    if kinds == {CrossedLists}:
        crossed = [batch for batch in batches if isinstance(batch, CrossedLists)]
        same = all(np.array_equal(batch.labels, crossed[0].labels) for batch in crossed)
        return _crossed_lists(crossed) if same else JoinedRows.of(crossed)
    if kinds <= set(_WRITTEN_OUT):
        return _sparse([convert(batch, SparseRows) for batch in batches])
    flat = [p for batch in batches for p in (batch.parts if isinstance(batch, JoinedRows) else [batch])]
    by_kind: dict[type, list[CandidateBatch]] = {}
    for part in flat:  # each storage once, in the order in which they come
        by_kind.setdefault(type(part), []).append(part)
    if len(by_kind) == len(flat):
        return JoinedRows.of(flat)
    together = [_joined(same) if len(same) > 1 else same[0] for same in by_kind.values()]
    return together[0] if len(together) == 1 else JoinedRows.of(together)


def _sparse(batches: Sequence[SparseRows]) -> SparseRows:
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([batch.rows for batch in batches], format="csr"))
    columns = JoinedColumns([batch.columns for batch in batches])
    return SparseRows(rows, batches[0].offsets, batches[0].cost, columns)


def _dense_lists(batches: Sequence[DenseLists]) -> DenseLists:
    values = np.concatenate([batch.values for batch in batches], axis=1)
    columns = _columns_of_lists(tuple(batch.columns for batch in batches))
    return DenseLists(values, batches[0].offsets, batches[0].cost, columns)


@lru_cache(maxsize=1024)
def _columns_of_lists(parts: tuple[Columns, ...]) -> Columns:
    """Return the columns of lists side by side, written out: they are few, and asked for ever again."""
    joined = JoinedColumns(parts)
    return Columns(joined.labels, joined.groups, joined.group_names, list(joined.names))


def _crossed_lists(batches: Sequence[CrossedLists]) -> CrossedLists:
    from scipy.sparse import csr_array, hstack

    first = batches[0]
    rows = csr_array(hstack([csr_array(batch.rows) for batch in batches], format="csr"))
    own = beside(*(own_columns(batch.columns, int(batch.rows.shape[1])) for batch in batches))
    columns = CrossedColumns(own, candidates_of(first.columns, first.n_labels))
    return CrossedLists(rows, first.labels, first.offsets, first.cost, columns)


def _blocks(batches: Sequence[DenseBlocks]) -> DenseBlocks:
    values = np.concatenate([batch.values for batch in batches], axis=2)
    _, k, total = values.shape
    places = tuple(np.asarray(batch.column_of, np.int64).tobytes() for batch in batches)
    columns = _columns_of_blocks(tuple(batch.columns for batch in batches), places, k)
    return DenseBlocks(values, np.arange(k * total).reshape(k, total), columns, batches[0].costs)


@lru_cache(maxsize=1024)
def _columns_of_blocks(parts: tuple[Columns, ...], places: tuple[bytes, ...], k: int) -> Columns:
    """Return the meaning of the attributes of blocks side by side: one model asks for the same ever again.

    `places` are the `column_of` of the blocks, (K, A) each, in bytes.
    """
    names = tuple(dict.fromkeys(name for columns in parts for name in columns.group_names))
    groups, labelled = [], []
    for columns, place in zip(parts, places, strict=True):
        column_of = np.frombuffer(place, np.int64).reshape(k, -1)
        numbers = np.array([names.index(name) for name in columns.group_names], np.int32)
        groups.append(numbers[columns.groups[column_of]])
        labelled.append(np.array(list(columns.names) or [""] * len(columns), object)[column_of])
    total = sum(each.shape[1] for each in groups)
    return Columns(
        np.repeat(np.arange(k, dtype=np.int32), total),
        np.concatenate(groups, axis=1).ravel(),
        names,
        [str(name) for name in np.concatenate(labelled, axis=1).ravel()],
    )
