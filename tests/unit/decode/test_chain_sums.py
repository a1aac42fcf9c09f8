"""Sums over chains in products: the same as in logarithms, also where products leave floating point."""

from __future__ import annotations

import numpy as np
import pytest

from disambig.decode import log_sums, shared_sums


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0, 3000.0])
def test_they_are_those_of_logarithms(length, scale):
    rng = np.random.default_rng(length)
    for _ in range(20):
        place, step = rng.normal(size=(length, 4)) * scale, rng.normal(size=(4, 4)) * scale
        wanted, each = np.empty((length, 4)), np.zeros((max(length - 1, 1), 4, 4))
        total = log_sums(place, step[None], wanted, each)
        shares, pairs = np.empty((length, 4)), np.empty((4, 4))
        assert shared_sums(place, step, shares, pairs) == pytest.approx(total, rel=1e-12, abs=1e-12 * scale)
        np.testing.assert_allclose(shares, wanted, atol=1e-11 * max(scale, 1))
        np.testing.assert_allclose(pairs, each.sum(axis=0), atol=1e-11 * max(scale, 1))
