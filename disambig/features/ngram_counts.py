"""N-gram counts: how often each candidate occurs in each context of a place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data import CandidateLists, Columns, DenseLists, Group, Instances, hash_candidates, row_owners
from disambig.features.contexts import (
    CONTEXT_PARENTS,
    CONTEXTS,
    GROUP_NAMES,
    CandidateHashes,
    fitting_contexts,
    ngram_text,
    room,
)
from disambig.features.rows import GroupedInstances, Part
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
from disambig.type_aliases import Ints
from disambig.types import Arrays, FeatureEvidence, Features

if TYPE_CHECKING:
    from disambig.counts import CountTable


_BOUNDARIES = (SENTENCE_START, SENTENCE_END)


def rank_lists(
    table: CountTable, view: TokenView, instances: Instances, own: CandidateLists, *, zero: bool = False
) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """Return the rank of each candidate's n-gram in each context, and which contexts its place has.

    The candidates of a list are compared in the contexts that all of them can fill, like those of a group.
    With `zero`, words are compared in all contexts that words can fill, and the empty candidate only in those
    with words on both sides: in the other contexts its rank is zero.

    Returns
    -------
    ranks : array of uint16, shape (n_candidates, 14)
        Zero if an n-gram is not in the table.
    usable : array of bool, shape (n_candidates, 14)
    """
    words, lengths = _hash_lists(own, view.tokenisation)
    of_row = row_owners(own.offsets)
    fits = _lists_fit(view, instances, own, lengths, zero)
    usable = fits[of_row]
    seed, behind = table.seed(view.tokenisation), instances.positions + instances.lengths
    if not use_numba(usable.size):
        return _rank_block(
            table, view, (instances.positions[of_row], behind[of_row]), words, lengths, usable, zero
        ), usable
    from disambig.features._count_kernels import fill_lists

    ranks = np.empty(usable.shape, np.uint16)
    places = view.hashes, instances.positions, behind
    fill_lists(*table.arrays, np.uint64(seed), *places, of_row, words, lengths, fits, zero, ranks)
    return ranks, usable


def _rank_block(
    table: CountTable,
    view: TokenView,
    places: tuple[Ints, Ints],
    words: NDArray[np.uint64],
    lengths: Ints,
    usable: NDArray[np.bool_],
    zero: bool,
) -> NDArray[np.uint16]:
    """Look up the ranks without Numba; `places`: first token of each candidate's place, and the next one."""
    seed, at_place = table.seed(view.tokenisation), np.array(PLACES, np.uint64)
    positions, behind = places
    ranks = np.zeros(usable.shape, np.uint16)
    for c, (left, right) in enumerate(CONTEXTS):
        filled = usable[:, c] & (lengths > 0) if zero and not (left and right) else usable[:, c]
        rows = np.flatnonzero(filled)
        if not len(rows):
            continue
        n = lengths[rows]
        keys = np.uint64(seed) + (left + n + right).astype(np.uint64) * np.uint64(ORDER)
        complete = np.ones(len(rows), bool)
        around = [(view.hashes[positions[rows] - left + i], np.full(len(rows), i)) for i in range(left)]
        around += [(view.hashes[behind[rows] + i], left + n + i) for i in range(right)]
        for hashes, at in around:
            keys += hashes * at_place[at]
            complete &= hashes != 0
        for i in range(words.shape[1]):
            inside = n > i
            if not inside.any():
                break
            keys[inside] += words[rows[inside], i] * at_place[left + i]
        looked_up = table.ranks(fmix(keys))
        ranks[rows, c] = np.where(complete, looked_up, 0)
    return ranks


@lru_cache(maxsize=1)
def columns_of_lists() -> Columns:
    """Return the meaning of the 15 weights, which all candidates share."""
    sizes = [left + right - 1 for left, right in CONTEXTS]
    names = [" ".join(["."] * left + ["_"] + ["."] * right) for left, right in CONTEXTS]
    groups = np.array([*sizes, len(GROUP_NAMES)], np.int32)
    return Columns(np.full(len(groups), -1, np.int32), groups, (*GROUP_NAMES, "bias"), [*names, "bias"])


def candidate_words(text: str, tokenisation: str) -> list[str]:
    """Return the words of a candidate as text."""
    return [word for word in tokenisation_named(tokenisation).words(text) if word not in _BOUNDARIES]


@lru_cache(maxsize=1)  # the same lists are hashed twice in a row
def _hash_lists(own: CandidateLists, tokenisation: str) -> tuple[NDArray[np.uint64], Ints]:
    return hash_candidates(own.texts, tokenisation)


def counts_alone(
    table: CountTable, tokenisation: str, own: CandidateLists
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return how often each candidate was counted in any context, and which candidates are empty."""
    words, lengths = _hash_lists(own, tokenisation)
    counts = np.zeros(len(lengths))
    for size in range(1, words.shape[1] + 1):
        rows = np.flatnonzero(lengths == size)
        if len(rows) and size <= MAX_ORDER:  # longer n-grams are not in the table
            counts[rows] = table.counts_of_words(words[rows, :size], tokenisation=tokenisation)
    return counts, lengths == 0


def _lists_fit(
    view: TokenView, instances: Instances, own: CandidateLists, lengths: Ints, zero: bool
) -> NDArray[np.bool_]:
    """Return which contexts each place can fill with every candidate of its list, shape ``(n, 14)``."""
    contexts = np.array(CONTEXTS)
    left, right = room(view, instances)
    starts = own.offsets[:-1]
    longest, shortest = np.maximum.reduceat(lengths, starts), np.minimum.reduceat(lengths, starts)
    short = contexts.sum(axis=1) + longest[:, None] <= MAX_ORDER
    # the empty candidate is informative only between two words
    informative = (longest if zero else shortest) > 0
    between = informative[:, None] | (contexts.min(axis=1) > 0)
    inside = (left[:, None] >= contexts[:, 0]) & (right[:, None] >= contexts[:, 1])
    return inside & short & between


BIAS = len(CONTEXTS)
"""Index of the bias attribute, the last one."""


class NgramCounts:
    """Extractor of the counts in the 14 contexts.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of a table in an installed pack.
    """

    def __init__(self, *, counts: str | Path | CountTable) -> None:
        self.counts = counts

    @cached_property
    def table(self) -> CountTable:
        """The count table, opened on first use."""
        from disambig.counts import open_table

        return open_table(self.counts)

    @cached_property
    def logs(self) -> NDArray[np.float32]:
        """log(count + 1) of each rank of the table, shape ``(n_ranks,)``."""
        return np.log1p(self.table.values.astype(np.float64)).astype(np.float32)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> NgramCounts:
        """Return self: the table is made separately."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the table is referred to by path, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> NgramCounts:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the counts around instances of one group as class blocks, shape ``(n, K, 15)``.

        Per-instance candidates give `DenseLists`, whose columns all candidates share.

        Raises
        ------
        UserError
            D1xx if the table was counted with another tokenisation than that of `view`.
        """
        if instances.own is not None:
            return self._transform_lists(view, instances, instances.own, group)
        return self.transform_all(view, [(instances, group)])[0]

    def transform_all(self, view: TokenView, parts: Sequence[Part]) -> list[Features]:
        """Return the same for instances of several groups (see `TransformsBatches`)."""
        several = GroupedInstances.from_parts(parts)
        ranks, usable = self.look_up_all(view, several)
        values = np.empty((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = self._values(ranks, usable, view, several)
        values[:, BIAS] = 1.0
        n_hits = np.count_nonzero(ranks, axis=1).astype(np.int32)
        asked = np.repeat(usable.sum(axis=1), several.instance_sizes).astype(np.int32)
        return several.blocks(values, n_hits, asked, ngram_columns)

    def _transform_lists(
        self, view: TokenView, instances: Instances, own: CandidateLists, group: Group
    ) -> Features:

        ranks, usable = self.ranks_of_candidates(view, instances, group)
        values = np.ones((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = np.take(self.logs, ranks)
        batch = DenseLists(values, own.offsets, instances.costs(group), columns_of_lists())
        n_hits = np.count_nonzero(ranks, axis=1).astype(np.int32)
        return Features(batch, n_hits, usable.sum(axis=1).astype(np.int32))

    def look_up(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the ranks of the n-grams, ``(n, K, 14)``, and which contexts the text has, ``(n, 14)``.

        Rank 0 means that the n-gram is not in the table, or that the text does not have its context.

        Raises
        ------
        UserError
            D1xx if the table was counted with another tokenisation than that of `view`.
        """
        ranks, usable = self.look_up_all(view, GroupedInstances.from_parts([(instances, group)]))
        return ranks.reshape(len(instances), len(group.candidates), BIAS), usable

    def look_up_all(
        self, view: TokenView, several: GroupedInstances
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the same for several groups, with one row of ranks per candidate, ``(n_rows, 14)``."""
        self.table.require(view.tokenisation)
        instances = several.instances
        ranks = np.empty((several.n_rows, BIAS), np.uint16)
        if not len(instances):
            return ranks, np.zeros((0, BIAS), bool)
        of_groups = [CandidateHashes.from_group(group) for group in several.groups]
        longest, shortest = (
            np.repeat([getattr(hashes, name) for hashes in of_groups], several.counts)[:, None]
            for name in ("longest", "shortest")
        )
        usable = fitting_contexts(*room(view, instances), longest, shortest=shortest)
        for candidates, here, rows in zip(of_groups, several.slices, several.rows, strict=True):
            self._fill(view, instances.take(here), candidates, usable[here], ranks[rows])
        return ranks, usable

    def ranks_of_candidates(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the rank of each candidate's n-gram in each context, and which contexts its place has.

        Both have the shape ``(n_candidates, 14)``; see `look_up`.
        """
        if instances.own is not None:
            self.table.require(view.tokenisation)
            return rank_lists(self.table, view, instances, instances.own)
        ranks, usable = self.look_up(view, instances, group)
        return ranks.reshape(-1, BIAS), np.repeat(usable, ranks.shape[1], axis=0)

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> dict[tuple[str, str], FeatureEvidence]:
        """Return each n-gram that is looked up at a single place, with its count (see `ExplainsFeatures`)."""
        candidates = words = group.candidates
        if instances.own is not None:
            candidates = instances.own.instance_candidates(0)
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
        self, ranks: NDArray[np.uint16], usable: NDArray[np.bool_], view: TokenView, several: GroupedInstances
    ) -> NDArray[np.float32]:
        """Return the attributes made from the counts, shape (n_rows, 14)."""
        return np.take(self.logs, ranks)

    def _fill(
        self,
        view: TokenView,
        instances: Instances,
        candidates: CandidateHashes,
        usable: NDArray[np.bool_],
        answers: NDArray[np.uint16],
    ) -> None:
        """Look up the n-grams of one group; fill `answers`, shape ``(n * K, 14)``, with their ranks."""
        seed = self.table.seed(view.tokenisation)
        # With nested counts, a longer n-gram found without its shorter ones is a hash collision; the empty
        # candidate has n-grams without the counted words, for which this does not hold.
        nested = candidates.shortest > 0 and self.table.is_nested(candidates.texts)
        ranks = answers.reshape(len(instances), len(candidates.lengths), BIAS)
        if use_numba(ranks.size):
            from disambig.features._count_kernels import fill_ranks

            fill_ranks(self.table, seed, view.hashes, instances, candidates, usable, nested, ranks)
            return
        ranks[:] = 0
        for c in range(BIAS):
            rows = np.flatnonzero(usable[:, c])
            if len(rows):
                keys, complete = context_keys(view, instances, candidates, rows, c, seed)
                looked_up = self.table.ranks(keys.ravel(), backend="numpy").reshape(keys.shape)
                for parent in CONTEXT_PARENTS[c][CONTEXT_PARENTS[c] >= 0] if nested else ():
                    complete &= ~usable[rows, parent, None] | (ranks[rows, :, parent] > 0)
                ranks[rows, :, c] = np.where(complete, looked_up, 0)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts}


def context_keys(
    view: TokenView,
    instances: Instances,
    candidates: CandidateHashes,
    rows: NDArray[np.int64],
    context: int,
    seed: int,
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
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
    before = [view.hashes[positions - left + i] for i in range(left)]
    behind = [view.hashes[after + i] for i in range(right)]
    complete = np.ones(len(rows), bool)
    for words in before + behind:
        complete &= words != 0
    keys = np.empty((len(rows), len(candidates.lengths)), np.uint64)
    for r, length in enumerate(candidates.lengths):
        # the part of the key that is the same at all places, in Python's unbounded integers
        start = seed + (left + int(length) + right) * ORDER
        start += sum(int(candidates.words[r, i]) * PLACES[left + i] for i in range(int(length)))
        total = np.full(len(rows), start & MASK, np.uint64)
        for i, words in enumerate(before):
            total += words * places[i]
        for i, words in enumerate(behind):
            total += words * places[left + length + i]
        keys[:, r] = total
    return fmix(keys), np.repeat(complete[:, None], keys.shape[1], axis=1)


@lru_cache(maxsize=1024)
def ngram_columns(group: Group) -> Columns:
    """Return the meaning of the 15 weights of each candidate of `group`."""
    k, a = len(group.candidates), BIAS + 1
    sizes = [left + right - 1 for left, right in CONTEXTS]
    names = [_pattern(left, right) for left, right in CONTEXTS] + ["bias"]
    return Columns(
        np.repeat(np.arange(k, dtype=np.int32), a),
        np.tile(np.array([*sizes, len(GROUP_NAMES)], np.int32), k),
        (*GROUP_NAMES, "bias"),
        [f"{candidate}: {name}" for candidate in group.candidates for name in names],
    )


def _pattern(left: int, right: int) -> str:
    return " ".join(["."] * left + ["_"] + ["."] * right)
