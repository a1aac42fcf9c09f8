"""N-gram counts: how often each candidate occurs in each context of a place, and smoothed probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import Columns, Group, GroupedInstances, Instances, row_owners
from disambig.features.context_window import (
    CONTEXT_PARENTS,
    CONTEXTS,
    CONTEXTS_BY_SIZE,
    DISCOUNT,
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
    MAX_ORDER,
    ORDER,
    PLACES,
    SENTENCE_END,
    SENTENCE_START,
    TokenView,
    fmix,
    tokenisation_named,
)
from disambig.type_aliases import Bools, Floats, Hashes, Ints, Ranks
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
class NgramKeys:
    """Keys of the n-grams around places, from terms: one for the words on each side, one for a candidate.

    A key is the hash of the sum of these terms and one for the number of words.
    """

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
    def from_places(cls, view: TokenView, instances: Instances, words: Hashes, seed: int) -> NgramKeys:
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
        """Return the keys of the candidates `ids`, of `lengths` words, in contexts of the places `owner`.

        The arrays are broadcast against each other; `context` has the indices of the contexts.
        """
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

    @property
    def feature_source(self) -> CountTable:
        """The count table."""
        return self.table

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
        n_queries = usable.sum(axis=1).repeat(table.sizes).astype(np.int32)
        return dense_features(table, values, n_hits, n_queries, ngram_columns, columns_of_lists())

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
        seed = self.table.seed(view.tokenisation)
        instances, first_rows, n_rows = grouped.instances, grouped.offsets[:-1], len(hashed.ids)
        n = len(first_rows)
        if not n:
            return np.zeros((0, BIAS), np.uint16), np.zeros((0, BIAS), bool)
        lengths = hashed.lengths[hashed.ids]
        longest = np.maximum.reduceat(lengths, first_rows)[:, None]
        shortest = longest if self._zero else np.minimum.reduceat(lengths, first_rows)[:, None]
        usable = fitting_contexts(*context_room(view, instances), longest, shortest=shortest)
        if grouped.lists is None:
            of_groups = [self._is_nested(group) for group in grouped.groups]
            nested = np.array(of_groups)[grouped.group_of]
        else:
            nested = np.zeros(n, bool)
        if not use_numba(n_rows * BIAS):
            return self._look_up_with_numpy(view, grouped, hashed, usable, nested, seed), usable
        from disambig.features._row_kernels import fill_ranks

        ranks = np.empty((n_rows, BIAS), np.uint16)
        fill_ranks(
            *self.table.arrays,
            np.uint64(seed),
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

    def _is_nested(self, group: Group) -> bool:
        """Return True if the n-grams of a group are counted only if their shorter n-grams are.

        Then a longer n-gram that is found without its shorter ones is a hash collision. It does not hold for
        the n-grams of the empty candidate, which need not have a counted word.
        """
        words = tuple(filter(None, group.candidates))
        return (self._zero or len(words) == len(group.candidates)) and self.table.is_nested(words)

    def _look_up_with_numpy(
        self,
        view: TokenView,
        grouped: GroupedInstances,
        hashed: HashedTable,
        usable: Bools,
        nested: Bools,
        seed: int,
    ) -> NDArray[np.uint16]:
        """Return the ranks, without Numba."""
        parts = NgramKeys.from_places(view, grouped.instances, hashed.words, seed)
        owners, usable = row_owners(grouped.offsets), usable.T
        ranks = np.zeros((len(owners), BIAS), np.uint16)
        for start in range(0, len(owners), ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            owner, ids = owners[block], hashed.ids[block]
            rows = owner, ids, hashed.lengths[ids]
            ranks[block] = self._look_up_rows(parts, rows, usable.take(owner, axis=1), nested[owner]).T
        return ranks

    def _look_up_rows(
        self, parts: NgramKeys, rows: tuple[Ints, Ints, Ints], usable: Bools, nested: Bools
    ) -> NDArray[np.uint16]:
        """Return the ranks of some rows, shape ``(14, n_rows)``; `usable` has the same shape.

        All contexts with the same number of words are looked up together. `rows` are the place, the
        candidate, and the candidate's number of words of each row.
        """
        owner, ids, lengths = rows
        has_words = lengths > 0
        is_query = usable & parts.complete.take(owner, axis=1)
        if self._zero and not has_words.all():
            is_query &= has_words | ~ONE_SIDED[:, None]
        nested = nested & has_words
        ranks = np.zeros(usable.shape, np.uint16)
        # n-grams that a nested table does not have; the last row is for contexts without parents
        absent = np.zeros((BIAS + 1, len(owner)), bool)
        for size, contexts in CONTEXTS_BY_SIZE:
            looked_up = is_query[contexts]
            if size > 1:
                first, second = CONTEXT_PARENTS[contexts].T
                looked_up = looked_up & ~(absent[first] | absent[second])
            context, row = looked_up.nonzero()
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
        if instances.lists is not None:
            words = tuple(" ".join(candidate_words(candidate, view.tokenisation)) for candidate in candidates)
        ranks, usable = self.ranks_of_candidates(view, instances, group)
        counts = self.table.values[ranks].tolist()
        position, length = int(instances.positions[0]), int(instances.lengths[0])
        evidence = {}
        for r, c in zip(*(indices.tolist() for indices in np.nonzero(usable)), strict=True):
            ngram = ngram_text(view, position, length, CONTEXTS[c], words[r])
            minimum = self.table.least_count(len(ngram.split()), words)
            evidence[candidates[r], _pattern(*CONTEXTS[c])] = FeatureEvidence(ngram, counts[r][c], minimum)
        return evidence

    def _values(
        self, ranks: Ranks, usable: Bools, view: TokenView, grouped: GroupedInstances, hashed: HashedTable
    ) -> NDArray[np.float32]:
        """Return the attributes made from the counts, shape (n_rows, 14)."""
        return self.logs.take(ranks)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts}


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


MIN_PROBABILITY = 1e-9
"""Lower limit of probabilities, so that their logarithms are finite."""


class ContextCounts(NamedTuple):
    """The counts of candidates in their contexts, from which their probabilities there are estimated."""

    # uint16 (n_rows, C): rank of the count of each candidate in each context, 0 if it was not seen
    ranks: Ranks
    usable: Bools  # bool (n, C): which contexts each place has
    counts: Floats  # float64 (n_ranks,): the count of each rank
    prior: Floats  # float64 (n_rows,): probability of each candidate regardless of the context
    offsets: Ints  # int64 (n + 1,): the rows of each place
    # int64 (n,): row of a candidate without counts in the `silent` contexts; -1 for none. In these it keeps
    # the share that the shorter contexts give it, and the other candidates divide the rest
    zeros: Ints
    # int64 (C, 2): the shorter contexts of each context, which precede it; -1 if there are fewer
    parents: Ints
    silent: Bools  # bool (C,)

    def log_probabilities(self) -> NDArray[np.float32]:
        """Return the log-probabilities of candidates in contexts, shape (n_rows, C); all are finite."""
        probabilities = np.empty(self.ranks.shape, np.float32)
        if len(self.ranks) and use_numba(self.ranks.size):
            from disambig.features._row_kernels import smooth_counts

            smooth_counts(*self, probabilities)
        elif len(self.ranks):
            # instances whose rows stay in the CPU cache
            bounds = np.searchsorted(self.offsets, np.arange(0, len(self.ranks), ROWS_AT_ONCE))
            for first, last in pairwise([*np.unique(bounds).tolist(), len(self.usable)]):
                rows = slice(*self.offsets[[first, last]].tolist())
                part = self._replace(
                    ranks=self.ranks[rows],
                    usable=self.usable[first:last],
                    prior=self.prior[rows],
                    offsets=self.offsets[first : last + 1] - rows.start,
                    zeros=np.maximum(self.zeros[first:last] - rows.start, -1),
                )
                probabilities[rows] = _smooth_with_numpy(part)
        logs: NDArray[np.float32] = np.log(np.maximum(probabilities, np.float32(MIN_PROBABILITY)))
        return logs


def _smooth_with_numpy(contexts: ContextCounts) -> Floats:
    """Return the smoothed probability of each candidate in each context, shape ``(n_rows, C)``."""
    ranks, usable, counts, prior, offsets, zeros, parents, silent = contexts
    # arrays of shape (C, n_rows): a context is contiguous
    starts, owner = offsets[:-1], row_owners(offsets)
    with_zero = np.flatnonzero(zeros >= 0)
    observed = counts.take(ranks.T) * usable.T.take(owner, axis=1)
    total = np.add.reduceat(observed, starts, axis=1).take(owner, axis=1)
    seen = observed > 0
    reserved = (DISCOUNT * np.add.reduceat(seen, starts, axis=1, dtype=np.int64)).take(owner, axis=1)
    kept = np.where(seen, observed - DISCOUNT, 0.0)
    result = np.empty((len(parents) + 1, len(ranks)))
    result[-1] = prior  # the parent of contexts without shorter ones is -1
    for block, first_parent, second_parent in runs_without_parents(parents.tobytes()):
        fallback = 0.5 * (result[first_parent] + result[second_parent])
        discounted = kept[block]
        if len(with_zero):
            rows = zeros[with_zero]
            share = np.zeros((len(first_parent), len(starts)))
            share[:, with_zero] = np.where(silent[block, None], fallback[:, rows], 0.0)
            discounted = discounted * (1.0 - share.take(owner, axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            smoothed = (discounted + reserved[block] * fallback) / total[block]
        result[block] = np.where(total[block] > 0, smoothed, fallback)
        if len(with_zero):
            result[block, rows] = np.where(silent[block, None], share[:, with_zero], result[block, rows])
    return result[:-1].T


@lru_cache(maxsize=16)
def runs_without_parents(parents: bytes) -> list[tuple[slice, Ints, Ints]]:
    """Divide the contexts into runs in which no context is a parent of another one.

    Returns the slice of each run, and the first and the second parent of its contexts. If a context has only
    one parent, both are that one.

    `parents`: those of `ContextCounts`, as bytes, since the result is cached.
    """
    first, second = np.frombuffer(parents, np.int64).reshape(-1, 2).T
    bounds = [0]
    for context, parent in enumerate(np.maximum(first, second).tolist()):
        if parent >= bounds[-1]:
            bounds.append(context)
    first, second = np.where(first < 0, second, first), np.where(second < 0, first, second)
    return [(slice(*run), first[slice(*run)], second[slice(*run)]) for run in pairwise([*bounds, len(first)])]


class ContextProbabilities(NgramCounts):
    """Extractor of the smoothed log-probabilities in the 14 contexts.

    Columns, feature groups and evidence are those of `NgramCounts`, so it can replace that extractor.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of a table in an installed pack.
    """

    feature_source = NgramCounts.feature_source
    _zero = True

    def _values(
        self, ranks: Ranks, usable: Bools, view: TokenView, grouped: GroupedInstances, hashed: HashedTable
    ) -> NDArray[np.float32]:
        """Return the smoothed log-probabilities of all candidates."""
        if not len(ranks):
            return np.empty(ranks.shape, np.float32)
        offsets, owner = grouped.offsets, np.arange(len(usable)).repeat(grouped.sizes)
        if grouped.lists is None:
            counts = np.concatenate(
                [_count_group(self.table, view.tokenisation, group) for group in grouped.groups]
            )
        else:
            counts = count_alone(self.table, hashed, view.tokenisation)
        is_zero = (hashed.lengths == 0)[hashed.ids]
        # relative frequencies, add-one smoothed; the empty candidate counts as much as all others together
        prior = np.where(is_zero, 0.0, 1.0 + counts[hashed.ids])
        prior += np.where(is_zero, np.maximum(np.add.reduceat(prior, offsets[:-1]), 1.0)[owner], 0.0)
        prior /= np.add.reduceat(prior, offsets[:-1])[owner]
        zeros = np.full(len(usable), -1)
        zeros[owner[is_zero]] = np.flatnonzero(is_zero)
        contexts = ContextCounts(
            ranks, usable, self._counts, prior, offsets, zeros, CONTEXT_PARENTS, ONE_SIDED
        )
        return contexts.log_probabilities()

    @cached_property
    def _counts(self) -> Floats:
        return self.table.values.astype(np.float64)


@lru_cache(maxsize=4096)
def _count_group(table: CountTable, tokenisation: str, group: Group) -> Floats:
    """Return how often each candidate of a group was counted, shape (K,)."""
    hashes = CandidateHashes.from_group(group)
    return count_alone(
        table, HashedTable(hashes.words, hashes.lengths, np.arange(len(hashes.lengths))), tokenisation
    )
