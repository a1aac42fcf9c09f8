"""From pairs to a path: steps until none helps, there are enough, or development data say so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch

from .pairs import Pairs
from .path import Follower, Path
from .stepper import Stepper, Steps

_AT_ONCE = 512
"""Steps between two looks at development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a path ends.

    Attributes
    ----------
    most : int
        Steps.
    tolerance : float
        No step lowers ExpLoss by more than this share of what it was before the first one.
    patience : int
        Steps in which the cost on development data has not become less.
    """

    most: int
    tolerance: float
    patience: int


def path_of(pairs: Pairs, steps: Steps, limits: Limits, dev: CandidateBatch | None = None) -> Path:
    """Return the path of a learner on some pairs, in order; a development batch is followed along it.

    The steps do not depend on development data, only how many there are.
    """
    stepper = Stepper(pairs, steps, limits.tolerance)
    start = np.zeros(pairs.n_columns)
    start[pairs.base_columns] = stepper.base
    follower = None if dev is None or len(dev.offsets) < 2 else Follower.of(dev, start)
    found: list[list[NDArray[np.float64]]] = []
    costs = [] if follower is None else [follower.mean]
    least_at, ended = 0, ""
    while not ended:
        some, done = stepper.take(min(_AT_ONCE, limits.most - stepper.taken))
        if done:
            ended = "no step lowers the loss"
        elif stepper.taken >= limits.most:
            ended = "steps"
        if follower is not None:
            after = follower.follow(pairs.columns[some[0].astype(np.int64)], some[2])
            for number, cost in enumerate(after.tolist(), start=1):
                costs.append(cost)
                if cost < costs[least_at]:
                    least_at = len(costs) - 1
                elif len(costs) - 1 - least_at >= limits.patience:
                    some = [each[:number] for each in some]
                    ended = "development data"
                    break
        found.append(some)
    features, back, changes, losses, alphas, norms = map(np.concatenate, zip(*found, strict=True))
    return Path(
        start,
        pairs.columns[features.astype(np.int64)],
        changes,
        back.astype(np.bool_),
        np.concatenate([[stepper.loss], losses]),
        np.concatenate([[np.abs(start).sum()], norms]),
        np.concatenate([[np.inf], alphas]),
        ended,
        np.array(costs) if costs else None,
    )
