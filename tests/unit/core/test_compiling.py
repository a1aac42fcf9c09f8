"""What kernels are made of: eight numbers at once are those of a plain loop, to the bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from disambig.jit import add_eight, compiled, eight_products

ROWS = {
    "seed": st.integers(0, 2**32),
    "n": st.integers(1, 50),
    "ends": st.tuples(st.integers(0, 50), st.integers(0, 50)),
    "whole": st.booleans(),
}


@compiled
def summed(indices, data, start, end, table, sums):
    eight_products(indices, data, start, end, table, sums)


@compiled
def added(indices, data, start, end, table, steps, keep):
    add_eight(indices, data, start, end, table, steps, keep)


def made(seed, n, ends, whole):
    """Return indices, data and the two ends of a row, and a table of small whole numbers or of others."""
    rng = np.random.default_rng(seed)
    table = rng.integers(3, size=(n, 8)).astype(np.uint8) if whole else rng.normal(size=(n, 8))
    row = rng.integers(n, size=50).astype(np.uint32), rng.normal(size=50)
    return (*row, *(np.uint64(end) for end in sorted(ends))), table, rng.normal(size=8)


@given(**ROWS)
def test_eight_products_are_those_of_a_loop(seed, n, ends, whole):
    (indices, data, start, end), table, _ = made(seed, n, ends, whole)
    expected = np.zeros(8)
    for at in range(start, end):
        expected += table[indices[at]] * data[at]
    sums = np.full(8, np.nan)
    summed(indices, data, start, end, table, sums)
    assert sums.tobytes() == expected.tobytes()


@given(**ROWS)
def test_adding_eight_is_a_loop(seed, n, ends, whole):
    (indices, data, start, end), keep, steps = made(seed, n, ends, whole)
    table = np.random.default_rng(seed + 1).normal(size=(n, 8))
    expected = table.copy()
    for at in range(start, end):
        expected[indices[at]] += data[at] * steps * keep[indices[at]]
    added(indices, data, start, end, table, steps, keep)
    assert table.tobytes() == expected.tobytes()
