"""Compiled function that computes edit distances.

It computes 64 cells of the table at a time (Myers 1999, in blocks by Hyyrö 2003).
"""

# Numba infers the types of compiled functions (see `disambig.jit`).
# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from disambig.jit import compiled

_ONE, _LAST, _ALL = np.uint64(1), np.uint64(63), np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE = np.uint64(0)


@compiled
def distances(ids, first, second, slots, equal, plus, minus, result):
    """Write the edit distance of each pair of rows of `ids`, given the offsets `first` and `second`.

    `slots` has one entry, -1, per symbol; `equal` has one row per symbol of the longest row. `equal`, `plus`
    and `minus` have one column per block of 64 symbols.
    """
    n = len(result)
    for i in range(n):
        a, b, end_a, end_b = first[i], second[i], first[i + 1], second[i + 1]
        # an equal start and end cost nothing
        while a < end_a and b < end_b and ids[a] == ids[b]:
            a, b = a + 1, b + 1
        while a < end_a and b < end_b and ids[end_a - 1] == ids[end_b - 1]:
            end_a, end_b = end_a - 1, end_b - 1
        if end_a - a > end_b - b:  # the shorter row is the one divided into blocks
            a, b, end_a, end_b = b, a, end_b, end_a
        size = end_a - a
        if size == 0:
            result[i] = end_b - b
            continue
        # `equal` gets a bit for each place of the shorter row at which a symbol occurs; its rows are given
        # out in order of first occurrence (`slots`), so that few are cleared
        blocks = (size + 63) // 64
        used = 0
        for position in range(a, end_a):
            if slots[ids[position]] < 0:
                slots[ids[position]] = used
                for block in range(blocks):
                    equal[used, block] = _NONE
                used += 1
            place = position - a
            equal[slots[ids[position]], place // 64] |= _ONE << np.uint64(place % 64)
        # The table has a row per symbol of the shorter row and a column per symbol of the other; one column
        # is kept, as differences: a bit in `plus` (`minus`) says that a cell is 1 more (less) than the one
        # above it. `distance` is the last cell of the column.
        for block in range(blocks):
            plus[block], minus[block] = _ALL, _NONE
        lowest = _ONE << np.uint64((size - 1) % 64)
        distance = size
        for position in range(b, end_b):
            slot = slots[ids[position]]
            step = 1  # first row of the table, which increases by one per symbol
            # `step` is the difference from the last column to this one, at the row above the block
            for block in range(blocks):
                same = equal[slot, block] if slot >= 0 else _NONE
                up, down = plus[block], minus[block]
                vertical = same | down
                if step < 0:
                    same |= _ONE
                # the carry of the sum passes equality on downwards, through cells that are 1 more
                across = (((same & up) + up) ^ up) | same
                # differences from the last column to this one: +1, -1, and that of the lowest row, `out`
                more = down | (_ALL ^ (across | up))
                less = up & across
                top = lowest if block == blocks - 1 else _ONE << _LAST
                out = 1 if more & top else (-1 if less & top else 0)
                # moved down a row, they and the diagonals give the differences within this column
                more <<= _ONE
                less <<= _ONE
                if step < 0:
                    less |= _ONE
                elif step > 0:
                    more |= _ONE
                plus[block] = less | (_ALL ^ (vertical | more))
                minus[block] = more & vertical
                step = out
            distance += step
        result[i] = distance
        # as they were, for the next pair
        for position in range(a, end_a):
            slots[ids[position]] = -1
