"""``collins2005.convergence``: primal, dual, gap and F1 by epoch, with online and batch updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import CandidateBatch
from disambig.api.arrays import Floats
from disambig.api.batches import segments
from disambig.api.decoding import averaged_perceptron, from_the_least, structured_examples
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow

from ..learners.eg import EG, DualProblem, TrainingHistory, run_epochs
from ..learners.list_dual import ListDual, ReducedLists
from ..learners.pairwise import PairwiseLists
from ..treebank.reading import PENN
from .tree_lists import (
    COST,
    HINGE,
    LOG,
    PERCEPTRON,
    SOURCES,
    TreeListFeatures,
    choice_f1,
    load_lists,
    split_lists,
)

DIVERGED = 1e3
"""A run ends if the primal exceeds the first one by this factor."""


def plain_steps(
    batch: CandidateBatch, *, C: float, eta: float, steps: int, watch: Callable[[Floats], float]
) -> dict[str, Any]:
    """Take cost-sensitive steps from equal alphas; return ``primal``, ``dual``, ``gap``, ``F1`` of each.

    ``alpha_iy`` becomes ``alpha_iy exp(eta nabla_iy)``, renormalised, with ``nabla_iy = L_iy - M_iy``; then
    ``W = C sum alpha_iy (phi_i,gold - phi_iy)``. The gap is relative to the lowest primal so far.

    `watch` returns F1 for weights.
    """
    offsets, sizes = batch.offsets, np.diff(batch.offsets)
    loss = from_the_least(batch)
    gold = segments.best_rows(-loss, offsets)
    theta = np.zeros(len(loss))
    path: dict[str, Any] = {"primal": [], "dual": [], "gap": [], "F1": []}
    for step in range(steps + 1):
        alpha = segments.softmax(theta, offsets)
        mass = -C * alpha  # slides, step 3
        mass[gold] += C
        weights = batch.adjoint(mass)
        scores = batch.scores(weights)
        nabla = loss - (np.repeat(scores[gold], sizes) - scores)  # step 1: L - M
        half = 0.5 * float(weights @ weights)
        primal = C * float(np.maximum(segments.maxima(nabla, offsets), 0.0).sum()) + half
        if step:
            path["primal"].append(primal)
            path["dual"].append(C * float(alpha @ loss) - half)
            minimum = min(path["primal"])
            path["gap"].append((minimum - path["dual"][-1]) / minimum)
            path["F1"].append(watch(weights))
            if primal > DIVERGED * path["primal"][0]:
                break
        theta += eta * nabla  # step 2
        theta -= np.repeat(segments.maxima(theta, offsets), sizes)
    return path


Paths = Mapping[str, Mapping[str, list[float]]]
PAIRWISE = "pairwise"
ONLINE, BATCH = f"{COST}, online", f"{COST}, batch"
NEAR_GAP, TEN = 0.02, 10
"""Relative gap that counts as converged, and the number of passes in the slides."""
MAX_F1_CHANGE = 0.3
"""Maximum difference from the last F1, in points."""
MIN_GAP = 1e-5
"""Smaller gaps are drawn as this one, because the axis is logarithmic."""


def convergence_claims(paths: Paths, first: float) -> list[Claim]:
    """Return the slides' claims about their plots, with our figures."""
    online = [name for name in paths if name.endswith("online")]
    at_ten = {name: paths[name]["gap"][:TEN][-1] for name in online}
    f1 = {name: (paths[name]["F1"][:TEN][-1], paths[name]["F1"][-1]) for name in online}
    fixed = [name for name in paths if ", eta " in name]
    by_batch = epochs_to(paths[BATCH]["gap"], at_ten[ONLINE])
    pairwise = {name: path["gap"][:TEN][-1] for name, path in paths.items() if name.endswith(PAIRWISE)}
    falls = {name: _fall(paths[name]["dual"]) for name in [*online, *pairwise, BATCH]}
    by_eta = {name: _fall(paths[name]["dual"]) for name in fixed}
    last, other = paths[ONLINE]["F1"][-1], paths[PERCEPTRON]["F1"]
    return [
        Claim(
            f"EG is close to its limit after ten passes online (relative gap up to {NEAR_GAP:.0%})",
            all(gap <= NEAR_GAP for gap in at_ten.values()),
            "; ".join(f"{name} {gap:.2%}" for name, gap in at_ten.items()),
        ),
        Claim(
            f"... and so is its F1 (within {MAX_F1_CHANGE:g} points of that after twenty)",
            all(abs(a - b) <= MAX_F1_CHANGE for a, b in f1.values()),
            "; ".join(f"{name} {a:.2f} and {b:.2f}" for name, (a, b) in f1.items()),
        ),
        Claim(
            f"with pairwise steps, EG is near its limit after ten passes (relative gap up to {NEAR_GAP:.0%})",
            all(gap <= NEAR_GAP for gap in pairwise.values()),
            "; ".join(f"{name} {gap:.2%}" for name, gap in pairwise.items()),
        ),
        Claim(
            "online updates need fewer passes than batch ones for the same gap",
            by_batch is None or by_batch > TEN,
            f"the gap after ten passes online, {at_ten[ONLINE]:.2%}, takes "
            + (f"{by_batch} in batches" if by_batch else f"more than {len(paths[BATCH]['gap'])} in batches"),
        ),
        Claim(
            "the dual never falls, online, with pairwise steps and in batches with halved steps",
            max(falls.values()) <= 1e-9,
            "; ".join(f"{name}: largest relative fall {fall:.2g}" for name, fall in falls.items()),
        ),
        Claim(
            "with one fixed eta the dual rises if eta is small, and not if it is large",
            by_eta[fixed[0]] <= 1e-9 < by_eta[fixed[-1]],
            "; ".join(f"{name}: largest fall {fall:.2g}" for name, fall in by_eta.items()),
        ),
        Claim(
            "cost-sensitive EG ends at least as high as the perceptron's best pass, and both above the PCFG",
            last >= max(other) and min(last, max(other)) > first,
            f"{last:.2f}; perceptron {max(other):.2f} at best, {other[-1]:.2f} after {len(other)}; "
            f"PCFG {first:.2f}",
        ),
    ]


def epochs_to(gaps: Sequence[float], gap: float) -> int | None:
    """Return the number of epochs until a gap is reached; None if it never is."""
    return next((i for i, value in enumerate(gaps, start=1) if value <= gap), None)


def _fall(dual: Sequence[float]) -> float:
    """Return the largest fall of a dual in an epoch, relative to its largest absolute value."""
    values = np.asarray(dual, np.float64)
    if len(values) < 2:
        return 0.0
    return float(np.maximum(values[:-1] - values[1:], 0.0).max() / np.abs(values).max())


def convergence_panels(paths: Paths, first: float) -> list[Panel]:
    """Return objectives, gaps and F1 against epochs."""
    axes: Any = {"x": "epochs", "logarithmic": True}
    compared = [ONLINE, BATCH, *(name for name in paths if ", eta " in name)]
    top = 3.0 * max(paths[ONLINE]["dual"])
    objectives = {
        f"{key}, {name.rpartition(', ')[2]}": _line([min(y, top) for y in paths[name][key]])
        for name in (ONLINE, BATCH)
        for key in ("primal", "dual")
    }
    gaps = {name.removeprefix(f"{COST}, "): _log_line(paths[name]["gap"]) for name in compared}
    by_loss = [name for name in paths if name.endswith(("online", PAIRWISE))]
    losses = {name: _log_line(paths[name]["gap"]) for name in by_loss}
    n_epochs = max(len(path["F1"]) for path in paths.values())
    reached = {name.removeprefix(f"{COST}, "): _line(paths[name]["F1"]) for name in compared}
    reached |= {PERCEPTRON: _line(paths[PERCEPTRON]["F1"]), "PCFG": [(1.0, first), (float(n_epochs), first)]}
    f1_by_loss = {name: _line(paths[name]["F1"]) for name in by_loss}
    f1_by_loss |= {PERCEPTRON: reached[PERCEPTRON], "PCFG": [(1.0, first), (20.0, first)]}
    return [
        Panel(f"{COST}: primal and dual", y="objective", lines=objectives, **axes),
        Panel(f"{COST}: gap", y="log10 of the relative gap", lines=gaps, **axes),
        Panel(f"{COST}: test F1", y="F1, %", lines=reached, **axes),
        Panel("each loss: gap", y="log10 of the relative gap", lines=losses, **axes),
        Panel("each loss: test F1", y="F1, %", lines=f1_by_loss, **axes),
    ]


def _line(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return points of a curve by epoch; of many only some, which does not change the line."""
    kept = {1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 110, 150, 200, len(values)}
    return [(float(i), float(y)) for i, y in enumerate(values, start=1) if i in kept]


def _log_line(values: Sequence[float]) -> list[tuple[float, float]]:
    return [(x, float(np.log10(max(y, MIN_GAP)))) for x, y in _line(values)]


EPOCHS, BATCHES = 20, 100
ETAS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""In units of 1 / (mean cost of a rival)."""
SHOWN = (1, 2, 5, 10, 20, 50, 100)
_LOSSES = {COST: "cost", HINGE: "hinge", LOG: "log"}


@dataclass(frozen=True, slots=True)
class Collins2005Convergence:
    """EG with each loss on lists of one section; cost-sensitive online, in batches, and with fixed steps."""

    title: ClassVar[str] = "Collins 2005: F1 (%) and relative duality gap (%) after so many epochs"
    description: ClassVar[str] = "EG by epoch: primal, dual, gap and F1, online against batch, several eta"
    needs: ClassVar[tuple[str, ...]] = (PENN,)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Run the training courses; with `quick` on a few short sentences."""
        lists = load_lists(SOURCES[0], data, quick=quick, progress=progress)
        progress("features", 0, 0)
        features = TreeListFeatures.from_lists(lists["train"].lists)
        batch, test = features.train, lists["test"]
        test_batches = list(features.parts(test.lists))

        def test_f1(weights: Floats) -> float:
            scores = [test_batch.scores(weights) for test_batch in test_batches]
            return choice_f1(test, np.concatenate(scores))

        values, paths = _online_paths(batch, test_f1, progress)
        progress("in batches", 0, 0)
        steps = BATCHES // 10 if quick else BATCHES
        dual = ListDual(ReducedLists.from_batch(batch), "cost", values[COST])
        paths[f"{COST}, batch"] = _train_path(dual, "batch", steps, test_f1)
        rival_costs = from_the_least(batch)
        mean_rival_cost = float(rival_costs[rival_costs > 0].mean())
        for number, eta in enumerate(ETAS):
            progress("fixed eta", number, len(ETAS))
            paths[f"{COST}, eta {eta:g}"] = plain_steps(
                batch, C=values[COST], eta=eta / mean_rival_cost, steps=steps, watch=test_f1
            )
        progress(PERCEPTRON, 0, 0)
        f1s: list[float] = []

        def watch(weights: Floats) -> None:
            f1s.append(test_f1(weights))

        averaged_perceptron(structured_examples(batch, None), passes=EPOCHS // 2, seed=0, watch=watch)
        paths[PERCEPTRON] = {"F1": f1s}
        first = choice_f1(test, test.lists.scores)
        rows, claims = convergence_rows(paths, len(test)), convergence_claims(paths, first)
        notes, panels = _convergence_notes(values, mean_rival_cost, first), convergence_panels(paths, first)
        details = {"C": values, "mean loss of a rival": round(mean_rival_cost, 3)}
        details |= {"F1 of the PCFG": round(first, 2), "paths": paths}
        return ExperimentResult(rows, claims, notes, details, panels, places=2)


def _online_paths(
    batch: CandidateBatch, test_f1: Callable[[Floats], float], progress: Progress
) -> tuple[dict[str, float], dict[str, Any]]:
    """Train online with each loss; return the best C of each loss, and the courses of training by name."""
    learn, dev = split_lists(batch)
    values: dict[str, float] = {}
    paths: dict[str, Any] = {}
    for number, (name, loss) in enumerate(_LOSSES.items()):
        progress(f"{name}, online", number, len(_LOSSES))
        values[name] = EG(loss=loss, updates="online").fit(learn, dev=dev).report["C"]
        reduced = ReducedLists.from_batch(batch)
        dual = ListDual(reduced, loss, values[name])
        paths[f"{name}, online"] = _train_path(dual, "online", EPOCHS, test_f1)
        if loss != "log":
            pairwise = PairwiseLists(reduced, loss, values[name])
            paths[f"{name}, {PAIRWISE}"] = _train_path(pairwise, PAIRWISE, EPOCHS, test_f1)
    return values, paths


def _train_path(dual: DualProblem, updates: str, epochs: int, watch: Any) -> dict[str, list[float]]:
    """Train to a gap that no run here reaches, so that all epochs are recorded."""
    history: TrainingHistory = run_epochs(
        dual, updates=updates, epochs=epochs, gap=1e-9, rng=np.random.default_rng(0), watch=watch
    )
    path = history.report()["path"]
    return {**{key: path[key] for key in ("primal", "dual", "gap", "seconds")}, "F1": history.dev_cost}


def convergence_rows(paths: Mapping[str, Mapping[str, list[float]]], n: int) -> list[ResultRow]:
    """Return F1 and gap after certain epochs."""
    rows = []
    for what, key, factor in (("F1", "F1", 1.0), ("gap", "gap", 100.0)):
        for name, path in paths.items():
            values = path.get(key, [])
            rows += [
                ResultRow(f"{name}: {what}", str(epoch), None, factor * values[epoch - 1], n)
                for epoch in SHOWN
                if epoch <= len(values)
            ]
    return rows


def _convergence_notes(values: Mapping[str, float], mean_rival_cost: float, first: float) -> list[str]:
    chosen = ", ".join(f"{name} {value:g}" for name, value in values.items())
    return [
        "training lists from section 00 and test lists from section 01, as in collins2005.reranking; the "
        "slides plot curves and print no figures",
        f"C, chosen on the last fifth of the training lists: {chosen}; the PCFG's F1 is {first:.2f}",
        "the gap is relative: the lowest primal so far minus the dual, as a share of that primal; F1 is "
        "that of the weights after the epoch",
        "online: one instance at a time with a line search, from the best of several starting points "
        "near gold; pairwise: one at a time, from gold, mass moves between two candidates; batch: the "
        "first start, one eta for all instances, halved when the dual would fall "
        "and doubled when possible; eta: the slides' steps from equal alphas, with one fixed eta, in "
        f"units of 1 / {mean_rival_cost:.2f} (the mean cost of a rival)",
    ]
