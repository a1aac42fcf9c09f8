"""Sparse rows, one for each instance: what the extractors that make them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.data import (
    Columns,
    CrossedColumns,
    CrossedLists,
    CrossedRows,
    DenseBlocks,
    Group,
    Instances,
    PackedStrings,
    strings_from_state,
)
from disambig.errors import UserError
from disambig.runtime import WeakRefMixin
from disambig.text import MASK, ORDER, TokenView, fmix
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Ints = NDArray[np.int64]
MOST_NEARNESS = 10.0
"""The largest power of a distance that features are divided by; far larger ones make zeros of them."""


def sentence_spans(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the first token of each instance's sentence, ``<S>``, and the one behind its ``</S>``."""
    sentence = np.searchsorted(view.sentences, instances.positions, side="right")
    return view.sentences[sentence - 1], view.sentences[np.minimum(sentence, len(view.sentences) - 1)]


def document_spans(view: TokenView, instances: Instances) -> tuple[Ints, Ints]:
    """Return the first token of each instance's document, and the one behind its last."""
    document = view.document_indices(instances.positions)
    return view.documents[document], view.documents[document + 1]


def window_spans(view: TokenView, instances: Instances, reach: int) -> tuple[Ints, Ints]:
    """Return the first of `reach` tokens before each instance in its document and the end of `reach` after.

    Boundary words do not count: the reach is the same whether or not a sentence ends inside it.
    """
    first, stop = document_spans(view, instances)
    begins = view.sentences - 2 * np.arange(len(view.sentences))  # places of first words, boundaries left out
    low = _placed(begins, word_positions(view, instances.positions) - reach)
    high = _placed(begins, word_positions(view, instances.positions + instances.lengths - 1) + reach) + 1
    return np.maximum(first, low), np.minimum(stop, high)


def word_positions(view: TokenView, tokens: Ints) -> Ints:
    """Return how many words stand before each word, boundary words left out."""
    return tokens - 2 * np.searchsorted(view.sentences, tokens, side="right") + 1


def _placed(begins: Ints, places: Ints) -> Ints:
    """Return the token of each place, the inverse of `place`."""
    return places + 2 * np.searchsorted(begins, places, side="right") - 1


def expand_spans(first: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return every token from `first` to before `stop`, and the number of the range that it is of."""
    lengths = np.maximum(stop - first, 0)
    ranges = np.repeat(np.arange(len(lengths)), lengths)
    return ranges, np.arange(len(ranges)) + (first - (np.cumsum(lengths) - lengths))[ranges]


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Where the words around some places are, each array of shape (n,).

    Attributes
    ----------
    first, last : arrays of int64
        The place's first and last token; of a place of no word, `last` is the token before.
    sentence, document : pairs of arrays of int64
        First token, and one past the last.
    near, far : int
        Words on each side.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    sentence: tuple[NDArray[np.int64], NDArray[np.int64]]
    document: tuple[NDArray[np.int64], NDArray[np.int64]]
    near: int
    far: int

    @classmethod
    def from_instances(cls, view: TokenView, instances: Instances, near: int, far: int) -> Surroundings:
        """Find the sentences and documents of `instances`."""
        first = instances.positions
        last = first + instances.lengths - 1
        return cls(first, last, sentence_spans(view, instances), document_spans(view, instances), near, far)

    def near_places(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return positions of near words, left ones first, nearest first, and which are in the sentence."""
        return self._places(range(1, self.near + 1), self.sentence)

    def far_places(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return positions of far words, and which are in the document; shape ``(n, 2 * (far - near))``."""
        return self._places(range(self.near + 1, self.far + 1), self.document)

    def _places(
        self, distances: range, bounds: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        steps = np.array(distances, np.int64)
        at = np.concatenate([self.first[:, None] - steps, self.last[:, None] + steps], axis=1)
        return at, (at >= bounds[0][:, None]) & (at < bounds[1][:, None])


AT_ONCE = 8192
"""Instances whose features are spread out at a time: their arrays stay near the cache."""

TOKENS_AT_ONCE = 500_000
"""Tokens that are looked at at a time: many instances in a long document look at all of it each."""

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


def sparse_rows(
    rows: Ints, columns: Ints, values: NDArray[np.float64] | None, shape: tuple[int, int]
) -> csr_array:
    """Return entries as a matrix, ones where `values` is None; equal ones are added, `rows` rise."""
    from scipy.sparse import csr_array

    starts = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32)
    data = np.ones(len(columns)) if values is None else values
    made = csr_array((data, columns.astype(np.int32), starts), shape)
    made.sum_duplicates()
    return made


def stack_rows(parts: Sequence[Rows]) -> Rows:
    """Join what was made of some instances at a time."""
    if len(parts) == 1:
        return parts[0]
    from scipy.sparse import csr_array, vstack

    found, asked = (np.concatenate([part[which] for part in parts]) for which in (1, 2))
    return csr_array(vstack([part[0] for part in parts], format="csr")), found, asked


def split_instances(instances: Instances, sizes: Ints | None = None) -> list[Instances]:
    """Cut instances into runs of `AT_ONCE` at most; one at least, if an empty one.

    Where `sizes` says how many tokens each looks at, a run looks at `TOKENS_AT_ONCE` about.
    """
    n = len(instances)
    run = np.arange(n) // AT_ONCE
    if sizes is not None:
        run += np.cumsum(sizes) // TOKENS_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), n]
    return [instances.take(slice(*each)) for each in pairwise(bounds)]


class NamedFeatures(Protocol):
    """What an extractor knows: one entry a column, with its name where names are kept."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns; none where they are not kept."""
        ...

    def __len__(self) -> int: ...


_made: WeakKeyDictionary[NamedFeatures, dict[str, Columns]] = WeakKeyDictionary()


def named_columns(known: NamedFeatures, group_name: str) -> Columns:
    """Return the columns of a row, all of one feature group; made once for what an extractor knows."""
    made = _made.setdefault(known, {})
    if group_name not in made:
        label, nothing = (np.broadcast_to(np.int32(number), (len(known),)) for number in (-1, 0))
        made[group_name] = Columns(label, nothing, (group_name,), known.names if len(known.names) else ())
    return made[group_name]


Keys = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class SeenKeys(WeakRefMixin):
    """One entry a column.

    Attributes
    ----------
    keys : array of uint32, shape (D,)
        Rising.
    names : Spellings
        What each is for people; none where names are not kept.
    """

    keys: Keys
    names: PackedStrings

    def __len__(self) -> int:
        return len(self.keys)

    def columns(self, keys: Keys) -> Ints:
        """Return the column of each key, -1 for those that have none."""
        if not len(self.keys):
            return np.full(keys.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def rows(self, keys: Keys, values: NDArray[np.float64]) -> Rows:
        """Return rows of features `keys`, shape ``(n, F)``; 0 is none. Their `values` have shape ``(F,)``."""
        there = keys != 0
        columns = self.columns(keys)
        known = there & (columns >= 0)
        of_row, feature = np.nonzero(known)
        rows = sparse_rows(of_row, columns[known], values[feature], (len(keys), len(self)))
        return rows, known.sum(axis=1), there.sum(axis=1)

    def state(self) -> Arrays:
        """Return all of it as arrays."""
        return {"keys": self.keys, **self.names.state()}


def seen_keys_from_state(arrays: Arrays) -> SeenKeys:
    """Return what `SeenKeys.state` gave.

    Raises
    ------
    KeyError, ValueError
        Where arrays are missing or do not fit together.
    """
    keys = arrays["keys"]
    if keys.ndim != 1 or keys.dtype != np.uint32 or not (keys[1:] > keys[:-1]).all():
        raise ValueError("context features: no rising hashes of 32 bits")
    return SeenKeys(keys, strings_from_state(arrays, len(keys)))


def frequent_keys(parts: Iterable[Keys], *, least: int) -> Keys:
    """Return the features that stand `least` times in all `parts` together, rising; 0 is none."""
    counted = [np.unique(part, return_counts=True) for part in parts]
    every = np.concatenate([np.zeros(0, np.uint32), *(keys for keys, _ in counted)])
    counts = np.concatenate([np.zeros(0, np.int64), *(each for _, each in counted)])
    keys, which = np.unique(every, return_inverse=True)
    often = np.bincount(which, counts, minlength=len(keys))
    return keys[(often >= least) & (keys != 0)]


def hash_values(values: NDArray[np.uint64], kinds: NDArray[np.uint64]) -> Keys:
    """Return the keys of values by their kinds; 0 for the value 0, which is none."""
    keys = (fmix(values ^ kinds) >> np.uint64(32)).astype(np.uint32)
    return np.where(values == 0, np.uint32(0), np.maximum(keys, np.uint32(1)))


def kind_seed(number: int) -> int:
    """Return what tells features of a kind from those of others."""
    return number * ORDER & MASK


Part = tuple[Instances, Group]


@dataclass(frozen=True, slots=True, eq=False)
class GroupedInstances:
    """Some groups with their instances; a row is a candidate of an instance, of one group after the other.

    Attributes
    ----------
    groups : sequence of Group
    instances : Instances
        Of all groups.
    counts, sizes : arrays of int64, shape (n_groups,)
        Instances of each group, and its candidates.
    """

    groups: Sequence[Group]
    instances: Instances
    counts: Ints
    sizes: Ints

    @classmethod
    def from_parts(cls, parts: Sequence[Part]) -> GroupedInstances:
        """Put parts, of which there is one at least, one behind the other."""
        groups = [group for _, group in parts]
        each = [instances for instances, _ in parts]
        together = each[0]
        if len(parts) > 1:
            together = Instances(
                np.concatenate([one.positions for one in each]),
                np.concatenate([one.lengths for one in each]),
                np.concatenate([one.groups for one in each]),
                np.concatenate([one.observed for one in each]),
            )
        counts, sizes = [len(one) for one in each], [len(group.candidates) for group in groups]
        return cls(groups, together, np.array(counts, np.int64), np.array(sizes, np.int64))

    @property
    def instance_sizes(self) -> Ints:
        """Candidates of each instance, shape ``(n,)``."""
        return np.repeat(self.sizes, self.counts)

    @property
    def slices(self) -> list[slice]:
        """The instances of each group."""
        return _slices(self.counts)

    @property
    def rows(self) -> list[slice]:
        """The rows of each group."""
        return _slices(self.counts * self.sizes)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.counts @ self.sizes)

    def costs(self) -> NDArray[np.float32]:
        """Return what each row costs, shape ``(n_rows,)``: zero for the observed candidates, else one."""
        found = np.ones(self.n_rows, np.float32)
        begins = np.cumsum(self.instance_sizes) - self.instance_sizes
        known = self.instances.observed >= 0
        found[begins[known] + self.instances.observed[known]] = 0.0
        return found

    def blocks(
        self,
        values: NDArray[np.float32],
        found: NDArray[np.int32],
        asked: NDArray[np.int32],
        columns_of: Callable[[Group], Columns],
    ) -> list[Features]:
        """Return features of all rows by group, as blocks in which each candidate has columns of its own.

        Parameters
        ----------
        values : array of float32, shape (n_rows, A)
        found, asked : arrays of int32, shape (n_rows,)
        columns_of : callable
            From a group to the meaning of its ``K * A`` columns.
        """
        costs, a = self.costs(), values.shape[1]
        made = []
        for group, k, rows in zip(self.groups, self.sizes.tolist(), self.rows, strict=True):
            batch = DenseBlocks(
                values[rows].reshape(-1, k, a),
                np.arange(k * a).reshape(k, a),
                columns_of(group),
                costs[rows].reshape(-1, k),
            )
            made.append(Features(batch, found[rows], asked[rows]))
        return made


def _slices(sizes: Ints) -> list[slice]:
    return [slice(*each) for each in pairwise([0, *np.cumsum(sizes).tolist()])]
