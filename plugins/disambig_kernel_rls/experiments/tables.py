"""What both tables of the paper share: Senseval-2, the other editions where they are, rows, notes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from disambig.api.experiments import Progress, Row

from ..systems import System
from .editions import OTHERS, SENSEVAL_2, Sample, missing, read
from .scored import Tried, figures_of, tried

SETTINGS = ("fine", "coarse", "nouns", "verbs", "adjectives")
PAPER = {
    "RLSC-LIN": {"fine": 65.2, "Senseval-1": 77.2, "Senseval-3": 71.8, "Senseval-3, coarse": 78.4},
    "RLSC-COMB": {"fine": 65.6, "Senseval-1": 77.5, "Senseval-3": 72.2, "Senseval-3, coarse": 78.4},
    "SVM-LIN": {"fine": 64.4, "Senseval-1": 77.1, "Senseval-3": 71.4},
    "SVM-COMB": {"fine": 64.2, "Senseval-1": 77.3, "Senseval-3": 70.8},
}
READINGS = (
    "Senseval-2 where no edition is said; 'fine' gives full credit for any sense of the key, as the official "
    "scorer is said to (it was not run beside ours); 'coarse' maps senses to groups; nouns, verbs and "
    "adjectives are fine-grained; 'as published': the most frequent of the first senses of the training "
    "instances, P and U left out, which is the published 47.6; p is of McNemar over instances"
)
TAGS = (
    "tags are those of the installed tagger (the paper: Brill's); Porter stems without spaCy's stop words; "
    "windows end where the sentence does, which is no feature by itself; words, tags and broad contexts as "
    "in the paper otherwise, lambda = 1e-9"
)
Scores = dict[str, tuple[float, int]]


def run_all(
    systems: Mapping[str, System], data: Path, *, quick: bool, progress: Progress
) -> tuple[Sample, dict[str, Tried], dict[str, dict[str, Scores]], list[str]]:
    """Try systems on Senseval-2 and on the other editions that are there.

    Returns
    -------
    The sample of Senseval-2, what each system did on it, the scores of each edition and system, and notes.
    """
    progress("reading Senseval-2", 0, 1)
    sample = read(SENSEVAL_2, data, quick=quick)
    found = tried(sample, systems, progress=progress)
    notes = [READINGS, TAGS, *missing(data), *sample.notes]
    scores = {SENSEVAL_2.name: {name: figures_of(sample, each) for name, each in found.items()}}
    for edition in OTHERS:
        if edition.is_there(data):
            progress(f"reading {edition.name}", 0, 1)
            other = read(edition, data, quick=quick)
            notes += other.notes
            there = tried(other, systems, progress=progress, stage=edition.name)
            scores[edition.name] = {name: figures_of(other, each) for name, each in there.items()}
    return sample, found, scores, notes


def rows_of(scores: Mapping[str, Mapping[str, Scores]]) -> list[Row]:
    """Return the rows of all systems, Senseval-2 first; editions that are not there have no figure."""
    rows = []
    for system, ours in scores[SENSEVAL_2.name].items():
        paper = PAPER.get(system, {})
        rows += [
            Row(system, setting, paper.get(setting), *ours[setting])
            for setting in SETTINGS
            if setting in ours
        ]
        for edition in OTHERS:
            there = scores.get(edition.name, {}).get(system, {})
            for reading, setting in (("fine", edition.name), ("coarse", f"{edition.name}, coarse")):
                if reading in there or setting in paper:
                    value, n = there.get(reading, (None, 0))
                    rows.append(Row(system, setting, paper.get(setting), value, n))
    return rows
