"""Convert batches to another storage, join and normalise them, and restrict their columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches import CrossedRows, DenseBlocks, DenseLists, JoinedRows, SparseRows
from disambig.data.columns import Columns, CrossedColumns, candidate_names, join_columns, own_columns
from disambig.data.segments import HashVocabulary, Ragged, join_offsets, offsets_from_sizes, row_owners
from disambig.data.structured import ChainRows
from disambig.errors import UserError, nearest_first
from disambig.types import CandidateBatch

Batch = TypeVar("Batch")
MAX_DENSE_BYTES = 1 << 32
"""Maximum size of sparse rows that are made dense, in bytes."""


class _NotConvertible(Exception):
    """Raised if this batch cannot be converted although others of its storage can."""


def dense_to_sparse(batch: DenseBlocks) -> SparseRows:
    """Return the same rows in sparse form: Kesler's construction, one row per candidate."""
    from scipy.sparse import csr_array

    n, k, a = batch.values.shape
    columns = np.tile(batch.column_of.ravel(), n)
    starts = np.arange(n * k + 1) * a
    rows = csr_array((batch.values.ravel().astype(np.float64), columns, starts), (n * k, len(batch.columns)))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return SparseRows(rows, batch.offsets, batch.cost, batch.columns)


def dense_to_crossed(batch: DenseBlocks) -> CrossedRows:
    """Give every class all attributes of all candidates: the K-SVM's (n, K * A) rows."""
    n, k, a = batch.values.shape
    groups = batch.columns.groups[batch.column_of.ravel()]
    columns = Columns(
        np.repeat(np.arange(k, dtype=np.int32), k * a), np.tile(groups, k), batch.columns.group_names
    )
    return CrossedRows(batch.values.reshape(n, k * a), batch.costs, columns)


def dense_to_lists(batch: DenseBlocks) -> DenseLists:
    """Return one row per candidate; the candidates must share their columns."""
    n, k, a = batch.values.shape
    width, first = len(batch.columns), batch.column_of[0] if k else np.zeros(0, np.int64)
    if width != a or (batch.column_of != first).any() or len(np.unique(first)) != a:
        raise _NotConvertible
    values = np.empty((n * k, a), batch.values.dtype)
    values[:, first] = batch.values.reshape(n * k, a)
    return DenseLists(values, batch.offsets, batch.cost, batch.columns)


def crossed_to_sparse(batch: CrossedRows) -> SparseRows:
    """Write out the features of the candidates, in the columns of all labels."""
    return SparseRows(batch.written_out(), batch.offsets, batch.cost, batch.columns)


def lists_to_sparse(batch: DenseLists) -> SparseRows:
    """Return the same rows in sparse form."""
    from scipy.sparse import csr_array

    return SparseRows(csr_array(batch.values, dtype=np.float64), batch.offsets, batch.cost, batch.columns)


def sparse_to_lists(batch: SparseRows) -> DenseLists:
    """Return the same rows in dense form, for batches with few columns.

    Raises D417 if they would take more than `MAX_DENSE_BYTES`.
    """
    n_bytes = 4 * batch.rows.shape[0] * batch.rows.shape[1]
    if n_bytes > MAX_DENSE_BYTES:
        n, columns = batch.rows.shape
        raise UserError("D417", n=n, columns=columns, gigabytes=n_bytes / 1e9)
    values = batch.rows.toarray().astype(np.float32)
    return DenseLists(values, batch.offsets, batch.cost, batch.columns)


def joined_to_sparse(batch: JoinedRows) -> SparseRows:
    """Write out all parts and join them column-wise."""
    from scipy.sparse import csr_array, hstack

    rows = hstack([convert(part, SparseRows).rows for part in batch.parts], format="csr")
    return SparseRows(csr_array(rows), batch.offsets, batch.cost, batch.columns)


def joined_to_crossed(batch: JoinedRows) -> CrossedRows:
    """Give every class the attributes of all parts; of dense blocks, those of all candidates."""
    if any(not isinstance(part, DenseBlocks | CrossedRows) or has_own_labels(part) for part in batch.parts):
        raise _NotConvertible
    return join_crossed([convert(part, CrossedRows) for part in batch.parts])


def has_own_labels(batch: object) -> bool:
    """Return True if the instances of crossed rows have labels of their own."""
    return isinstance(batch, CrossedRows) and batch.labels is not None


def join_crossed(batches: list[CrossedRows]) -> CrossedRows:
    """Join rows that are crossed with the same labels; feature groups of the same name are merged."""
    from scipy.sparse import csr_array, hstack

    rows = csr_array(hstack([csr_array(batch.rows) for batch in batches], format="csr"))
    first = batches[0]
    rows.sort_indices()
    own = join_columns(*(own_columns(batch.columns, int(batch.rows.shape[1])) for batch in batches))
    columns = CrossedColumns(own, candidate_names(first.columns, first.n_labels))
    return CrossedRows(rows, first.costs, columns, first.labels)


def chains_to_sparse(batch: ChainRows) -> SparseRows:
    """Write out the edges, for small problems only."""
    return batch.places.edges()


CONVERSIONS: dict[tuple[type, type], Callable[[Any], Any]] = {
    (DenseBlocks, SparseRows): dense_to_sparse,
    (DenseBlocks, CrossedRows): dense_to_crossed,
    (DenseBlocks, DenseLists): dense_to_lists,
    (CrossedRows, SparseRows): crossed_to_sparse,
    (DenseLists, SparseRows): lists_to_sparse,
    (SparseRows, DenseLists): sparse_to_lists,
    (JoinedRows, SparseRows): joined_to_sparse,
    (JoinedRows, CrossedRows): joined_to_crossed,
    (ChainRows, SparseRows): chains_to_sparse,
}


@overload
def convert(batch: Any, storage: type[Batch], /, *, own_labels: bool = ...) -> Batch: ...
@overload
def convert(batch: Any, *storages: type, own_labels: bool = ...) -> Any: ...
def convert(batch: Any, *storages: type, own_labels: bool = False) -> Any:
    """Return `batch` unchanged if it has one of `storages`, else convert it to the first one possible.

    Parameters
    ----------
    batch : CandidateBatch
    storages : classes
    own_labels : bool
        Whether `CrossedRows` may have labels of their own for each instance; if not, these are converted.

    Raises
    ------
    UserError
        D459 if there is no such conversion: the config combines components that do not fit together.
    """
    if isinstance(batch, storages) and (own_labels or not has_own_labels(batch)):
        return batch
    for storage in storages:
        if (converted := _convert_once(batch, storage)) is not None:
            return converted
    accepted = " or ".join(storage.__name__ for storage in storages)
    actual = f"{type(batch).__name__}, which cannot be converted to that"
    if SparseRows not in storages and any((kind, SparseRows) in CONVERSIONS for kind in type(batch).__mro__):
        actual += " (only to SparseRows, which the author of the learner can add to its `takes`)"
    raise UserError("D459", wanted=accepted, seen=actual)


def _convert_once(batch: Any, storage: type) -> Any:
    for kind in type(batch).__mro__:
        if (kind, storage) in CONVERSIONS:
            try:
                return CONVERSIONS[kind, storage](batch)
            except _NotConvertible:
                return None
    if storage is DenseLists and (sparse := _convert_once(batch, SparseRows)) is not None:
        return sparse_to_lists(sparse)
    return None


def stack_batches(batches: Sequence[CandidateBatch]) -> CandidateBatch | None:
    """Concatenate the instances of all batches; None if their storage or columns differ."""
    first = batches[0]
    if type(first) not in _STACKED or any(type(batch) is not type(first) for batch in batches):
        return None
    if any(has_own_labels(batch) != has_own_labels(first) for batch in batches):
        return None
    if any(not _have_same_meaning(first.columns, batch.columns) for batch in batches):
        return None
    return _stack(batches)


def _have_same_meaning(first: Columns, other: Columns) -> bool:
    return first is other or (
        len(first) == len(other)
        and first.group_names == other.group_names
        and np.array_equal(first.labels, other.labels)
        and np.array_equal(first.groups, other.groups)
        and list(first.names) == list(other.names)
    )


_STACKED = {
    DenseBlocks: ("values", "costs"),
    DenseLists: ("values", "cost"),
    SparseRows: ("rows", "cost"),
    CrossedRows: ("rows", "costs"),
}
"""The arrays that are concatenated, by storage."""


def _stack(batches: Sequence[Any]) -> Any:
    first = batches[0]
    fields = {name: _stack_arrays(batches, name) for name in _STACKED[type(first)]}
    if isinstance(first, DenseLists | SparseRows):
        fields["offsets"] = _stack_offsets(batches)
    elif has_own_labels(first):
        fields["labels"] = Ragged(_stack_arrays(batches, "label_of_rows"), _stack_offsets(batches))
    return replace(first, **fields)


def _stack_arrays(batches: Sequence[Any], name: str) -> Any:
    parts = [getattr(batch, name) for batch in batches]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr"))


def _stack_offsets(batches: Sequence[Any]) -> Any:
    return join_offsets(batch.offsets for batch in batches)


_MIN_SQUARE, _MAX_SQUARE = 1e-200, 1e200
"""Squared lengths outside this range have lost digits to underflow or overflow."""


def normalised(
    batch: CrossedRows, weights: Mapping[str, float] | None = None, *, together: bool = False
) -> CrossedRows:
    """Scale the columns of each feature group in each row to a squared length equal to the group's weight.

    Parameters
    ----------
    batch : CrossedRows
        Has sparse rows; it is not changed.
    weights : mapping of str to float, optional
        Weight of each feature group, not negative. Default: equal weights with sum 1.
    together : bool
        Whether whole rows are scaled to length one instead; `weights` are ignored then.

    Returns
    -------
    CrossedRows
        A row without features in a group stays empty there, so that its length is smaller.

    Raises
    ------
    UserError
        D451 for a weight whose name is not a feature group, D476 for a feature group without a weight or
        with a negative one.
    """
    from scipy.sparse import csr_array

    rows = csr_array(batch.rows)
    row_of_entry = row_owners(rows.indptr)
    data = np.asarray(rows.data, np.float64)
    if together:
        segment, group_weights = row_of_entry, np.ones(1)
        group_of_entry = np.zeros(len(data), np.int32)
        n_groups = 1
    else:
        own = own_columns(batch.columns, int(batch.rows.shape[1]))
        group_weights = _group_weights(own.group_names, weights)
        n_groups = len(own.group_names)
        group_of_entry = own.groups[rows.indices]
        segment = row_of_entry * n_groups + group_of_entry
    n_segments = rows.shape[0] * n_groups
    # a NumPy error state set to "raise" by a program that embeds this must not stop what is repaired below
    with np.errstate(over="ignore", under="ignore"):
        sqnorms = np.bincount(segment, data * data, minlength=n_segments)
    extreme = ((sqnorms < _MIN_SQUARE) | (sqnorms > _MAX_SQUARE))[segment]
    if extreme.any():  # the squares under- or overflow: divide by the largest number first
        largest = np.zeros(n_segments)
        np.maximum.at(largest, segment[extreme], np.abs(data[extreme]))
        data = data / np.where(largest > 0, largest, 1.0)[segment]
        sqnorms = np.bincount(segment, data * data, minlength=n_segments)
    scale = np.sqrt(group_weights[group_of_entry] / np.where(sqnorms > 0, sqnorms, 1.0)[segment])
    return replace(batch, rows=csr_array((data * scale, rows.indices, rows.indptr), rows.shape))


def _group_weights(names: tuple[str, ...], weights: Mapping[str, float] | None) -> NDArray[np.float64]:
    """Return the weights of the feature groups as an array; equal weights by default."""
    if weights is None:
        return np.full(len(names), 1.0 / max(len(names), 1))
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise UserError("D451", setting="weights", name=unknown[0], names=nearest_first(unknown[0], names))
    for name in names:
        value = weights.get(name)
        if value is None or not 0 <= value < np.inf:
            raise UserError("D476", name=name, seen="none" if value is None else value)
    return np.array([weights[name] for name in names], np.float64)


LARGEST_NUMBER = 1e100
"""Squares of larger numbers, and their sums, leave the range of floating point."""


def check_numbers(rows: Any, offsets: NDArray[np.int64] | None = None) -> None:
    """Raise D772 for NaN and infinity in sparse rows, and D773 for numbers beyond `LARGEST_NUMBER`.

    The message of D772 has the number of the row or, with `offsets`, of its instance.
    """
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        example = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        if offsets is not None:
            example = int(np.searchsorted(offsets, example, side="right")) - 1
        raise UserError("D772", n=len(bad), example=example, dimension=int(rows.indices[bad[0]]))
    if float(np.abs(rows.data).max(initial=0.0)) > LARGEST_NUMBER:
        raise UserError("D773")


def used_columns(batch: CrossedRows) -> NDArray[np.int64]:
    """Return the columns that have an entry in some row, ascending."""
    from scipy.sparse import csr_array

    return np.unique(csr_array(batch.rows).indices).astype(np.int64)


def restricted(batch: CrossedRows, columns: NDArray[np.integer]) -> CrossedRows:
    """Return the batch with only these columns; `columns` are ascending, shape ``(d,)``."""
    from scipy.sparse import csr_array

    rows = csr_array(batch.rows)
    new_columns = HashVocabulary(columns).lookup(rows.indices)
    is_kept = new_columns >= 0
    ends = offsets_from_sizes(is_kept)[rows.indptr]
    kept_rows = csr_array(
        (rows.data[is_kept], new_columns[is_kept].astype(np.int32), ends), (rows.shape[0], len(columns))
    )
    own = own_columns(batch.columns, int(batch.rows.shape[1]))
    names = [own.names[column] for column in columns] if len(own.names) else ()
    kept_columns = Columns(own.labels[columns], own.groups[columns], own.group_names, names)
    candidates = candidate_names(batch.columns, batch.costs.shape[1])
    return CrossedRows(kept_rows, batch.costs, CrossedColumns(kept_columns, candidates))
