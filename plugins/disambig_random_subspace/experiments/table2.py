"""``sogaard2012.table2``: parts of speech of the web, learned from a newspaper, beside other taggers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import UserError
from disambig.api.experiments import ExperimentResult, Progress, Row

from ..tagging.plain_text import PLAIN, classes_of
from .table2_claims import (
    AP,
    CHOSEN,
    CLASSES,
    IN_DOMAIN,
    LOOKED_AT,
    TESTED,
    WEB,
    beside_peers,
    compared,
    gains,
)
from .table2_ours import CHOSEN_PASSES, CHOSEN_RATE, PASSES, REMOVAL_RATE, our_runs
from .table2_scoring import Gold, Hits, Known, figures, joined
from .tag_data import CONLL2000, EWT, GENRES, PENN, conll2000, ewt, penn_sample
from .tag_data_penn import Sentence
from .tagger_peers import Run, peers, peers_on

SIZES, QUICK_SIZES = (25, 50, 100), (2, 5)
QUICK_TRAIN, QUICK_TEST, QUICK_WORDS = 400, 250, 50_000
"""Sentences, of each genre, and words of plain text a domain."""
EVERY, OF_TEST, OF_DEV = 10, 9, 4
"""Of ten files of the Penn Treebank, the last tests and the fifth tells spaCy's training when to stop."""
PAPER = {
    AP: (85.22, 86.82, 84.92, 87.00),
    "AP-RLRS, K=25": (85.63, 87.26, 85.32, 87.54),
    "AP-RLRS, K=50": (85.69, 87.36, 85.31, 87.52),
    "AP-RLRS, K=100": (85.68, 87.26, 85.35, 87.61),
}
"""Of the genres of `TESTED`."""


@dataclass(frozen=True, slots=True)
class Table2:
    """AP, AP-RLRS and their peers on genres that they were not trained on.

    Parameters
    ----------
    silver : bool
        Learn from CoNLL-2000 too, whose tags are those of another tagger.
    """

    silver: bool = False
    title: ClassVar[str] = (
        "Søgaard and Johannsen 2012, table 2: part-of-speech tagging, accuracy in % (paper / ours)"
    )
    description: ClassVar[str] = (
        "part-of-speech tagging, newspaper to web: AP, AP-RLRS, spaCy and CRFsuite by genre"
    )

    @property
    def needs(self) -> tuple[str, ...]:
        """What must be in the data directory."""
        return (PENN, EWT, *PLAIN, *((CONLL2000,) if self.silver else ()))

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train each tagger on the same sentences; with `quick` on 400 of them, and for little time."""
        progress("reading tagged text", 0, 1)
        train, dev, tests = material(data, silver=self.silver, quick=quick)
        sizes = QUICK_SIZES if quick else SIZES
        settings: dict[str, Any] = {"most": QUICK_WORDS, "n_words": 2_000, "sizes": (64,)} if quick else {}
        classes = classes_of([data / name for name in PLAIN], progress=progress, **settings)
        runs = [
            *our_runs(train, tests, sizes=sizes, progress=progress, classes=classes),
            *peers_on(train, dev, tests, systems=peers(quick=quick), progress=progress),
        ]
        known = Known.of(train)
        golds = {name: Gold.of(sentences, known) for name, sentences in tests.items()}
        golds[WEB] = joined([golds[genre] for genre in TESTED])
        hits = {run.system: hits_of(run, golds) for run in runs}
        found = {system: figures(by_text, golds) for system, by_text in hits.items()}
        tests_of = compared(hits, golds)
        return ExperimentResult(
            rows=[row for run in runs for row in rows_of(run, found[run.system], golds)],
            claims=[*gains(tests_of), *beside_peers(runs, hits, golds)],
            notes=[
                *notes(train, dev, golds, self.silver),
                *(run.note for run in runs if run.note),
                speeds(runs),
            ],
            details={
                "sentences": {"train": len(train), "dev": len(dev)},
                "tags": sorted(known.tags),
                "tokens": tokens(golds),
                "systems": {
                    run.system: {
                        "training_seconds": _rounded(run.training_seconds, 1),
                        "words_per_second": _rounded(run.words_per_second, 0),
                        "accuracy": found[run.system],
                    }
                    for run in runs
                },
                "over_AP": tests_of,
            },
        )


def material(
    data: Path, *, silver: bool, quick: bool
) -> tuple[list[Sentence], list[Sentence], dict[str, list[Sentence]]]:
    """Return sentences to train on, to stop spaCy's training with, and to test on by text.

    Raises
    ------
    UserError
        D725 for a part without sentences; those of `tag_data` for a file.
    """
    files = list(penn_sample(data).values())
    train, dev, test = (
        [s for number, file in enumerate(files) if part_of(number) == part for s in file]
        for part in ("train", "dev", "test")
    )
    if silver:
        train += conll2000(data)
    tests = {IN_DOMAIN: test, **{genre: ewt(data, [genre]) for genre in GENRES}}
    empty = [name for name, part in {"train": train, "dev": dev, **tests}.items() if not part]
    if empty:
        raise UserError("D725", path=data, problem=f"no tagged sentence for {', '.join(empty)}")
    if quick:
        train, dev = train[:QUICK_TRAIN], dev[:QUICK_TEST]
        tests = {name: test[:QUICK_TEST] for name, test in tests.items()}
    return train, dev, tests


def part_of(file: int) -> str:
    """Return what a file of the Penn Treebank is for, by its place among them."""
    return {OF_TEST: "test", OF_DEV: "dev"}.get(file % EVERY, "train")


def hits_of(run: Run, golds: Mapping[str, Gold]) -> dict[str, Hits]:
    """Return where a tagger is right, text by text; nothing where it is not installed."""
    if not run.tags:
        return {}
    hits = {name: golds[name].hits(tags) for name, tags in run.tags.items()}
    return {**hits, WEB: np.concatenate([hits[genre] for genre in TESTED])}


def rows_of(run: Run, found: Mapping[str, Any], golds: Mapping[str, Gold]) -> Iterator[Row]:
    """Yield the figures to be shown: each genre, all of them, in domain; and over fewer tokens."""
    paper = dict(zip(TESTED, PAPER.get(run.system, ()), strict=False))
    counts = tokens(golds)
    for kind, names in (
        ("all", (*TESTED, WEB, LOOKED_AT, IN_DOMAIN)),
        ("alike", (*TESTED, WEB, LOOKED_AT, IN_DOMAIN)),
        ("unknown words", (WEB, IN_DOMAIN)),
    ):
        for name in names:
            ours = found[name][kind] if found else None
            setting = name if kind == "all" else f"{name}, {kind}"
            yield Row(
                run.system, setting, paper.get(name) if kind == "all" else None, ours, counts[name][kind]
            )


def tokens(golds: Mapping[str, Gold]) -> dict[str, dict[str, int]]:
    """Return how many tokens each text has, of each kind."""
    return {name: gold.accuracies(np.zeros(len(gold.tags), bool))["tokens"] for name, gold in golds.items()}


def notes(
    train: Sequence[Sentence], dev: Sequence[Sentence], golds: Mapping[str, Gold], silver: bool
) -> list[str]:
    """Return what a reader of the figures must know."""
    web, more = golds[WEB], " and CoNLL-2000" if silver else ""
    return [
        f"Trained on {len(train):,} sentences of the Penn Treebank sample{more} (the paper: sections 2-21), "
        f"tested on all parts of UD English EWT, of which nothing is learned, {len(web.tags):,} tokens of "
        f"the paper's four genres, and on other files of the sample, {len(golds[IN_DOMAIN].tags):,} tokens. "
        f"{len(dev):,} further sentences tell spaCy's training when to stop; the others do not use them.",
        f"AP and AP-RLRS make {PASSES} passes and remove {REMOVAL_RATE:.0%}, as in the paper; {CHOSEN!r} has "
        f"the most subspaces, makes {CHOSEN_PASSES} passes and removes {CHOSEN_RATE:.0%}.",
        f"{WEB!r} is the four genres together; the features of AP, the settings of {CHOSEN!r} and those "
        "of CRFsuite were chosen on the fifth, e-mail, as the paper used it first. "
        f"{web.unknown.mean():.1%} of the tokens of {WEB!r} are words that the training sentences lack.",
        f"'alike' leaves out what the treebanks annotate by other rules, {1 - web.alike.mean():.1%} of the "
        'web: tags that the training sentences do not have, "to", "both", "either", "neither", dashes, dots, '
        '";", "/" and "#".',
        f"{CLASSES!r} (ours, not the paper's): features of the classes that words have in plain English text "
        "of other sources, learned without tags (not in its time below); the peers have no such text.",
        "p is of approximate randomisation over sentences, 10,000 times.",
    ]


def speeds(runs: Sequence[Run]) -> str:
    """Return training times and speeds as a sentence."""
    said = [
        f"{run.system} {run.training_seconds:,.0f} s and {run.words_per_second:,.0f} words/s"
        for run in runs
        if run.training_seconds is not None and run.words_per_second is not None
    ]
    return f"Processor time of training, and speed on one core from words to tags: {'; '.join(said)}."


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
