"""Base classes of extractors, and functions that several extractors share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Columns,
    CrossedColumns,
    CrossedRows,
    DenseBlocks,
    DenseLists,
    Group,
    GroupedInstances,
    HashVocabulary,
    Instances,
    PackedStrings,
    Ragged,
    offsets_from_sizes,
    row_owners,
    strings_from_state,
)
from disambig.errors import UserError
from disambig.runtime import WeakRefMixin
from disambig.text import MASK, ORDER, TokenView, fmix, hash_word
from disambig.type_aliases import Bools, Floats, Ints
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from typing_extensions import Self


MAX_NEARNESS = 10.0
"""Largest exponent of a distance by which features are divided; far larger ones would give only zeros."""


def sentence_spans(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the first token of each instance's sentence, ``<S>``, and the token after its ``</S>``."""
    sentence = view.sentences.searchsorted(instances.positions, side="right")
    return view.sentences[sentence - 1], view.sentences[np.minimum(sentence, len(view.sentences) - 1)]


def document_spans(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the first token of each instance's document, and the token after its last."""
    document = view.document_indices(instances.positions)
    return view.documents[document], view.documents[document + 1]


def window_spans(view: TokenView, instances: Instances, reach: int) -> tuple[Ints, Ints]:
    """Return where `reach` words before each instance begin and `reach` words after it end in its document.

    Sentence boundaries do not count, so the reach does not depend on whether a sentence ends inside it.
    """
    first, stop = document_spans(view, instances)
    starts = view.sentences - 2 * np.arange(len(view.sentences))  # number of words before each sentence
    last_tokens = instances.positions + instances.lengths - 1
    low = _token_at_position(starts, word_positions(view, instances.positions) - reach)
    last = _token_at_position(starts, word_positions(view, last_tokens) + reach)
    return np.maximum(first, low), np.minimum(stop, last + 1)


def word_positions(view: TokenView, tokens: Ints) -> Ints:
    """Return how many words precede each word, not counting sentence boundaries."""
    # each earlier sentence has two boundary tokens before the word, its own sentence one
    return tokens - 2 * np.searchsorted(view.sentences, tokens, side="right") + 1


def _token_at_position(begins: Ints, positions: Ints) -> Ints:
    """Return the token at each word position; the inverse of `word_positions`."""
    return positions + 2 * np.searchsorted(begins, positions, side="right") - 1


def expand_spans(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the number of the range and the token, for every token from `first` up to `stop` (exclusive)."""
    offsets = offsets_from_sizes(np.maximum(stop - first, 0))
    ranges = row_owners(offsets)
    return ranges, np.arange(len(ranges)) + (first - offsets[:-1])[ranges]


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The positions of the words around some places; all arrays have the shape (n,)."""

    # first and last token of the place; for an empty place, `last` is the token before it
    first: Ints
    last: Ints
    # first token, and the token after the last
    sentence: tuple[Ints, Ints]
    document: tuple[Ints, Ints]
    # number of words on each side
    near: int
    far: int

    @classmethod
    def from_instances(cls, view: TokenView, instances: Instances, near: int, far: int) -> Surroundings:
        """Find the sentences and documents of `instances`."""
        first = instances.positions
        last = first + instances.lengths - 1
        return cls(first, last, sentence_spans(view, instances), document_spans(view, instances), near, far)

    def near_places(self) -> tuple[Ints, Bools]:
        """Return positions of near words (left ones first, nearest first) and which are in the sentence."""
        return self._places(range(1, self.near + 1), self.sentence)

    def far_places(self) -> tuple[Ints, Bools]:
        """Return positions of far words, and which are in the document; shape ``(n, 2 * (far - near))``."""
        return self._places(range(self.near + 1, self.far + 1), self.document)

    def _places(self, distances: range, bounds: tuple[Ints, Ints]) -> tuple[Ints, Bools]:
        steps = np.array(distances, np.int64)
        at = np.concatenate([self.first[:, None] - steps, self.last[:, None] + steps], axis=1)
        return at, (at >= bounds[0][:, None]) & (at < bounds[1][:, None])


AT_ONCE = 8192
"""Number of instances whose features are computed at a time, so that their arrays stay in the cache."""

TOKENS_AT_ONCE = 500_000
"""Number of tokens examined at a time: in a long document, many instances each examine all of it."""

Rows = tuple["csr_array", Ints, Ints]
"""Features of instances, shape ``(n, D)``, number of known features, and number of features (each)."""


def cross_rows(counted: Rows, columns: Columns, table: GroupedInstances, extractor: object) -> list[Features]:
    """Cross the rows of an extractor with the candidates of each group; `columns` are those of a row.

    Raises D419 for a per-instance candidate that is not in the group: the columns of a row belong to labels
    seen in training.
    """
    rows, n_hits, n_queries = counted
    sizes, costs = table.sizes, table.costs
    features = []
    for group, of_group, candidates in zip(table.groups, table.slices, table.rows, strict=True):
        crossed, group_rows = CrossedColumns(columns, group.candidates), rows[of_group]
        if table.lists is None:
            batch = CrossedRows(group_rows, costs[candidates].reshape(-1, len(group.candidates)), crossed)
        else:
            labels = _label_indices(table.lists.texts[candidates], group, extractor)
            offsets = table.offsets[of_group.start : of_group.stop + 1] - candidates.start
            batch = CrossedRows(group_rows, costs[candidates], crossed, Ragged(labels, offsets))
        evidence = (
            np.repeat(counts[of_group], sizes[of_group]).astype(np.int32) for counts in (n_hits, n_queries)
        )
        features.append(Features(batch, *evidence))
    return features


def _label_indices(texts: Sequence[str], group: Group, extractor: object) -> Ints:
    """Return the index in the group of each candidate of a list."""
    index_of = {name: i for i, name in enumerate(group.candidates)}
    unknown = next((text for text in texts if text not in index_of), None)
    if unknown is not None:
        where = f"{type(extractor).__name__} (group {group.name!r}, candidate {unknown!r})"
        raise UserError("D419", extractor=where)
    return np.fromiter((index_of[text] for text in texts), np.int64, len(texts))


def sparse_rows(rows: Ints, columns: Ints, values: Floats | None, shape: tuple[int, int]) -> csr_array:
    """Return entries as a matrix (ones if `values` is None); equal ones are added up. `rows` must ascend."""
    from scipy.sparse import csr_array

    starts = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    data = np.ones(len(columns)) if values is None else values
    matrix = csr_array((data, columns.astype(np.int32), starts), shape)
    matrix.sum_duplicates()
    return matrix


def stack_rows(parts: Sequence[Rows]) -> Rows:
    """Join the rows of several batches of instances."""
    if len(parts) == 1:
        return parts[0]
    from scipy.sparse import csr_array, vstack

    n_hits, n_queries = (np.concatenate([part[which] for part in parts]) for which in (1, 2))
    return csr_array(vstack([part[0] for part in parts], format="csr")), n_hits, n_queries


def split_instances(instances: Instances, sizes: Ints | None = None) -> list[Instances]:
    """Split instances into runs of at most `AT_ONCE`; at least one run, which may be empty.

    If `sizes` gives the number of tokens that each instance examines, a run has about `TOKENS_AT_ONCE`.
    """
    n = len(instances)
    run_index = np.arange(n) // AT_ONCE
    if sizes is not None:
        run_index += np.cumsum(sizes) // TOKENS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(run_index)) + 1).tolist(), n]
    return [instances.take(slice(*bound)) for bound in pairwise(bounds)]


class NamedFeatures(Protocol):
    """Features that an extractor knows: one per column, with names if they are kept."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; empty if they are not kept."""
        ...

    def __len__(self) -> int: ...


_columns_cache: WeakKeyDictionary[NamedFeatures, dict[str, Columns]] = WeakKeyDictionary()


def named_columns(features: NamedFeatures, group_name: str) -> Columns:
    """Return the columns of a row, all in one feature group; cached for each set of known features."""
    by_name = _columns_cache.setdefault(features, {})
    if group_name not in by_name:
        # broadcast: one number in memory for any number of columns
        label, feature_group = (np.broadcast_to(np.int32(number), (len(features),)) for number in (-1, 0))
        by_name[group_name] = Columns(
            label, feature_group, (group_name,), features.names if len(features.names) else ()
        )
    return by_name[group_name]


Keys = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class SeenKeys(WeakRefMixin):
    """The known features by their keys, one per column."""

    keys: Keys  # uint32 (D,): ascending
    names: PackedStrings  # name of each feature; empty if names are not kept

    def __len__(self) -> int:
        return len(self.keys)

    def columns(self, keys: Keys) -> Ints:
        """Return the column of each key, -1 for unknown keys."""
        return HashVocabulary(self.keys).lookup(keys)

    def rows(self, keys: Keys, values: Floats) -> Rows:
        """Return rows of the features `keys` (n, F), where 0 means no feature, with `values` (F,)."""
        is_feature = keys != 0
        columns = self.columns(keys)
        has_column = is_feature & (columns >= 0)
        row, feature = np.nonzero(has_column)
        rows = sparse_rows(row, columns[has_column], values[feature], (len(keys), len(self)))
        return rows, has_column.sum(axis=1), is_feature.sum(axis=1)

    def state(self) -> Arrays:
        """Return the features as arrays."""
        return {"keys": self.keys, **self.names.state()}


def seen_keys_from_state(arrays: Arrays) -> SeenKeys:
    """Return the features from `SeenKeys.state`.

    Raises `KeyError` or `ValueError` if arrays are missing or do not fit together.
    """
    keys = arrays["keys"]
    if keys.ndim != 1 or keys.dtype != np.uint32 or not (keys[1:] > keys[:-1]).all():
        raise ValueError("context features: keys are not ascending 32-bit hashes")
    return SeenKeys(keys, strings_from_state(arrays, len(keys)))


def frequent_keys(parts: Iterable[Keys], *, minimum: int) -> Keys:
    """Return the features that occur `minimum` times in all `parts`, ascending; 0 means no feature."""
    # counted part by part, since all keys together may not fit into memory
    counted = [np.unique(part, return_counts=True) for part in parts]
    all_keys = np.concatenate([np.zeros(0, np.uint32), *(keys for keys, _ in counted)])
    counts = np.concatenate([np.zeros(0, np.int64), *(n for _, n in counted)])
    keys, inverse = np.unique(all_keys, return_inverse=True)
    totals = np.bincount(inverse, counts, minlength=len(keys))
    return keys[(totals >= minimum) & (keys != 0)]


class SeenKeyExtractor(ABC):
    """Base class of extractors whose features are the keys that they have seen in training.

    A subclass is a frozen dataclass with the fields below.
    """

    __slots__ = ()
    name: str  # name of the feature group
    least: int  # minimum number of occurrences of a feature in training
    seen: SeenKeys | None  # none until the extractor is fitted

    @abstractmethod
    def _keys_and_values(self, view: TokenView, instances: Instances) -> tuple[Keys, Floats]:
        """Return the features of each instance, shape ``(n, F)``, 0 for none, and their values (F,)."""

    def _frequent_keys(self, view: TokenView, instances: Instances) -> Keys:
        """Return the features that occur `least` times at instances of any group, ascending."""
        return frequent_keys(
            (self._keys_and_values(view, part)[0] for part in split_instances(instances)), minimum=self.least
        )

    def _named(self, seen: SeenKeys) -> SeenKeys:
        """Return restored features, with names that are not saved."""
        return seen

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return one row per instance; the evidence is the number of its known features."""
        seen = self.seen
        if seen is None:
            raise ValueError("the extractor is not fitted: no features are known")
        parts = split_instances(table.instances)
        rows = stack_rows([seen.rows(*self._keys_and_values(view, part)) for part in parts])
        return cross_rows(rows, named_columns(seen, self.name), table, self)

    def state(self) -> Arrays:
        """Return the features seen."""
        return self.seen.state() if self.seen is not None else {}

    def from_state(self, arrays: Arrays) -> Self:
        """Return an extractor with the features of `state`; ValueError if the arrays do not fit."""
        seen = self._named(seen_keys_from_state(arrays)) if arrays else None
        return replace(self, seen=seen)  # type: ignore[type-var]  # subclasses are dataclasses


def hash_values(values: NDArray[np.uint64], kinds: Sequence[int]) -> Keys:
    """Return the keys of values by the kind of each column; 0 for the value 0, which means no feature."""
    seeds = np.array([kind * ORDER & MASK for kind in kinds], np.uint64)
    keys = (fmix(values ^ seeds) >> np.uint64(32)).astype(np.uint32)
    # 0 marks an absent feature, so a key that happens to be 0 becomes 1
    return np.where(values == 0, np.uint32(0), np.maximum(keys, np.uint32(1)))


def values_at(values: NDArray[np.generic], at: Ints) -> NDArray[np.uint64]:
    """Return the values of tokens (of any token for -1); `values` may be empty."""
    return values[at].astype(np.uint64) if len(values) else np.zeros(at.shape, np.uint64)


def dense_features(
    table: GroupedInstances,
    values: NDArray[np.float32],
    n_hits: NDArray[np.int32],
    n_queries: NDArray[np.int32],
    columns_of: Callable[[Group], Columns],
    shared: Columns | None = None,
) -> list[Features]:
    """Return the features of all rows of a table, group by group.

    Candidates of a group have columns of their own (`DenseBlocks`). Per-instance candidates share their
    columns (`DenseLists`).

    `values`: float32 (n_rows, A).
    `n_hits` and `n_queries`: int32 (n_rows,).
    `columns_of`: returns the meaning of the ``K * A`` columns of a group.
    `shared`: the meaning of the A columns of per-instance candidates; None if these are not supported.
    """
    costs, a = table.costs, values.shape[1]
    features = []
    for group, of_group, rows in zip(table.groups, table.slices, table.rows, strict=True):
        batch: DenseBlocks | DenseLists
        if table.lists is None:
            k = len(group.candidates)
            of_rows, columns = values[rows].reshape(-1, k, a), columns_of(group)
            batch = DenseBlocks(of_rows, separate_columns(k, a), columns, costs[rows].reshape(-1, k))
        else:
            assert shared is not None
            offsets = table.offsets[of_group.start : of_group.stop + 1] - rows.start
            batch = DenseLists(values[rows], offsets, costs[rows], shared)
        features.append(Features(batch, n_hits[rows], n_queries[rows]))
    return features


@lru_cache(maxsize=1024)
def separate_columns(k: int, a: int) -> Ints:
    """Return the `column_of` of `DenseBlocks` with weights of their own for each attribute, shape ``(k, a)``.

    The array is computed once, and cannot be written to.
    """
    columns = np.arange(k * a).reshape(k, a)
    columns.flags.writeable = False
    return columns


CONTEXT_GROUP = "context"
"""Feature group of scores by the words around a place."""


@lru_cache(maxsize=1024)
def group_number(group: Group) -> int:
    """Return the number by which a group's table is found, independent of the order of the groups."""
    return hash_word("/".join(group.candidates)) >> 1


@lru_cache(maxsize=1024)
def attribute_columns(group: Group) -> Columns:
    """Return the names of the only attribute of each candidate."""
    names = [f"{candidate}: words around" for candidate in group.candidates]
    return Columns.of_group(CONTEXT_GROUP, 1, candidates=len(names), names=names)


def one_score(scores: NDArray[np.float32], instances: Instances, group: Group, name: str) -> Features:
    """Return a score per candidate as its only attribute; it does not count as an n-gram hit.

    Parameters
    ----------
    scores : array of float32, shape (n_candidates,)
        For all instances in turn: the candidates of the group, or those of their own lists.
    name : str
        Name of the attribute for per-instance candidates.
    """
    return score_features(GroupedInstances.from_parts([(instances, group)]), scores, name)[0]


def score_features(table: GroupedInstances, scores: NDArray[np.float32], name: str) -> list[Features]:
    """Return a score per candidate of each group, as `one_score` does."""
    none = np.zeros(len(scores), np.int32)
    return dense_features(table, scores[:, None], none, none, attribute_columns, _score_columns(name))


@lru_cache(maxsize=256)
def _score_columns(name: str) -> Columns:
    return Columns.of_group(name, 1, names=[name])


Extractor = TypeVar("Extractor")
_Stateless = TypeVar("_Stateless", bound="StatelessExtractor")


class StatelessExtractor:
    """An extractor that learns nothing: what it uses is in its settings, or in a file that they name.

    A subclass only needs `transform`; a saved model stores its settings.
    """

    __slots__ = ()

    def fit(self: _Stateless, view: TokenView, instances: Instances, groups: Sequence[Group]) -> _Stateless:
        """Return the extractor itself."""
        return self

    def state(self) -> Arrays:
        """Return no arrays."""
        return {}

    def from_state(self: _Stateless, arrays: Arrays) -> _Stateless:
        """Return the extractor itself."""
        return self


def by_group(
    transform: Callable[[Extractor, TokenView, Instances, Group], Features],
) -> Callable[[Extractor, TokenView, GroupedInstances], list[Features]]:
    """Make a `transform` for tables out of one for the instances of a single group (a decorator)."""

    def transform_table(self: Extractor, view: TokenView, table: GroupedInstances) -> list[Features]:
        return [transform(self, view, instances, group) for instances, group in table.parts]

    transform_table.__doc__ = transform.__doc__
    transform_table.of_group = transform  # type: ignore[attr-defined]  # for checks of its parameters
    return transform_table
