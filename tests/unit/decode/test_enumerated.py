"""The decoder of listed candidates."""

from __future__ import annotations

import numpy as np

from disambig.decode.enumerated import Enumerated

OFFSETS = np.array([0, 3, 4, 6])


def test_best_is_the_first_of_ties():
    mass = Enumerated().best(np.array([1.0, 2.0, 2.0, -5.0, 0.0, 0.0]), OFFSETS)
    assert mass.tolist() == [0, 1, 0, 1, 1, 0]


def test_top():
    rows = Enumerated().top(np.array([1.0, 3.0, 2.0, -5.0, 0.0, 1.0]), OFFSETS, 2)
    assert rows.tolist() == [[1, 2], [3, -1], [5, 4]]


def test_no_instances():
    nothing, offsets = np.empty(0), np.array([0])
    assert Enumerated().best(nothing, offsets).size == 0
    assert [part.size for part in Enumerated().marginals(nothing, offsets)] == [0, 0]
