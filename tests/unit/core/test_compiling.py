"""What kernels are made of: sums of eight at once are those of a plain loop, to the bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from disambig.compiling import compiled, eight_products


@compiled
def between(indices, data, start, end, table, sums):
    eight_products(indices, data, start, end, table, sums)


@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 50), ends=st.tuples(st.integers(0, 50), st.integers(0, 50))
)
def test_eight_products_are_those_of_a_loop(seed, n, ends):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, 8))
    indices, data = rng.integers(n, size=50).astype(np.uint32), rng.normal(size=50)
    start, end = sorted(ends)
    expected = np.zeros(8)
    for at in range(start, end):
        expected += table[indices[at]] * data[at]
    sums = np.full(8, np.nan)
    between(indices, data, np.uint64(start), np.uint64(end), table, sums)
    assert sums.tobytes() == (expected + 0.0).tobytes()
