"""Kernel that parses lines of n-gram, TAB and count. Bytes in, keys out; no I/O."""

from __future__ import annotations

import numpy as np

from disambig.compiling import compiled
from disambig.text.hash_kernels import ORDER_STEP, PLACE, fmix64, murmur64a
from disambig.text.hashing import MAX_ORDER

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_S32 = np.uint64(32)
_MAX_ORDER = MAX_ORDER
_DIGITS = 18
NO_TAB, NO_COUNT, NO_NGRAM, TOO_LONG, WRONG_ORDER = 1, 2, 3, 4, 5


@compiled
def _is_member(word, table):  # type: ignore[no-untyped-def]
    mask = np.uint64(len(table) - 1)
    at = ((word * _MIX) >> _S32) & mask
    while table[at] != _ZERO and table[at] != word:
        at = (at + _ONE) & mask
    return table[at] == word


@compiled
def parse(data, order, seed, table, keys, counts, orders):  # type: ignore[no-untyped-def]
    """Read the lines of `data` (uint8), the last with its line end too.

    `order` is that of all n-grams, or 0 where it is free; `table` a set of words (see
    `build_kernels.fill_set`) of which an n-gram must hold one, or empty. Fills `keys`, `counts` (uint64)
    and `orders` (uint8), with room for as many as there are lines; returns the number filled, the
    number of lines read, and 0 or what is wrong with the last one.
    """
    filled = lines = begin = 0
    restricted = len(table) > 0
    while begin < len(data):
        lines += 1
        end = begin
        tab = -1
        while end < len(data) and data[end] != 10:
            if data[end] == 9:
                tab = end
            end += 1
        following = end + 1
        if end > begin and data[end - 1] == 13:
            end -= 1
        if tab < 0:
            return filled, lines, NO_TAB
        count = _ZERO
        if end - tab - 1 < 1 or end - tab - 1 > _DIGITS:
            return filled, lines, NO_COUNT
        for i in range(tab + 1, end):
            if data[i] < 48 or data[i] > 57:
                return filled, lines, NO_COUNT
            count = count * np.uint64(10) + np.uint64(data[i] - 48)
        if count == _ZERO:
            return filled, lines, NO_COUNT
        n = 0
        total = seed
        wanted = not restricted
        start = begin
        for i in range(begin, tab + 1):
            if i < tab and data[i] == 9:
                return filled, lines, NO_NGRAM
            if i == tab or data[i] == 32:
                if i == start:
                    return filled, lines, NO_NGRAM
                if n == _MAX_ORDER:
                    return filled, lines, TOO_LONG
                word = murmur64a(data, start, i)  # type: ignore[no-untyped-call]
                total += word * PLACE[n]
                if restricted and not wanted:
                    wanted = _is_member(word, table)  # type: ignore[no-untyped-call]
                n += 1
                start = i + 1
        if order > 0 and n != order:
            return filled, lines, WRONG_ORDER
        if wanted:
            keys[filled] = fmix64(total + np.uint64(n) * ORDER_STEP)  # type: ignore[no-untyped-call]
            counts[filled] = count
            orders[filled] = n
            filled += 1
        begin = following
    return filled, lines, 0
