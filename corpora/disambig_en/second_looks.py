"""Fit the second looks of the correcting models, on mistakes and clean text that no model was trained on.

    python corpora/disambig_en/second_looks.py DATA [TASK ...]

The models and the encoder must already exist. With ``--compare``, other second looks are fitted instead, with
some of the evidence, and measured on the development part.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from material import HOME, read_kept_back, read_people

from disambig.checking import ModelChecker, sweep_rates
from disambig.evaluation import MistakeTrial
from disambig.experiments import log_progress
from disambig.formats import Clean, Fix
from disambig.models import Model, load_model, save_model
from disambig.training import fit_second_look

FLAGS_PER_1000 = {"preposition": 0.15, "spelling": 0.45, "article": 0.45, "form": 0.45, "slip": 0.15}
"""Default rates, by task that has a second look (see the card)."""
MIN_PROBABILITIES = {"preposition": 0.03, "spelling": 0.03, "article": 0.02, "form": 0.02, "slip": 0.03}
"""Minimum probability of a proposal, according to the first rule, where mistakes are dense."""
MAX_MISSED = {"form": 0.04}
"""Share of correct flags given up for speed; elsewhere the default. Forms have by far the most proposals."""
PRIOR_STRENGTH = 0.7
"""See `SecondLook`: a paragraph with a few mistakes is soon taken for text with many."""
EVIDENCE: Mapping[str, Mapping[str, str]] = {
    "encoder": {"@disambig_extractors": "encoder.Evidence.v1", "folder": "disambig_en"},
    "syntax": {"@disambig_extractors": "dependencies.Agreement.v1"},
}
SHIPPED: Mapping[str, tuple[str, ...]] = {
    "preposition": ("encoder",),
    "spelling": ("encoder",),
    "article": ("encoder",),
    "form": ("encoder", "syntax"),
    "slip": ("encoder",),
}
"""The evidence of each shipped model. A sentence is parsed only for forms, which agree with a subject."""
COMPARED: Mapping[str, tuple[str, ...]] = {
    "the rule's own probability": (),
    "and agreement in the parsed sentence": ("syntax",),
    "and the encoder": ("encoder",),
    "and both": ("encoder", "syntax"),
}
"""The evidence of each compared second look."""
COMPARED_RATES = (0.5, 1.0, 2.0)


def look_again(
    model: Model,
    task: str,
    kept_back: tuple[list[Fix], list[Clean]],
    evidence: Iterable[str] | None = None,
) -> Model:
    """Return the model of a task with a second look, fitted to what it proposes in text that it has not seen.

    `kept_back` is the result of `read_kept_back`; `evidence` are keys of `EVIDENCE`, by default those of the
    shipped model.
    """
    log_progress(f"second look: {task}", 0, 1)
    names = SHIPPED[task] if evidence is None else evidence
    section: dict[str, Any] = {
        "evidence": {name: EVIDENCE[name] for name in names},
        "least": MIN_PROBABILITIES[task],
        "prior_strength": PRIOR_STRENGTH,
        "replacements": task != "article",
        "flags_per_1000": FLAGS_PER_1000[task],
        **({"most_missed": MAX_MISSED[task]} if task in MAX_MISSED else {}),
    }
    return fit_second_look(model, section, *kept_back)


def fit_second_looks(data: Path, tasks: Iterable[str] | None = None) -> None:
    """Fit the second look of each task and save its model."""
    kept_back = read_kept_back(data)
    for task in tasks or FLAGS_PER_1000:
        model = look_again(load_model(HOME / "models" / task), task, kept_back)
        save_model(model, HOME / "models" / task, force=True)


def compare_evidence(data: Path) -> dict[str, Any]:
    """Return the figures of second looks with some of the evidence on the development part, by evidence."""
    figures = {}
    kept_back = read_kept_back(data)
    for name, evidence in COMPARED.items():
        with tempfile.TemporaryDirectory() as folder:
            for task in FLAGS_PER_1000:
                model = look_again(load_model(HOME / "models" / task), task, kept_back, evidence)
                save_model(model, Path(folder) / task)
            names = [str(Path(folder) / task) for task in FLAGS_PER_1000] + ["disambig_en/doubled"]
            checker = ModelChecker.from_names("+".join(names))
            trial = MistakeTrial.from_checker(checker, *read_people(data, "dev"))
            figures[name] = sweep_rates(checker, trial, COMPARED_RATES)
    return figures


def main(
    data: Path, tasks: Annotated[list[str] | None, typer.Argument()] = None, compare: bool = False
) -> None:
    """Fit the second looks of the given tasks, by default all; with --compare, compare kinds of evidence."""
    if compare:
        from scoring import FIGURES

        FIGURES.add({"evidence": compare_evidence(data)})
    else:
        fit_second_looks(data, tasks or ())


if __name__ == "__main__":
    typer.run(main)
