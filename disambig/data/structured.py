"""Batches of structures, and conversions between batches.

Structures are jointly labelled sequences, and rows that are sums of shared parts. Conversions change the
storage of a batch, join and normalise batches, and restrict their columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches import CrossedRows, DenseBlocks, DenseLists, EqualLists, JoinedRows, SparseRows
from disambig.data.columns import Columns, CrossedColumns, candidate_names, join_columns, own_columns
from disambig.data.segments import (
    HashVocabulary,
    Ragged,
    as_index,
    find_owner,
    join_offsets,
    offsets_from_sizes,
    row_owners,
    take_rows,
)
from disambig.errors import UserError, nearest_first
from disambig.types import CandidateBatch


class CsrArrays(NamedTuple):
    """The arrays of a `scipy.sparse.csr_array`, for code that need not import SciPy, which takes 0.1 s."""

    data: NDArray[Any]
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    shape: tuple[int, int]

    def matrix(self) -> Any:
        """Return the csr_array."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class SequenceRows(EqualLists):
    """Feature rows of the places of sequences, crossed with K labels; never written out.

    The flat weights are those of `CrossedRows`, shape (K, D), then those of the first label, (K,), then
    those of (previous label, label), (K, K). `scores` and `adjoint` use only the first of these, because
    pairs of labels are not rows of single instances; they are rows in the result of `edges`.

    Attributes
    ----------
    csr : scipy.sparse.csr_array or CsrArrays, shape (n, D)
        The feature rows; code that needs only their arrays uses these in place of `rows`.
    costs : array of float32, shape (n, K)
    sequences : array of int64, shape (n,)
        Number of the sequence that each instance belongs to; those of one sequence are adjacent.
    """

    csr: Any
    costs: NDArray[np.float32]
    sequences: NDArray[np.int64]

    @property
    def rows(self) -> Any:
        """The feature rows as a csr_array, shape ``(n, D)``."""
        if isinstance(self.csr, CsrArrays):
            object.__setattr__(self, "csr", self.csr.matrix())
        return self.csr

    @property
    def n_weights(self) -> int:
        """Length of the flat weights: K * (D + 1 + K)."""
        k = self.costs.shape[1]
        return k * (int(self.csr.shape[1]) + 1 + k)

    @property
    def columns(self) -> Columns:
        """Descriptions of the flat weights."""
        k, d = self.costs.shape[1], int(self.csr.shape[1])
        labels = np.arange(k, dtype=np.int32)
        return Columns(
            np.concatenate([np.repeat(labels, d), labels, np.tile(labels, k)]),
            np.repeat(np.array([0, 1], np.int32), [k * d, k + k * k]),
            ("token", "label before"),
        )

    @property
    def layout(self) -> NDArray[np.int64]:
        """Index of the first instance of each sequence, followed by the number of instances."""
        return run_starts(self.sequences)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``W_r . x`` for each label r of each instance, without pairs, shape ``(n * K,)``."""
        k = self.costs.shape[1]
        label_weights = weights[: k * self.rows.shape[1]].reshape(k, -1)
        return np.asarray(self.rows @ label_weights.T).ravel()

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the crossed features summed with weights `mass`; zero for pairs."""
        k = self.costs.shape[1]
        label_sums = np.asarray((self.rows.T @ mass.reshape(self.costs.shape)).T).ravel()
        return np.concatenate([label_sums, np.zeros(k + k * k)])

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each label's features, which is that of its instance's row."""
        return np.repeat(np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel(), self.costs.shape[1])

    def take(self, index: NDArray[np.int64]) -> SequenceRows:
        """Return the batch of the instances in `index`; sequences close up if some of theirs are left out."""
        return SequenceRows(self.rows[index], self.costs[index], self.sequences[index])

    def as_chains(self) -> ChainRows:
        """Return the edges of the labellings, for joint decisions: one instance per sequence."""
        return ChainRows(self)

    def edges(self) -> SparseRows:
        """Write out the edges for the decoder `Chain`, one instance per sequence; for small problems only.

        The rows are in the order that `disambig.decode.Chain` expects; each costs as much as the label it
        leads to. With d features and K labels, the columns are the K d weights of labels, K of first labels
        and K K of pairs of labels.
        """
        from scipy.sparse import csr_array

        k = self.costs.shape[1]
        d = self.rows.shape[1]
        dense = self.rows.toarray()
        starts = self.layout
        blocks, cost, sizes = [np.zeros((0, self.n_weights))], [np.zeros(0, np.float32)], []
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            size = 0
            for t in range(first, last):
                # one row per (label before, label): the first place has no label before it
                n_before = 1 if t == first else k
                rows = np.zeros((n_before * k, self.n_weights))
                for a, b in np.ndindex(n_before, k):
                    row = rows[a * k + b]
                    row[b * d : (b + 1) * d] = dense[t]
                    row[k * d + b if t == first else k * d + k + a * k + b] = 1.0
                blocks.append(rows)
                cost.append(np.tile(self.costs[t], n_before))
                size += len(rows)
            sizes.append(size)
        offsets = offsets_from_sizes(sizes)
        return SparseRows(csr_array(np.vstack(blocks)), offsets, np.concatenate(cost), self.columns)


class ChainLayout(NamedTuple):
    """Layout of the edges of sequences, for `ChainRows`."""

    offsets: NDArray[np.int64]  # (n + 1,): offset of the first edge of each sequence
    n_states: int  # K, which is the same at every place


@dataclass(frozen=True, slots=True, eq=False)
class ChainRows:
    """The edges of sequences for the decoder `Chain`, never written out: one instance per sequence.

    The rows are the same as those of `SequenceRows.edges`, in the order that the decoder expects: a label
    at the first place, or a pair of adjacent labels, with the features of the second one's place.
    """

    places: SequenceRows

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first edge of each sequence, shape ``(n_sequences + 1,)``."""
        k, starts = self.places.costs.shape[1], self.places.layout
        sizes = k + (np.diff(starts) - 1) * k * k
        return offsets_from_sizes(sizes)

    @property
    def cost(self) -> NDArray[np.float32]:
        """The cost of each edge, which is that of the label it leads to."""
        k = self.places.costs.shape[1]
        cost = np.empty(int(self.offsets[-1]), np.float32)
        for first, edges in self._sequences():
            cost[edges.start : edges.start + k] = self.places.costs[first.start]
            steps = cost[edges.start + k : edges.stop].reshape(-1, k, k)
            steps[:] = self.places.costs[first.start + 1 : first.stop, None, :]
        return cost

    @property
    def columns(self) -> Columns:
        """Descriptions of the flat weights."""
        return self.places.columns

    @property
    def layout(self) -> ChainLayout:
        """Offsets of the edges, and the number of labels."""
        return ChainLayout(self.offsets, self.places.costs.shape[1])

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each edge."""
        k = self.places.costs.shape[1]
        place = self.places.scores(weights).reshape(-1, k)
        first, step = weights[-k - k * k : -k * k], weights[-k * k :].reshape(k, k)
        scores = np.empty(int(self.offsets[-1]))
        for places, edges in self._sequences():
            scores[edges.start : edges.start + k] = place[places.start] + first
            steps = scores[edges.start + k : edges.stop].reshape(-1, k, k)
            np.add(place[places.start + 1 : places.stop, None, :], step, out=steps)
        return scores

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`."""
        k = self.places.costs.shape[1]
        place_mass = np.zeros(self.places.costs.shape)
        first, step = np.zeros(k), np.zeros((k, k))
        for places, edges in self._sequences():
            place_mass[places.start] = mass[edges.start : edges.start + k]
            steps = mass[edges.start + k : edges.stop].reshape(-1, k, k)
            place_mass[places.start + 1 : places.stop] = steps.sum(axis=1)
            first += place_mass[places.start]
            step += steps.sum(axis=0)
        sums = self.places.adjoint(place_mass.ravel())
        sums[-k - k * k :] = np.concatenate([first, step.ravel()])
        return sums

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each edge's features: that of its place plus one for the pair."""
        k = self.places.costs.shape[1]
        squares = 1.0 + self.places.row_sqnorm().reshape(-1, k)[:, 0]
        sizes = np.full(len(squares), k * k)
        sizes[self.places.layout[:-1]] = k
        return np.repeat(squares, sizes)

    def take(self, index: NDArray[np.int64]) -> ChainRows:
        """Return the batch of the sequences in `index`; adjacent ones stay separate sequences."""
        places, starts = take_rows(self.places.layout, as_index(index))
        taken = self.places.take(places)
        numbers = row_owners(starts)
        return ChainRows(replace(taken, sequences=numbers))

    def _sequences(self) -> Iterator[tuple[slice, slice]]:
        """Yield the places and the edges of each sequence."""
        edges = pairwise(self.offsets.tolist())
        for (first, last), (start, stop) in zip(pairwise(self.places.layout.tolist()), edges, strict=True):
            yield slice(first, last), slice(start, stop)


def run_starts(sequences: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of runs of equal numbers, then the length, shape ``(n_sequences + 1,)``."""
    if not len(sequences):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(np.diff(sequences)) + 1, [len(sequences)]]).astype(np.int64)


_CHUNK_ROWS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class PartRows:
    """Features of parts and the parts of each row; the features of a row are the sum over its parts.

    Attributes
    ----------
    features : scipy.sparse.csr_array, shape (n_parts, n_columns)
    parts : array of int32, shape (n_rows, P)
        Indices of parts, at most P per row, padded with -1.
    layout : object
        How rows combine: has `offsets` and `take(index)`, as `disambig.api.decoding.Hypergraphs` does.
    cost : array of float32, shape (n_rows,)
    columns : Columns

    Raises
    ------
    ValueError
        If a row has an index that is not a part, or the numbers of rows differ.
    """

    features: Any
    parts: NDArray[np.int32]
    layout: Any
    cost: NDArray[np.float32]
    columns: Columns

    def __post_init__(self) -> None:
        n = int(self.layout.offsets[-1])
        if self.parts.ndim != 2 or len(self.parts) != n or len(self.cost) != n:
            raise ValueError(
                f"parts of shape {self.parts.shape} and {len(self.cost)} costs for {n} rows of the layout"
            )
        if self.features.shape[1] != len(self.columns):
            raise ValueError(f"{self.features.shape[1]} columns of features, but {len(self.columns)} names")
        if self.parts.size and not -1 <= self.parts.min() <= self.parts.max() < self.features.shape[0]:
            actual = f"{self.parts.min()} to {self.parts.max()}"
            raise ValueError(f"parts {actual}: expected -1 to {self.features.shape[0] - 1}")

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Offset of the first row of each instance."""
        return np.asarray(self.layout.offsets)

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        part_scores = np.append(self.features @ weights, 0.0)  # the padding -1 indexes this last zero
        return np.asarray(part_scores[self.parts].sum(axis=1))

    def adjoint(self, mass: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features summed with weights `mass`."""
        n, width = self.features.shape[0], self.parts.shape[1]
        sums = np.bincount(self.parts.ravel() + 1, np.repeat(mass, width), minlength=n + 1)
        return np.asarray(self.features.T @ sums[1:])

    def row_sqnorm(self) -> NDArray[np.float64]:
        """Return the squared norm of each row.

        If no two places of `parts` share a column, it is the sum of the parts' norms; otherwise blocks of
        rows are written out.
        """
        squares = self.features.multiply(self.features)
        # the norm of a sum is the sum of the norms only if the summands are orthogonal
        if self._has_disjoint_columns(squares):
            part_sqnorms = np.append(np.asarray(squares.sum(axis=1)).ravel(), 0.0)
            return np.asarray(part_sqnorms[self.parts].sum(axis=1))
        sqnorms = np.empty(len(self.parts))
        for start in range(0, len(sqnorms), _CHUNK_ROWS):
            rows = self._written(self.parts[start : start + _CHUNK_ROWS])
            sqnorms[start : start + _CHUNK_ROWS] = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return sqnorms

    def rows(self) -> Any:
        """Return the rows written out, as a scipy.sparse.csr_array of shape (n_rows, n_columns)."""
        return self._written(self.parts)

    def _written(self, parts: NDArray[np.int32]) -> Any:
        """Return the rows with these parts, by a product of a matrix of memberships with the features."""
        from scipy.sparse import csr_array

        is_part = parts >= 0
        starts = offsets_from_sizes(is_part.sum(axis=1))
        memberships = (np.ones(int(starts[-1])), parts[is_part], starts)
        return csr_array(memberships, shape=(len(parts), self.features.shape[0])) @ self.features

    def _has_disjoint_columns(self, square: Any) -> bool:
        """Return True if no column occurs in parts of two places."""
        places = np.zeros(self.features.shape[1], np.int64)
        for place in self.parts.T:
            used = np.zeros(self.features.shape[0] + 1)
            used[place] = 1.0
            places += square.T @ used[:-1] > 0
        return bool((places < 2).all())

    def take(self, index: NDArray[np.int64]) -> PartRows:
        """Return the batch of the instances in `index`, with only the parts that they use."""
        index = as_index(index)
        rows, _ = take_rows(self.offsets, index)
        parts = self.parts[rows]
        used = np.zeros(self.features.shape[0] + 1, bool)
        used[parts] = True  # -1 marks the additional last entry, which is dropped below
        used[-1] = False
        numbers = np.append(np.cumsum(used[:-1], dtype=np.int32) - 1, np.int32(-1))
        return PartRows(
            self.features[np.flatnonzero(used)],
            numbers[parts].astype(np.int32),
            self.layout.take(index),
            self.cost[rows],
            self.columns,
        )


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
    row_columns = join_columns(*(own_columns(batch.columns, int(batch.rows.shape[1])) for batch in batches))
    columns = CrossedColumns(row_columns, candidate_names(first.columns, first.n_labels))
    return CrossedRows(rows, first.costs, columns, first.labels)


CONVERSIONS: dict[tuple[type, type], Callable[[Any], Any]] = {
    (DenseBlocks, SparseRows): dense_to_sparse,
    (DenseBlocks, CrossedRows): dense_to_crossed,
    (DenseBlocks, DenseLists): dense_to_lists,
    (CrossedRows, SparseRows): lambda batch: SparseRows(
        batch.written_out(), batch.offsets, batch.cost, batch.columns
    ),
    (DenseLists, SparseRows): lists_to_sparse,
    (SparseRows, DenseLists): sparse_to_lists,
    (JoinedRows, SparseRows): joined_to_sparse,
    (JoinedRows, CrossedRows): joined_to_crossed,
    (ChainRows, SparseRows): lambda batch: batch.places.edges(),
}
"""Functions by the storage of a batch and the one that they return."""


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
    first: Any = batches[0]
    if type(first) not in _STACKED or not all(
        type(batch) is type(first)
        and has_own_labels(batch) == has_own_labels(first)
        and _have_same_meaning(first.columns, batch.columns)
        for batch in batches
    ):
        return None
    arrays = {name: _stack_arrays(batches, name) for name in _STACKED[type(first)]}
    offsets = join_offsets(batch.offsets for batch in batches)
    if isinstance(first, DenseLists | SparseRows):
        arrays["offsets"] = offsets
    elif has_own_labels(first):
        arrays["labels"] = Ragged(_stack_arrays(batches, "label_of_rows"), offsets)
    return replace(first, **arrays)


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


def _stack_arrays(batches: Sequence[Any], name: str) -> Any:
    parts = [getattr(batch, name) for batch in batches]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr"))


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
        row_columns = own_columns(batch.columns, int(batch.rows.shape[1]))
        group_weights = _group_weights(row_columns.group_names, weights)
        n_groups = len(row_columns.group_names)
        group_of_entry = row_columns.groups[rows.indices]
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


def check_finite(batch: CandidateBatch) -> None:
    """Raise D703 with the first feature that is NaN or infinite, by instance and attribute, if any is."""
    where = _first_not_finite(batch)
    if where is not None:
        n, example, attribute = where
        shown = "" if attribute is None else f", attribute {attribute}"
        raise UserError("D703", n=n, example=example, attribute=shown)


def _first_not_finite(batch: Any) -> tuple[int, int, int | None] | None:
    """Return how many features are not finite, and the instance and attribute of the first one."""
    if isinstance(batch, JoinedRows):
        by_part = [where for part in batch.parts if (where := _first_not_finite(part)) is not None]
        if not by_part:
            return None
        _, example, attribute = min(by_part, key=lambda where: where[1])
        return sum(n for n, *_ in by_part), example, attribute
    if isinstance(batch, ChainRows):
        return _first_not_finite(batch.places)
    if isinstance(batch, DenseBlocks | DenseLists):
        bad = _not_finite(batch.values)
        first = tuple(bad[0].tolist()) if len(bad) else ()
        row, attribute = (first[0], first[-1]) if first else (0, None)
    elif isinstance(batch, SparseRows | CrossedRows | SequenceRows | PartRows):
        from scipy.sparse import csr_array

        rows = csr_array(batch.features if isinstance(batch, PartRows) else batch.rows)
        bad = _not_finite(rows.data)
        at = int(bad[0, 0]) if len(bad) else 0
        row = find_owner(rows.indptr, at)
        attribute = int(rows.indices[at]) if len(bad) else None
        if isinstance(batch, PartRows):
            row = int(np.argmax((batch.parts == row).any(axis=1)))  # the first row that has this part
    else:  # a storage of a plugin
        bad, attribute = np.argwhere(~np.isfinite(batch.row_sqnorm())), None
        row = int(bad[0, 0]) if len(bad) else 0
    if not len(bad):
        return None
    by_instance = isinstance(batch, EqualLists)  # one row of features per instance
    return len(bad), row if by_instance else find_owner(batch.offsets, row), attribute


def canonical_rows(rows: Any) -> Any:
    """Return rows as a scipy.sparse.csr_array with sorted columns, none of them twice in a row."""
    from scipy.sparse import csr_array

    rows = csr_array(rows)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _not_finite(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of values that are NaN or infinite, shape ``(n, values.ndim)``."""
    # Summing needs no extra memory, and a finite sum means that all values are finite. The sum of finite
    # values may overflow, hence the exact check.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return np.zeros((0, values.ndim), np.int64)
    return np.argwhere(~np.isfinite(values))


def check_numbers(rows: Any, offsets: NDArray[np.int64] | None = None) -> None:
    """Raise D772 for NaN and infinity in sparse rows, and D773 for numbers beyond `LARGEST_NUMBER`.

    The message of D772 has the number of the row or, with `offsets`, of its instance.
    """
    bad = _not_finite(rows.data)[:, 0]
    if len(bad):
        example = find_owner(rows.indptr, bad[0])
        if offsets is not None:
            example = find_owner(offsets, example)
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
    row_columns = own_columns(batch.columns, int(batch.rows.shape[1]))
    names = [row_columns.names[column] for column in columns] if len(row_columns.names) else ()
    kept_columns = Columns(
        row_columns.labels[columns], row_columns.groups[columns], row_columns.group_names, names
    )
    candidates = candidate_names(batch.columns, batch.costs.shape[1])
    return CrossedRows(kept_rows, batch.costs, CrossedColumns(kept_columns, candidates))
