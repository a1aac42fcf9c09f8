"""``collins2005.tagging``: chains with packed dual variables, and the averaged perceptron."""

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
from disambig.api.experiments import (
    EWT,
    EWT_GENRES,
    EWT_SPLITS,
    Claim,
    ExperimentResult,
    Progress,
    ResultRow,
    ewt_sentences,
    run_parts,
)
from disambig.api.features import tagged_batch
from disambig.api.measures import Outcomes, measure_named, paired_bootstrap

from ..learners.eg import EG
from ..treebank.reading import PENN, penn_sections

Sentence = tuple[list[str], list[str]]
"""Words and their tags."""


def read_web(
    data: Path, genres: Sequence[str] = EWT_GENRES, splits: Sequence[str] = EWT_SPLITS
) -> list[Sentence]:
    """Return sentences of the English Web Treebank with their Penn tags."""
    return [(sentence.forms, sentence.tags) for sentence in ewt_sentences(data, splits, genres)]


def read_newspaper(data: Path) -> list[Sentence]:
    """Return the sentences of the sample of the Wall Street Journal."""
    return [
        (tree.words(), tree.tags())
        for files in penn_sections(data).values()
        for trees in files.values()
        for tree in trees
    ]


PERCEPTRON, COST, LOG = "averaged perceptron", "packed EG, cost", "packed EG, log loss"
LOSSES = {COST: "cost", LOG: "log"}
PASSES, VALUES = (3, 5, 8, 12), (0.03, 0.1, 0.3, 1.0)
"""Passes of the perceptron and values of C; those best on development sentences are chosen."""
EPOCHS = 12
DEV_GENRE = "email"
"""The genre on which settings for training on the newspaper are chosen, as by Søgaard and Johannsen."""
OWN, ACROSS = "EWT", "newspaper to web"
ALL, SIGNIFICANCE = "all", 0.05
QUICK_TRAIN, QUICK_TEST = 400, 150
Hits = NDArray[np.bool_]
Part = tuple[list[ResultRow], list[Claim], dict[str, Any]]
"""Figures, claims and details of a setting."""


@dataclass(frozen=True, slots=True)
class TaggingSetting:
    """Training data, tuning data, and test data by genre."""

    name: str
    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    tests: Mapping[str, Sequence[Sentence]]


@dataclass(frozen=True, slots=True)
class Collins2005Tagging:
    """Averaged perceptron and packed EG as taggers: EWT's own split, and a newspaper sample to the web."""

    title: ClassVar[str] = "Collins 2005: training on packed chains, accuracy of part-of-speech tags in %"
    description: ClassVar[str] = (
        "part-of-speech tagging: averaged perceptron and packed EG on the same features"
    )
    needs: ClassVar[tuple[str, ...]] = (PENN, EWT)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train and test in both settings; with `quick` on a few sentences of one."""
        return run_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Return the names of the settings."""
        return [OWN] if quick else [OWN, ACROSS]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Part:
        """Train and test in one setting."""
        setting = web_setting(data, quick=quick) if name == OWN else newspaper_setting(data)
        hits, details = evaluate_setting(setting, progress)
        return tagging_rows(name, hits), tagging_claims(setting, hits), details

    def joined(self, results: Mapping[str, Part], *, quick: bool) -> ExperimentResult:
        """Combine the results of the settings."""
        rows = [row for result, _, _ in results.values() for row in result]
        claims = [claim for _, result, _ in results.values() for claim in result]
        return ExperimentResult(
            rows, claims, _tagging_notes(), {name: result[2] for name, result in results.items()}, places=2
        )


def web_setting(data: Path, *, quick: bool = False) -> TaggingSetting:
    """Return EWT's own parts; with `quick` some sentences of each, and two genres for testing."""
    train, dev, test = (
        {genre: read_web(data, [genre], [split]) for genre in EWT_GENRES} for split in EWT_SPLITS
    )
    if not quick:
        return TaggingSetting(OWN, _join_genres(train), _join_genres(dev), test)
    few = {genre: test[genre][:QUICK_TEST] for genre in EWT_GENRES[:2]}
    return TaggingSetting(OWN, _join_genres(train)[:QUICK_TRAIN], _join_genres(dev)[:QUICK_TEST], few)


def newspaper_setting(data: Path) -> TaggingSetting:
    """Return a setting with a newspaper for training and the web for testing."""
    tests = {genre: read_web(data, [genre]) for genre in EWT_GENRES if genre != DEV_GENRE}
    return TaggingSetting(ACROSS, read_newspaper(data), read_web(data, [DEV_GENRE]), tests)


def evaluate_setting(
    setting: TaggingSetting, progress: Progress
) -> tuple[dict[str, dict[str, Hits]], dict[str, Any]]:
    """Return for each text and system which words are tagged correctly, and details of the systems."""
    tags = sorted({tag for _, tags in setting.train for tag in tags})
    train, extractor = tagged_batch(setting.train, tags)
    dev, _ = tagged_batch(setting.dev, tags, extractor)
    tests = {name: tagged_batch(part, tags, extractor)[0] for name, part in setting.tests.items()}
    systems = (PERCEPTRON, COST, LOG)
    hits: dict[str, dict[str, Hits]] = {}
    details: dict[str, Any] = {"words": len(train.costs), "features": int(train.rows.shape[1])}
    for number, system in enumerate(systems):
        progress(f"{setting.name}: {system}", number, len(systems))
        scorer, system_details = fit_tagger(system, train, dev)
        hits[system] = {name: _hits(scorer, batch) for name, batch in tests.items()}
        details[system] = system_details
    return hits, details


def fit_tagger(system: str, train: SequenceRows, dev: SequenceRows) -> tuple[ChainScorer, dict[str, Any]]:
    """Return the best scorer on development sentences, and a report on its training."""
    best: tuple[float, ChainScorer, dict[str, Any]] | None = None
    by_value: dict[str, float] = {}
    for value in PASSES if system == PERCEPTRON else VALUES:
        started = time.process_time()
        learner: Learner
        if system == PERCEPTRON:
            name = "random_subspace.StructuredPerceptron.v1"
            learner = resolve({"learner": {"@disambig_learners": name, "passes": int(value)}})["learner"]
        else:
            learner = EG(C=value, loss=LOSSES[system], decoder=Chain(), epochs=EPOCHS)
        fitted = learner.fit(train)
        keys = ("C", "passes", "epochs", "gap")
        details: dict[str, Any] = {key: fitted.report[key] for key in keys if key in fitted.report}
        details["seconds"] = round(time.process_time() - started, 1)
        scorer = fitted.scorer
        assert isinstance(scorer, ChainScorer)
        share = 100 * float(_hits(scorer, dev).mean())
        by_value[f"{value:g}"] = round(share, 2)
        if best is None or share > best[0]:
            best = share, scorer, details
    assert best is not None
    return best[1], {**best[2], "development accuracy": by_value}


def tagging_rows(name: str, hits: Mapping[str, Mapping[str, Hits]]) -> list[ResultRow]:
    """Return the accuracies."""
    return [
        ResultRow(f"{name}, {system}", text, None, 100 * float(right.mean()), len(right))
        for system, by_text in hits.items()
        for text, right in _with_all(by_text).items()
    ]


def tagging_claims(setting: TaggingSetting, hits: Mapping[str, Mapping[str, Hits]]) -> list[Claim]:
    """Claim that packed EG is no worse than the perceptron, by a paired bootstrap over sentences."""
    sizes = [len(words) for sentences in setting.tests.values() for words, _ in sentences]
    units = np.repeat(np.arange(len(sizes)), sizes)
    outcomes = {
        system: Outcomes.from_group(
            ("right", "wrong"), np.zeros(len(units), int), ~_with_all(by_text)[ALL], units=units
        )
        for system, by_text in hits.items()
    }
    claims = []
    for system in LOSSES:
        paired = paired_bootstrap(measure_named("accuracy"), outcomes[PERCEPTRON], outcomes[system])
        worse = paired.difference < 0 and paired.p < SIGNIFICANCE
        evidence = f"{100 * paired.difference:+.2f} points (p = {paired.p:.2g})"
        claims.append(
            Claim(f"{setting.name}: {system} is not worse than the {PERCEPTRON}", not worse, evidence)
        )
    return claims


def _hits(scorer: ChainScorer, batch: SequenceRows) -> Hits:
    """Return for each word whether its label is right."""
    predicted = scorer.decode(batch.rows, batch.layout)
    return np.asarray(batch.costs[np.arange(len(predicted)), predicted] == 0)


def _with_all(by_text: Mapping[str, Hits]) -> dict[str, Hits]:
    return {**by_text, ALL: np.concatenate(list(by_text.values()))}


def _join_genres(by_genre: Mapping[str, Sequence[Sentence]]) -> list[Sentence]:
    return [sentence for sentences in by_genre.values() for sentence in sentences]


def _tagging_notes() -> list[str]:
    return [
        "the slides have no figures for tagging; all systems have the features of disambig.TokenContext.v1",
        "EWT: its own training, development and test parts; newspaper to web: the sample of the Wall "
        f"Street Journal, tested on all of EWT except {DEV_GENRE}, on which settings were chosen (as in "
        "table 2 of Søgaard and Johannsen 2012; their systems are in sogaard2012.table2, trained on "
        "fewer of these sentences)",
        f"passes ({', '.join(map(str, PASSES))}) and C ({', '.join(f'{v:g}' for v in VALUES)}, at most "
        f"{EPOCHS} epochs) have the best accuracy on development sentences; p is from a paired bootstrap "
        "over sentences",
    ]
