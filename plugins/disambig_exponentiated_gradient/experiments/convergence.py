"""``collins2005.convergence``: primal, dual, gap and F1 by epoch, online and in batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch
from disambig.api.decoding import averaged_perceptron, structures_of
from disambig.api.experiments import ExperimentResult, Progress, Row
from disambig_exponentiated_gradient.treebank.corpora import PENN

from ..learning.course import Course, run
from ..learning.learner import EG
from ..learning.listed import Listed
from ..learning.listed_dual import ListedDual
from .convergence_claims import claims_of, panels_of
from .described import Described, f1
from .plain_steps import plain_steps
from .systems import COST, HINGE, LOG, PERCEPTRON, divided
from .treebanks import SOURCES, lists_of

Floats = NDArray[np.float64]
EPOCHS, BATCHES = 20, 100
ETAS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""In units of one by the mean cost of a rival."""
SHOWN = (1, 2, 5, 10, 20, 50, 100)
_LOSSES = {COST: "cost", HINGE: "hinge", LOG: "log"}


@dataclass(frozen=True, slots=True)
class Convergence:
    """EG with each loss on one section's lists; cost-sensitive online, in batches, and with fixed steps."""

    title: ClassVar[str] = "Collins 2005: F1 (%) and relative duality gap (%) after so many epochs"
    description: ClassVar[str] = "EG by epoch: primal, dual, gap and F1, online against batch, several eta"
    needs: ClassVar[tuple[str, ...]] = (PENN,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Follow the courses; with `quick` on a few and short sentences."""
        lists = lists_of(SOURCES[0], data, quick=quick, progress=progress)
        progress("features", 0, 0)
        described = Described.of(lists["train"].lists)
        batch, test = described.train, lists["test"]
        held = list(described.parts(test.lists))

        def watch(weights: Floats) -> float:
            return f1(test, np.concatenate([each.scores(weights) for each in held]))

        learn, dev = divided(batch)
        values, paths = {}, {}
        for number, (name, loss) in enumerate(_LOSSES.items()):
            progress(f"{name}, online", number, len(_LOSSES))
            values[name] = EG(loss=loss).fit(learn, dev=dev).report["C"]
            dual = ListedDual(Listed.of(batch), loss, values[name])
            paths[f"{name}, online"] = _course(dual, "online", EPOCHS, watch)
        progress("in batches", 0, 0)
        dual = ListedDual(Listed.of(batch), "cost", values[COST])
        paths[f"{COST}, batch"] = _course(dual, "batch", BATCHES // 10 if quick else BATCHES, watch)
        unit = _mean_loss(batch)
        for number, eta in enumerate(ETAS):
            progress("fixed eta", number, len(ETAS))
            steps = BATCHES // 10 if quick else BATCHES
            told = {"C": values[COST], "eta": eta / unit, "steps": steps}
            paths[f"{COST}, eta {eta:g}"] = plain_steps(batch, **told, watch=watch)
        progress(PERCEPTRON, 0, 0)
        found: list[float] = []
        averaged_perceptron(
            structures_of(batch, None),
            passes=EPOCHS // 2,
            seed=0,
            watch=lambda weights: found.append(watch(weights)),
        )
        paths[PERCEPTRON] = {"F1": found}
        first = f1(test, test.lists.scores)
        return ExperimentResult(
            rows_of(paths, len(test)),
            claims_of(paths, first),
            _notes(values, unit, first),
            {
                "C": values,
                "mean loss of a rival": round(unit, 3),
                "F1 of the PCFG": round(first, 2),
                "paths": paths,
            },
            panels_of(paths, first),
            places=2,
        )


def _course(dual: ListedDual, updates: str, epochs: int, watch: Any) -> dict[str, list[float]]:
    """Train to a gap that no course here reaches, so that all epochs are seen."""
    course: Course = run(
        dual, updates=updates, epochs=epochs, gap=1e-9, rng=np.random.default_rng(0), watch=watch
    )
    said = course.report()["path"]
    return {**{key: said[key] for key in ("primal", "dual", "gap", "seconds")}, "F1": course.dev_cost}


def _mean_loss(batch: CandidateBatch) -> float:
    cost = batch.cost - np.repeat(np.minimum.reduceat(batch.cost, batch.offsets[:-1]), np.diff(batch.offsets))
    return float(cost[cost > 0].mean(dtype=np.float64))


def rows_of(paths: Mapping[str, Mapping[str, list[float]]], n: int) -> list[Row]:
    """Return F1 and gap after some epochs."""
    rows = []
    for what, key, times in (("F1", "F1", 1.0), ("gap", "gap", 100.0)):
        for name, path in paths.items():
            values = path.get(key, [])
            rows += [
                Row(f"{name}: {what}", str(epoch), None, times * values[epoch - 1], n)
                for epoch in SHOWN
                if epoch <= len(values)
            ]
    return rows


def _notes(values: Mapping[str, float], unit: float, first: float) -> list[str]:
    chosen = ", ".join(f"{name} {value:g}" for name, value in values.items())
    return [
        "lists to learn from of section 00 and to test on of section 01, as in collins2005.reranking; the "
        "paper draws its curves and prints no figure",
        f"C, chosen on the last fifth of the lists to learn from: {chosen}; the PCFG's F1 is {first:.2f}",
        "the gap is relative: least primal so far less dual, as a share of that primal; F1 is that of the "
        "weights after the epoch",
        "online: instance by instance with a line search, from the best of some starts near gold; batch: the "
        "same start, one eta for all, halved where the dual falls and doubled where it may; eta: the "
        f"slides' steps from equal alphas, one fixed eta, in units of 1 / {unit:.2f} (a rival's mean cost)",
    ]
