"""Compiled functions that look up n-grams around a place and smooth their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.counts import find_slot, rank_at
from disambig.features.contexts import CONTEXT_PARENTS, CONTEXTS, DISCOUNT
from disambig.features.heads import HEADWORD_PARENTS, fixed_keys
from disambig.jit import compiled
from disambig.text import MAX_ORDER, ORDER_STEP, PLACE, fmix64

if TYPE_CHECKING:
    from disambig.counts import CountTable


# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


@compiled
def _fill_headwords(words, directory, shift, width, fixed, place, fillable, candidates, ranks):
    """Fill `ranks`, shape (n, K, 5); a pattern whose shorter patterns were not seen is not looked up."""
    n, k, patterns = ranks.shape
    keys, slots = np.empty(k, np.uint64), np.empty(k, np.uint64)
    candidate_of = np.empty(k, np.int64)
    for i in range(n):
        for p in range(patterns):
            if not fillable[i, p]:
                continue
            n_keys = 0
            for r in range(k):
                has_parents = True
                for parent in HEADWORD_PARENTS[p]:
                    if parent >= 0 and ranks[i, r, parent] == 0:
                        has_parents = False
                if has_parents:
                    keys[n_keys] = fmix64(fixed[i, p] + candidates[r] * PLACE[place[p]])
                    candidate_of[n_keys] = r
                    n_keys += 1
            for j in range(n_keys):
                slots[j] = find_slot(words, directory, shift, width, keys[j])
            for j in range(n_keys):
                ranks[i, candidate_of[j], p] = rank_at(words, width, slots[j], keys[j])


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


_BEGINS = np.searchsorted(_LEFT + _RIGHT, np.arange(1, MAX_ORDER + 1))
"""Index of the first context of each size, and the number of contexts."""
_MOST_OF_A_SIZE = int(np.diff(_BEGINS).max())


@compiled
def fill_ranks(
    table_words,
    directory,
    shift,
    width,
    seed,
    hashes,
    positions,
    behind,
    offsets,
    ids,
    words,
    lengths,
    usable,
    nested,
    zero,
    ranks,
):
    """Look up every context of every candidate; fill `ranks`, shape (n_rows, 14).

    The rows of instance i are ``offsets[i]:offsets[i + 1]``; `ids` are indices into `words` and `lengths`.
    `usable`, shape (n, 14), and `nested`, shape (n,), are per instance: if `nested`, an n-gram whose shorter
    n-grams are absent is absent too, and is not looked up. With `zero`, the empty candidate is looked up only
    between words.
    """
    largest = 1
    for i in range(len(positions)):
        largest = max(largest, offsets[i + 1] - offsets[i])
    keys = np.empty(largest * _MOST_OF_A_SIZE, np.uint64)
    slots = np.empty(len(keys), np.uint64)
    row_of, context_of = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    for i in range(len(positions)):
        first, after = positions[i], behind[i]
        for size in range(len(_BEGINS) - 1):
            # all n-grams of a size are looked up together: their reads of memory overlap
            m = 0
            for c in range(_BEGINS[size], _BEGINS[size + 1]):
                left, right = _LEFT[c], _RIGHT[c]
                complete = usable[i, c]
                before = np.uint64(seed)
                for j in range(left * complete):
                    word = hashes[first - left + j]
                    complete &= word != 0
                    before += word * PLACE[j]
                for j in range(right * complete):
                    complete &= hashes[after + j] != 0
                rest = np.uint64(0)
                rest_length = -1
                for r in range(offsets[i], offsets[i + 1]):
                    ranks[r, c] = 0
                    length = lengths[ids[r]]
                    possible = complete
                    if zero and length == 0:
                        possible &= left > 0 and right > 0
                    elif nested[i]:
                        for parent in CONTEXT_PARENTS[c]:
                            if parent >= 0 and usable[i, parent] and ranks[r, parent] == 0:
                                possible = False
                    if not possible:
                        continue
                    if length != rest_length:  # the words after shift with the length of the candidate
                        rest_length = length
                        rest = np.uint64(left + length + right) * ORDER_STEP
                        for j in range(right):
                            rest += hashes[after + j] * PLACE[left + length + j]
                    key = before + rest
                    for j in range(length):
                        key += words[ids[r], j] * PLACE[left + j]
                    keys[m], row_of[m], context_of[m] = fmix64(key), r, c
                    m += 1
            for j in range(m):
                slots[j] = find_slot(table_words, directory, shift, width, keys[j])
            for j in range(m):
                ranks[row_of[j], context_of[j]] = rank_at(table_words, width, slots[j], keys[j])


@compiled
def smooth_counts(ranks, usable, counts, prior, offsets, zeros, parents, silent, result):
    """Fill `result`, shape (n_rows, C), with the probability of each candidate in each context.

    The rows of instance i are ``offsets[i]:offsets[i + 1]``, and `zeros`, shape (n,), is the row of its empty
    candidate, or -1.
    """
    contexts = len(parents)
    largest = 1
    for i in range(len(usable)):
        largest = max(largest, offsets[i + 1] - offsets[i])
    smoothed = np.empty((contexts, largest))
    fallback = np.empty(largest)
    filled = np.empty(largest)
    for i in range(len(usable)):
        start = offsets[i]
        k, zero = offsets[i + 1] - start, zeros[i] - start
        for c in range(contexts):
            first_parent, second_parent = parents[c, 0], parents[c, 1]
            for r in range(k):
                if first_parent >= 0 and second_parent >= 0:
                    fallback[r] = 0.5 * (smoothed[first_parent, r] + smoothed[second_parent, r])
                elif first_parent >= 0 or second_parent >= 0:
                    fallback[r] = smoothed[max(first_parent, second_parent), r]
                else:
                    fallback[r] = prior[start + r]
            total = 0.0
            seen = 0
            if usable[i, c]:
                for r in range(k):
                    rank = ranks[start + r, c]
                    filled[r] = 0.0
                    if rank and counts[rank] > 0:
                        filled[r] = counts[rank]
                        total += filled[r]
                        seen += 1
            if total > 0:
                reserved = DISCOUNT * seen
                is_silent = zeros[i] >= 0 and silent[c]
                share = fallback[zero] if is_silent else 0.0
                for r in range(k):
                    kept = filled[r] - DISCOUNT if filled[r] > 0 else 0.0
                    if is_silent:
                        kept *= 1.0 - share
                    fallback[r] = (kept + reserved * fallback[r]) / total
                if is_silent:
                    fallback[zero] = share
            for r in range(k):
                smoothed[c, r] = fallback[r]
                result[start + r, c] = fallback[r]


def sample_smoothing() -> None:
    """Call the compiled functions on tiny inputs, so that `disambig doctor --compile` compiles them."""
    ranks, usable = np.zeros((2, 1), np.uint16), np.ones((1, 1), bool)
    parents, result = np.full((1, 2), -1), np.empty((2, 1), np.float32)
    places = np.array([0, 2]), np.array([-1])
    smooth_counts(ranks, usable, np.ones(1), np.full(2, 0.5), *places, parents, np.zeros(1, bool), result)
