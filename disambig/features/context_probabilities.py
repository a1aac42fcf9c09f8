"""Smoothed probabilities of each candidate in each context of a place."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.data import Group, GroupedInstances, row_owners
from disambig.features.contexts import CONTEXT_PARENTS, CONTEXTS, CandidateHashes, HashedTable
from disambig.features.ngram_counts import NgramCounts, count_alone
from disambig.runtime import use_numba
from disambig.text import TokenView

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
) -> NDArray[np.float32]:
    """Return the log-probability of each of K candidates in each context, shape (n, K, C).

    Parameters
    ----------
    ranks : array of uint16, shape (n, K, C)
    prior : array of float64, shape (K,)
    usable, counts, parents
        See `smooth`.
    """
    n, k, c = ranks.shape
    offsets, zeros = np.arange(n + 1) * k, np.full(n, -1)
    silent = np.zeros(c, bool)
    rows = ranks.reshape(-1, c)
    return smooth(rows, usable, counts, np.tile(prior, n), offsets, zeros, parents, silent).reshape(n, k, c)


def smooth(
    ranks: NDArray[np.uint16],
    usable: NDArray[np.bool_],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    offsets: NDArray[np.int64],
    zeros: NDArray[np.int64],
    parents: NDArray[np.int64],
    silent: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """Return the log-probability of each candidate in each context, shape (n_rows, C), at least log(LEAST).

    Parameters
    ----------
    ranks : array of uint16, shape (n_rows, C)
        Rank of the count of each candidate in each context, 0 if it was not seen.
    usable : array of bool, shape (n, C)
        Which contexts each place has.
    counts : array of float64, shape (n_ranks,)
        The count of each rank.
    prior : array of float64, shape (n_rows,)
        Probability of each candidate regardless of the context.
    offsets : array of int64, shape (n + 1,)
        The rows of each place.
    zeros : array of int64, shape (n,)
        Row of a candidate without counts in the `silent` contexts; -1 for none. In these it keeps the share
        that the shorter contexts give it, and the other candidates divide the rest.
    parents : array of int64, shape (C, 2)
        The shorter contexts of each context, which precede it; -1 if there are fewer.
    silent : array of bool, shape (C,)
    """
    probabilities = np.empty(ranks.shape, np.float32)
    if len(ranks) and use_numba(ranks.size):
        from disambig.features import _count_kernels as smoothing_kernels

        smoothing_kernels.smooth_counts(
            ranks, usable, counts, prior, offsets, zeros, parents, silent, probabilities
        )
    elif len(ranks):
        _smooth_with_numpy(ranks, usable, counts, prior, offsets, zeros, parents, silent, probabilities)
    logs: NDArray[np.float32] = np.log(np.maximum(probabilities, np.float32(LEAST)))
    return logs


def _smooth_with_numpy(
    ranks: NDArray[np.uint16],
    usable: NDArray[np.bool_],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    offsets: NDArray[np.int64],
    zeros: NDArray[np.int64],
    parents: NDArray[np.int64],
    silent: NDArray[np.bool_],
    probabilities: NDArray[np.float32],
) -> None:
    starts, owner = offsets[:-1], row_owners(offsets)
    has_zero = zeros >= 0
    result = np.empty(ranks.shape)
    for c in range(len(parents)):
        here = counts[ranks[:, c]] * usable[owner, c]
        total = np.add.reduceat(here, starts)[owner]
        seen = here > 0
        n_seen = np.add.reduceat(seen, starts, dtype=np.int64)[owner]
        back = _mean_of_parents(result, parents[c], prior)
        kept = np.where(seen, here - DISCOUNT, 0.0)
        if silent[c]:
            share = np.where(has_zero, back[zeros], 0.0)
            kept *= 1.0 - share[owner]
        with np.errstate(invalid="ignore", divide="ignore"):
            result[:, c] = np.where(total > 0, (kept + (DISCOUNT * n_seen) * back) / total, back)
        if silent[c]:
            result[zeros[has_zero], c] = share[has_zero]
    probabilities[:] = result


def _mean_of_parents(
    result: NDArray[np.float64], parents: NDArray[np.int64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    first, second = parents
    if first < 0 and second < 0:
        return prior
    if first < 0 or second < 0:
        return result[:, max(first, second)]
    mean: NDArray[np.float64] = 0.5 * (result[:, first] + result[:, second])
    return mean


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

    _zero = True

    def _values(
        self,
        ranks: NDArray[np.uint16],
        usable: NDArray[np.bool_],
        view: TokenView,
        several: GroupedInstances,
        hashed: HashedTable,
    ) -> NDArray[np.float32]:
        """Return the smoothed log-probabilities of all candidates."""
        if not len(ranks):
            return np.empty(ranks.shape, np.float32)
        offsets, owner = several.offsets, row_owners(several.offsets)
        if several.own is None:
            groups = several.groups
            counts = np.concatenate([_count_group(self.table, view.tokenisation, group) for group in groups])
        else:
            counts = count_alone(self.table, hashed, view.tokenisation)
        is_zero = (hashed.lengths == 0)[hashed.ids]
        # relative frequencies, add-one smoothed; the empty candidate counts as much as all others together
        prior = np.where(is_zero, 0.0, 1.0 + counts[hashed.ids])
        prior += np.where(is_zero, np.maximum(np.add.reduceat(prior, offsets[:-1]), 1.0)[owner], 0.0)
        prior /= np.add.reduceat(prior, offsets[:-1])[owner]
        zeros = np.full(len(several), -1)
        zeros[owner[is_zero]] = np.flatnonzero(is_zero)
        return smooth(ranks, usable, self._counts, prior, offsets, zeros, CONTEXT_PARENTS, ONE_SIDED)

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        return self.table.values.astype(np.float64)


@lru_cache(maxsize=4096)
def _count_group(table: CountTable, tokenisation: str, group: Group) -> NDArray[np.float64]:
    """Return how often each candidate of a group was counted, shape (K,)."""
    hashes = CandidateHashes.from_group(group)
    return count_alone(
        table, HashedTable(hashes.words, hashes.lengths, np.arange(len(hashes.lengths))), tokenisation
    )
