"""The systems of the paper's text classification experiments; all make five passes over the examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from disambig.api import CrossedRows, Fitted, Learner

from ..linear.confidence_weighted import ConfidenceWeighted
from ..linear.margin_learners import SGD, PassiveAggressive, Perceptron
from ..random_subspaces import RandomSubspaces
from .across import Trial

REMOVED = 0.1
"""Share of the dimensions that a mask removes, in the paper's tables."""
BASES: dict[str, Perceptron | SGD] = {"P": Perceptron(), "SGD": SGD()}
OTHERS: dict[str, Learner] = {"PA": PassiveAggressive(), "CW": ConfidenceWeighted()}


def robust(base: str) -> str:
    """Return what the system in random subspaces is called."""
    return f"{base}-RLRS"


def by_size(base: str, sizes: Sequence[int]) -> Trial:
    """Return a trial of a base learner alone and then under rising numbers of random subspaces."""
    learner = BASES[base]

    def learn(batch: CrossedRows) -> list[Fitted]:
        path = RandomSubspaces(base=learner, n_subspaces=max(sizes), removal_rate=REMOVED)
        return [learner.fit(batch), *path.fit_sizes(batch, sizes)]

    return learn


def by_rate(base: str, rates: Sequence[float], size: int) -> Trial:
    """Return a trial of a base learner alone and then under subspaces of rising removal rates."""
    learner = BASES[base]

    def learn(batch: CrossedRows) -> list[Fitted]:
        under = [RandomSubspaces(base=learner, n_subspaces=size, removal_rate=rate) for rate in rates]
        return [learner.fit(batch), *(each.fit(batch) for each in under)]

    return learn


def of_orders(base: str, n: int) -> Trial:
    """Return a trial of a base learner's mean weights over `n` orders of the examples, nothing removed."""

    def learn(batch: CrossedRows) -> list[Fitted]:
        fits = [replace(BASES[base], seed=seed).fit(batch) for seed in range(n)]
        mean = np.mean([fitted.scorer.state()["weights"] for fitted in fits], axis=0)
        return [Fitted(BASES[base].from_state({"weights": mean}))]

    return learn


def alone(learner: Learner) -> Trial:
    """Return a trial of a learner as it is."""
    return lambda batch: [learner.fit(batch)]
