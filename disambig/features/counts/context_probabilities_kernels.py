"""The kernel of `context_probabilities`: the same sums in the same order as its NumPy path."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.compiling import compiled
from disambig.features.counts.contexts import CONTEXTS, PARENTS

_DISCOUNT = 0.75
_ONE_SIDED = np.array([not (left and right) for left, right in CONTEXTS])


@compiled
def _smooth(ranks, usable, counts, prior, zero, result):
    n, k, contexts = ranks.shape
    smoothed = np.empty((contexts, k))
    back = np.empty(k)
    filled = np.empty(k)
    for i in range(n):
        for c in range(contexts):
            first, second = PARENTS[c, 0], PARENTS[c, 1]
            if first >= 0 and second >= 0:
                for r in range(k):
                    back[r] = 0.5 * (smoothed[first, r] + smoothed[second, r])
            elif first >= 0 or second >= 0:
                back[:] = smoothed[max(first, second)]
            else:
                back[:] = prior
            total = 0.0
            seen = 0
            if usable[i, c]:
                for r in range(k):
                    rank = ranks[i, r, c]
                    filled[r] = 0.0
                    if rank:
                        filled[r] = counts[rank]
                        total += filled[r]
                        seen += 1
            if total > 0:
                given = _DISCOUNT * seen
                alone = zero >= 0 and _ONE_SIDED[c]
                share = back[zero] if alone else 0.0
                for r in range(k):
                    kept = filled[r] - _DISCOUNT if filled[r] > 0 else 0.0
                    if alone:
                        kept *= 1.0 - share
                    back[r] = (kept + given * back[r]) / total
                if alone:
                    back[zero] = share
            for r in range(k):
                smoothed[c, r] = back[r]
                result[i, r, c] = back[r]


def smooth(
    ranks: NDArray[np.uint16],
    usable: NDArray[np.bool_],
    counts: NDArray[np.float64],
    prior: NDArray[np.float64],
    zero: int,
) -> NDArray[np.float32]:
    """Return the probability of each candidate in each context, shape ``(n, K, 14)``.

    `zero` is the candidate of no word, -1 where there is none.
    """
    result = np.empty(ranks.shape, np.float32)
    _smooth(ranks, usable, counts, prior, zero, result)
    return result
