"""The learners held against one another, by their names in the registry; all tune on the same lists."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateBatch, Scorer, SparseRows, resolve
from disambig.api.batches import convert, segments
from disambig.api.experiments import Progress

Floats = NDArray[np.float64]
Config = Mapping[str, Any]
_OWN = "boosted_lasso"
_LISTS = {"@disambig_decoders": "disambig.Enumerated.v1"}
EPS = (0.5, 0.1, 0.02)
BLASSO, BOOSTING, LOGIT = "BLasso", "Boosting", "conditional logit"
OURS: dict[str, tuple[Config, ...]] = {
    BOOSTING: tuple({"name": f"{_OWN}.Boosting.v1", "smoothing": each} for each in (1e-4, 1e-3, 1e-2)),
    BLASSO: tuple({"name": f"{_OWN}.BLasso.v1", "eps": each} for each in EPS),
    "FSLR": tuple({"name": f"{_OWN}.FSLR.v1", "eps": each} for each in EPS),
    "F-Boosting": tuple({"name": f"{_OWN}.FBoosting.v1", "eps": each} for each in EPS),
    "averaged perceptron": ({"name": f"{_OWN}.AveragedPerceptron.v1"},),
    "pairwise L2": ({"name": f"{_OWN}.PairwiseL2.v1"},),
}
"""Of this plugin, each with the settings that the tuning lists choose from."""
OTHERS: dict[str, tuple[Config, ...]] = {
    LOGIT: ({"name": "variance_svm.ConditionalLogit.v1"},),
    "K-SVM": ({"name": "variance_svm.KSVM.v1"},),
    "SGD, hinge": tuple(
        {"name": "random_subspace.SGD.v1", "alpha": each, "passes": 10} for each in (1e-4, 1e-3, 1e-2)
    ),
    "perceptron of the core": tuple(
        {"name": "random_subspace.StructuredPerceptron.v1", "passes": each, "decoder": _LISTS}
        for each in (1, 5)
    ),
}
"""Of other plugins, the last by the core's averaged perceptron over any decoder."""
SYSTEMS = OURS | OTHERS


@dataclass(frozen=True, slots=True)
class Learned:
    """What a system learned.

    Attributes
    ----------
    scorer : Scorer
    report : dict
        The settings taken, what they cost on the tuning lists, seconds of all settings together, and what
        the learner says.
    """

    scorer: Scorer
    report: dict[str, Any]


def learn(
    systems: Mapping[str, Sequence[Config]],
    train: SparseRows,
    tune: SparseRows,
    *,
    progress: Progress,
    stage: str,
) -> dict[str, Learned]:
    """Return what each system learned, with the settings whose winners cost least on `tune`."""
    found = {}
    for done, (name, configs) in enumerate(systems.items()):
        progress(stage, done, len(systems))
        found[name] = best_of(configs, train, tune)
    return found


def best_of(configs: Sequence[Config], train: SparseRows, tune: SparseRows) -> Learned:
    """Return what the settings that cost least on `tune` learned, the first of equals."""
    began, best = time.monotonic(), None
    for config in configs:
        settings = {key: value for key, value in config.items() if key != "name"}
        learner = resolve({"learner": {"@disambig_learners": config["name"], **settings}})["learner"]
        fitted = learner.fit(as_taken(learner, train), dev=as_taken(learner, tune))
        cost = float(costs(tune, fitted.scorer.scores(tune)).mean())
        if best is None or cost < best[0]:
            best = cost, settings, fitted
    assert best is not None
    plain = {key: value for key, value in best[1].items() if key != "decoder"}
    report = {
        "settings": plain,
        "tune_cost": best[0],
        "seconds": time.monotonic() - began,
        "nonzero": _nonzero(best[2].scorer),
        **{key: best[2].report[key] for key in ("steps", "l1", "base_weights", "C", "strength", "passes")
           if key in best[2].report},
    }  # fmt: skip
    return Learned(best[2].scorer, report)


def as_taken(learner: Any, batch: SparseRows) -> CandidateBatch:
    """Return a batch in a storage that a learner takes."""
    storages = tuple(getattr(learner, "takes", ()))
    taken: CandidateBatch = convert(batch, *storages) if storages else batch
    return taken


def chosen(scores: Floats, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of the best candidate of each list."""
    return np.asarray(offsets[:-1] + segments.argmax(scores, offsets), np.int64)


def costs(batch: SparseRows, scores: Floats) -> Floats:
    """Return what the winner of each list costs."""
    return np.asarray(batch.cost[chosen(scores, batch.offsets)], np.float64)


def _nonzero(scorer: Any) -> int | None:
    linear = getattr(scorer, "weights", None)
    return int(np.count_nonzero(linear)) if isinstance(linear, np.ndarray) else None
