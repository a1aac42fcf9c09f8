"""Measure how much more mistakes to learn from would help: the decision rules learn from a share of them.

    python corpora/disambig_en/learning_curve.py DATA

The models of articles, forms and slips are trained on the mistakes and clean paragraphs of a quarter and of
half of the projects of the first training part, of all of them, and of both training parts; each set contains
the smaller ones. Second looks are fitted as for the pack. All are measured on the development part. The
models of prepositions and of confused words, and the encoder, stay as they are: they saw both parts. It takes
about 35 minutes on one core.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import typer
from material import FIRST_TRAINING_PART, People, read_kept_back, read_part, read_people, select_projects
from real_words import learn_real_words
from scoring import FIGURES
from second_looks import COMPARED_RATES, look_again

from disambig.checking import ModelChecker, sweep_rates
from disambig.evaluation import MistakeTrial
from disambig.experiments import log_progress
from disambig.models import save_model

LEARNING = ("article", "form", "slip")
"""Tasks whose models are trained again; the others of `FIXED` stay."""
FIXED = ("preposition", "spelling", "doubled")
SHARES = {"a quarter of the first part": 0.25, "half of it": 0.5, "all of it": 1.0}


def training_sets(data: Path) -> Iterator[tuple[str, People]]:
    """Yield a name, and the mistakes and clean paragraphs, from few to all."""
    people = read_part(data, FIRST_TRAINING_PART)
    for name, share in SHARES.items():
        yield name, select_projects(people, partial(_is_among, share))
    yield "both parts", read_people(data, "train")


def _is_among(share: float, repo: str) -> bool:
    """Return True for about this share of the projects; a greater share has those of a smaller one."""
    return zlib.crc32(b"curve " + repo.encode()) < share * 2**32


def measure(data: Path, people: People) -> dict[str, Any]:
    """Return the figures of models that learned from some mistakes and clean paragraphs."""
    kept_back = read_kept_back(data)
    with tempfile.TemporaryDirectory() as folder:
        for task in LEARNING:
            model = look_again(learn_real_words(task, data, people), task, kept_back)
            save_model(model, Path(folder) / task)
        names = [str(Path(folder) / task) for task in LEARNING] + [f"disambig_en/{task}" for task in FIXED]
        checker = ModelChecker.from_names("+".join(names))
        trial = MistakeTrial.from_checker(checker, *read_people(data, "dev"))
        return {
            "mistakes": len(people[0]),
            "projects": len({fix.repo for fix in people[0]}),
            "rates": sweep_rates(checker, trial, COMPARED_RATES),
        }


def main(data: Path) -> None:
    """Measure models of fewer projects, and write the figures of the card."""
    curve = {}
    for number, (name, people) in enumerate(training_sets(data)):
        log_progress(f"learning curve: {name}", number, len(SHARES) + 1)
        curve[name] = measure(data, people)
    FIGURES.add({"learning_curve": curve})


if __name__ == "__main__":
    typer.run(main)
