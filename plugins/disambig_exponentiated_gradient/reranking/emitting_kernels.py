"""Machine code that writes features down as their symbols, and makes keys of them."""

# Numba finds the types of compiled functions (see `disambig.compiling`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.api.kernels import compiled, fmix64

from .symbols import CC, END, FIXED, LEFT, NONE, PP, RIGHT, ZERO

FIRST = len(FIXED)
"""Symbol of the first template."""
_BEGIN = np.uint64(0xA24BAED4963EE407)
_STEP = np.uint64(0x9FB21C651E98DF25)
_LENGTHS = np.array([0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10], np.int32)

__all__ = [
    "CC",
    "END",
    "FIRST",
    "LEFT",
    "NONE",
    "PP",
    "RIGHT",
    "ZERO",
    "begins_of",
    "children",
    "emit",
    "keys_of",
    "put",
    "put2",
    "put3",
    "put4",
    "put5",
    "put6",
    "put7",
    "size",
    "word_or_tag",
]  # fmt: skip


@compiled
def emit(buffer, n, out):
    """Write the feature that is the first `n` symbols of a buffer.

    Parameters
    ----------
    out : array of int32
        Behind its first two numbers features stand one after the other, each its length and its symbols; the
        first number says where the next one goes, the second how many there are. What finds no room is left
        out, and the numbers go on.
    """
    at = out[0]
    if at + n < len(out):
        out[at] = n
        for i in range(n):
            out[at + 1 + i] = buffer[i]
    out[0] = at + n + 1
    out[1] += 1


@compiled
def keys_of(out, hashes, keys):
    """Write the key of each feature: the hashes of its symbols, folded from left to right."""
    at = 2
    for feature in range(len(keys)):
        n = out[at]
        key = _BEGIN
        for i in range(at + 1, at + 1 + n):
            key = fmix64(key * _STEP + hashes[out[i]])
        keys[feature] = key
        at += n + 1


@compiled
def begins_of(out, begins):
    """Write where each feature begins."""
    at = 2
    for feature in range(len(begins)):
        begins[feature] = at
        at += out[at] + 1


@compiled
def put(buffer, n, symbol):
    """Append a symbol; return the new length."""
    buffer[n] = symbol
    return n + 1


@compiled
def put2(template, a, b, buffer, out):
    """Write a feature of two symbols behind its template; so the others, of as many as they say."""
    buffer[0], buffer[1], buffer[2] = FIRST + template, a, b
    emit(buffer, 3, out)


@compiled
def put3(template, a, b, c, buffer, out):
    """Write a feature of three symbols."""
    buffer[3] = c
    buffer[0], buffer[1], buffer[2] = FIRST + template, a, b
    emit(buffer, 4, out)


@compiled
def put4(template, a, b, c, d, buffer, out):
    """Write a feature of four symbols."""
    buffer[0], buffer[1], buffer[2], buffer[3], buffer[4] = FIRST + template, a, b, c, d
    emit(buffer, 5, out)


@compiled
def put5(template, a, b, c, d, e, buffer, out):
    """Write a feature of five symbols."""
    buffer[0], buffer[1], buffer[2], buffer[3], buffer[4], buffer[5] = FIRST + template, a, b, c, d, e
    emit(buffer, 6, out)


@compiled
def put6(template, a, b, c, d, e, f, buffer, out):
    """Write a feature of six symbols."""
    buffer[6] = f
    buffer[0], buffer[1], buffer[2], buffer[3], buffer[4], buffer[5] = FIRST + template, a, b, c, d, e
    emit(buffer, 7, out)


@compiled
def put7(template, a, b, c, d, e, f, g, buffer, out):
    """Write a feature of seven symbols."""
    buffer[6], buffer[7] = f, g
    buffer[0], buffer[1], buffer[2], buffer[3], buffer[4], buffer[5] = FIRST + template, a, b, c, d, e
    emit(buffer, 8, out)


@compiled
def children(node, after, kids):
    """Write the children of a constituent; return how many they are."""
    n, child = 0, node + 1
    while child >= 0:
        kids[n] = child
        n += 1
        child = after[child]
    return n


@compiled
def size(number):
    """Return the symbol of a length, coarser the longer it is."""
    return ZERO + _LENGTHS[min(number, 20)]


@compiled
def word_or_tag(leaf, label, word, closed):
    """Return the word of a leaf that is of a closed class, else its tag."""
    return word[leaf] if closed[label[leaf]] or closed[word[leaf]] else label[leaf]
