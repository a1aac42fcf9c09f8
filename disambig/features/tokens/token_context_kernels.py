"""Features of tokens and their neighbours as hashes, for Numba: forms, affixes, shapes, windows.

First each token gets its attributes (one hash each), then each place the features of the templates: hashes of
one or two attributes of the token and its neighbours, 32 bits, never 0.
"""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.features.tokens.token_context_templates import (
    BASIS,
    LONG_SHAPE,
    LONGEST_PREFIX,
    LONGEST_RUN,
    LONGEST_SUFFIX,
    LOWER,
    OUTSIDE,
    PREFIX,
    PRIME,
    SHAPE,
    STEP,
    SUFFIX,
)
from disambig.text import characters as ch
from disambig.text.hash_kernels import fmix64

_LOW = np.uint32(ch.CODE_MASK)
_SHIFT = np.uint32(ch.CLASS_SHIFT)


@compiled
def _shape_of(kind, code):
    """Return the letter of a shape: upper case, other letter, digit, or the character itself."""
    if kind == ch.UPPER:
        return np.uint64(1)
    if kind >= ch.LETTER:
        return np.uint64(2)
    return np.uint64(3) if kind == ch.DIGIT else np.uint64(code) + np.uint64(4)


@compiled
def attributes(codes, table, starts, ends, out):
    """Fill the first columns of `out` (n, CLASS or more) with attributes.

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
            sign = _shape_of(entry >> _SHIFT, code)
            run = run + 1 if sign == before else 1
            if run == 1:
                shape = (shape ^ sign) * PRIME
            if run <= LONGEST_RUN:
                long_shape = (long_shape ^ sign) * PRIME
            before = sign
            if j < LONGEST_PREFIX:
                out[i, PREFIX + j + 1] = lower
        for j in range(n, LONGEST_PREFIX):
            out[i, PREFIX + j + 1] = OUTSIDE
        suffix = BASIS
        for j in range(LONGEST_SUFFIX):
            if j < n:
                code = codes[last - 1 - j]
                small = (table[code] & _LOW) if code < len(table) else code
                suffix = (suffix ^ np.uint64(small)) * PRIME
                out[i, SUFFIX + j + 1] = suffix
            else:
                out[i, SUFFIX + j + 1] = OUTSIDE
        out[i, LOWER], out[i, SHAPE], out[i, LONG_SHAPE] = lower, shape, long_shape


@compiled
def features(values, templates, sentences, out):
    """Fill `out` (n, len(templates); uint32) with the features of tokens from their attributes.

    Sentence i is ``sentences[i]:sentences[i + 1]``; beyond it every attribute is the same.
    """
    for s in range(len(sentences) - 1):
        first, last = sentences[s], sentences[s + 1]
        for i in range(first, last):
            for t in range(len(templates)):
                at = i + templates[t, 1]
                key = values[i, 0]
                if at < first:
                    key = OUTSIDE
                elif at >= last:
                    key = OUTSIDE + STEP
                else:
                    key = values[at, templates[t, 0]]
                if templates[t, 2] >= 0:
                    at = i + templates[t, 3]
                    other = OUTSIDE
                    if at >= last:
                        other = OUTSIDE + STEP
                    elif at >= first:
                        other = values[at, templates[t, 2]]
                    key = key * PRIME + fmix64(other)
                mixed = fmix64(key + np.uint64(t + 1) * STEP)
                out[i, t] = max(np.uint32(mixed >> np.uint64(32)), np.uint32(1))


@compiled
def fill_index(keys, slots):
    """Put the place of each key, plus one, into an open-addressed table; its length is a power of two."""
    mask = np.uint32(len(slots) - 1)
    for i in range(len(keys)):
        at = (keys[i] * np.uint32(0x9E3779B1)) & mask
        while slots[at]:
            at = (at + np.uint32(1)) & mask
        slots[at] = i + 1


@compiled
def look_up(wanted, keys, slots, indptr, indices):
    """Write the places of the keys that are known as the rows of a sparse matrix; return how many.

    `wanted` (n, F), `indptr` (n + 1), `indices` (n * F); each place once a row.
    """
    mask = np.uint32(len(slots) - 1)
    n = 0
    indptr[0] = 0
    for i in range(wanted.shape[0]):
        for f in range(wanted.shape[1]):
            key = wanted[i, f]
            at = (key * np.uint32(0x9E3779B1)) & mask
            while slots[at]:
                if keys[slots[at] - 1] == key:
                    indices[n] = slots[at] - 1
                    n += 1
                    break
                at = (at + np.uint32(1)) & mask
        indptr[i + 1] = n
    return n
