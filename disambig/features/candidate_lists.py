"""Features of per-instance candidates: n-grams of their texts, and what their source gives."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from disambig.counts import spans
from disambig.data import (
    CandidateLists,
    CandidateWords,
    Columns,
    Group,
    HashVocabulary,
    Instances,
    PackedStrings,
    SparseRows,
    maxima,
    offsets_from_sizes,
    row_owners,
    strings_from_state,
)
from disambig.errors import UserError
from disambig.features.rows import by_group
from disambig.settings import COUNT, fitted_field, validate_settings, whole_number_between
from disambig.text import PLACES, TokenView, fmix, hash_words
from disambig.type_aliases import Ints
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from typing_extensions import Self


def require_lists(instances: Instances, extractor: object) -> CandidateLists:
    """Return the per-instance candidates; raise D418 if the instances have the candidates of a group."""
    if instances.lists is None:
        raise UserError("D418", extractor=type(extractor).__name__)
    return instances.lists


def as_features(
    rows: Any, columns: Columns, instances: Instances, group: Group, n_features: NDArray[Any]
) -> Features:
    """Return sparse rows of candidates as features.

    `rows`: scipy.sparse.csr_array of shape (n_candidates, n_columns).
    `n_features` (shape (n_candidates,)): number of features of each candidate, seen in training or not.
    """
    batch = SparseRows(rows, instances.offsets(group), instances.costs(group), columns)
    n_hits = np.diff(rows.indptr).astype(np.int32)
    return Features(batch, n_hits, np.maximum(n_hits, n_features).astype(np.int32))


def columns_named(names: Sequence[str], groups: NDArray[np.int32], group_names: tuple[str, ...]) -> Columns:
    """Return columns that are the same for all candidates."""
    return Columns(np.full(len(groups), -1, np.int32), groups, group_names, names)


Keys = NDArray[np.uint64]
WORDS, CHARACTERS = "words", "characters"
SEPARATOR = {WORDS: " ", CHARACTERS: ""}
_NO_BLANK = "\N{OPEN BOX}"
"""Stands for a blank within a word in the names of n-grams, in which blanks separate words."""
_EMPTY = np.uint64(PLACES[0])
_STEP = np.uint64(PLACES[1])


@dataclass(frozen=True, slots=True, eq=False)
class NgramUnits:
    """The units (words or characters) of candidates."""

    words: CandidateWords
    # uint64 (n_spellings,): hash of each unit in the vocabulary; 0 for units that no candidate has
    hashes: Keys

    @classmethod
    def from_words(cls, words: CandidateWords) -> NgramUnits:
        """Hash only the words that candidates use; the vocabulary may have many more."""
        is_used = np.zeros(len(words.spellings), np.bool_)
        is_used[words.ids] = True
        hashes = np.zeros(len(is_used), np.uint64)
        used = np.flatnonzero(is_used)
        hashes[used] = hash_words([spell_word(words.spellings[i]) for i in used.tolist()])
        return cls(words, hashes)

    def spell(self, first: int, last: int) -> list[str]:
        """Return the words from `first` to `last` (exclusive) as they are written in names."""
        return [spell_word(self.words.spellings[i]) for i in self.words.ids[first:last].tolist()]


def candidate_units(lists: CandidateLists, unit: str) -> NgramUnits:
    """Return the words of the lists, or their texts split at white space if they have none; or characters."""
    if unit == CHARACTERS:
        return NgramUnits.from_words(CandidateWords.from_words(lists.texts))
    words = lists.words or CandidateWords.from_words(text.split() for text in lists.texts)
    return NgramUnits.from_words(words)


def spell_word(word: str) -> str:
    """Return a word as it is written in names."""
    return word.replace(" ", _NO_BLANK) if len(word) > 1 else word


def append_unit(keys: Keys, units: Keys) -> Keys:
    """Return the keys of n-grams extended by one unit with the given hashes."""
    return fmix(keys * _STEP + units)


def empty_keys(n: int) -> Keys:
    """Return the keys of `n` n-grams without units."""
    return np.full(n, _EMPTY, np.uint64)


def name_keys(names: Sequence[str], unit: str) -> Keys:
    """Return the keys of n-grams given by name, shape ``(len(names),)``."""
    split = (name if unit == CHARACTERS else name.split(" ") for name in names)
    units = NgramUnits.from_words(CandidateWords.from_words(split))
    offsets, keys = units.words.offsets, empty_keys(len(names))
    sizes = np.diff(offsets)
    for i in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > i)
        # one unit of all names at a time, since keys are built from left to right
        keys[longer] = append_unit(keys[longer], units.hashes[units.words.ids[offsets[longer] + i]])
    return keys


@dataclass(frozen=True, slots=True, eq=False)
class KnownNgrams:
    """The known n-grams and their columns.

    Attributes
    ----------
    names : PackedStrings
        Sorted; one per column.
    keys : array of uint64, shape (n,)
        Ascending.
    columns : array of int64, shape (n,)
        The column of each key.
    """

    names: PackedStrings
    keys: Keys
    columns: Ints

    @classmethod
    def from_names(cls, names: PackedStrings, keys: Keys) -> KnownNgrams:
        """Return a vocabulary of these n-grams, given the key of each name."""
        order = np.argsort(keys, kind="stable")
        return cls(names, keys[order], order.astype(np.int64))

    def __len__(self) -> int:
        return len(self.names)

    def find_columns(self, keys: Keys) -> Ints:
        """Return the column of each key, -1 if it has none."""
        order = np.argsort(keys)  # ascending look-ups find the last pages in the cache
        columns = np.empty(len(keys), np.int64)
        columns[order] = HashVocabulary(self.keys).get(keys[order], self.columns, -1)
        return columns

    def state(self) -> Arrays:
        """Return the vocabulary as arrays, with the keys in the order of the names."""
        keys = np.empty_like(self.keys)
        keys[self.columns] = self.keys
        return {"n": np.array([len(self)]), "keys": keys, **self.names.state()}


def known_ngrams_from_state(arrays: Arrays, unit: str) -> KnownNgrams:
    """Return the vocabulary from `KnownNgrams.state`; missing keys are computed from the names.

    Raises `KeyError` or `ValueError` if arrays are missing or do not fit together.
    """
    n = int(arrays["n"][0])
    names = strings_from_state(arrays, n)
    if len(names) != n:
        raise ValueError("n-grams: the number of names differs")
    keys = arrays["keys"] if "keys" in arrays else name_keys(list(names), unit)
    if keys.shape != (n,) or keys.dtype != np.uint64:
        raise ValueError("n-grams: the number or type of keys differs")
    return KnownNgrams.from_names(names, keys)


BLOCK = 1 << 18
"""Approximate number of n-grams in a block."""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Occurrences of n-grams in some candidates; those of a candidate are adjacent.

    Attributes
    ----------
    keys : array of uint64, shape (n,)
    rows : array of int64, shape (n,)
        The candidate of each occurrence; ascending.
    places : array of int64, shape (n,)
        Numbers from which `NgramSource.names` returns the n-grams as text.
    """

    keys: Keys
    rows: Ints
    places: Ints


class NgramSource(Protocol):
    """A source of n-grams of candidates."""

    @property
    def sizes(self) -> Ints:
        """Maximum number of n-grams of each candidate; shape ``(n_candidates,)``."""

    def occur(self, first: int, last: int) -> Occurrences:
        """Return the n-grams of candidates `first` to `last` (exclusive); rows count from 0."""

    def names(self, places: Ints) -> list[str]:
        """Return the names of n-grams."""


@dataclass(frozen=True, slots=True, eq=False)
class NgramCells:
    """Counts of n-grams: a pair is an n-gram in a list, a cell an n-gram in a candidate."""

    # shape (n_pairs,): key, list and one place of each pair
    keys: Keys
    lists: Ints
    places: Ints
    begins: Ints  # int64 (n_pairs,): where the cells of each pair begin
    # int64 (n_cells,): candidate and count of each cell; the cells of a pair are adjacent
    rows: Ints
    counts: Ints

    @classmethod
    def from_occurrences(cls, occurrences: Occurrences, list_of_row: Ints) -> NgramCells:
        """Count n-grams; `list_of_row` is ascending and begins with 0."""
        if not len(occurrences.keys):
            none = np.zeros(0, np.int64)
            return cls(occurrences.keys, none, none, none, none, none)
        bits = int(list_of_row[-1]).bit_length()
        lists = list_of_row[occurrences.rows]
        # one integer per (list, n-gram), so that a single sort groups the occurrences
        packed = occurrences.keys >> np.uint64(bits)  # the remaining bits collide for one pair in 10**9 lists
        if bits:
            packed |= lists.astype(np.uint64) << np.uint64(64 - bits)
        order = np.argsort(packed, kind="stable")
        packed, rows = packed[order], occurrences.rows[order]
        new_pair = np.append(True, packed[1:] != packed[:-1])
        cells = np.flatnonzero(new_pair | np.append(True, rows[1:] != rows[:-1]))
        pairs = order[new_pair]
        starts = np.flatnonzero(new_pair[cells])
        counts = np.diff(np.append(cells, len(rows)))
        return cls(
            occurrences.keys[pairs], lists[pairs], occurrences.places[pairs], starts, rows[cells], counts
        )

    def differ(self, sizes: Ints) -> NDArray[np.bool_]:
        """Return, for each pair, whether its counts differ between the candidates of its list.

        `sizes` is the number of candidates of each list.
        """
        if not len(self.begins):
            return np.zeros(0, np.bool_)
        n_candidates = np.diff(np.append(self.begins, len(self.rows)))
        minimum = np.minimum.reduceat(self.counts, self.begins)
        maximum = np.maximum.reduceat(self.counts, self.begins)
        return (n_candidates < sizes[self.lists]) | (minimum < maximum)


def distinguishing_ngrams(ngrams: NgramSource, offsets: Ints, minimum: int) -> KnownNgrams:
    """Return the n-grams that distinguish candidates in at least `minimum` lists.

    `offsets` (shape (n_lists + 1,)): the candidates of each list.
    """
    keys, lists, places = np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    pending: list[tuple[Keys, Ints, Ints]] = []
    for first, last in _blocks(ngrams.sizes, offsets):
        cells, _ = _count_block(ngrams, offsets, first, last)
        differing = cells.differ(np.diff(offsets[first : last + 1]))
        distinct, index, n_lists = np.unique(cells.keys[differing], return_index=True, return_counts=True)
        pending.append((distinct, n_lists.astype(np.int64), cells.places[differing][index]))
        if sum(len(block_keys) for block_keys, _, _ in pending) > 4 * BLOCK + len(keys):
            keys, lists, places = _merge_blocks([(keys, lists, places), *pending])
            pending = []
    keys, lists, places = _merge_blocks([(keys, lists, places), *pending])
    frequent = lists >= minimum
    # sorted by name, so that the columns do not depend on the order of the lists
    named = sorted(zip(ngrams.names(places[frequent]), keys[frequent].tolist(), strict=True))
    names = PackedStrings.from_words(name for name, _ in named)
    return KnownNgrams.from_names(names, np.array([key for _, key in named], np.uint64))


def count_known(ngrams: NgramSource, offsets: Ints, vocabulary: KnownNgrams) -> tuple[Any, Ints]:
    """Return counts of known n-grams, and the number of n-grams of each candidate, known or not.

    The counts are a csr_array of shape (n_candidates, len(vocabulary)).
    """
    from scipy.sparse import csr_array

    n = len(ngrams.sizes)
    columns, values = [np.zeros(0, np.int32)], [np.zeros(0)]
    n_known, n_ngrams = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for first, last in _blocks(ngrams.sizes, offsets):
        cells, start = _count_block(ngrams, offsets, first, last)
        end = int(offsets[last])
        n_ngrams[start:end] = np.bincount(cells.rows, minlength=end - start)
        cells_per_pair = np.diff(np.append(cells.begins, len(cells.rows)))
        column = np.repeat(vocabulary.find_columns(cells.keys), cells_per_pair)
        in_vocabulary = np.flatnonzero(column >= 0)
        column, rows = column[in_vocabulary], cells.rows[in_vocabulary]
        # SciPy needs the entries row by row, with ascending columns
        order = np.argsort(rows * max(len(vocabulary), 1) + column)
        n_known[start:end] = np.bincount(rows, minlength=end - start)
        columns.append(column[order].astype(np.int32))
        values.append(cells.counts[in_vocabulary][order].astype(np.float64))
    starts = offsets_from_sizes(n_known)
    shape = (n, len(vocabulary))
    return csr_array((np.concatenate(values), np.concatenate(columns), starts), shape), n_ngrams


def _count_block(ngrams: NgramSource, offsets: Ints, first: int, last: int) -> tuple[NgramCells, int]:
    """Return the counts of lists `first` to `last`, and the first of their candidates."""
    start, end = int(offsets[first]), int(offsets[last])
    lists = row_owners(offsets[first : last + 1])
    return NgramCells.from_occurrences(ngrams.occur(start, end), lists), start


def _blocks(sizes: Ints, offsets: Ints) -> Iterator[tuple[int, int]]:
    """Return ranges of lists that have about `BLOCK` n-grams together, at least one list per range."""
    return spans(offsets_from_sizes(sizes)[offsets], 0, len(offsets) - 1, BLOCK)


def _merge_blocks(blocks: list[tuple[Keys, Ints, Ints]]) -> tuple[Keys, Ints, Ints]:
    """Return each key once, with its total number of lists and its first place."""
    keys, lists, places = (np.concatenate(column) for column in zip(*blocks, strict=True))
    distinct, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return distinct, np.bincount(inverse.ravel(), lists, len(distinct)).astype(np.int64), places[index]


EDGES = ("<s>", "</s>")


@dataclass(frozen=True, slots=True, eq=False)
class UnitRuns:
    """The n-grams of candidates; those of two or more units may include an edge of the text."""

    units: NgramUnits
    # Number of units of the longest n-grams. ``place % (order + 1)`` is the length of an n-gram, the quotient
    # the unit it begins with, with two edges per candidate
    order: int
    unit: str  # ``"words"`` or ``"characters"``

    @property
    def sizes(self) -> Ints:
        """Maximum number of n-grams of each candidate."""
        return (np.diff(self.units.words.offsets) + 2) * self.order

    def occur(self, first: int, last: int) -> Occurrences:
        """Return the n-grams of candidates `first` to `last` (exclusive)."""
        offsets = self.units.words.offsets[first : last + 1]
        # each candidate as a run of units: an edge, its own units, another edge
        lengths = np.diff(offsets) + 2
        ends = np.cumsum(lengths)
        rows = np.repeat(np.arange(last - first), lengths)
        n = len(rows)
        is_end = np.zeros(n, np.bool_)
        is_end[ends - 1] = True
        is_unit = ~is_end
        is_unit[ends - lengths] = False
        hashes = np.zeros(n, np.uint64)
        hashes[is_unit] = self.units.hashes[self.units.words.ids[offsets[0] : offsets[-1]]]
        keys = np.empty((n, self.order), np.uint64)
        exists = np.empty((n, self.order), np.bool_)
        room = ends[rows] - np.arange(n)  # units up to the end of the candidate, including this one
        keys[:, 0] = np.where(
            is_unit, append_unit(empty_keys(n), hashes), _append_edge(empty_keys(n), EDGES[0], self.unit)
        )
        exists[:, 0] = is_unit
        for size in range(2, self.order + 1):
            exists[:, size - 1] = room >= size
            final = np.minimum(np.arange(n) + size - 1, n - 1)  # the last unit of each n-gram
            shorter = keys[:, size - 2]
            keys[:, size - 1] = append_unit(shorter, hashes[final])
            to_end = np.flatnonzero(exists[:, size - 1] & is_end[final])
            keys[to_end, size - 1] = _append_edge(shorter[to_end], EDGES[1], self.unit)
        starts, sizes = np.nonzero(exists)
        places = (starts + offsets[0] + 2 * first) * (self.order + 1) + sizes + 1
        return Occurrences(keys[exists], rows[starts], places)

    def names(self, places: Ints) -> list[str]:
        """Return the names of n-grams: their units, joined."""
        starts, lengths = np.divmod(places, self.order + 1)
        offsets = self.units.words.offsets
        rows = np.searchsorted(offsets + 2 * np.arange(len(offsets)), starts, "right") - 1
        units = starts - 2 * rows - 1  # index of the first unit, without edges
        names = []
        for first, low, high, n in zip(
            units.tolist(), offsets[rows].tolist(), offsets[rows + 1].tolist(), lengths.tolist(), strict=True
        ):
            spelt = self.units.spell(max(first, low), min(first + n, high))
            left, right = [EDGES[0]] * (first < low), [EDGES[1]] * (first + n > high)
            names.append(SEPARATOR[self.unit].join([*left, *spelt, *right]))
        return names


def _append_edge(keys: Keys, edge: str, unit: str) -> Keys:
    """Return the keys of n-grams followed by an edge, which is one word, or several characters."""
    for hashed in hash_words(list(edge) if unit == CHARACTERS else [edge]):
        keys = append_unit(keys, hashed)
    return keys


class NgramExtractor(ABC):
    """Base class of extractors of one sparse row per candidate: its counts of known n-grams.

    A subclass is a frozen dataclass with the fields below.
    """

    __slots__ = ()
    ngrams: KnownNgrams | None  # none until the extractor is fitted

    @abstractmethod
    def _group_and_unit(self) -> tuple[str, str]:
        """Return the name of the feature group, and the unit of the n-grams."""

    @abstractmethod
    def _ngrams(self, lists: CandidateLists) -> NgramSource:
        """Return the n-grams of the candidates."""

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError if the extractor is not fitted."""
        if self.ngrams is None:
            raise ValueError("the extractor is not fitted: no n-grams are known")
        lists = require_lists(instances, self)
        rows, n_ngrams = count_known(self._ngrams(lists), lists.offsets, self.ngrams)
        feature_groups = np.zeros(len(self.ngrams), np.int32)
        columns = columns_named(self.ngrams.names, feature_groups, self._group_and_unit()[:1])
        return as_features(rows, columns, instances, group, n_ngrams)

    def state(self) -> Arrays:
        """Return the n-grams."""
        return {} if self.ngrams is None else self.ngrams.state()

    def from_state(self, arrays: Arrays) -> Self:
        """Return an extractor with the n-grams of `state`; ValueError if the arrays do not fit."""
        ngrams = known_ngrams_from_state(arrays, self._group_and_unit()[1]) if arrays else None
        return replace(self, ngrams=ngrams)  # type: ignore[type-var]  # subclasses are dataclasses


_MAX_ORDER = 5


@dataclass(frozen=True, slots=True, eq=False)
class TextNgrams(NgramExtractor):
    """Extractor of one sparse row per candidate: the counts of the n-grams of its text.

    Parameters
    ----------
    unit : str
        ``"words"``: the words of the list or, if it has none, the text split at white space; or
        ``"characters"``. A blank within a word is shown as an open box in names.
    order : int
        N-grams of one unit to this many, 1 to 5; those of two or more may reach past the ends of the text.
    least : int
        Minimum number of training lists in which an n-gram must differ between candidates. An n-gram that
        all candidates of a list share does not distinguish them.

    Raises
    ------
    UserError
        D452, D510 or D513 for invalid settings.
    """

    unit: str = WORDS
    order: int = 2
    least: int = 2
    ngrams: KnownNgrams | None = fitted_field(None)
    describes: ClassVar[str] = "lists"

    def __post_init__(self) -> None:
        if self.unit not in SEPARATOR:
            raise UserError("D510", setting="TextNgrams.unit", value=self.unit, choices=", ".join(SEPARATOR))
        validate_settings(self, order=whole_number_between(1, _MAX_ORDER), least=COUNT)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TextNgrams:
        """Keep the n-grams that distinguish candidates in enough lists."""
        lists = require_lists(instances, self)
        return replace(self, ngrams=distinguishing_ngrams(self._ngrams(lists), lists.offsets, self.least))

    def _group_and_unit(self) -> tuple[str, str]:
        return f"n-grams of {self.unit}", self.unit

    def _ngrams(self, lists: CandidateLists) -> UnitRuns:
        return UnitRuns(candidate_units(lists, self.unit), self.order, self.unit)


CONTENT = ("NOUN", "PROPN", "VERB", "ADJ", "ADV")


@dataclass(frozen=True, slots=True, eq=False)
class HeadwordBigrams(NgramExtractor):
    """Extractor of one sparse row per candidate: the counts of the bigrams of its head words.

    The lists must give the words of their candidates and the tags of the words. Text ends are not marked.

    Parameters
    ----------
    tags : sequence of str
        Words whose tag begins with one of these are head words: "名詞" takes "名詞" and "名詞-普通名詞".
    least : int
        Minimum number of training lists in which a bigram must differ between candidates.

    Raises
    ------
    UserError
        D452, D663 or D680 for invalid settings.
    """

    tags: Sequence[str] = CONTENT
    least: int = 2
    ngrams: KnownNgrams | None = fitted_field(None)
    describes: ClassVar[str] = "lists"

    def __post_init__(self) -> None:
        validate_settings(self, least=COUNT)
        if isinstance(self.tags, str):
            raise UserError("D663", setting="HeadwordBigrams.tags", value=self.tags)
        if not self.tags or not all(isinstance(tag, str) and tag for tag in self.tags):
            raise UserError("D680", value=self.tags, example=json.dumps(CONTENT))

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> HeadwordBigrams:
        """Keep the bigrams that distinguish candidates in enough lists.

        Raises D681 if the lists have no tags, D682 if no tag is one of `tags`.
        """
        lists = require_lists(instances, self)
        words = _require_tags(lists)
        if len(words.ids) and not self._is_headword_tag(words.tag_names).any():
            raise UserError("D682", tags=", ".join(self.tags), names=", ".join(words.tag_names[:20]))
        return replace(self, ngrams=distinguishing_ngrams(self._ngrams(lists), lists.offsets, self.least))

    def _group_and_unit(self) -> tuple[str, str]:
        return "headword bigrams", WORDS

    def _is_headword_tag(self, names: Sequence[str]) -> np.ndarray:
        return np.array([name.startswith(tuple(self.tags)) for name in names], np.bool_)

    def _ngrams(self, lists: CandidateLists) -> _Bigrams:
        words = _require_tags(lists)
        is_head = np.zeros(len(words.ids), np.bool_)
        if words.tags is not None and len(words.ids):
            is_head = self._is_headword_tag(words.tag_names)[words.tags]
        offsets = offsets_from_sizes(is_head)[words.offsets].astype(np.int64)
        return _Bigrams(NgramUnits.from_words(CandidateWords(words.ids[is_head], offsets, words.spellings)))


@dataclass(frozen=True, slots=True, eq=False)
class _Bigrams:
    """Pairs of adjacent words of a candidate."""

    units: NgramUnits

    @property
    def sizes(self) -> Ints:
        return np.diff(self.units.words.offsets)

    def occur(self, first: int, last: int) -> Occurrences:
        offsets = self.units.words.offsets[first : last + 1]
        rows = row_owners(offsets)
        hashes = self.units.hashes[self.units.words.ids[offsets[0] : offsets[-1]]]
        starts = np.flatnonzero(rows[1:] == rows[:-1])
        keys = append_unit(append_unit(empty_keys(len(starts)), hashes[starts]), hashes[starts + 1])
        return Occurrences(keys, rows[starts], starts + offsets[0])

    def names(self, places: Ints) -> list[str]:
        return [SEPARATOR[WORDS].join(self.units.spell(place, place + 2)) for place in places.tolist()]


def _require_tags(lists: CandidateLists) -> CandidateWords:
    """Return the words of lists that have tags; D681 if there are none."""
    if lists.words is None and not len(lists):
        return CandidateWords.from_words([])
    if lists.words is None or (lists.words.tags is None and len(lists.words.ids)):
        raise UserError("D681")
    return lists.words


GROUPS = ("base score", "rank", "source")
_FIXED = ("base score", "rank")


@dataclass(frozen=True, slots=True, eq=False)
class SourceFeatures:
    """Extractor of one sparse row per candidate: base score, log(1 + rank), and the features of the source.

    The base score is the distance of a candidate from the best one in its list, divided by the average
    distance of the second-best candidates, so that it does not depend on the scale of the source. Features
    that were not seen in training are left out.

    Parameters
    ----------
    base, rank, features : bool
        Whether to use each of these as features.
    least : int
        Minimum number of training candidates that have a feature.

    Raises
    ------
    UserError
        D452 if `least` is not a whole number of at least 1.
    """

    base: bool = True
    rank: bool = True
    features: bool = True
    least: int = 1
    names: PackedStrings | None = fitted_field(None)
    unit: float = fitted_field(1.0)
    describes: ClassVar[str] = "lists"

    def __post_init__(self) -> None:
        validate_settings(self, least=COUNT)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> SourceFeatures:
        """Keep the names of the features that candidates have."""
        lists = require_lists(instances, self)
        distances = _distances_from_best(lists)
        of_second_best = distances[lists.ranks == 1]
        mean = float(np.abs(of_second_best).mean()) if len(of_second_best) else 0.0
        unit = mean if mean > 0 else 1.0
        if lists.features is None or not self.features:
            return replace(self, names=PackedStrings.from_words(()), unit=unit)
        counts = np.bincount(lists.features.indices, minlength=len(lists.feature_names))
        kept = counts >= self.least
        names = [name for name, is_kept in zip(lists.feature_names, kept, strict=True) if is_kept]
        return replace(self, names=PackedStrings.from_words(names), unit=unit)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError if the extractor is not fitted."""
        from scipy.sparse import csr_array, hstack

        if self.names is None:
            raise ValueError("the extractor is not fitted: no features of the source are known")
        lists, names = require_lists(instances, self), list(self.names)
        n = len(lists.texts)
        fixed = np.stack(
            [_distances_from_best(lists) / self.unit * self.base, np.log1p(lists.ranks) * self.rank], axis=1
        ).reshape(n, 2)
        parts = [csr_array(fixed)]
        n_queries = np.zeros(n, np.int64)
        if names:
            column_of = {name: i for i, name in enumerate(names)}
            new_columns = np.array([column_of.get(name, -1) for name in lists.feature_names], np.int64)
            parts.append(_map_columns(lists.features, new_columns, n, len(names)))
            n_queries = np.diff(lists.features.indptr) if lists.features is not None else n_queries
        rows = csr_array(hstack(parts, format="csr"))
        rows.eliminate_zeros()
        feature_groups = np.array([0, 1] + [2] * len(names), np.int32)
        return as_features(
            rows, columns_named([*_FIXED, *names], feature_groups, GROUPS), instances, group, n_queries
        )

    def state(self) -> Arrays:
        """Return the names."""
        if self.names is None:
            return {}
        return {"n": np.array([len(self.names)]), "unit": np.array([self.unit]), **self.names.state()}

    def from_state(self, arrays: Arrays) -> SourceFeatures:
        """Return an extractor with the names of `state`; ValueError if the arrays do not fit."""
        if not arrays:
            return self
        unit = float(arrays["unit"][0])
        if not unit > 0:
            raise ValueError("the unit of base scores is not above zero")
        return replace(self, names=strings_from_state(arrays, int(arrays["n"][0])), unit=unit)


def _distances_from_best(lists: CandidateLists) -> NDArray[np.float64]:
    """Return the distance of each candidate's score from the best one in its list, zero or less."""
    return lists.scores - np.repeat(maxima(lists.scores, lists.offsets), np.diff(lists.offsets))


def _map_columns(rows: Any, to: NDArray[np.int64], n: int, width: int) -> Any:
    """Return rows with their columns moved; columns mapped to -1 are left out."""
    from scipy.sparse import csr_array

    if rows is None:
        return csr_array((n, width))
    columns = to[rows.indices]
    kept = columns >= 0
    starts = offsets_from_sizes(kept)[rows.indptr]  # how many entries are kept before each row
    moved = csr_array((rows.data[kept], columns[kept], starts), (n, width))
    moved.sort_indices()
    return moved
