"""Compiled functions that look up n-grams around a place and smooth their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.counts import find_slot, rank_at
from disambig.features.contexts import CONTEXT_PARENTS, CONTEXTS, CandidateHashes
from disambig.features.heads import HEADWORD_PARENTS, fixed_keys
from disambig.jit import compiled
from disambig.text import ORDER_STEP, PLACE, fmix64

if TYPE_CHECKING:
    from disambig.counts import CountTable
    from disambig.data import Instances


# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def _fill_headwords(words, directory, shift, width, fixed, place, fillable, candidates, ranks):
    n, k, patterns = ranks.shape
    keys, slots = np.empty(k, np.uint64), np.empty(k, np.uint64)
    which = np.empty(k, np.int64)
    for i in range(n):
        for p in range(patterns):
            if not fillable[i, p]:
                continue
            m = 0
            for r in range(k):
                seen = True
                for parent in HEADWORD_PARENTS[p]:
                    if parent >= 0 and ranks[i, r, parent] == 0:
                        seen = False
                if seen:
                    keys[m] = fmix64(fixed[i, p] + candidates[r] * PLACE[place[p]])
                    which[m] = r
                    m += 1
            for j in range(m):
                slots[j] = find_slot(words, directory, shift, width, keys[j])
            for j in range(m):
                ranks[i, which[j], p] = rank_at(words, width, slots[j], keys[j])


def fill_headword_ranks(
    table: CountTable,
    words: NDArray[np.uint64],
    fillable: NDArray[np.bool_],
    candidates: NDArray[np.uint64],
    ranks: NDArray[np.uint16],
) -> None:
    """Fill `ranks`, shape (n, K, 5), all zero before, with the ranks of the n-grams (see `Headwords`)."""
    _fill_headwords(*table.arrays, *fixed_keys(words), fillable, candidates, ranks)


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
    """Look up every (context, candidate) of every instance; fill `ranks`, shape (n, K, 14).

    With `nested`, an n-gram whose shorter n-grams are absent is absent too, and is not looked up.
    """
    n, k = len(positions), len(lengths)
    keys = np.empty(k, np.uint64)
    slots = np.empty(k, np.uint64)
    which = np.empty(k, np.int64)
    for i in range(n):
        first = positions[i]
        after = first + observed_lengths[i]
        for c in range(len(_LEFT)):
            left, right = _LEFT[c], _RIGHT[c]
            complete = usable[i, c]
            before = np.uint64(seed)
            for j in range(left * complete):
                word = hashes[first - left + j]
                complete &= word != 0
                before += word * PLACE[j]
            for j in range(right * complete):
                complete &= hashes[after + j] != 0
            if not complete:
                for r in range(k):
                    ranks[i, r, c] = 0
                continue
            behind = np.uint64(0)
            behind_length = -1
            m = 0
            for r in range(k):
                if nested:
                    possible = True
                    for parent in CONTEXT_PARENTS[c]:
                        if parent >= 0 and usable[i, parent] and ranks[i, r, parent] == 0:
                            possible = False
                    if not possible:
                        ranks[i, r, c] = 0
                        continue
                length = lengths[r]
                if length != behind_length:  # the words after shift with the length of the candidate
                    behind_length = length
                    behind = np.uint64(left + length + right) * ORDER_STEP
                    for j in range(right):
                        behind += hashes[after + j] * PLACE[left + length + j]
                key = before + behind
                for j in range(length):
                    key += candidates[r, j] * PLACE[left + j]
                keys[m] = fmix64(key)
                which[m] = r
                m += 1
            for j in range(m):
                slots[j] = find_slot(words, directory, shift, width, keys[j])
            for j in range(m):
                ranks[i, which[j], c] = rank_at(words, width, slots[j], keys[j])


def fill_ranks(
    table: CountTable,
    seed: int,
    hashes: NDArray[np.uint64],
    instances: Instances,
    candidates: CandidateHashes,
    usable: NDArray[np.bool_],
    nested: bool,
    ranks: NDArray[np.uint16],
) -> None:
    """Fill `ranks`, shape ``(n, K, 14)``, with the rank of each candidate in each context; 0 is absent."""
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
    """Look up every context of every candidate; fill `ranks`, shape (n_candidates, 14).

    `usable`, shape (n, 14), is per instance. With `zero`, the empty candidate is looked up only between
    words.
    """
    keys = np.empty(len(_LEFT), np.uint64)
    slots = np.empty(len(_LEFT), np.uint64)
    which = np.empty(len(_LEFT), np.int64)
    for r in range(len(of_row)):
        i, length = of_row[r], lengths[r]
        m = 0
        for c in range(len(_LEFT)):
            left, right = _LEFT[c], _RIGHT[c]
            ranks[r, c] = 0
            complete = usable[i, c] and (length > 0 or not zero or (left > 0 and right > 0))
            key = np.uint64(seed) + np.uint64(left + length + right) * ORDER_STEP
            for j in range(left * complete):
                word = hashes[positions[i] - left + j]
                complete &= word != 0
                key += word * PLACE[j]
            for j in range(length * complete):
                key += words[r, j] * PLACE[left + j]
            for j in range(right * complete):
                word = hashes[behind[i] + j]
                complete &= word != 0
                key += word * PLACE[left + length + j]
            if complete:
                keys[m], which[m] = fmix64(key), c
                m += 1
        for j in range(m):
            slots[j] = find_slot(table_words, directory, shift, width, keys[j])
        for j in range(m):
            ranks[r, which[j]] = rank_at(table_words, width, slots[j], keys[j])


_DISCOUNT = 0.75


@compiled
def smooth_counts(ranks, usable, counts, prior, parents, zero, silent, result):
    """Fill `result`, shape (n, K, C), with the probability of each candidate in each context.

    `prior` has one row for all places, or one row per place.
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
                reserved = _DISCOUNT * seen
                alone = zero >= 0 and silent[c]
                share = back[zero] if alone else 0.0
                for r in range(k):
                    kept = filled[r] - _DISCOUNT if filled[r] > 0 else 0.0
                    if alone:
                        kept *= 1.0 - share
                    back[r] = (kept + reserved * back[r]) / total
                if alone:
                    back[zero] = share
            for r in range(k):
                smoothed[c, r] = back[r]
                result[i, r, c] = back[r]


def sample_smoothing() -> None:
    """Call the compiled functions on tiny inputs, so that `disambig doctor --compile` compiles them."""
    ranks, usable = np.zeros((1, 2, 1), np.uint16), np.ones((1, 1), bool)
    parents, result = np.full((1, 2), -1), np.empty((1, 2, 1), np.float32)
    smooth_counts(ranks, usable, np.ones(1), np.full((1, 2), 0.5), parents, -1, np.zeros(1, bool), result)
