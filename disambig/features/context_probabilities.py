"""Smoothed probabilities of each candidate in each context of a place."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.data import CandidateLists, DenseLists, Group, Instances, offsets_from_sizes, row_owners
from disambig.features.contexts import CONTEXT_PARENTS, CONTEXTS
from disambig.features.ngram_counts import BIAS, NgramCounts
from disambig.features.rows import GroupedInstances
from disambig.runtime import use_numba
from disambig.text import TokenView, hash_words
from disambig.types import Features

if TYPE_CHECKING:
    from disambig.counts import CountTable


DISCOUNT = 0.75
LEAST = 1e-9
"""Lower limit of probabilities, so that their logarithms are finite."""


def log_probabilities(
    ranks: NDArray[np.uint16],
    usable: NDArray[np.bool_],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    parents: NDArray[np.int64],
    *,
    zero: int = -1,
    silent: NDArray[np.bool_] | None = None,
) -> NDArray[np.float32]:
    """Return the log-probability of each candidate in each context, shape (n, K, C).

    Parameters
    ----------
    ranks : array of uint16, shape (n, K, C)
        Rank of the count of each candidate in each context, 0 if it was not seen.
    usable : array of bool, shape (n, C)
        Which contexts each place has.
    counts : array of float64, shape (n_ranks,)
        The count of each rank.
    prior : array of float64, shape (K,) or (n, K)
        Probability of each candidate regardless of the context.
    parents : array of int64, shape (C, 2)
        The shorter contexts of each context, which precede it; -1 if there are fewer.
    zero : int
        Index of a candidate without counts in the `silent` contexts (shape (C,)); -1 for none. In these it
        keeps the share that the shorter contexts give it, and the other candidates divide the rest.
    """
    probabilities = np.empty(ranks.shape, np.float32)
    smooth(ranks, usable, counts, prior, parents, probabilities, zero=zero, silent=silent)
    return logarithms(probabilities)


def smooth(
    ranks: NDArray[np.uint16],
    usable: NDArray[np.bool_],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    parents: NDArray[np.int64],
    result: NDArray[np.float32],
    *,
    zero: int = -1,
    silent: NDArray[np.bool_] | None = None,
) -> None:
    """Fill `result`, shape (n, K, C), with the probability of each candidate; see `log_probabilities`."""
    if silent is None:
        silent = np.zeros(len(parents), bool)
    if not len(ranks):
        return
    if use_numba(ranks.size):
        from disambig.features import _count_kernels as smoothing_kernels

        smoothing_kernels.smooth_counts(
            ranks, usable, counts, np.atleast_2d(prior), parents, zero, silent, result
        )
    else:
        result[:] = _smooth_with_numpy(ranks, usable, counts, prior, parents, zero, silent)


def logarithms(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the logarithms of probabilities, which are cut at `LEAST`."""
    logs: NDArray[np.float32] = np.log(np.maximum(probabilities, np.float32(LEAST)))
    return logs


def _smooth_with_numpy(
    ranks: NDArray[np.uint16],
    usable: NDArray[np.bool_],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    parents: NDArray[np.int64],
    zero: int,
    silent: NDArray[np.bool_],
) -> NDArray[np.float32]:
    result = np.empty(ranks.shape)
    for c in range(len(parents)):
        here = counts[ranks[:, :, c]] * usable[:, None, c]
        total = here.sum(axis=1, keepdims=True)
        seen = here > 0
        back = _mean_of_parents(result, parents[c], prior)
        back_off_mass = (DISCOUNT * seen.sum(axis=1, keepdims=True)) * back
        kept = np.where(seen, here - DISCOUNT, 0.0)
        share = back[:, zero, None].copy() if zero >= 0 and silent[c] else None
        if share is not None:
            kept *= 1.0 - share
        with np.errstate(invalid="ignore", divide="ignore"):
            result[:, :, c] = np.where(total > 0, (kept + back_off_mass) / total, back)
        if share is not None:
            result[:, zero, c] = share[:, 0]
    return result.astype(np.float32)


def _mean_of_parents(
    result: NDArray[np.float64], parents: NDArray[np.int64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    first, second = parents
    if first < 0 and second < 0:
        return np.broadcast_to(prior, result.shape[:2])
    if first < 0 or second < 0:
        return result[:, :, max(first, second)]
    mean: NDArray[np.float64] = 0.5 * (result[:, :, first] + result[:, :, second])
    return mean


ZERO = ""
ONE_SIDED = np.array([not (left and right) for left, right in CONTEXTS])
"""Contexts with words on only one side."""


class ContextProbabilities(NgramCounts):
    """Extractor of the smoothed log-probabilities in the 14 contexts.

    Columns, feature groups and evidence are those of `NgramCounts`, so it can replace that extractor.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of a table in an installed pack.
    """

    def look_up_all(
        self, view: TokenView, several: GroupedInstances
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the ranks of the n-grams, and which contexts the text has (see `NgramCounts.look_up`).

        If the empty candidate is among others, words still use the one-sided contexts.
        """
        if not any(map(_has_zero, several.groups)):
            return super().look_up_all(view, several)
        ranks = np.empty((several.n_rows, BIAS), np.uint16)
        usable = np.empty((len(several.instances), BIAS), bool)
        for group, here, rows in zip(several.groups, several.slices, several.rows, strict=True):
            instances = several.instances.take(here)
            if not _has_zero(group):
                ranks[rows], usable[here] = super().look_up_all(
                    view, GroupedInstances.from_parts([(instances, group)])
                )
                continue
            of_words, of_zero = (
                GroupedInstances.from_parts([(instances, part)]) for part in _split_contexts(group)
            )
            zero, k = group.candidates.index(ZERO), len(group.candidates)
            by_place = ranks[rows].reshape(len(instances), k, BIAS)
            words, usable[here] = super().look_up_all(view, of_words)
            by_place[:, np.delete(np.arange(k), zero)] = words.reshape(len(instances), k - 1, BIAS)
            by_place[:, zero] = super().look_up_all(view, of_zero)[0] * usable[here]
        return ranks, usable

    def ranks_of_candidates(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the rank of each candidate's n-gram in each context, and which contexts its place has.

        One-sided contexts are treated as in `look_up_all` for per-instance candidates too.
        """
        if instances.own is None:
            return super().ranks_of_candidates(view, instances, group)
        from disambig.features.ngram_counts import rank_lists

        self.table.require(view.tokenisation)
        return rank_lists(self.table, view, instances, instances.own, zero=True)

    def _values(
        self, ranks: NDArray[np.uint16], usable: NDArray[np.bool_], view: TokenView, several: GroupedInstances
    ) -> NDArray[np.float32]:
        """Return the smoothed log-probabilities of all candidates, one block of rows per group."""
        values = np.empty(ranks.shape, np.float32)
        for group, here, rows in zip(several.groups, several.slices, several.rows, strict=True):
            shape = here.stop - here.start, len(group.candidates), BIAS
            smooth(
                ranks[rows].reshape(shape),
                usable[here],
                self._counts,
                _candidate_prior(self.table, view.tokenisation, group),
                CONTEXT_PARENTS,
                values[rows].reshape(shape),
                zero=group.candidates.index(ZERO) if ZERO in group.candidates else -1,
                silent=ONE_SIDED,
            )
        return logarithms(values)

    def _transform_lists(
        self, view: TokenView, instances: Instances, own: CandidateLists, group: Group
    ) -> Features:
        """Return the same for per-instance candidates, in columns that all of them share."""
        from disambig.features.ngram_counts import columns_of_lists, counts_alone

        ranks, usable = self.ranks_of_candidates(view, instances, group)
        alone, nothing = counts_alone(self.table, view.tokenisation, own)
        place = padded_indices(own.offsets, nothing)
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
        logs = log_probabilities(
            of_place, in_list, self._counts, prior, CONTEXT_PARENTS, zero=zero, silent=ONE_SIDED
        )
        values = np.ones((len(ranks), BIAS + 1), np.float32)
        values[:, :BIAS] = logs[place]
        batch = DenseLists(values, own.offsets, instances.costs(group), columns_of_lists())
        n_hits = np.count_nonzero(ranks, axis=1).astype(np.int32)
        return Features(batch, n_hits, usable.sum(axis=1).astype(np.int32))

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        return self.table.values.astype(np.float64)


def _has_zero(group: Group) -> bool:
    """Return True if the empty candidate is in the group along with others."""
    return ZERO in group.candidates and len(group.candidates) > 1


@lru_cache(maxsize=1024)
def _split_contexts(group: Group) -> tuple[Group, Group]:
    """Return a group of the words of `group`, and a group of the empty candidate."""
    return Group(group.name, tuple(filter(None, group.candidates))), Group(group.name, (ZERO,))


def padded_indices(
    offsets: NDArray[np.int64], nothing: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column of each candidate in a padded table; the empty candidate has the last column.

    Parameters
    ----------
    offsets : array of int64, shape (n + 1,)
    nothing : array of bool, shape (n_candidates,)
        Which candidates are empty: at most one per list.
    """
    row, words = row_owners(offsets), offsets_from_sizes(~nothing)
    column = words[1:] - 1 - words[offsets[:-1]][row]
    last = int(column[~nothing].max(initial=-1)) + 1
    return row, np.where(nothing, last, column)


@lru_cache(maxsize=4096)
def _candidate_prior(table: CountTable, tokenisation: str, group: Group) -> NDArray[np.float64]:
    """Return the relative frequency of each candidate, add-one smoothed, shape (K,)."""
    counts = np.zeros(len(group.candidates))
    for r, candidate in enumerate(group.candidates):
        if candidate:
            words = hash_words(candidate.split())[None, :]
            counts[r] = 1.0 + table.counts_of_words(words, tokenisation=tokenisation, backend="numpy")[0]
    counts[counts == 0] = max(counts.sum(), 1.0)  # the empty candidate
    prior: NDArray[np.float64] = counts / counts.sum()
    return prior
