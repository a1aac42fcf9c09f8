"""Absolute discounting over nested contexts (Ney, Essen and Kneser 1994).

    P_c(r) = (max(count_c(r) - D, 0) + D * seen_c * P_back(r)) / sum_s count_c(s)

Each of the `seen_c` candidates that were seen in context c gives D of its count to the shorter contexts,
P_back, the mean of its parents; below those without parents lies the prior. A context in which no candidate
was seen says what the shorter ones say.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.engine import use_numba

DISCOUNT = 0.75
LEAST = 1e-9
"""Probabilities are cut here, so that their logs are finite."""


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
    """Return the logarithm of the probability of each candidate in each context, shape (n, K, C).

    Parameters
    ----------
    ranks : array of uint16, shape (n, K, C)
        Rank of the count of each candidate in each context, 0 where it was not seen.
    usable : array of bool, shape (n, C)
        Which contexts each place has.
    counts : array of float64, shape (n_ranks,)
        The count of each rank.
    prior : array of float64, shape (K,) or (n, K)
        How probable each candidate is, wherever it stands.
    parents : array of int64, shape (C, 2)
        The shorter contexts of each, which come before it; -1 where there are fewer.
    zero : int
        A candidate that has no counts in contexts that are `silent` (shape (C,)) of it: it keeps there the
        share that shorter ones give it, and the others divide theirs. -1 for none.
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
        from disambig.features.counts import smoothing_kernels

        smoothing_kernels.smooth(ranks, usable, counts, np.atleast_2d(prior), parents, zero, silent, result)
    else:
        result[:] = _smooth(ranks, usable, counts, prior, parents, zero, silent)


def logarithms(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the logarithms of probabilities, those below `LEAST` cut."""
    found: NDArray[np.float32] = np.log(np.maximum(probabilities, np.float32(LEAST)))
    return found


def _smooth(
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
        given = (DISCOUNT * seen.sum(axis=1, keepdims=True)) * back
        kept = np.where(seen, here - DISCOUNT, 0.0)
        share = back[:, zero, None].copy() if zero >= 0 and silent[c] else None
        if share is not None:
            kept *= 1.0 - share
        with np.errstate(invalid="ignore", divide="ignore"):
            result[:, :, c] = np.where(total > 0, (kept + given) / total, back)
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
