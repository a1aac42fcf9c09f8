"""Context probabilities: how probable each candidate is in each context around a place, smoothed.

Attribute (r, c) is the log-probability of candidate r given that *one of the candidates* stands in context
c, the words to its left and to its right alike, smoothed by absolute discounting (`smoothing`): a context
falls back on the mean of the one without the leftmost and the one without the rightmost word, the 2-grams on
the candidates' own counts. Log counts (`ngram_counts`) cannot tell a rare context from a surprising
candidate, and give what was never seen the weight of what was seen once less.

The candidate of no word has no count of its own: as much is left to it as to all words together. Words on
one side alone say nothing of it, so it keeps its share there, and the words divide theirs.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.dense_lists import DenseLists
from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.data.lists import CandidateLists
from disambig.features.counts.contexts import CONTEXTS, PARENTS
from disambig.features.counts.ngram_counts import BIAS, NgramCounts
from disambig.features.counts.smoothing import log_probabilities, logarithms, smooth
from disambig.features.rows.several_groups import SeveralGroups
from disambig.text.hashing import hash_words
from disambig.text.view import TokenView
from disambig.types import Features

if TYPE_CHECKING:
    from disambig.counts.table import CountTable

ZERO = ""
ONE_SIDED = np.array([not (left and right) for left, right in CONTEXTS])
"""Contexts with words on one side alone."""


class ContextProbabilities(NgramCounts):
    """Extractor of the smoothed log-probabilities in the 14 contexts.

    Columns, groups of features and evidence are those of `NgramCounts`, which it can replace.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of one that an installed pack brings.
    """

    def look_up_all(
        self, view: TokenView, several: SeveralGroups
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the ranks of the n-grams, and which contexts the text holds (see `NgramCounts.look_up`).

        With the candidate of no word among others, words still use the contexts of one side.
        """
        if not any(map(_has_zero, several.groups)):
            return super().look_up_all(view, several)
        ranks = np.empty((several.n_rows, BIAS), np.uint16)
        usable = np.empty((len(several.instances), BIAS), bool)
        for group, here, rows in zip(several.groups, several.slices, several.rows, strict=True):
            instances = several.instances.take(here)
            if not _has_zero(group):
                ranks[rows], usable[here] = super().look_up_all(view, SeveralGroups.of([(instances, group)]))
                continue
            of_words, of_zero = (SeveralGroups.of([(instances, part)]) for part in _parted(group))
            zero, k = group.candidates.index(ZERO), len(group.candidates)
            by_place = ranks[rows].reshape(len(instances), k, BIAS)
            words, usable[here] = super().look_up_all(view, of_words)
            by_place[:, np.delete(np.arange(k), zero)] = words.reshape(len(instances), k - 1, BIAS)
            by_place[:, zero] = super().look_up_all(view, of_zero)[0] * usable[here]
        return ranks, usable

    def ranks_of_candidates(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the rank of each candidate's n-gram in each context, and which its place holds.

        The same is done with lists of instances' own (see `NgramCounts.ranks_of_candidates`).
        """
        if instances.own is None:
            return super().ranks_of_candidates(view, instances, group)
        from disambig.features.counts.own_lists import ranks_of_lists

        self.table.require(view.tokenisation)
        return ranks_of_lists(self.table, view, instances, instances.own, zero=True)

    def _values(
        self, ranks: NDArray[np.uint16], usable: NDArray[np.bool_], view: TokenView, several: SeveralGroups
    ) -> NDArray[np.float32]:
        found = np.empty(ranks.shape, np.float32)
        for group, here, rows in zip(several.groups, several.slices, several.rows, strict=True):
            shape = here.stop - here.start, len(group.candidates), BIAS
            smooth(
                ranks[rows].reshape(shape),
                usable[here],
                self._counts,
                _prior(self.table, view.tokenisation, group),
                PARENTS,
                found[rows].reshape(shape),
                zero=group.candidates.index(ZERO) if ZERO in group.candidates else -1,
                silent=ONE_SIDED,
            )
        return logarithms(found)

    def _of_lists(self, view: TokenView, instances: Instances, own: CandidateLists, group: Group) -> Features:
        """Return the same of candidates of instances' own, in columns that all of them share."""
        from disambig.features.counts.own_lists import columns_of_lists, counts_alone

        ranks, usable = self.ranks_of_candidates(view, instances, group)
        alone, nothing = counts_alone(self.table, view.tokenisation, own)
        place = padded_places(own.offsets, nothing)
        k = int(place[1].max(initial=-1)) + 1
        of_place = np.zeros((len(own), max(k, 1), BIAS), np.uint16)
        of_place[place] = ranks
        prior = np.zeros(of_place.shape[:2])
        prior[place] = np.where(nothing, 0.0, 1.0 + alone)
        words = np.maximum(prior.sum(axis=1), 1.0)
        prior[place] += np.where(nothing, words[place[0]], 0.0)
        prior /= np.maximum(prior.sum(axis=1, keepdims=True), 1.0)
        in_list = usable[own.offsets[:-1]]
        zero = k - 1 if nothing.any() else -1
        found = log_probabilities(
            of_place, in_list, self._counts, prior, PARENTS, zero=zero, silent=ONE_SIDED
        )
        values = np.ones((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = found[place]
        batch = DenseLists(values, own.offsets, instances.costs(group), columns_of_lists())
        known = np.count_nonzero(ranks, axis=1).astype(np.int32)
        return Features(batch, known, usable.sum(axis=1).astype(np.int32))

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        return self.table.values.astype(np.float64)


def _has_zero(group: Group) -> bool:
    """Tell whether no word is a candidate among others."""
    return ZERO in group.candidates and len(group.candidates) > 1


@lru_cache(maxsize=1024)
def _parted(group: Group) -> tuple[Group, Group]:
    """Return the words of a group, and no word."""
    return Group(group.name, tuple(filter(None, group.candidates))), Group(group.name, (ZERO,))


def padded_places(
    offsets: NDArray[np.int64], nothing: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column of each candidate in a table of lists, in which no word has the last column.

    Parameters
    ----------
    offsets : array of int64, shape (n + 1,)
    nothing : array of bool, shape (n_candidates,)
        Which candidates are no word: one of a list at most.
    """
    sizes = np.diff(offsets)
    row = np.repeat(np.arange(len(sizes)), sizes)
    words = np.cumsum(~nothing)
    before = np.concatenate([[0], words])[offsets[:-1]]
    column = words - 1 - before[row]
    last = int(column[~nothing].max(initial=-1)) + 1
    return row, np.where(nothing, last, column)


@lru_cache(maxsize=4096)
def _prior(table: CountTable, tokenisation: str, group: Group) -> NDArray[np.float64]:
    """Return how frequent each candidate is among them, add-one smoothed, shape (K,)."""
    counts = np.zeros(len(group.candidates))
    for r, candidate in enumerate(group.candidates):
        if candidate:
            words = hash_words(candidate.split())[None, :]
            counts[r] = 1.0 + table.counts_of_words(words, tokenisation=tokenisation, engine="numpy")[0]
    counts[counts == 0] = max(counts.sum(), 1.0)  # the candidate of no word
    prior: NDArray[np.float64] = counts / counts.sum()
    return prior
