"""Write what the models propose in clean training text, from which the encoder learns what is right.

    python corpora/disambig_en/proposals.py DATA --output FILE

One JSON object per line: text, start and end (characters), new, p (the probability of a mistake) and task.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from material import HOME, read_people
from second_looks import FLAGS_PER_1000

from disambig.data import minibatch, record_edit
from disambig.decision import Proposer
from disambig.experiments import log_progress, text_lines
from disambig.models import Model, load_model
from disambig.text import view_of_texts

TASKS = (*FLAGS_PER_1000, "doubled")
MIN_PROBABILITY = 0.03
"""Minimum probability of a proposal."""
SHARES = {
    "manuals": 0.1, "guides": 0.18, "essays": 0.08, "technical": 0.2, "encyclopedic": 0.05, "textbooks": 0.03,
    "government": 0.4, "health": 0.07, "mixed": 0.4, "science": 0.008, "speeches": 0.01, "fiction": 0.002,
}  # fmt: skip
"""Share of the paragraphs of each domain that are read."""
MIN_WORDS = 8
MIN_CHARACTERS = 200_000
"""Minimum number of characters that are decided together."""


def clean_texts(data: Path) -> Iterator[str]:
    """Yield the clean paragraphs of the training parts, and paragraphs of running text."""
    for paragraph in read_people(data, "train")[1]:
        yield paragraph.text
    rng = random.Random(5)
    for domain, share in SHARES.items():
        for line in text_lines(data / f"english/{domain}.train.txt.xz"):
            if rng.random() < share and len(line.split()) >= MIN_WORDS:
                yield line.strip()


def proposals(model: Model, texts: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what a model proposes in some texts."""
    proposing = replace(model, judge=Proposer(getattr(model.judge, "first", model.judge), MIN_PROBABILITY))
    view = view_of_texts(texts, model.tokenisation, protected=True)
    decisions = proposing.decide_at(proposing.instances(view), view)
    for row in np.flatnonzero(decisions.flagged).tolist():
        text = texts[int(decisions.documents[row])]
        edit = record_edit(decisions.record(row, text), text)
        place = {"start": edit["start"], "end": edit["end"], "new": edit["replacement"]}
        yield {"text": text, **place, "p": float(decisions.probabilities[row]), "task": model.task.name}


def main(data: Path, output: Annotated[Path, typer.Option()]) -> None:
    """Write the proposals of the models for clean text."""
    models = [load_model(HOME / "models" / task) for task in TASKS]
    texts = list(clean_texts(data))
    done = 0
    with output.open("w", encoding="utf8") as out:
        for stretch in minibatch(texts, MIN_CHARACTERS, len):
            log_progress("proposals", done, len(texts))
            for model in models:
                out.writelines(json.dumps(row) + "\n" for row in proposals(model, stretch))
            done += len(stretch)


if __name__ == "__main__":
    typer.run(main)
