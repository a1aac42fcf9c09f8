"""Directions in which nothing is lost: a free bias of a class that never occurs, a sum that is always right.

Moving far enough along such a direction costs nothing and makes rows harmless; the smoothed problem
would only creep towards infinity. Its rows are ruled out of the search, and at the end the weights move
as far along the direction as these rows need.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks

from .regulariser import Floats

ROUNDING = 1e-9
"""Pushes below this share of the largest count as none."""


@dataclass(frozen=True, slots=True, eq=False)
class Recession:
    """A direction that costs nothing and raises no loss.

    Attributes
    ----------
    direction : array, shape (n_columns,)
    rows : array of bool, shape (n, K)
        The rows whose losses it lowers.
    """

    direction: Floats
    rows: NDArray[np.bool_]


def recession(batch: DenseBlocks, direction: Floats) -> Recession:
    """Return `direction` with the rows that it lowers."""
    push = differences(batch, direction)
    return Recession(direction, push < -ROUNDING * np.abs(push).max(initial=0.0))


def settle(weights: Floats, batch: DenseBlocks, found: list[Recession]) -> Floats:
    """Return `weights` moved along the directions until the rows of each cost nothing.

    The last found comes first: rows ruled out before it was found are mended by their own direction.
    """
    for each in reversed(found):
        loss = batch.costs + differences(batch, weights)
        needed = loss[each.rows] / -differences(batch, each.direction)[each.rows]
        weights = weights + (1 + ROUNDING) * max(needed.max(initial=0.0), 0.0) * each.direction
    return weights


def differences(batch: DenseBlocks, weights: Floats) -> Floats:
    """Return ``w . (phi_ir - phi_iy)``, shape ``(n, K)``."""
    scores = batch.scores(weights).reshape(batch.costs.shape)
    gold = batch.costs.argmin(axis=1)[:, None]
    differences: Floats = scores - np.take_along_axis(scores, gold, axis=1)
    return differences
