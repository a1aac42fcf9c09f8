"""Groups of candidates, confusion sets as users write them, and instances with their candidates."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from disambig.data.segments import (
    Selection,
    join_offsets,
    lengths,
    offsets_from_sizes,
    row_ranks,
    take_rows,
    unique_inverse,
)
from disambig.errors import UserError
from disambig.files import decode, read_small
from disambig.rules import comparable_form
from disambig.runtime import KeepsResults
from disambig.type_aliases import Ints

if TYPE_CHECKING:
    from disambig.text import TokenView


@dataclass(frozen=True, slots=True)
class Group:
    """A list of candidates that compete for the same place.

    Attributes
    ----------
    name : str
        Unique within its task, such as ``"affect/effect"``.
    candidates : tuple of str
        In normalised form; words are separated by a space (``"may be"``).
    variants : tuple of tuple of str
        Candidates with the same meaning (toward/towards), which are never flagged for one another.
    glosses : tuple of str
        Reference for the meaning of each candidate, such as its key in a dictionary: either none, or one
        per candidate, empty if it is not known.
    learned : bool
        Whether a model was trained for the group. If not, the candidate that was right most often is
        chosen in every context, and its decisions have ``asked`` 0: no evidence was looked up.
    """

    name: str
    candidates: tuple[str, ...]
    variants: tuple[tuple[str, ...], ...] = ()
    glosses: tuple[str, ...] = ()
    learned: bool = True

    def same(self, first: int, second: int) -> bool:
        """Return True if two candidates, given by index, are equal or variants of each other."""
        pair = {self.candidates[first], self.candidates[second]}
        return len(pair) == 1 or any(pair <= set(variants) for variants in self.variants)


MAX_BYTES = 1_000_000
"""Maximum size of a file of confusion sets, in bytes."""
MAX_CANDIDATES = 200
"""Maximum number of candidates in a set, all of which are compared at every place."""
MAX_WORDS = 2
"""Maximum number of words of a candidate."""
_WORD = re.compile(r"[^\W\d_]+('[^\W\d_]+)*")


def read_confusion_sets(path: str | Path) -> tuple[Group, ...]:
    """Read a file of confusion sets.

    One set per line: candidates separated by ``/``, optionally followed by a tab and a comment.
    Empty lines and lines that start with ``#`` are skipped.

    Raises
    ------
    UserError
        D410, with the line, for an invalid set; D665 for a file without sets; D300, D303, D304 and
        D308 for one that cannot be read; D975 for one that is too large.
    """
    text = decode(read_small(str(path), limit=MAX_BYTES), str(path)).removeprefix("\ufeff")
    groups: dict[str, Group] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.split("\t")[0].strip()
        if not entry or entry.startswith("#"):
            continue
        try:
            group = confusion_set(entry)
        except UserError as problem:
            raise UserError("D410", path=path, line=number, problem=problem.values["problem"]) from problem
        if group.name in groups:
            raise UserError("D410", path=path, line=number, problem=f"{group.name} occurs twice")
        groups[group.name] = group
    if not groups:
        raise UserError("D665", path=path)
    return tuple(groups.values())


def confusion_set(value: str | Iterable[str]) -> Group:
    """Return the group of a set written as ``"quite/quiet"`` or given as its members.

    Raises
    ------
    UserError
        D411 for fewer than two members, empty or repeated members, members with too many words, or
        members that are never one word in a text ("well-known").
    """
    members = value.split("/") if isinstance(value, str) else list(value)
    candidates = tuple(map(comparable_form, members))
    name = "/".join(candidates)
    if len(candidates) < 2 or len(set(candidates)) < len(candidates):
        raise UserError("D411", name=name, problem="it needs two or more different words")
    if len(candidates) > MAX_CANDIDATES:
        raise UserError("D411", name=name[:60], problem=f"it has more than {MAX_CANDIDATES:,} candidates")
    for candidate in candidates:
        words = candidate.split(" ")
        if not candidate or len(words) > MAX_WORDS:
            raise UserError("D411", name=name, problem=f"{candidate!r} is not one word or two")
        if not all(_WORD.fullmatch(word) for word in words):
            raise UserError(
                "D411", name=name, problem=f"{candidate!r} is not a word of letters and apostrophes"
            )
    return Group(name, candidates)


class Interned(Sequence[str]):
    """Texts stored as indices into a list of spellings.

    Parameters
    ----------
    spellings : sequence of str
        May include spellings that do not occur.
    numbers : array of int, shape (n,)
    """

    __slots__ = ("__weakref__", "numbers", "spellings")

    def __init__(self, spellings: Sequence[str], numbers: NDArray[np.integer[Any]]) -> None:
        self.spellings, self.numbers = spellings, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.spellings[i] for i in self.numbers[index].tolist()]
        return self.spellings[int(self.numbers[index])]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def take(self, rows: Selection) -> Interned:
        """Return the texts of some rows."""
        return Interned(self.spellings, self.numbers[rows])


def take_texts(texts: Sequence[str], rows: Selection) -> Sequence[str]:
    """Return the texts of some rows; the result is `Interned` if `texts` are."""
    if isinstance(texts, Interned):
        return texts.take(rows)
    return texts[rows] if isinstance(rows, slice) else [texts[row] for row in rows.tolist()]


def join_texts(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """Concatenate the texts of all parts; the result is `Interned` if one of them is."""
    interned = [part for part in parts if isinstance(part, Interned)]
    if not interned:
        return [text for part in parts for text in part]
    spellings = interned[0].spellings
    if len(interned) == len(parts) and all(part.spellings is spellings for part in interned):
        return Interned(spellings, np.concatenate([part.numbers for part in interned]))
    number: dict[str, int] = {}
    columns = []
    for part in parts:
        distinct, index = distinct_texts(part)
        columns.append(np.array([number.setdefault(text, len(number)) for text in distinct], int)[index])
    return Interned(list(number), np.concatenate(columns))


def distinct_texts(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the distinct texts, and the index of each text among them, shape ``(n,)``."""
    if isinstance(texts, Interned):
        numbers, index = unique_inverse(texts.numbers)
        return [texts.spellings[i] for i in numbers.tolist()], index
    distinct = list(dict.fromkeys(texts))
    number = {text: i for i, text in enumerate(distinct)}
    return distinct, np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))


@dataclass(frozen=True, slots=True, eq=False)
class CandidateWords:
    """The words of n candidates; the words of candidate i are ``ids[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    ids : array of int32, shape (n_words,)
        Indices into `spellings`.
    offsets : array of int64, shape (n + 1,)
        A candidate may have no words.
    spellings : sequence of str
        The vocabulary of distinct words; it may hold words that no candidate has.
    tags : array of int16 or int32, shape (n_words,), optional
        Part of speech or another tag of each word, as an index into `tag_names`.
    tag_names : tuple of str
        The distinct tags.

    Raises
    ------
    ValueError
        If the columns do not fit together.
    """

    ids: NDArray[np.int32]
    offsets: Ints
    spellings: Sequence[str]
    tags: NDArray[np.integer] | None = None
    tag_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != len(self.ids):
            raise ValueError("offsets of words must begin with 0 and end with the number of words")
        if self.tags is not None and len(self.tags) != len(self.ids):
            raise ValueError("there must be a tag for each word, or none at all")

    @classmethod
    def from_words(
        cls, words: Iterable[Sequence[str]], tags: Iterable[Sequence[str]] | None = None
    ) -> CandidateWords:
        """Return the words of some candidates, optionally with a tag for each word.

        Raises
        ------
        ValueError
            If the number of tags is not the number of words.
        """
        ids, offsets, spellings = _encode_words(words)
        if tags is None:
            return cls(ids, offsets, spellings)
        kinds, ends, names = _encode_words(tags)
        if not np.array_equal(ends, offsets):
            raise ValueError("there must be a tag for each word, or none at all")
        return cls(ids, offsets, spellings, kinds, tuple(names))

    @classmethod
    def joined(cls, parts: Sequence[CandidateWords]) -> CandidateWords:
        """Concatenate the words of all parts.

        If all parts share a vocabulary, it is kept; otherwise one that holds all words is made. Tags are
        kept if all parts that have words have tags.
        """
        ids, spellings = _merge_vocabularies([part.ids for part in parts], [part.spellings for part in parts])
        offsets = join_offsets(part.offsets for part in parts)
        tagged = [part for part in parts if len(part.ids)] or parts
        columns = [part.tags for part in tagged if part.tags is not None]
        if len(columns) < len(tagged):
            return cls(ids.astype(np.int32), offsets, spellings)
        tags, names = _merge_vocabularies(columns, [part.tag_names for part in tagged])
        return cls(ids.astype(np.int32), offsets, spellings, tags, tuple(names))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Selection) -> CandidateWords:
        """Return the words of the candidates in `rows`, in that order; the vocabulary stays."""
        places, offsets = take_rows(self.offsets, rows)
        tags = None if self.tags is None else self.tags[places]
        return CandidateWords(self.ids[places], offsets, self.spellings, tags, self.tag_names)

    def candidate_words(self, row: int) -> tuple[str, ...]:
        """Return the words of one candidate."""
        return tuple(self.spellings[i] for i in self.ids[self.offsets[row] : self.offsets[row + 1]].tolist())

    def candidate_tags(self, row: int) -> tuple[str, ...]:
        """Return the tags of one candidate's words; empty if there are no tags."""
        if self.tags is None:
            return ()
        return tuple(self.tag_names[i] for i in self.tags[self.offsets[row] : self.offsets[row + 1]].tolist())


def _encode_words(parts: Iterable[Sequence[str]]) -> tuple[NDArray[np.int32], Ints, list[str]]:
    """Return the words numbered by first occurrence: numbers, offsets of the parts, and the words."""
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__  # a word that is not in it yet gets the next number
    ids, sizes = array("i"), array("q", [0])
    for part in parts:
        sizes.append(len(part))
        ids.extend(map(number.__getitem__, part))
    return np.array(ids, np.int32), np.cumsum(np.array(sizes, np.int64)), list(number)


def _merge_vocabularies(
    columns: Sequence[NDArray[np.integer]], vocabularies: Sequence[Sequence[str]]
) -> tuple[NDArray[np.integer], Sequence[str]]:
    """Renumber the words of several vocabularies into one; a vocabulary that all share is kept."""
    first = vocabularies[0]
    if all(vocabulary is first for vocabulary in vocabularies):
        return np.concatenate(columns), first
    number: dict[str, int] = {}
    new_ids: dict[int, NDArray[np.int32]] = {}
    for words in vocabularies:  # parts may share a vocabulary: each is processed once
        if id(words) not in new_ids:
            new_ids[id(words)] = np.array([number.setdefault(word, len(number)) for word in words], np.int32)
    renumbered = [new_ids[id(words)][ids] for ids, words in zip(columns, vocabularies, strict=True)]
    return np.concatenate(renumbered), list(number)


@dataclass(frozen=True, slots=True, eq=False)
class CandidateLists:
    """Per-instance candidates of n instances; those of instance i are ``offsets[i]:offsets[i + 1]``.

    Attributes
    ----------
    offsets : array of int64, shape (n + 1,)
        Every instance has at least one candidate.
    texts : sequence of str, shape (n_candidates,)
        Text of each candidate: words, or a key that only the source understands; `Interned` if many are
        equal.
    scores : array of float64, shape (n_candidates,)
        Base score from the source, higher is better; zero if it gave none.
    ranks : array of int32, shape (n_candidates,)
        Rank in the order of the source, from 0.
    costs : array of float32, shape (n_candidates,)
        Cost of choosing a candidate, zero for right ones; NaN if it is not known.
    features : scipy.sparse.csr_array of shape (n_candidates, n_features), optional
        Features that the source provides.
    feature_names : tuple of str
        One name per column of `features`.
    words : CandidateWords, optional
        The words of each candidate, if the source provides them.

    Raises
    ------
    ValueError
        If `words` and `texts` differ in length.
    """

    offsets: NDArray[np.int64]
    texts: Sequence[str]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int32]
    costs: NDArray[np.float32]
    features: Any = None
    feature_names: tuple[str, ...] = ()
    words: CandidateWords | None = None

    def __post_init__(self) -> None:
        if self.words is not None and len(self.words) != len(self.texts):
            raise ValueError(f"words of {len(self.words):,} candidates, and there are {len(self.texts):,}")

    @classmethod
    def from_texts(cls, lists: Sequence[Sequence[str]]) -> CandidateLists:
        """Return candidate lists that have nothing but texts.

        Raises
        ------
        TypeError
            If the candidates of an instance are a single text instead of a list of texts.
        """
        for candidates in lists:
            if isinstance(candidates, str):
                raise TypeError(
                    f"the candidates are {candidates!r}; expected a list of texts for each instance"
                )
        offsets = offsets_from_sizes(map(len, lists))
        texts = [text for candidates in lists for text in candidates]
        n = len(texts)
        return cls(
            offsets, texts, np.zeros(n), row_ranks(offsets).astype(np.int32), np.full(n, np.nan, np.float32)
        )

    @classmethod
    def joined(cls, parts: Sequence[CandidateLists]) -> CandidateLists:
        """Concatenate the lists of all parts, which must have the same features.

        Words are kept if all parts that have lists have them.
        """
        features = parts[0].features
        if features is not None:
            from scipy.sparse import vstack

            features = vstack([part.features for part in parts], format="csr")
        filled = [part for part in parts if len(part)]
        words = [part.words for part in filled if part.words is not None]
        return cls(
            join_offsets(part.offsets for part in parts),
            join_texts([part.texts for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.ranks for part in parts]),
            np.concatenate([part.costs for part in parts]),
            features,
            parts[0].feature_names,
            CandidateWords.joined(words) if words and len(words) == len(filled) else None,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: NDArray[np.generic] | slice) -> CandidateLists:
        """Return the lists of the instances chosen by an index array, a mask or a slice."""
        taken = index if isinstance(index, slice) else np.arange(len(self))[index]
        rows, offsets = take_rows(self.offsets, taken)
        return CandidateLists(
            offsets,
            take_texts(self.texts, rows),
            self.scores[rows],
            self.ranks[rows],
            self.costs[rows],
            None if self.features is None else self.features[rows],
            self.feature_names,
            None if self.words is None else self.words.take(rows),
        )

    def instance_candidates(self, index: int) -> tuple[str, ...]:
        """Return the candidates of one instance."""
        return tuple(self.texts[self.offsets[index] : self.offsets[index + 1]])


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTable:
    """The candidates of n instances: all candidates of a group, or lists of their own."""

    groups: tuple[Group, ...]  # the groups of the instances, at least one; a group need not have instances
    group_of: Ints  # int64 (n,): index of each instance's group in `groups`
    offsets: Ints  # int64 (n + 1,): the candidates of instance i are the rows ``offsets[i]:offsets[i + 1]``
    lists: CandidateLists | None  # per-instance candidates, which replace those of the group

    def __len__(self) -> int:
        return len(self.group_of)

    @property
    def group(self) -> Group:
        """The group of all instances; ValueError if there are several."""
        (group,) = self.groups
        return group


@dataclass(frozen=True, slots=True, eq=False)
class Instances(KeepsResults):
    """Places of a `TokenView`, or items that are not in a text, for which a candidate is to be chosen.

    The candidates are those of `lists` if it is given, otherwise those of the instance's group.

    Attributes
    ----------
    positions : array of int64, shape (n,)
        First token of the observed candidate; for items that are not in a text, their number.
    lengths : array of int32, shape (n,)
        Number of tokens of the observed candidate (2 for "may be", 0 for an empty place).
    groups : array of int32, shape (n,)
        Index into the task's groups.
    observed : array of int32, shape (n,)
        The candidate in the text, as an index in its group or list; -1 if there is none. In training and
        evaluation, the right candidate.
    lists : CandidateLists, optional
        Per-instance candidates, which replace those of the group.
    """

    positions: NDArray[np.int64]
    lengths: NDArray[np.int32]
    groups: NDArray[np.int32]
    observed: NDArray[np.int32]
    lists: CandidateLists | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, index: NDArray[np.generic] | slice) -> Instances:
        """Return the instances chosen by an index array, a mask or a slice."""
        lists = None if self.lists is None else self.lists.take(index)
        return Instances(
            self.positions[index], self.lengths[index], self.groups[index], self.observed[index], lists
        )

    def rows_by_group(self) -> Iterator[tuple[int, Ints]]:
        """Yield each group that has instances, with their indices."""
        for group in np.unique(self.groups).tolist():
            yield group, np.flatnonzero(self.groups == group)

    @classmethod
    def joined(cls, parts: Sequence[Instances]) -> Instances:
        """Concatenate at least one part; either all or none have per-instance candidates."""
        if len(parts) == 1:
            return parts[0]
        lists = [part.lists for part in parts if part.lists is not None]
        return cls(
            np.concatenate([part.positions for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.groups for part in parts]),
            np.concatenate([part.observed for part in parts]),
            CandidateLists.joined(lists) if lists else None,
        )

    def spans(self, view: TokenView) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the character offsets where places start and end, each of shape ``(n,)``.

        An empty place is at the start of the next word.
        """
        starts = view.starts[self.positions]
        last = self.positions + np.maximum(self.lengths, 1) - 1
        return starts, np.where(self.lengths > 0, view.ends[last], starts)

    def sizes(self, group: Group) -> NDArray[np.int64]:
        """Return the number of candidates of each instance, shape ``(n,)``; all must belong to `group`."""
        if self.lists is not None:
            return lengths(self.lists.offsets)
        return np.full(len(self), len(group.candidates), np.int64)

    def offsets(self, group: Group) -> NDArray[np.int64]:
        """Return the offsets of the candidates of each instance, shape (n + 1,); all belong to `group`."""
        if self.lists is not None:
            return self.lists.offsets
        return np.arange(len(self) + 1, dtype=np.int64) * len(group.candidates)

    def candidate_offsets(self, groups: Sequence[Group]) -> Ints:
        """Return the offsets of the candidates, shape (n + 1,); the instances may be of any of `groups`."""
        if self.lists is not None:
            return self.lists.offsets
        if len(self.groups) < len(groups):  # a few words of a text, and hundreds of groups
            return offsets_from_sizes(len(groups[number].candidates) for number in self.groups.tolist())
        return offsets_from_sizes(count_candidates(groups)[self.groups])

    def candidates(self, index: int, group: Group) -> tuple[str, ...]:
        """Return the candidates of one instance, which belongs to `group`."""
        return group.candidates if self.lists is None else self.lists.instance_candidates(index)

    def texts(self, group: Group) -> Sequence[str]:
        """Return the text of each candidate, shape (n_candidates,); all instances must belong to `group`."""
        if self.lists is not None:
            return self.lists.texts
        return Interned(group.candidates, np.tile(np.arange(len(group.candidates)), len(self)))

    def costs(self, group: Group) -> NDArray[np.float32]:
        """Return the cost of each candidate for an extractor's batch, shape ``(n_candidates,)``.

        Zero for the observed candidate and one for the others. If the lists know their costs, the cost
        above that of the cheapest candidate, because a list need not contain a perfect one.
        """
        return self.costs_at(self.offsets(group))

    def costs_at(self, offsets: Ints) -> NDArray[np.float32]:
        """Return the result of `costs`, given the offsets of the candidates, for instances of any groups."""
        costs = np.ones(int(offsets[-1]), np.float32)
        has_observed = self.observed >= 0
        costs[offsets[:-1][has_observed] + self.observed[has_observed]] = 0.0
        if self.lists is None or np.isnan(self.lists.costs).all():
            return costs
        lowest = np.minimum.reduceat(self.lists.costs, offsets[:-1])
        excess = self.lists.costs - np.repeat(lowest, np.diff(offsets))
        return np.where(np.isnan(excess), costs, excess).astype(np.float32)

    def without_right(self) -> int:
        """Return the number of lists with known costs in which no candidate has cost zero."""
        if self.lists is None or not len(self):
            return 0
        return int((np.minimum.reduceat(self.lists.costs, self.lists.offsets[:-1]) > 0).sum())

    def without_labels(self) -> Instances:
        """Return the same instances without observed candidates and costs, as a model sees them in use."""
        lists = self.lists
        if lists is not None:
            lists = replace(lists, costs=np.full_like(lists.costs, np.nan))
        return replace(self, observed=np.full_like(self.observed, -1), lists=lists)


Part = tuple[Instances, Group]
"""Instances that all belong to one group, and the group."""


def count_candidates(groups: Iterable[Group]) -> Ints:
    """Return the number of candidates of each group, shape (n_groups,)."""
    return np.array([len(group.candidates) for group in groups], np.int64)


@dataclass(frozen=True, eq=False)
class GroupedInstances(CandidateTable):
    """Instances with their candidates, group after group; a row is a candidate of an instance.

    Several extractors use the same table, so what they have in common is computed once.

    Attributes
    ----------
    instances : Instances
        The instances of all groups.
    slices : sequence of slice
        The instances of each group.
    rows : sequence of slice
        The rows of each group.
    sizes : array of int64, shape (n,)
        Number of candidates of each instance.
    n_rows : int
    """

    instances: Instances
    slices: Sequence[slice]
    rows: Sequence[slice]
    sizes: Ints
    n_rows: int

    @classmethod
    def from_parts(cls, parts: Sequence[Part]) -> GroupedInstances:
        """Concatenate parts, of which there must be at least one."""
        instances, groups = zip(*parts, strict=True)
        return cls.from_groups(Instances.joined(instances), groups, list(map(len, instances)))

    @classmethod
    def from_groups(
        cls, instances: Instances, groups: tuple[Group, ...], sizes: Sequence[int]
    ) -> GroupedInstances:
        """Return the table of instances that are in the order of their groups.

        `sizes`: number of instances of each group.
        """
        group_of = np.arange(len(groups)).repeat(sizes)
        if instances.lists is not None:
            offsets = instances.lists.offsets
            n_candidates = lengths(offsets)
        else:
            n_candidates = count_candidates(groups)[group_of]
            offsets = offsets_from_sizes(n_candidates)
        ends = [0, *accumulate(sizes)]
        slices = [slice(*bounds) for bounds in pairwise(ends)]
        ends = offsets[ends].tolist()
        rows = [slice(*bounds) for bounds in pairwise(ends)]
        return cls(
            groups, group_of, offsets, instances.lists, instances, slices, rows, n_candidates, ends[-1]
        )

    @cached_property
    def parts(self) -> Sequence[Part]:
        """The instances of each group, with the group."""
        if len(self.groups) == 1:
            return [(self.instances, self.group)]
        parts = map(self.instances.take, self.slices)
        return list(zip(parts, self.groups, strict=True))

    def take_groups(self, runs: Sequence[slice]) -> GroupedInstances:
        """Return the table of some runs of consecutive groups."""
        instances = [
            self.instances.take(slice(self.slices[run.start].start, self.slices[run.stop - 1].stop))
            for run in runs
        ]
        groups = tuple(group for run in runs for group in self.groups[run])
        sizes = [part.stop - part.start for run in runs for part in self.slices[run]]
        return GroupedInstances.from_groups(Instances.joined(instances), groups, sizes)

    @cached_property
    def costs(self) -> NDArray[np.float32]:
        """The cost of each candidate (see `Instances.costs`), shape ``(n_rows,)``."""
        return self.instances.costs_at(self.offsets)
