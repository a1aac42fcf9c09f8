"""Free weights that no example holds back, such as the bias of a class that never occurs.

Moving such a weight far enough costs nothing and makes its rows harmless. They are taken out before the
search, which would only creep towards infinity, and the weight gets a value afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import DenseBlocks

from .regulariser import Floats, Regulariser


@dataclass(frozen=True, slots=True, eq=False)
class Unbounded:
    """What was taken out.

    Attributes
    ----------
    columns : list of int
        In the order in which they were found.
    rows : list of boolean arrays, shape (n, K)
        The rows that each of them makes harmless.
    alive : array of bool, shape (n, K), or None
        The rows left; None: all.
    """

    columns: list[int]
    rows: list[NDArray[np.bool_]]
    alive: NDArray[np.bool_] | None


def unbounded(batch: DenseBlocks, regulariser: Regulariser) -> Unbounded:
    """Find the free weights that only help when they move in one direction."""
    columns: list[int] = []
    rows: list[NDArray[np.bool_]] = []
    alive: NDArray[np.bool_] | None = None
    waiting = [int(c) for c in np.flatnonzero(regulariser.strength == 0)]
    found = True
    while found:
        found = False
        for column in list(waiting):
            push = differences(batch, column)
            if alive is not None:
                push[~alive] = 0.0
            if (push.max(initial=0.0) > 0.0) == (push.min(initial=0.0) < 0.0):
                continue
            columns.append(column)
            rows.append(push != 0)
            alive = ~rows[-1] if alive is None else alive & ~rows[-1]
            waiting.remove(column)
            found = True
    return Unbounded(columns, rows, alive)


def settle(weights: Floats, batch: DenseBlocks, ruled_out: Unbounded) -> Floats:
    """Return `weights` with values of the unbounded columns at which all their rows have zero loss."""
    weights = weights.copy()
    n, k = batch.costs.shape
    gold = batch.costs.argmin(axis=1)[:, None]
    for column, rows in zip(reversed(ruled_out.columns), reversed(ruled_out.rows), strict=True):
        scores = batch.scores(weights).reshape(n, k)
        loss = batch.costs + scores - np.take_along_axis(scores, gold, axis=1)
        push = differences(batch, column)[rows].astype(np.float64)
        needed = (-loss[rows] / push) * (1 + 1e-9 * np.sign(-loss[rows]))
        change = min(needed.min(), 0.0) if push[0] > 0 else max(needed.max(), 0.0)
        weights[column] += change
    return weights


def differences(batch: DenseBlocks, column: int) -> NDArray[np.float32]:
    """Return ``phi_ir - phi_iy`` of one column, shape ``(n, K)``."""
    n, k, _ = batch.values.shape
    own = np.zeros((n, k), np.float32)
    for r, a in np.argwhere(batch.column_of == column):
        own[:, r] += batch.values[:, r, a]
    gold = batch.costs.argmin(axis=1)[:, None]
    return np.asarray(own - np.take_along_axis(own, gold, axis=1))
