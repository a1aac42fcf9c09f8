"""The kernel of `extractor`: keys of every pattern and candidate, looked up in blocks."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.compiling import compiled
from disambig.counts.index.lookup_kernels import rank_at, slot_of
from disambig.features.headwords.ngrams import PARENTS, fixed_parts
from disambig.text.hash_kernels import PLACE, fmix64

if TYPE_CHECKING:
    from disambig.counts.table import CountTable


@compiled
def _fill(words, directory, shift, width, fixed, place, known, candidates, ranks):
    n, k, patterns = ranks.shape
    keys, slots = np.empty(k, np.uint64), np.empty(k, np.uint64)
    asked = np.empty(k, np.int64)
    for i in range(n):
        for p in range(patterns):
            if not known[i, p]:
                continue
            m = 0
            for r in range(k):
                seen = True
                for parent in PARENTS[p]:
                    if parent >= 0 and ranks[i, r, parent] == 0:
                        seen = False
                if seen:
                    keys[m] = fmix64(fixed[i, p] + candidates[r] * PLACE[place[p]])
                    asked[m] = r
                    m += 1
            for j in range(m):
                slots[j] = slot_of(words, directory, shift, width, keys[j])
            for j in range(m):
                ranks[i, asked[j], p] = rank_at(words, width, slots[j], keys[j])


def fill_ranks(
    table: CountTable,
    words: NDArray[np.uint64],
    known: NDArray[np.bool_],
    candidates: NDArray[np.uint64],
    ranks: NDArray[np.uint16],
) -> None:
    """Fill `ranks`, shape (n, K, 5), all zero, with those of the n-grams (see `Headwords`)."""
    _fill(*table.arrays, *fixed_parts(words), known, candidates, ranks)
