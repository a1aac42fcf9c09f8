"""Finding n-grams among sorted ones, for Numba."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled


@compiled
def find_rows(begins, words, contexts, last, rows):
    """Put into `rows` (int32) where context ``contexts[i]`` is followed by ``last[i]``; -1 for nowhere.

    `begins` and `words` are those of a `Level`; a context of -1 is followed by nothing.
    """
    for i in range(len(last)):
        rows[i] = -1
        context, word = contexts[i], last[i]
        if context < 0:
            continue
        low, high = begins[context], begins[context + 1]
        end = high
        while low < high:
            middle = (low + high) >> 1
            if words[middle] < word:
                low = middle + 1
            else:
                high = middle
        if low < end and words[low] == word:
            rows[i] = low


def sample() -> None:
    """Do a little of the work, so that `disambig doctor --compile` compiles it."""
    one = np.zeros(1, np.int32)
    find_rows(np.array([0, 1]), one, one, one, np.empty(1, np.int32))
