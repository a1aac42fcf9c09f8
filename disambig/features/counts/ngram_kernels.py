"""The fused kernel of `ngram_counts`: keys of every context and candidate, looked up in blocks."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.compiling import compiled
from disambig.counts.index.lookup_kernels import rank_at, slot_of
from disambig.features.counts.contexts import CONTEXTS, PARENTS, Candidates
from disambig.text.hash_kernels import ORDER_STEP, PLACE, fmix64

if TYPE_CHECKING:
    from disambig.counts.table import CountTable
    from disambig.data.instances import Instances

_LEFT = np.array([left for left, _ in CONTEXTS])
_RIGHT = np.array([right for _, right in CONTEXTS])


@compiled
def _fill(
    words,
    directory,
    shift,
    width,
    seed,
    hashes,
    positions,
    observed_lengths,
    candidates,
    lengths,
    usable,
    nested,
    ranks,
):
    """Look up every (context, candidate) of every instance; `ranks` (n, K, 14) holds the answers.

    `nested`: an n-gram whose shorter parts are absent is absent too, and is not looked up.
    """
    n, k = len(positions), len(lengths)
    keys = np.empty(k, np.uint64)
    slots = np.empty(k, np.uint64)
    asked = np.empty(k, np.int64)
    for i in range(n):
        first = positions[i]
        after = first + observed_lengths[i]
        for c in range(len(_LEFT)):
            left, right = _LEFT[c], _RIGHT[c]
            known = usable[i, c]
            before = np.uint64(seed)
            for j in range(left * known):
                word = hashes[first - left + j]
                known &= word != 0
                before += word * PLACE[j]
            for j in range(right * known):
                known &= hashes[after + j] != 0
            if not known:
                for r in range(k):
                    ranks[i, r, c] = 0
                continue
            behind = np.uint64(0)
            behind_length = -1
            m = 0
            for r in range(k):
                if nested:
                    possible = True
                    for parent in PARENTS[c]:
                        if parent >= 0 and usable[i, parent] and ranks[i, r, parent] == 0:
                            possible = False
                    if not possible:
                        ranks[i, r, c] = 0
                        continue
                length = lengths[r]
                if length != behind_length:  # the words behind move when candidates differ in length
                    behind_length = length
                    behind = np.uint64(left + length + right) * ORDER_STEP
                    for j in range(right):
                        behind += hashes[after + j] * PLACE[left + length + j]
                key = before + behind
                for j in range(length):
                    key += candidates[r, j] * PLACE[left + j]
                keys[m] = fmix64(key)
                asked[m] = r
                m += 1
            for j in range(m):
                slots[j] = slot_of(words, directory, shift, width, keys[j])
            for j in range(m):
                ranks[i, asked[j], c] = rank_at(words, width, slots[j], keys[j])


def fill_ranks(
    table: CountTable,
    seed: int,
    hashes: NDArray[np.uint64],
    instances: Instances,
    candidates: Candidates,
    usable: NDArray[np.bool_],
    nested: bool,
    ranks: NDArray[np.uint16],
) -> None:
    """Fill `ranks`, shape ``(n, K, 14)``, with that of each context and each candidate in it; 0 is absent."""
    _fill(
        *table.arrays,
        np.uint64(seed),
        hashes,
        instances.positions,
        instances.lengths,
        candidates.words,
        candidates.lengths,
        usable,
        nested,
        ranks,
    )
