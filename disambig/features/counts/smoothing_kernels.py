"""The kernel of `smoothing`: the same sums in the same order as its NumPy path."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled

_DISCOUNT = 0.75


@compiled
def smooth(ranks, usable, counts, prior, parents, zero, silent, result):
    """Fill `result`, shape (n, K, C), with the probability of each candidate in each context.

    `prior` has a row for all places, or one for each.
    """
    n, k, contexts = ranks.shape
    smoothed = np.empty((contexts, k))
    back = np.empty(k)
    filled = np.empty(k)
    for i in range(n):
        own = prior[min(i, len(prior) - 1)]
        for c in range(contexts):
            first, second = parents[c, 0], parents[c, 1]
            if first >= 0 and second >= 0:
                for r in range(k):
                    back[r] = 0.5 * (smoothed[first, r] + smoothed[second, r])
            elif first >= 0 or second >= 0:
                back[:] = smoothed[max(first, second)]
            else:
                back[:] = own
            total = 0.0
            seen = 0
            if usable[i, c]:
                for r in range(k):
                    rank = ranks[i, r, c]
                    filled[r] = 0.0
                    if rank and counts[rank] > 0:
                        filled[r] = counts[rank]
                        total += filled[r]
                        seen += 1
            if total > 0:
                given = _DISCOUNT * seen
                alone = zero >= 0 and silent[c]
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


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    ranks, usable = np.zeros((1, 2, 1), np.uint16), np.ones((1, 1), bool)
    parents, result = np.full((1, 2), -1), np.empty((1, 2, 1), np.float32)
    smooth(ranks, usable, np.ones(1), np.full((1, 2), 0.5), parents, -1, np.zeros(1, bool), result)
