"""One budget of false flags for several judges: who gains most by the next false flag gets it.

Each judge has a curve: what it gains at some rates of false flags, as a share of all mistakes. The sum of the
gains is greatest where all curves have the same slope; it is found on their concave envelopes, by spending
the budget on their edges, the steepest first. No model and no text is known here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]
"""Rates of false flags, rising, and the gain at each."""


def share(curves: Sequence[Curve | None], total: float) -> list[float]:
    """Return the rate of each judge: they add up to `total`, and what all gain together is greatest.

    Parameters
    ----------
    curves : sequence of pairs of arrays, or None
        Where one is not known, all are taken as equal, and so are the rates.
    total : float
        Flags per 1,000 correct words of all judges together. What is left at the end of all curves is
        shared equally.
    """
    n = len(curves)
    known = [curve for curve in curves if curve is not None]
    if n == 1 or len(known) < n or not np.isfinite(total):
        return [total / max(n, 1)] * n
    edges = [
        (slope, number, length)
        for number, curve in enumerate(known)
        for slope, length in zip(*_edges(*curve), strict=True)
    ]
    rates = [0.0] * n
    left = total
    for _, number, length in sorted(edges, key=lambda edge: (-edge[0], edge[1])):
        spent = min(length, left)
        rates[number] += spent
        left -= spent
    return [rate + left / n for rate in rates]


def envelope(rates: Floats, gains: Floats) -> Curve:
    """Return the corners of the least concave curve above some points and the origin."""
    corners = [(0.0, 0.0)]
    for point in zip(rates.tolist(), gains.tolist(), strict=True):
        while len(corners) > 1 and _turns_up(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    x, y = np.array(corners).T
    return x, y


def _edges(rates: Floats, gains: Floats) -> tuple[list[float], list[float]]:
    """Return slope and length of the envelope's edges, the steepest first."""
    x, y = envelope(rates, gains)
    return (np.diff(y) / np.diff(x)).tolist(), np.diff(x).tolist()


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Tell whether the way from a over b to c bends upwards at b, or not at all."""
    return (b[1] - a[1]) * (c[0] - b[0]) <= (c[1] - b[1]) * (b[0] - a[0])
