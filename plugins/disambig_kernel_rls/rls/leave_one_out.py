"""How well a system does by leave-one-out, and the regularisation that does best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ties import winners
from .problem import Problem
from .systems import System

Floats = NDArray[np.float64]
GRID = tuple(float(value) for value in np.logspace(-9, 0, 19).round(15))
"""The values of lambda among which leave-one-out chooses."""


class Quality(NamedTuple):
    """What leave-one-out found; the larger is the better.

    Attributes
    ----------
    accuracy : float
        Share of the examples whose best candidate, by the model of all others, is right.
    fit : float
        Minus the mean squared error of the scores.
    """

    accuracy: float
    fit: float


def quality(problem: Problem, scores: Floats) -> Quality:
    """Return the quality of leave-one-out scores; of equal ones the most frequent of the others wins.

    Parameters
    ----------
    scores : array of float64, shape (n, K)
    """
    right = problem.right
    best = winners(scores, problem.frequencies - right)
    hits = right[np.arange(len(right)), best]
    return Quality(float(hits.mean()), -float(np.mean((scores - problem.targets) ** 2)))


def qualities(problem: Problem, system: System, values: Sequence[float]) -> list[Quality]:
    """Return the quality for each value of lambda."""
    n = len(problem.targets)
    return [quality(problem, scores) for scores in system.left_out(problem.targets, [n * v for v in values])]


def best_regularisation(problem: Problem, system: System) -> tuple[float, Quality]:
    """Return the value of `GRID` of the best quality, the smallest of equal ones, and its quality."""
    found = qualities(problem, system, GRID)
    best = max(range(len(GRID)), key=lambda i: (*found[i], -i))
    return GRID[best], found[best]
