"""Context probabilities: how probable each candidate is in each context around a place, smoothed.

Attribute (r, c) is the log-probability of candidate r given that *one of the candidates* stands in context
c, the words to its left and to its right alike:

    P_c(r) = (max(count_c(r) - D, 0) + D * seen_c * P_back(r)) / sum_s count_c(s)

with absolute discounting (Ney, Essen and Kneser 1994): each of the `seen_c` candidates that were seen in the
context gives D of its count to the next shorter contexts, P_back, the mean of the one without the
leftmost and the one without the rightmost word; below the 2-grams lie the candidates' own counts. A context
in which no candidate was seen says what the shorter ones say. Log counts (`ngram_counts`) cannot tell a
rare context from a surprising candidate, and give what was never seen the weight of what was seen once less.

The candidate of no word has no count of its own: as much is left to it as to all words together. Words on
one side alone say nothing of it, so it keeps its share there, and the words divide theirs.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.engine import use_numba
from disambig.features.counts.contexts import CONTEXTS, PARENTS
from disambig.features.counts.ngram_counts import BIAS, NgramCounts
from disambig.text.hashing import hash_words
from disambig.text.view import TokenView

if TYPE_CHECKING:
    from disambig.counts.table import CountTable

DISCOUNT = 0.75
LEAST = 1e-9
"""Probabilities are cut here, so that their logs are finite."""
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

    describes: ClassVar[str] = "group"

    def look_up(
        self, view: TokenView, instances: Instances, group: Group
    ) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
        """Return the ranks of the n-grams, and which contexts the text holds (see `NgramCounts.look_up`).

        With the candidate of no word among others, words still use the contexts of one side.
        """
        if ZERO not in group.candidates or len(group.candidates) == 1:
            return super().look_up(view, instances, group)
        zero, k = group.candidates.index(ZERO), len(group.candidates)
        words = Group(group.name, tuple(word for word in group.candidates if word))
        of_words, usable = super().look_up(view, instances, words)
        of_zero, _ = super().look_up(view, instances, Group(group.name, (ZERO,)))
        ranks = np.empty((len(instances), k, BIAS), np.uint16)
        ranks[:, np.delete(np.arange(k), zero)] = of_words
        ranks[:, zero] = of_zero[:, 0] * usable
        return ranks, usable

    def _values(
        self, ranks: NDArray[np.uint16], usable: NDArray[np.bool_], view: TokenView, group: Group
    ) -> NDArray[np.float32]:
        if not len(ranks):
            return np.empty(ranks.shape, np.float32)
        prior = _prior(self.table, view.tokenisation, group)
        zero = group.candidates.index(ZERO) if ZERO in group.candidates else -1
        if use_numba(ranks.size):
            from disambig.features.counts.context_probabilities_kernels import smooth

            probabilities = smooth(ranks, usable, self._counts, prior, zero)
        else:
            probabilities = self._smooth(ranks, usable, prior, zero)
        return np.log(np.maximum(probabilities, np.float32(LEAST)))

    def _smooth(
        self, ranks: NDArray[np.uint16], usable: NDArray[np.bool_], prior: NDArray[np.float64], zero: int
    ) -> NDArray[np.float32]:
        """Return P_c(r), shape (n, K, 14)."""
        n, k, _ = ranks.shape
        result = np.empty((n, k, BIAS))
        for c in range(BIAS):
            counts = self._counts[ranks[:, :, c]] * usable[:, None, c]
            total = counts.sum(axis=1, keepdims=True)
            seen = counts > 0
            back = _mean_of_parents(result, c, prior)
            given = (DISCOUNT * seen.sum(axis=1, keepdims=True)) * back
            kept = np.where(seen, counts - DISCOUNT, 0.0)
            share = back[:, zero, None].copy() if zero >= 0 and ONE_SIDED[c] else None
            if share is not None:
                kept *= 1.0 - share
            with np.errstate(invalid="ignore", divide="ignore"):
                result[:, :, c] = np.where(total > 0, (kept + given) / total, back)
            if share is not None:
                result[:, zero, c] = share[:, 0]
        return result.astype(np.float32)

    @cached_property
    def _counts(self) -> NDArray[np.float64]:
        return self.table.values.astype(np.float64)


def _mean_of_parents(
    result: NDArray[np.float64], context: int, prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    first, second = PARENTS[context]
    if first < 0 and second < 0:
        return np.broadcast_to(prior, result.shape[:2])
    if first < 0 or second < 0:
        return result[:, :, max(first, second)]
    mean: NDArray[np.float64] = 0.5 * (result[:, :, first] + result[:, :, second])
    return mean


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
