"""Web n-gram counts: how often each candidate is seen in each context around a place.

Attribute (r, c) is log(count + 1) of context c filled with candidate r (Bergsma, Lin and Goebel 2009);
contexts that cannot be filled are zero for all candidates alike. One bias attribute a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.columns import Columns
from disambig.data.batches.dense_lists import DenseLists
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.engine import use_numba
from disambig.features.counts.contexts import (
    CONTEXTS,
    GROUP_NAMES,
    PARENTS,
    Candidates,
    fits,
    ngram_text,
    room,
)
from disambig.features.evidence import Evidence
from disambig.features.rows.several_groups import Part, SeveralGroups
from disambig.text.hashing import MASK, ORDER, PLACES, fmix
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

if TYPE_CHECKING:
    from disambig.counts.table import CountTable

BIAS = len(CONTEXTS)
"""Index of the bias attribute, the last."""


class NgramCounts:
    """Extractor of the 14 context counts.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of one that an installed pack brings.
    """

    def __init__(self, *, counts: str | Path | CountTable) -> None:
        self.counts = counts

    @cached_property
    def table(self) -> CountTable:
        """The count table, opened on first use."""
        from disambig.counts.locate import open_table

        return open_table(self.counts)

    @cached_property
    def logs(self) -> NDArray[np.float32]:
        """log(count + 1) of each rank of the table, shape ``(n_ranks,)``."""
        return np.log1p(self.table.values.astype(np.float64)).astype(np.float32)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> NgramCounts:
        """Return self: the table was made beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the table is referred to, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> NgramCounts:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the counts around instances of one group as class blocks, shape ``(n, K, 15)``.

        Of instances with candidates of their own as `DenseLists`, whose columns all candidates share.

        Raises
        ------
        UserError
            D1xx where the table was counted under another tokenisation than `view`'s.
        """
        if instances.own is not None:
            return self._of_lists(view, instances, instances.own, group)
        return self.transform_all(view, [(instances, group)])[0]

    def transform_all(self, view: TokenView, parts: Sequence[Part]) -> list[Features]:
        """Return the same of instances of several groups (see `DescribesTogether`)."""
        several = SeveralGroups.of(parts)
        ranks, usable = self.look_up_all(view, several)
        values = np.empty((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = self._values(ranks, usable, view, several)
        values[:, BIAS] = 1.0
        found = np.count_nonzero(ranks, axis=1).astype(np.int32)
        asked = np.repeat(usable.sum(axis=1), several.size_of_each).astype(np.int32)
        return several.blocks(values, found, asked, columns_of)

    def _of_lists(self, view: TokenView, instances: Instances, own: CandidateLists, group: Group) -> Features:
        from disambig.features.counts.own_lists import columns_of_lists

        ranks, usable = self.ranks_of_candidates(view, instances, group)
        values = np.ones((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = np.take(self.logs, ranks)
        batch = DenseLists(values, own.offsets, instances.costs(group), columns_of_lists())
        found = np.count_nonzero(ranks, axis=1).astype(np.int32)
        return Features(batch, found, usable.sum(axis=1).astype(np.int32))

    def look_up(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the ranks of the n-grams, ``(n, K, 14)``, and which contexts the text holds, ``(n, 14)``.

        Rank 0 says that an n-gram is not in the table, or that its context is not in the text.

        Raises
        ------
        UserError
            D1xx where the table was counted under another tokenisation than `view`'s.
        """
        ranks, usable = self.look_up_all(view, SeveralGroups.of([(instances, group)]))
        return ranks.reshape(len(instances), len(group.candidates), BIAS), usable

    def look_up_all(
        self, view: TokenView, several: SeveralGroups
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the same of several groups, the ranks by rows, ``(n_rows, 14)``."""
        self.table.require(view.tokenisation)
        instances = several.instances
        ranks = np.empty((several.n_rows, BIAS), np.uint16)
        if not len(instances):
            return ranks, np.zeros((0, BIAS), bool)
        of_groups = [Candidates.of(group) for group in several.groups]
        longest, shortest = (
            np.repeat([getattr(each, name) for each in of_groups], several.counts)[:, None]
            for name in ("longest", "shortest")
        )
        usable = fits(*room(view, instances), longest, shortest=shortest)
        for candidates, here, rows in zip(of_groups, several.slices, several.rows, strict=True):
            self._fill(view, instances.take(here), candidates, usable[here], ranks[rows])
        return ranks, usable

    def ranks_of_candidates(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the rank of each candidate's n-gram in each context, and which its place holds.

        Both have the shape ``(n_candidates, 14)``; see `look_up`.
        """
        if instances.own is not None:
            from disambig.features.counts.own_lists import ranks_of_lists

            self.table.require(view.tokenisation)
            return ranks_of_lists(self.table, view, instances, instances.own)
        ranks, usable = self.look_up(view, instances, group)
        return ranks.reshape(-1, BIAS), np.repeat(usable, ranks.shape[1], axis=0)

    def evidence(
        self, view: TokenView, instances: Instances, group: Group
    ) -> dict[tuple[str, str], Evidence]:
        """Return each n-gram that is asked for at a single place, with its count (see `Explains`)."""
        candidates = words = group.candidates
        if instances.own is not None:
            from disambig.features.counts.own_lists import words_of

            candidates = instances.own.of_instance(0)
            words = tuple(" ".join(words_of(each, view.tokenisation)) for each in candidates)
        ranks, usable = self.ranks_of_candidates(view, instances, group)
        counts = self.table.values[ranks].tolist()
        position, length = int(instances.positions[0]), int(instances.lengths[0])
        found = {}
        for r, c in zip(*(each.tolist() for each in np.nonzero(usable)), strict=True):
            ngram = ngram_text(view, position, length, CONTEXTS[c], words[r])
            least = self.table.least_count(len(ngram.split()), words)
            found[candidates[r], _pattern(*CONTEXTS[c])] = Evidence(ngram, counts[r][c], least)
        return found

    def _values(
        self, ranks: NDArray[np.uint16], usable: NDArray[np.bool_], view: TokenView, several: SeveralGroups
    ) -> NDArray[np.float32]:
        """Return what the counts are as attributes, shape (n_rows, 14)."""
        return np.take(self.logs, ranks)

    def _fill(
        self,
        view: TokenView,
        instances: Instances,
        candidates: Candidates,
        usable: NDArray[np.bool_],
        answers: NDArray[np.uint16],
    ) -> None:
        """Look up the n-grams of one group; `answers`, shape ``(n * K, 14)``, holds their ranks."""
        seed = self.table.seed(view.tokenisation)
        nested = candidates.shortest > 0 and self.table.is_nested(candidates.texts)
        ranks = answers.reshape(len(instances), len(candidates.lengths), BIAS)
        if use_numba(ranks.size):
            from disambig.features.counts.ngram_kernels import fill_ranks

            fill_ranks(self.table, seed, view.hashes, instances, candidates, usable, nested, ranks)
            return
        ranks[:] = 0
        for c in range(BIAS):
            rows = np.flatnonzero(usable[:, c])
            if len(rows):
                keys, known = context_keys(view, instances, candidates, rows, c, seed)
                found = self.table.ranks(keys.ravel(), engine="numpy").reshape(keys.shape)
                for parent in PARENTS[c][PARENTS[c] >= 0] if nested else ():
                    known &= ~usable[rows, parent, None] | (ranks[rows, :, parent] > 0)
                ranks[rows, :, c] = np.where(known, found, 0)

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.counts}


def context_keys(
    view: TokenView,
    instances: Instances,
    candidates: Candidates,
    rows: NDArray[np.int64],
    context: int,
    seed: int,
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the n-gram keys of one context filled with each candidate.

    Returns
    -------
    keys : array of uint64, shape (n_rows, K)
    known : array of bool, shape (n_rows, K)
        False where a context word has no hash: such an n-gram was never counted.
    """
    left, right = CONTEXTS[context]
    places = np.array(PLACES, np.uint64)
    positions = instances.positions[rows]
    after = positions + instances.lengths[rows]
    before = [view.hashes[positions - left + i] for i in range(left)]
    behind = [view.hashes[after + i] for i in range(right)]
    known = np.ones(len(rows), bool)
    for words in before + behind:
        known &= words != 0
    keys = np.empty((len(rows), len(candidates.lengths)), np.uint64)
    for r, length in enumerate(candidates.lengths):
        start = seed + (left + int(length) + right) * ORDER
        start += sum(int(candidates.words[r, i]) * PLACES[left + i] for i in range(int(length)))
        total = np.full(len(rows), start & MASK, np.uint64)
        for i, words in enumerate(before):
            total += words * places[i]
        for i, words in enumerate(behind):
            total += words * places[left + length + i]
        keys[:, r] = total
    return fmix(keys), np.repeat(known[:, None], keys.shape[1], axis=1)


@lru_cache(maxsize=1024)
def columns_of(group: Group) -> Columns:
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
