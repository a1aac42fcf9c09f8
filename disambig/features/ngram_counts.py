"""N-gram counts: how often each candidate occurs in each context of a place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, GroupedInstances, Instances, row_owners
from disambig.features.contexts import (
    CONTEXT_PARENTS,
    CONTEXTS,
    CONTEXTS_BY_SIZE,
    GROUP_NAMES,
    LEFT_WORDS,
    ONE_SIDED,
    RIGHT_WORDS,
    CandidateHashes,
    HashedTable,
    context_room,
    fitting_contexts,
    ngram_text,
)
from disambig.features.rows import StatelessExtractor, dense_features
from disambig.runtime import use_numba
from disambig.text import (
    MASK,
    MAX_ORDER,
    ORDER,
    PLACES,
    SENTENCE_END,
    SENTENCE_START,
    TokenView,
    fmix,
    tokenisation_named,
)
from disambig.type_aliases import Bools, Hashes, Ints, Ranks
from disambig.types import FeatureEvidence, Features

if TYPE_CHECKING:
    from disambig.counts import CountTable


BIAS = len(CONTEXTS)
"""Index of the bias attribute, the last one."""
_GROUP_NAMES = (*GROUP_NAMES, "bias")
_FEATURE_GROUPS = np.array([*(left + right - 1 for left, right in CONTEXTS), len(GROUP_NAMES)], np.int32)
"""Feature group of each attribute, an index into `_GROUP_NAMES`."""
_BOUNDARIES = (SENTENCE_START, SENTENCE_END)


@lru_cache(maxsize=1)
def columns_of_lists() -> Columns:
    """Return the meaning of the 15 weights, which all candidates share."""
    return Columns(np.full(BIAS + 1, -1, np.int32), _FEATURE_GROUPS, _GROUP_NAMES, _attribute_names())


def candidate_words(text: str, tokenisation: str) -> list[str]:
    """Return the words of a candidate, without sentence boundaries."""
    return [word for word in tokenisation_named(tokenisation).words(text) if word not in _BOUNDARIES]


def count_alone(table: CountTable, hashed: HashedTable, tokenisation: str) -> NDArray[np.float64]:
    """Return how often each distinct candidate was counted in any context, shape ``(C,)``."""
    counts = np.zeros(len(hashed.lengths))
    for size in range(1, min(hashed.words.shape[1], MAX_ORDER) + 1):  # the table has no longer n-grams
        rows = np.flatnonzero(hashed.lengths == size)
        if len(rows):
            counts[rows] = table.counts_of_words(hashed.words[rows, :size], tokenisation=tokenisation)
    return counts


ROWS_AT_ONCE = 8192
"""Number of rows handled at a time with NumPy, so that its intermediate arrays stay in the CPU cache."""

_SIDE = MAX_ORDER - 1
"""Maximum number of context words on one side."""
_PLACES = np.array([*PLACES, *[0] * _SIDE], np.uint64)
_LEFT_FACTORS = np.array(
    [[PLACES[left - 1 - i] if i < left else 0 for i in range(_SIDE)] for left in range(MAX_ORDER)], np.uint64
)
"""Factor of the word i + 1 words before the place in keys with `left` words there, shape ``(5, 4)``."""
_RIGHT_FACTORS = np.array(
    [
        [[_PLACES[first + i] if i < right else 0 for i in range(_SIDE)] for right in range(MAX_ORDER)]
        for first in range(MAX_ORDER + 1)
    ],
    np.uint64,
)
"""Factor of the word i words after the place, if the first of `right` is at `first`, shape ``(6, 5, 4)``."""


@dataclass(frozen=True, slots=True, eq=False)
class _KeyParts:
    """The terms of n-gram keys: a key is the sum of the terms of its words and of its number of words."""

    left: Hashes  # uint64 (5, n): the words before the places, by their number
    # uint64 (6, 5, n): the words after the places, by the position of the first one in the n-gram and by
    # their number
    right: Hashes
    # uint64 (5, C): the words of candidates, by the position of the first one in the n-gram
    candidates: Hashes
    orders: Hashes  # uint64 (6,)
    # bool (14, n): whether all words of a context have a hash; if not, such an n-gram was never counted
    complete: Bools

    @classmethod
    def from_places(cls, view: TokenView, instances: Instances, words: Hashes, seed: int) -> _KeyParts:
        """Compute the terms for all contexts; contexts that extend beyond the text have arbitrary ones."""
        steps = np.arange(_SIDE)[:, None]
        before = view.hashes.take(instances.positions - 1 - steps, mode="clip")
        after = view.hashes.take(instances.positions + instances.lengths + steps, mode="clip")
        has_words = np.ones((2, MAX_ORDER, len(instances)), bool)
        np.logical_and.accumulate(np.stack([before, after]) != 0, axis=1, out=has_words[:, 1:])
        longest = min(words.shape[1], MAX_ORDER)
        factor_places = np.arange(MAX_ORDER)[:, None] + np.arange(longest)
        return cls(
            _LEFT_FACTORS @ before,
            _RIGHT_FACTORS @ after,
            _PLACES[factor_places] @ words[:, :longest].T,
            np.uint64(seed) + np.arange(MAX_ORDER + 1, dtype=np.uint64) * np.uint64(ORDER),
            has_words[0, LEFT_WORDS] & has_words[1, RIGHT_WORDS],
        )

    def keys(self, owner: Ints, ids: Ints, lengths: Ints, context: Ints) -> Hashes:
        """Return the keys of the candidates `ids`, of `lengths` words, in contexts of the places `owner`."""
        left, right = LEFT_WORDS[context], RIGHT_WORDS[context]
        keys = self.left[left, owner] + self.candidates[left, ids]
        keys += self.right[left + lengths, right, owner]
        keys += self.orders[left + lengths + right]
        return fmix(keys)


class NgramCounts(StatelessExtractor):
    """Extractor of the counts in the 14 contexts.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of a table in an installed pack.
    """

    def __init__(self, *, counts: str | Path | CountTable) -> None:
        self.counts = counts

    _zero = False
    """Whether words use the contexts that the empty candidate cannot use, if it is among them."""

    @cached_property
    def table(self) -> CountTable:
        """The count table, opened on first use."""
        from disambig.counts import open_table

        return open_table(self.counts)

    @cached_property
    def logs(self) -> NDArray[np.float32]:
        """log(count + 1) of each rank of the table, shape ``(n_ranks,)``."""
        return np.log1p(self.table.values.astype(np.float64)).astype(np.float32)

    def transform(self, view: TokenView, table: GroupedInstances) -> list[Features]:
        """Return the counts around the instances of each group as class blocks, shape ``(n, K, 15)``.

        Per-instance candidates give `DenseLists`, whose columns all candidates share.

        Raises
        ------
        UserError
            D1xx if the table was counted with another tokenisation than that of `view`.
        """
        hashed = HashedTable.from_table(table, view.tokenisation)
        ranks, usable = self.look_up(view, table, hashed)
        values = np.empty((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = self._values(ranks, usable, view, table, hashed)
        values[:, BIAS] = 1.0
        n_hits = np.count_nonzero(ranks, axis=1).astype(np.int32)
        asked = np.repeat(usable.sum(axis=1), table.sizes).astype(np.int32)
        return dense_features(table, values, n_hits, asked, ngram_columns, columns_of_lists())

    def look_up(
        self, view: TokenView, grouped: GroupedInstances, hashed: HashedTable
    ) -> tuple[NDArray[np.uint16], Bools]:
        """Return the rank of each candidate's n-gram in each context, and which contexts each place has.

        The candidates of an instance are compared in the contexts that all of them can fill.

        Returns
        -------
        ranks : array of uint16, shape (n_rows, 14)
            Zero if the n-gram is not in the table, or the place does not have the context.
        usable : array of bool, shape (n, 14)

        Raises
        ------
        UserError
            D1xx if the table was counted with another tokenisation than that of `view`.
        """
        self.table.require(view.tokenisation)
        instances, first_rows = grouped.instances, grouped.offsets[:-1]
        if not len(instances):
            return np.zeros((0, BIAS), np.uint16), np.zeros((0, BIAS), bool)
        lengths = hashed.lengths[hashed.ids]
        longest = np.maximum.reduceat(lengths, first_rows)[:, None]
        shortest = longest if self._zero else np.minimum.reduceat(lengths, first_rows)[:, None]
        usable = fitting_contexts(*context_room(view, instances), longest, shortest=shortest)
        nested = self._nested(grouped)[grouped.group_of]
        if not use_numba(grouped.n_rows * BIAS):
            return self._look_up_with_numpy(view, grouped, hashed, usable, nested), usable
        from disambig.features._count_kernels import fill_ranks

        ranks = np.empty((grouped.n_rows, BIAS), np.uint16)
        fill_ranks(
            *self.table.arrays,
            np.uint64(self.table.seed(view.tokenisation)),
            view.hashes,
            instances.positions,
            instances.positions + instances.lengths,
            grouped.offsets,
            hashed.ids,
            hashed.words,
            hashed.lengths,
            usable,
            nested,
            self._zero,
            ranks,
        )
        return ranks, usable

    def _nested(self, grouped: GroupedInstances) -> Bools:
        """Return for each group whether its n-grams are counted only if their shorter n-grams are.

        Then a longer n-gram that is found without its shorter ones is a hash collision. It does not hold for
        the n-grams of the empty candidate, which need not have a counted word.
        """
        if grouped.own is not None:
            return np.zeros(len(grouped.groups), bool)
        texts = [tuple(filter(None, group.candidates)) for group in grouped.groups]
        return np.array(
            [
                (self._zero or len(words) == len(group.candidates)) and self.table.is_nested(words)
                for words, group in zip(texts, grouped.groups, strict=True)
            ]
        )

    def _look_up_with_numpy(
        self, view: TokenView, grouped: GroupedInstances, hashed: HashedTable, usable: Bools, nested: Bools
    ) -> NDArray[np.uint16]:
        """Return the ranks, without Numba."""
        seed = self.table.seed(view.tokenisation)
        parts = _KeyParts.from_places(view, grouped.instances, hashed.words, seed)
        owners, usable = row_owners(grouped.offsets), usable.T
        ranks = np.zeros((grouped.n_rows, BIAS), np.uint16)
        for start in range(0, grouped.n_rows, ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            owner, ids = owners[block], hashed.ids[block]
            rows = owner, ids, hashed.lengths[ids]
            ranks[block] = self._look_up_rows(parts, rows, usable.take(owner, axis=1), nested[owner]).T
        return ranks

    def _look_up_rows(
        self, parts: _KeyParts, rows: tuple[Ints, Ints, Ints], usable: Bools, nested: Bools
    ) -> NDArray[np.uint16]:
        """Return the ranks of some rows, shape ``(14, n_rows)``; `usable` has the same shape.

        All contexts with the same number of words are looked up together. `rows` are the place, the
        candidate, and the candidate's number of words of each row.
        """
        owner, ids, lengths = rows
        has_words = lengths > 0
        asked = usable & parts.complete.take(owner, axis=1)
        if self._zero and not has_words.all():
            asked &= has_words | ~ONE_SIDED[:, None]
        nested = nested & has_words
        ranks = np.zeros(usable.shape, np.uint16)
        # n-grams that a nested table does not have; the last row is for contexts without parents
        absent = np.zeros((BIAS + 1, len(owner)), bool)
        for size, contexts in CONTEXTS_BY_SIZE:
            is_asked = asked[contexts]
            if size > 1:
                first, second = CONTEXT_PARENTS[contexts].T
                is_asked = is_asked & ~(absent[first] | absent[second])
            context, row = is_asked.nonzero()
            if len(row):
                context += contexts.start
                keys = parts.keys(owner[row], ids[row], lengths[row], context)
                ranks[context, row] = self.table.ranks(keys, backend="numpy")
            absent[contexts] = usable[contexts] & nested & (ranks[contexts] == 0)
        return ranks

    def ranks_of_candidates(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], Bools]:
        """Return the result of `look_up` for instances of one group, both of shape ``(n_candidates, 14)``."""
        grouped = GroupedInstances.from_parts([(instances, group)])
        ranks, usable = self.look_up(view, grouped, HashedTable.from_table(grouped, view.tokenisation))
        return ranks, np.repeat(usable, grouped.sizes, axis=0)

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> dict[tuple[str, str], FeatureEvidence]:
        """Return each n-gram that is looked up at a single place, with its count (see `ExplainsFeatures`)."""
        candidates = words = instances.candidates(0, group)
        if instances.own is not None:
            words = tuple(" ".join(candidate_words(candidate, view.tokenisation)) for candidate in candidates)
        ranks, usable = self.ranks_of_candidates(view, instances, group)
        counts = self.table.values[ranks].tolist()
        position, length = int(instances.positions[0]), int(instances.lengths[0])
        evidence = {}
        for r, c in zip(*(indices.tolist() for indices in np.nonzero(usable)), strict=True):
            ngram = ngram_text(view, position, length, CONTEXTS[c], words[r])
            least = self.table.least_count(len(ngram.split()), words)
            evidence[candidates[r], _pattern(*CONTEXTS[c])] = FeatureEvidence(ngram, counts[r][c], least)
        return evidence

    def _values(
        self, ranks: Ranks, usable: Bools, view: TokenView, grouped: GroupedInstances, hashed: HashedTable
    ) -> NDArray[np.float32]:
        """Return the attributes made from the counts, shape (n_rows, 14)."""
        return np.take(self.logs, ranks)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts}


def context_keys(
    view: TokenView, instances: Instances, candidates: CandidateHashes, rows: Ints, context: int, seed: int
) -> tuple[Hashes, Bools]:
    """Return the n-gram keys of one context filled with each candidate.

    Returns
    -------
    keys : array of uint64, shape (n_rows, K)
    known : array of bool, shape (n_rows, K)
        False if a context word has no hash: such an n-gram was never counted.
    """
    left, right = CONTEXTS[context]
    places = np.array(PLACES, np.uint64)
    positions = instances.positions[rows]
    after = positions + instances.lengths[rows]
    left_words = [view.hashes[positions - left + i] for i in range(left)]
    right_words = [view.hashes[after + i] for i in range(right)]
    complete = np.ones(len(rows), bool)
    for words in left_words + right_words:
        complete &= words != 0
    keys = np.empty((len(rows), len(candidates.lengths)), np.uint64)
    for k, length in enumerate(candidates.lengths):
        # the part of the key that is the same at all places, in Python's unbounded integers
        constant = seed + (left + int(length) + right) * ORDER
        constant += sum(int(candidates.words[k, i]) * PLACES[left + i] for i in range(int(length)))
        total = np.full(len(rows), constant & MASK, np.uint64)
        for i, words in enumerate(left_words):
            total += words * places[i]
        for i, words in enumerate(right_words):
            total += words * places[left + length + i]
        keys[:, k] = total
    return fmix(keys), np.repeat(complete[:, None], keys.shape[1], axis=1)


@lru_cache(maxsize=1024)
def ngram_columns(group: Group) -> Columns:
    """Return the meaning of the 15 weights of each candidate of `group`."""
    k = len(group.candidates)
    return Columns(
        np.repeat(np.arange(k, dtype=np.int32), BIAS + 1),
        np.tile(_FEATURE_GROUPS, k),
        _GROUP_NAMES,
        [f"{candidate}: {name}" for candidate in group.candidates for name in _attribute_names()],
    )


def _attribute_names() -> list[str]:
    return [*(_pattern(left, right) for left, right in CONTEXTS), "bias"]


def _pattern(left: int, right: int) -> str:
    """Return a context with a dot for each word: ``. . _ .`` has two words before the place."""
    return " ".join(["."] * left + ["_"] + ["."] * right)
