"""The algorithm of the slides as it stands there: all alphas at once, by steps of one fixed eta."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch
from disambig.api.batches import segments
from disambig.api.decoding import from_the_least

Floats = NDArray[np.float64]
DIVERGED = 1e3
"""So many times the first primal ends a course."""


def plain_steps(
    batch: CandidateBatch, *, C: float, eta: float, steps: int, watch: Callable[[Floats], float]
) -> dict[str, Any]:
    """Take cost-sensitive steps from equal alphas; return ``primal``, ``dual``, ``gap`` and ``F1`` of each.

    ``alpha_iy`` becomes ``alpha_iy exp(eta nabla_iy)``, shared anew, with ``nabla_iy = L_iy - M_iy``; then
    ``W = C sum alpha_iy (phi_i,gold - phi_iy)``. The gap is relative to the least primal so far.

    Parameters
    ----------
    watch : callable
        From weights to F1.
    """
    offsets, sizes = batch.offsets, np.diff(batch.offsets)
    loss = from_the_least(batch)
    gold = offsets[:-1] + segments.argmax(-loss, offsets)
    theta = np.zeros(len(loss))
    path: dict[str, Any] = {"primal": [], "dual": [], "gap": [], "F1": []}
    for step in range(steps + 1):
        alpha = segments.softmax(theta, offsets)
        mass = -C * alpha
        mass[gold] += C
        weights = batch.adjoint(mass)
        scores = batch.scores(weights)
        nabla = loss - (np.repeat(scores[gold], sizes) - scores)
        half = 0.5 * float(weights @ weights)
        primal = C * float(np.maximum(segments.maxima(nabla, offsets), 0.0).sum()) + half
        if step:
            path["primal"].append(primal)
            path["dual"].append(C * float(alpha @ loss) - half)
            least = min(path["primal"])
            path["gap"].append((least - path["dual"][-1]) / least)
            path["F1"].append(watch(weights))
            if primal > DIVERGED * path["primal"][0]:
                break
        theta += eta * nabla
        theta -= np.repeat(segments.maxima(theta, offsets), sizes)
    return path
