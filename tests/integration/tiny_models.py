"""Real models with the counts of a few sentences, untrained (SumLM) and quickly built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from disambig.config import resolve
from disambig.decision import Calibration, Corrections, OperatingPoint, SecondLook
from disambig.models import Model, load_model, save_model

TASKS = {
    "spelling": {"@disambig_tasks": "variance_svm.Spelling.v1"},
    "preposition": {"@disambig_tasks": "variance_svm.Preposition.v1", "only_as_preposition": False},
}


def save_tiny_models(home: Path, table: Path) -> dict[str, str]:
    """Save a model of each task that uses the counts of `table`; return their directories by task."""
    for name, task in TASKS.items():
        config = {
            "task": task,
            "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
            "extractors": {
                "counts": {"@disambig_extractors": "disambig.NgramCounts.v1", "counts": str(table)}
            },
            "learner": {"@disambig_learners": "variance_svm.SumLM.v1"},
            "baseline": {
                "@disambig_learners": "variance_svm.SumLM.v1",
                "patterns": ["2-gram", "3-gram", "4-gram", "5-gram"],
            },
        }
        built = resolve(config)
        groups = built["task"].groups
        plain = np.array([1.0, 0.0, 0.0, 0.0])
        model = Model(
            name=f"tiny/{name}",
            version="0.0.1",
            task=built["task"],
            tokenisation=built["tokenisation"],
            extractors=tuple(built["extractors"].values()),
            baseline=built["baseline"],
            scorers=(None,) * len(groups),
            judge=Corrections(
                flags_per_1000=1.0,
                calibration=Calibration(plain, np.tile(plain, (len(groups), 1))),
                operating=OperatingPoint(np.array([0.1, 10.0]), np.array([2.0, 0.5])),
            ),
            config=config,
        )
        save_model(model, home / name)
    return {name: str(home / name) for name in TASKS}


def save_second_look(home: Path, table: Path) -> str:
    """Save a model of spelling with a second look that keeps the first rule's log-odds; return its directory.

    Only the density of mistakes shifts them.
    """
    first = load_model(save_tiny_models(home, table)["spelling"])
    rates = np.array([0.1, 10.0])
    judge = SecondLook(
        first.judge,
        least=1e-4,
        flags_per_1000=1.0,
        prior_strength=2.0,
        weights=np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        operating=OperatingPoint(rates, np.array([0.2, 0.0])),
        recall=np.array([0.1, 0.2]),
        expected=0.002,
    )
    rule = {"@disambig_judges": "disambig.Corrections.v1"}
    section = {
        "@disambig_judges": "disambig.SecondLook.v1",
        "first": rule,
        "least": 1e-4,
        "prior_strength": 2.0,
    }
    model = replace(first, name="tiny/twice", judge=judge, config={**first.config, "judge": section})
    save_model(model, home / "twice")
    return str(home / "twice")
