"""Real models of a few sentences: untrained (SumLM), small enough to be made anew for a test run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from disambig.config import resolve
from disambig.decision import Calibration, Corrections, OperatingPoint
from disambig.models import Model, save_model

TASKS = {
    "spelling": {"@disambig_tasks": "variance_svm.Spelling.v1"},
    "preposition": {"@disambig_tasks": "variance_svm.Preposition.v1", "only_as_preposition": False},
}


def save_tiny_models(home: Path, table: Path) -> dict[str, str]:
    """Save a model of each task that counts with `table`; return their directories by task."""
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
