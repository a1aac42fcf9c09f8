"""Compiled functions that find head words, terms and token features, and look up n-grams around a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from disambig.counts import find_slot, rank_at
from disambig.features.context_window import (
    BASIS,
    CONTEXT_PARENTS,
    CONTEXTS,
    DISCOUNT,
    LEFT,
    LONG_SHAPE,
    LONGEST_PREFIX,
    LONGEST_RUN,
    LONGEST_SUFFIX,
    LOWER,
    NOUN,
    OTHER,
    OUTSIDE,
    PREFIX,
    PRIME,
    RIGHT,
    SHAPE,
    STEP,
    SUFFIX,
    find_head_indices,
)
from disambig.features.heads import HEADWORD_PARENTS
from disambig.jit import compiled
from disambig.text import END_HASH, MAX_ORDER, ORDER_STEP, PLACE, START_HASH, characters as ch, fmix64

if TYPE_CHECKING:
    pass

# Numba finds the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs


_find_one = compiled(find_head_indices)
_START, _END = np.uint64(START_HASH), np.uint64(END_HASH)
_S32 = np.uint64(32)


@compiled
def _word_kind(word, begins, shift, words, kinds):
    """Return the kind of a word: that of the lexicon, else *noun*; boundaries are *other*."""
    if word == _START or word == _END:
        return OTHER
    key = np.uint32(word >> _S32)
    bucket = key >> shift
    for slot in range(begins[bucket], begins[bucket + 1]):
        if words[slot] == key:
            return np.int64(kinds[slot])
    return NOUN


@compiled
def find_head_tokens(hashes, begins, shift, words, kinds, first, after, heads):
    """Fill `heads`, shape (n, 3), with the heads of the places at tokens ``first:after``."""
    window = np.empty(LEFT + RIGHT, np.int64)
    for i in range(len(first)):
        for j in range(LEFT + RIGHT):
            token = first[i] - LEFT + j if j < LEFT else after[i] + j - LEFT
            inside = token >= 0 and token < len(hashes)
            window[j] = _word_kind(hashes[token], begins, shift, words, kinds) if inside else OTHER
        _find_one(window, heads[i])
        for h in range(3):
            if heads[i, h] >= 0:
                token = first[i] - LEFT + heads[i, h] if heads[i, h] < LEFT else after[i] + heads[i, h] - LEFT
                heads[i, h] = token if token >= 0 and token < len(hashes) else -1


def sample_heads() -> None:
    """Call the compiled function on tiny inputs, so that `disambig doctor --compile` compiles it."""
    at, bounds = np.ones(1, np.int64), np.array([0, 1, 1], np.int32)
    words, kinds = np.zeros(1, np.uint32), np.zeros(1, np.uint8)
    find_head_tokens(np.ones(3, np.uint64), bounds, np.uint32(31), words, kinds, at, at, np.full((1, 3), -1))


SHORT = 80
"""Maximum length of a row that is sorted by insertion."""
_TWO = np.uint64(2)


@compiled
def _column(key, directory):
    """Return the index of `key` in the ascending keys, -1 if it is absent (see `count_terms`)."""
    keys, begins, shift = directory
    bucket = key >> shift
    for slot in range(begins[bucket], begins[bucket + 1]):
        if keys[slot] == key:
            return slot
    return -1


@compiled
def _sort(row):
    """Sort a row in place; most rows are short, and insertion sort is fastest for them."""
    if len(row) > SHORT:
        row.sort()
        return
    for j in range(1, len(row)):
        value, i = row[j], j
        while i > 0 and row[i - 1] > value:
            row[i] = row[i - 1]
            i -= 1
        row[i] = value


@compiled
def count_terms(hashes, counted, paired, first, stop, pairs, seed, directory, rows, n_hits, n_queries):
    """Write the rows of instances, columns ascending, and how many of their words are known; return the size.

    `hashes` and `counted` (arrays of uint64 and bool, shape (n_tokens,)): per token: whether it is a term.
    `paired` (bool (n_tokens - 1,)): whether a token and the next one form a pair.
    `first` and `stop`: int64 (n,).
    `pairs`: whether pairs are terms (see `TermSelector`).
    `seed` (uint64): seed of the hashes of pairs.
    `directory`: tuple of arrays of uint64 and int32, and uint64; the known hashes, where those with each
    value of their top bits begin, and the shift to these bits.
    `rows` (tuple of arrays of int32, int32 and float64): starts, columns and counts; filled, with room for
    every term.
    `n_hits` and `n_queries` (int64 (n,)): filled.
    """
    indptr, columns, counts = rows
    size = 0
    start = seed + _TWO * ORDER_STEP
    for i in range(len(first)):
        begin, n_terms = size, 0
        for t in range(first[i], stop[i]):
            if counted[t]:
                n_queries[i] += 1
                column = _column(hashes[t], directory)
                if column >= 0:
                    n_hits[i] += 1
                    columns[begin + n_terms] = column
                    n_terms += 1
        if pairs:
            for t in range(first[i] - 1, stop[i]):
                if paired[t]:
                    key = fmix64(PLACE[0] * hashes[t] + PLACE[1] * hashes[t + 1] + start)
                    column = _column(key, directory)
                    if column >= 0:
                        columns[begin + n_terms] = column
                        n_terms += 1
        # equal terms become one, in place: what is written never overtakes what is read
        row = columns[begin : begin + n_terms]
        _sort(row)
        for j in range(n_terms):
            if j and row[j] == columns[size - 1]:
                counts[size - 1] += 1.0
            else:
                columns[size] = row[j]
                counts[size] = 1.0
                size += 1
        indptr[i + 1] = size
    return size


def sample_terms() -> None:
    """Call the compiled function on tiny inputs, so that `disambig doctor --compile` compiles it."""
    hashes, tokens, one = np.zeros(3, np.uint64), np.zeros(3, np.bool_), np.zeros(1, np.int64)
    directory = np.zeros(1, np.uint64), np.array([0, 1, 1], np.int32), np.uint64(63)
    rows = np.zeros(2, np.int32), np.zeros(4, np.int32), np.zeros(4)
    places = one + 1, one + 2
    count_terms(hashes, tokens, tokens, *places, True, np.uint64(0), directory, rows, one.copy(), one.copy())


_LOW = np.uint32(ch.CODE_MASK)
_SHIFT = np.uint32(ch.CLASS_SHIFT)


@compiled
def _word_shape(kind, code):
    """Return the symbol of a shape: upper case, other letter, digit, or the character itself."""
    if kind == ch.UPPER:
        return np.uint64(1)
    if kind >= ch.LETTER:
        return np.uint64(2)
    return np.uint64(3) if kind == ch.DIGIT else np.uint64(code) + np.uint64(4)


@compiled
def fill_attributes(codes, table, starts, ends, out):
    """Fill the first columns of `out` (n, CLASS or more) with attributes of tokens.

    Token i is ``codes[starts[i]:ends[i]]``.
    """
    for i in range(len(starts)):
        first, last = starts[i], ends[i]
        n = last - first
        lower, shape, long_shape = BASIS, BASIS, BASIS
        before, run = np.uint64(0), 0
        for j in range(n):
            code = codes[first + j]
            entry = table[code] if code < len(table) else np.uint32(ch.SYMBOL << ch.CLASS_SHIFT) | code
            lower = (lower ^ np.uint64(entry & _LOW)) * PRIME
            symbol = _word_shape(entry >> _SHIFT, code)
            run = run + 1 if symbol == before else 1
            if run == 1:
                shape = (shape ^ symbol) * PRIME
            if run <= LONGEST_RUN:
                long_shape = (long_shape ^ symbol) * PRIME
            before = symbol
            if j < LONGEST_PREFIX:
                out[i, PREFIX + j + 1] = lower
        for j in range(n, LONGEST_PREFIX):
            out[i, PREFIX + j + 1] = OUTSIDE
        suffix = BASIS
        for j in range(LONGEST_SUFFIX):
            if j < n:
                code = codes[last - 1 - j]
                folded = (table[code] & _LOW) if code < len(table) else code
                suffix = (suffix ^ np.uint64(folded)) * PRIME
                out[i, SUFFIX + j + 1] = suffix
            else:
                out[i, SUFFIX + j + 1] = OUTSIDE
        out[i, LOWER], out[i, SHAPE], out[i, LONG_SHAPE] = lower, shape, long_shape


@compiled
def _attribute(values, first, last, token, column):
    """Return an attribute of a token, or what stands for it before or after the sentence ``first:last``."""
    if token < first:
        return OUTSIDE
    if token >= last:
        return OUTSIDE + STEP
    return values[token, column]


@compiled
def fill_features(values, templates, sentences, out):
    """Fill `out` (n, len(templates); uint32) with the features of tokens from their attributes.

    Sentence i is ``sentences[i]:sentences[i + 1]``.
    """
    for s in range(len(sentences) - 1):
        first, last = sentences[s], sentences[s + 1]
        for i in range(first, last):
            for t in range(len(templates)):
                # one attribute, or two attributes joined, of tokens at some distance
                key = _attribute(values, first, last, i + templates[t, 1], templates[t, 0])
                if templates[t, 2] >= 0:
                    other = _attribute(values, first, last, i + templates[t, 3], templates[t, 2])
                    key = key * PRIME + fmix64(other)
                mixed = fmix64(key + np.uint64(t + 1) * STEP)
                out[i, t] = max(np.uint32(mixed >> np.uint64(32)), np.uint32(1))


@compiled
def fill_index(keys, slots):
    """Insert the index of each key, plus one, into an open-addressed table; its length is a power of two."""
    mask = np.uint32(len(slots) - 1)
    for i in range(len(keys)):
        # multiplicative hashing (Knuth): 2 ** 32 divided by the golden ratio spreads neighbouring keys
        slot = (keys[i] * np.uint32(0x9E3779B1)) & mask
        while slots[slot]:
            slot = (slot + np.uint32(1)) & mask
        slots[slot] = i + 1


@compiled
def look_up(wanted, keys, slots, indptr, indices):
    """Write the indices of the known keys as the rows of a sparse matrix; return their number.

    `wanted` (n, F), `indptr` (n + 1), `indices` (n * F).
    """
    mask = np.uint32(len(slots) - 1)
    n = 0
    indptr[0] = 0
    for i in range(wanted.shape[0]):
        for f in range(wanted.shape[1]):
            key = wanted[i, f]
            slot = (key * np.uint32(0x9E3779B1)) & mask
            while slots[slot]:
                if keys[slots[slot] - 1] == key:
                    indices[n] = slots[slot] - 1
                    n += 1
                    break
                slot = (slot + np.uint32(1)) & mask
        indptr[i + 1] = n
    return n


@compiled
def fill_headwords(words, directory, shift, width, fixed, place, fillable, candidates, ranks):
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
            # all slots first: the processor reads several from memory at a time
            for j in range(n_keys):
                slots[j] = find_slot(words, directory, shift, width, keys[j])
            for j in range(n_keys):
                ranks[i, candidate_of[j], p] = rank_at(words, width, slots[j], keys[j])


_LEFT = np.array([left for left, _ in CONTEXTS])
_RIGHT = np.array([right for _, right in CONTEXTS])


_BEGINS = np.searchsorted(_LEFT + _RIGHT, np.arange(1, MAX_ORDER + 1))
"""Index of the first context of each size, and the number of contexts."""
_MAX_OF_A_SIZE = int(np.diff(_BEGINS).max())


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
    keys = np.empty(largest * _MAX_OF_A_SIZE, np.uint64)
    slots = np.empty(len(keys), np.uint64)
    row_of, context_of = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    for i in range(len(positions)):
        first, after = positions[i], behind[i]
        for size in range(len(_BEGINS) - 1):
            # all n-grams of a size are looked up together: their reads of memory overlap
            m = 0
            for c in range(_BEGINS[size], _BEGINS[size + 1]):
                # the key is the sum of one term per word, so the words before the place are added up once;
                # a word without a hash (0) is in no n-gram of the table
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
            # the mean of the shorter contexts, which come first in the order of contexts
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
                # absolute discounting: what is subtracted from the counts goes to the shorter contexts
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
