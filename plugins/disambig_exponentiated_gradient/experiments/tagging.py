"""``collins2005.tagging``: chains, whose sequences of tags are packed, beside the averaged perceptron."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Learner, resolve
from disambig.api.batches import SequenceRows
from disambig.api.decoding import Chain, ChainScorer
from disambig.api.experiments import Claim, ExperimentResult, Progress, Row, in_parts
from disambig.api.measures import Outcomes, measure_named, paired_bootstrap
from disambig_exponentiated_gradient.learning.learner import EG
from disambig_exponentiated_gradient.treebank.corpora import PENN

from .tagged_text import EWT, GENRES, SPLITS, Sentence, Tagset, hits, newspaper, web

PERCEPTRON, COST, LOG = "averaged perceptron", "packed EG, cost", "packed EG, log loss"
LOSSES = {COST: "cost", LOG: "log"}
PASSES, VALUES = (3, 5, 8, 12), (0.03, 0.1, 0.3, 1.0)
"""Of the perceptron, and of C: the best on development sentences is taken."""
EPOCHS = 12
TO_CHOOSE = "email"
"""The genre on which settings of what learned from the newspaper are chosen, as Søgaard and Johannsen do."""
OWN, ACROSS = "EWT", "newspaper to web"
ALL, P = "all", 0.05
QUICK_TRAIN, QUICK_TEST = 400, 150
Hits = NDArray[np.bool_]
Part = tuple[list[Row], list[Claim], dict[str, Any]]
"""Figures, claims and details of a setting."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is learned from, what settings are chosen by, and what is tested on by genre."""

    name: str
    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    tests: Mapping[str, Sequence[Sentence]]


@dataclass(frozen=True, slots=True)
class Tagging:
    """Averaged perceptron and packed EG as taggers: EWT's own split, and a newspaper's sample on the web."""

    title: ClassVar[str] = "Collins 2005: training on packed chains, accuracy of part-of-speech tags in %"
    description: ClassVar[str] = (
        "part-of-speech tagging: averaged perceptron and packed EG on the same features"
    )
    needs: ClassVar[tuple[str, ...]] = (PENN, EWT)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Learn and test in both settings; with `quick` of few sentences of one."""
        return in_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Return the names of the settings."""
        return [OWN] if quick else [OWN, ACROSS]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Part:
        """Learn and test in one setting."""
        setting = own_split(data, quick=quick) if name == OWN else across(data)
        found, about = tried(setting, progress)
        return rows_of(name, found), claims_of(setting, found), about

    def joined(self, found: Mapping[str, Part], *, quick: bool) -> ExperimentResult:
        """Put the settings' figures together."""
        rows = [row for own, _, _ in found.values() for row in own]
        claims = [claim for _, own, _ in found.values() for claim in own]
        return ExperimentResult(
            rows, claims, _notes(), {name: own[2] for name, own in found.items()}, places=2
        )


def own_split(data: Path, *, quick: bool = False) -> Setting:
    """Return EWT's own parts; with `quick` some sentences of each, and two genres to test on."""
    train, dev, test = ({genre: web(data, [genre], [split]) for genre in GENRES} for split in SPLITS)
    if not quick:
        return Setting(OWN, _joined(train), _joined(dev), test)
    few = {genre: test[genre][:QUICK_TEST] for genre in GENRES[:2]}
    return Setting(OWN, _joined(train)[:QUICK_TRAIN], _joined(dev)[:QUICK_TEST], few)


def across(data: Path) -> Setting:
    """Return a newspaper to learn from, and the web to test on."""
    tests = {genre: web(data, [genre]) for genre in GENRES if genre != TO_CHOOSE}
    return Setting(ACROSS, newspaper(data), web(data, [TO_CHOOSE]), tests)


def tried(setting: Setting, progress: Progress) -> tuple[dict[str, dict[str, Hits]], dict[str, Any]]:
    """Return which words of each text each system has right, and what its settings are."""
    made = Tagset.of(setting.train)
    train, dev = made.batch(setting.train), made.batch(setting.dev)
    tests = {name: made.batch(sentences) for name, sentences in setting.tests.items()}
    systems = (PERCEPTRON, COST, LOG)
    found: dict[str, dict[str, Hits]] = {}
    about: dict[str, Any] = {"words": len(train.costs), "features": int(train.rows.shape[1])}
    for number, system in enumerate(systems):
        progress(f"{setting.name}: {system}", number, len(systems))
        scorer, said = learned(system, train, dev)
        found[system] = {name: _hits(scorer, batch) for name, batch in tests.items()}
        about[system] = said
    return found, about


def learned(system: str, train: SequenceRows, dev: SequenceRows) -> tuple[ChainScorer, dict[str, Any]]:
    """Return the best scorer on development sentences, and how it was found."""
    best: tuple[float, ChainScorer, dict[str, Any]] | None = None
    by_value: dict[str, float] = {}
    for value in PASSES if system == PERCEPTRON else VALUES:
        before = time.process_time()
        fitted = learner_of(system, value).fit(train)
        told = ("C", "passes", "epochs", "gap")
        said: dict[str, Any] = {key: fitted.report[key] for key in told if key in fitted.report}
        said["seconds"] = round(time.process_time() - before, 1)
        scorer = fitted.scorer
        assert isinstance(scorer, ChainScorer)
        share = 100 * float(_hits(scorer, dev).mean())
        by_value[f"{value:g}"] = round(share, 2)
        if best is None or share > best[0]:
            best = share, scorer, said
    assert best is not None
    return best[1], {**best[2], "development accuracy": by_value}


def learner_of(system: str, value: float) -> Learner:
    """Return a learner with a number of passes, or with C."""
    if system == PERCEPTRON:
        name = "random_subspace.StructuredPerceptron.v1"
        made: Learner = resolve({"learner": {"@disambig_learners": name, "passes": int(value)}})["learner"]
        return made
    return EG(C=value, loss=LOSSES[system], decoder=Chain(), epochs=EPOCHS)


def rows_of(name: str, found: Mapping[str, Mapping[str, Hits]]) -> list[Row]:
    """Return the accuracies."""
    return [
        Row(f"{name}, {system}", text, None, 100 * float(right.mean()), len(right))
        for system, by_text in found.items()
        for text, right in _with_all(by_text).items()
    ]


def claims_of(setting: Setting, found: Mapping[str, Mapping[str, Hits]]) -> list[Claim]:
    """Claim that packed EG is no worse than the perceptron, by a paired bootstrap over sentences."""
    sizes = [len(words) for sentences in setting.tests.values() for words, _ in sentences]
    units = np.repeat(np.arange(len(sizes)), sizes)
    outcomes = {
        system: Outcomes.of_group(
            ("right", "wrong"), np.zeros(len(units), int), ~_with_all(by_text)[ALL], units=units
        )
        for system, by_text in found.items()
    }
    claims = []
    for system in LOSSES:
        paired = paired_bootstrap(measure_named("accuracy"), outcomes[PERCEPTRON], outcomes[system])
        worse = paired.difference < 0 and paired.p < P
        evidence = f"{100 * paired.difference:+.2f} points (p = {paired.p:.2g})"
        claims.append(
            Claim(f"{setting.name}: {system} is no worse than the {PERCEPTRON}", not worse, evidence)
        )
    return claims


def _hits(scorer: ChainScorer, batch: SequenceRows) -> Hits:
    return hits(scorer.decode(batch.rows, batch.layout), batch)


def _with_all(by_text: Mapping[str, Hits]) -> dict[str, Hits]:
    return {**by_text, ALL: np.concatenate(list(by_text.values()))}


def _joined(by_genre: Mapping[str, Sequence[Sentence]]) -> list[Sentence]:
    return [sentence for sentences in by_genre.values() for sentence in sentences]


def _notes() -> list[str]:
    return [
        "the slides have no figures for tagging; all systems have the features of disambig.TokenContext.v1",
        "EWT: its own training, development and test parts; newspaper to web: the sample of the Wall Street "
        f"Journal, tested on all of EWT but {TO_CHOOSE}, on which settings were chosen (as in table 2 of "
        "Søgaard and Johannsen 2012, whose systems are in sogaard2012.table2, learned from fewer of its "
        "sentences)",
        f"passes ({', '.join(map(str, PASSES))}) and C ({', '.join(f'{v:g}' for v in VALUES)}, {EPOCHS} "
        "epochs at most) are those of the best accuracy on development sentences; p is of a paired "
        "bootstrap over sentences",
    ]
