"""What reranks lists in the experiments, with its setting chosen on a part of the lists to learn from."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch
from disambig.api.batches import segments
from disambig.api.decoding import averaged_perceptron, structures_of

from ..learning.learner import EG

Floats = NDArray[np.float64]
PCFG, PERCEPTRON, HINGE, COST, LOG, ORACLE = (
    "PCFG",
    "averaged perceptron",
    "EG, hinge",
    "EG, cost-sensitive",
    "EG, log-linear",
    "oracle",
)
LEARNED = (PERCEPTRON, HINGE, COST, LOG)
PASSES = 10
"""Of the perceptron, at most."""
DEV = 0.2
"""Share of the lists, the last ones, that settings are chosen on; then all are learned from."""
_LOSSES = {HINGE: "hinge", COST: "cost", LOG: "log"}


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A reranker.

    Attributes
    ----------
    weights : array of float64
    about : dict
        Its setting, how it was chosen, and what training took, as plain values.
    """

    weights: Floats
    about: dict[str, Any]


def divided(batch: CandidateBatch) -> tuple[CandidateBatch, CandidateBatch]:
    """Return the lists to learn from while settings are chosen, and those to choose by."""
    n = len(batch.offsets) - 1
    first = n - max(1, int(DEV * n))
    return batch.take(np.arange(first)), batch.take(np.arange(first, n))


def train(name: str, batch: CandidateBatch) -> Trained:
    """Train a reranker by its name."""
    before = time.perf_counter()
    found = _perceptron(batch) if name == PERCEPTRON else _eg(batch, _LOSSES[name])
    return Trained(found.weights, {**found.about, "seconds": round(time.perf_counter() - before, 1)})


def _eg(batch: CandidateBatch, loss: str) -> Trained:
    """Choose C by the mean cost of winners on the development part."""
    learn, dev = divided(batch)
    tried = EG(loss=loss).fit(learn, dev=dev).report
    found = EG(loss=loss, C=tried["C"]).fit(batch)
    weights: Floats = found.scorer.weights  # type: ignore[attr-defined]
    kept = ("C", "epochs", "gap")
    about = {key: found.report[key] for key in kept}
    return Trained(weights, {**about, "mean cost on development lists by C": tried.get("dev_cost", {})})


def _perceptron(batch: CandidateBatch) -> Trained:
    """Choose the number of passes by the mean cost of winners on the development part."""
    learn, dev = divided(batch)
    costs: list[float] = []
    watch = watcher(dev, costs)
    averaged_perceptron(structures_of(learn, None), passes=PASSES, seed=0, watch=watch)
    passes = int(np.argmin(costs)) + 1
    weights, mistakes = averaged_perceptron(structures_of(batch, None), passes=passes, seed=0)
    said = {"passes": passes, "mistakes of the last pass": mistakes}
    return Trained(weights, {**said, "mean cost on development lists by pass": [round(c, 4) for c in costs]})


def watcher(dev: CandidateBatch, costs: list[float]) -> Callable[[Floats], None]:
    """Return what appends the mean cost of the winners by some weights."""

    def watch(weights: Floats) -> None:
        at = dev.offsets[:-1] + segments.argmax(dev.scores(weights), dev.offsets)
        costs.append(float(dev.cost[at].mean(dtype=np.float64)))

    return watch
