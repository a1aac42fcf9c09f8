"""The decoder of listed candidates."""

from __future__ import annotations

import numpy as np
import pytest

from disambig.decode import Enumerated

OFFSETS = np.array([0, 3, 4, 6])


def test_best_is_the_first_of_ties():
    mass = Enumerated().best(np.array([1.0, 2.0, 2.0, -5.0, 0.0, 0.0]), OFFSETS)
    assert mass.tolist() == [0, 1, 0, 1, 1, 0]


def test_top():
    found = Enumerated().top(np.array([1.0, 3.0, 2.0, -5.0, 0.0, 1.0]), OFFSETS, 2)
    assert [rows.tolist() for _, rows in found] == [[1, 2], [3], [5, 4]]
    assert [scores.tolist() for scores, _ in found] == [[3.0, 2.0], [-5.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        Enumerated().top(np.zeros(6), OFFSETS, 0)


def test_no_instances():
    nothing, offsets = np.empty(0), np.array([0])
    assert Enumerated().best(nothing, offsets).size == 0
    assert [part.size for part in Enumerated().marginals(nothing, offsets)] == [0, 0]
