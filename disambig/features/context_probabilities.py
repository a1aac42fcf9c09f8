"""Smoothed probabilities of each candidate in each context of a place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, GroupedInstances, row_owners
from disambig.features.contexts import CONTEXT_PARENTS, DISCOUNT, ONE_SIDED, CandidateHashes, HashedTable
from disambig.features.ngram_counts import ROWS_AT_ONCE, NgramCounts, count_alone
from disambig.runtime import use_numba
from disambig.text import TokenView
from disambig.type_aliases import Bools, Floats, Ints, Ranks

if TYPE_CHECKING:
    from disambig.counts import CountTable


LEAST = 1e-9
"""Lower limit of probabilities, so that their logarithms are finite."""


def log_probabilities(
    ranks: Ranks, usable: Bools, counts: Floats, prior: Floats, parents: Ints
) -> NDArray[np.float32]:
    """Return the log-probability of each of K candidates in each context, shape (n, K, C).

    Parameters
    ----------
    ranks : array of uint16, shape (n, K, C)
    prior : array of float64, shape (K,)
    usable, counts, parents
        See `ContextCounts`.
    """
    n, k, c = ranks.shape
    offsets, zeros = np.arange(n + 1) * k, np.full(n, -1)
    silent = np.zeros(c, bool)
    rows = ranks.reshape(-1, c)
    contexts = ContextCounts(rows, usable, counts, np.tile(prior, n), offsets, zeros, parents, silent)
    return contexts.log_probabilities().reshape(n, k, c)


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
        """Return the log-probabilities of candidates in contexts, shape (n_rows, C), at least log(LEAST)."""
        probabilities = np.empty(self.ranks.shape, np.float32)
        if len(self.ranks) and use_numba(self.ranks.size):
            from disambig.features._count_kernels import smooth_counts

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
        logs: NDArray[np.float32] = np.log(np.maximum(probabilities, np.float32(LEAST)))
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
    for first, last in _runs_without_parents(parents):
        block = slice(first, last)
        first_parent, second_parent = parents[block].T
        # a context with a single shorter one has it as both parents
        fallback = 0.5 * (
            result[np.where(first_parent < 0, second_parent, first_parent)]
            + result[np.where(second_parent < 0, first_parent, second_parent)]
        )
        discounted = kept[block]
        if len(with_zero):
            rows = zeros[with_zero]
            share = np.zeros((last - first, len(starts)))
            share[:, with_zero] = np.where(silent[block, None], fallback[:, rows], 0.0)
            discounted = discounted * (1.0 - share.take(owner, axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            smoothed = (discounted + reserved[block] * fallback) / total[block]
        result[block] = np.where(total[block] > 0, smoothed, fallback)
        if len(with_zero):
            result[block, rows] = np.where(silent[block, None], share[:, with_zero], result[block, rows])
    return result[:-1].T


def _runs_without_parents(parents: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield bounds of consecutive contexts none of which is a parent of another one of them."""
    start = 0
    for c, parent in enumerate(parents.max(axis=1).tolist()):
        if parent >= start:
            yield start, c
            start = c
    yield start, len(parents)


class ContextProbabilities(NgramCounts):
    """Extractor of the smoothed log-probabilities in the 14 contexts.

    Columns, feature groups and evidence are those of `NgramCounts`, so it can replace that extractor.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table: a file, or the name of a table in an installed pack.
    """

    _zero = True

    def _values(
        self, ranks: Ranks, usable: Bools, view: TokenView, grouped: GroupedInstances, hashed: HashedTable
    ) -> NDArray[np.float32]:
        """Return the smoothed log-probabilities of all candidates."""
        if not len(ranks):
            return np.empty(ranks.shape, np.float32)
        offsets, owner = grouped.offsets, row_owners(grouped.offsets)
        if grouped.own is None:
            groups = grouped.groups
            counts = np.concatenate([_count_group(self.table, view.tokenisation, group) for group in groups])
        else:
            counts = count_alone(self.table, hashed, view.tokenisation)
        is_zero = (hashed.lengths == 0)[hashed.ids]
        # relative frequencies, add-one smoothed; the empty candidate counts as much as all others together
        prior = np.where(is_zero, 0.0, 1.0 + counts[hashed.ids])
        prior += np.where(is_zero, np.maximum(np.add.reduceat(prior, offsets[:-1]), 1.0)[owner], 0.0)
        prior /= np.add.reduceat(prior, offsets[:-1])[owner]
        zeros = np.full(len(grouped), -1)
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
