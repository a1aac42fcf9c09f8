"""The kernel of `own_lists`: keys of every context of every candidate of lists of instances' own."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.counts.index.lookup_kernels import rank_at, slot_of
from disambig.features.counts.contexts import CONTEXTS
from disambig.text.hash_kernels import ORDER_STEP, PLACE, fmix64

_LEFT = np.array([left for left, _ in CONTEXTS])
_RIGHT = np.array([right for _, right in CONTEXTS])


@compiled
def fill_lists(
    table_words,
    directory,
    shift,
    width,
    seed,
    hashes,
    positions,
    behind,
    of_row,
    words,
    lengths,
    usable,
    zero,
    ranks,
):
    """Look up every context of every candidate; `ranks`, shape (n_candidates, 14), holds the answers.

    `usable`, shape (n, 14), is of instances; with `zero` no word is asked about between words alone.
    """
    keys = np.empty(len(_LEFT), np.uint64)
    slots = np.empty(len(_LEFT), np.uint64)
    asked = np.empty(len(_LEFT), np.int64)
    for r in range(len(of_row)):
        i, length = of_row[r], lengths[r]
        m = 0
        for c in range(len(_LEFT)):
            left, right = _LEFT[c], _RIGHT[c]
            ranks[r, c] = 0
            known = usable[i, c] and (length > 0 or not zero or (left > 0 and right > 0))
            key = np.uint64(seed) + np.uint64(left + length + right) * ORDER_STEP
            for j in range(left * known):
                word = hashes[positions[i] - left + j]
                known &= word != 0
                key += word * PLACE[j]
            for j in range(length * known):
                key += words[r, j] * PLACE[left + j]
            for j in range(right * known):
                word = hashes[behind[i] + j]
                known &= word != 0
                key += word * PLACE[left + length + j]
            if known:
                keys[m], asked[m] = fmix64(key), c
                m += 1
        for j in range(m):
            slots[j] = slot_of(table_words, directory, shift, width, keys[j])
        for j in range(m):
            ranks[r, asked[j]] = rank_at(table_words, width, slots[j], keys[j])
