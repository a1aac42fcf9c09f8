"""The course of a training: epochs until the relative gap is small, and the figures of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LEFT_ALONE = 0.1
"""Instances whose own gap is such a share of what all may have on average are not visited to the end."""


class Dual(Protocol):
    """A dual problem with the alphas found so far (see `ListedDual`)."""

    C: float
    dual: float

    @property
    def weights(self) -> Floats:
        """W, shape (n_columns,)."""

    def __len__(self) -> int:
        """Return the number of instances."""

    def epoch(self, order: NDArray[np.int64], enough: float = 0.0) -> None:
        """Visit the instances in an order."""

    def batch_step(self) -> None:
        """Move all alphas at once."""

    def gap(self) -> float:
        """Return primal less dual."""

    def at(self, C: float) -> None:
        """Go on with another C."""


@dataclass(slots=True)
class Course:
    """Figures by epoch, and the weights of the least primal so far.

    Attributes
    ----------
    primal, dual, gap, seconds, dev_cost : list of float
        After each epoch; the gap is relative: (least primal so far - dual) / that primal. Seconds are those
        of the updates from the beginning on, figures left out. The mean cost of winners on development data
        is there where such are given.
    weights : array of float64, shape (n_columns,)
    """

    weights: Floats
    primal: list[float] = field(default_factory=list)
    dual: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    dev_cost: list[float] = field(default_factory=list)

    @property
    def least(self) -> float:
        """The least primal so far."""
        return min(self.primal, default=np.inf)

    def report(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        figures: dict[str, Any] = {
            "epochs": len(self.dual),
            "gap": float(f"{self.gap[-1]:.4g}"),
            "path": {
                name: [float(f"{value:.10g}") for value in getattr(self, name)]
                for name in ("primal", "dual", "gap", "seconds")
            },
        }
        if self.dev_cost:
            figures["path"]["dev_cost"] = [float(f"{value:.6g}") for value in self.dev_cost]
        return figures


def run(
    dual: Dual,
    *,
    updates: str,
    epochs: int,
    gap: float,
    rng: np.random.Generator,
    watch: Callable[[Floats], float] | None = None,
) -> Course:
    """Train until the relative gap is `gap`, for `epochs` epochs at most; return the course.

    Parameters
    ----------
    dual : Dual
        It changes.
    updates : str
        ``"online"``: one instance at a time, in random order; ``"batch"``: all at once.
    watch : callable, optional
        From weights to the cost on development data.
    """
    course, enough, spent = Course(dual.weights.copy()), 0.0, 0.0
    for _ in range(epochs):
        before = time.perf_counter()
        if updates == "online":
            dual.epoch(rng.permutation(len(dual)), enough)
        else:
            dual.batch_step()
        spent += time.perf_counter() - before
        primal = dual.dual + dual.gap()
        if primal < course.least:
            course.weights = dual.weights.copy()
        course.primal.append(primal)
        course.dual.append(dual.dual)
        course.gap.append((course.least - dual.dual) / max(course.least, 1e-300))
        course.seconds.append(round(spent, 4))
        if watch is not None:
            course.dev_cost.append(watch(dual.weights))
        if course.gap[-1] <= gap:
            break
        enough = _LEFT_ALONE * gap * course.least / (len(dual) * dual.C)
    return course
