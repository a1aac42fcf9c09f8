"""Senseval's English lexical sample: its editions, the scores of systems, and shared parts of both tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.evaluation import mcnemar, most_frequent_senses, senseval_score
from disambig.api.experiments import Claim, Progress, ResultRow
from disambig.api.formats import read_key, read_sensemap, read_senseval

from .systems import MOST_FREQUENT, SystemConfig, tokens
from .trials import (
    FeatureCache,
    Index,
    Seconds,
    WordOccurrence,
    WordOccurrences,
    decide_senses,
    is_right,
    leave_one_out,
    locate_occurrences,
    most_frequent,
    timed,
)

ENDINGS = ("", ".xz", ".gz", ".zst")
PARTS = {"n": "nouns", "v": "verbs", "a": "adjectives"}
EVERY = 5
"""With `quick`, every n-th word is taken."""


@dataclass(frozen=True, slots=True)
class SensevalEdition:
    """The files of one edition in the data directory; each may be compressed."""

    name: str
    folder: str
    train: str = "EnglishLS.train"
    test: str = "EnglishLS.test"
    key: str = "EnglishLS.test.key"
    sensemap: str = "EnglishLS.sensemap"

    @property
    def needs(self) -> tuple[str, ...]:
        """Patterns of the required files."""
        return tuple(f"{self.folder}/{name}*" for name in (self.train, self.test, self.key))

    def path(self, data: Path, name: str) -> Path | None:
        """Return the path of a file, compressed or not, or None if it does not exist."""
        paths = (data / self.folder / f"{name}{ending}" for ending in ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def is_there(self, data: Path) -> bool:
        """Return True if the training part, the test part and the key exist."""
        return all(self.path(data, name) for name in (self.train, self.test, self.key))


SENSEVAL_1 = SensevalEdition("Senseval-1", "labelled/senseval1")
SENSEVAL_2 = SensevalEdition(
    *("Senseval-2", "labelled/senseval2", "eng-lex-sample.training.xml", "eng-lex-sample.evaluation.xml"),
    *("key.sorted", "sensemap"),
)
SENSEVAL_3 = SensevalEdition("Senseval-3", "labelled/senseval3")
OTHERS = (SENSEVAL_1, SENSEVAL_3)
WHERE = (
    "{names}: not in the data. Get the English lexical sample from senseval.org or "
    "web.eecs.umich.edu/~mihalcea/senseval and put it, in the XML format of Senseval-3, into {folders} "
    "as EnglishLS.train, EnglishLS.test, EnglishLS.test.key and EnglishLS.sensemap (.xz, .gz or .zst if "
    "compressed)"
)


@dataclass(frozen=True, slots=True, eq=False)
class SensevalSample:
    """The data of an edition, with the training and test part in one view."""

    occurrences: WordOccurrences  # first the training part, then the test part
    n_train: int
    ids: tuple[str, ...]  # identifiers of the test instances
    key: Mapping[str, Any]
    sensemap: Any  # none if the edition has no map of senses
    most_frequent: Mapping[str, str]  # the sense of each word for the published baseline
    seconds: Seconds  # time for reading, and for tokens with tags and stems
    notes: tuple[str, ...] = ()  # the number of broken instances in its files, if any; these are left out

    @property
    def train(self) -> Index:
        """The training part."""
        return np.arange(self.n_train)

    @property
    def test(self) -> Index:
        """The test part."""
        return np.arange(self.n_train, len(self.occurrences))


def read_edition(edition: SensevalEdition, data: Path, *, quick: bool) -> SensevalSample:
    """Read an edition; with `quick` a fifth of its words, from each part of speech.

    Raises D737 if a word has no training example or a test instance is not in the key; errors of the readers.
    """
    clock: Seconds = {}
    warnings_by_file: dict[str, list[str]] = {edition.train: [], edition.test: []}
    with timed(clock, "reading"):
        train, test = (
            read_senseval(_path(edition, data, name), tell=warnings_by_file[name].append)
            for name in warnings_by_file
        )
        key = read_key(_path(edition, data, edition.key))
        mapped = edition.path(data, edition.sensemap)
        sensemap = None if mapped is None else read_sensemap(mapped)
    words = sorted({instance.word for instance in test})
    kept = set(sample_words(words) if quick else words)
    train, test = ([instance for instance in part if instance.word in kept] for part in (train, test))
    _check_parts(edition, data, train, test, key)
    both = [*train, *test]
    senses = [*(instance.senses for instance in train), *(key[instance.id] for instance in test)]
    word_occurrences = [
        WordOccurrence(n, instance.start, instance.end, instance.word, senses[n], instance.multiword)
        for n, instance in enumerate(both)
    ]
    with timed(clock, "tokens and tags"):
        view = tokens()([instance.text for instance in both])
    occurrences = locate_occurrences(view, word_occurrences)
    ids, usual = tuple(instance.id for instance in test), most_frequent_senses(train)
    notes = _broken_instances_note(edition, warnings_by_file)
    key = {id_: key[id_] for id_ in ids}
    return SensevalSample(occurrences, len(train), ids, key, sensemap, usual, clock, notes)


def sample_words(words: Sequence[str]) -> list[str]:
    """Return every n-th word (see `EVERY`) of each part of speech."""
    return [
        word
        for part in sorted({word.rpartition(".")[2] for word in words})
        for word in [other for other in words if other.rpartition(".")[2] == part][::EVERY]
    ]


def missing_files(data: Path) -> list[str]:
    """Return a note on the editions that are not in the data directory, if there are any."""
    absent = [edition for edition in OTHERS if not edition.is_there(data)]
    if not absent:
        return []
    return [
        WHERE.format(
            names=" and ".join(edition.name for edition in absent),
            folders=" and ".join(edition.folder for edition in absent),
        )
    ]


def _broken_instances_note(
    edition: SensevalEdition, warnings_by_file: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return a note on the broken instances (D488) of each file, if there are any."""
    counts = {
        name: sum(line.startswith("[D488]") for line in lines) for name, lines in warnings_by_file.items()
    }
    broken = ", ".join(f"{n} in {name}" for name, n in counts.items() if n)
    return (f"{edition.name}: broken instances, neither learned from nor scored: {broken}",) if broken else ()


def _path(edition: SensevalEdition, data: Path, name: str) -> Path:
    return edition.path(data, name) or data / edition.folder / name


def _check_parts(
    edition: SensevalEdition, data: Path, train: Sequence[Any], test: Sequence[Any], key: Mapping[str, Any]
) -> None:
    """Check that test instances are in the key, and their words in the training part (D737)."""
    trained_words = {instance.word for instance in train if instance.senses}
    path = data / edition.folder
    for instance in test:
        if instance.word not in trained_words:
            raise UserError("D737", path=path, problem=f"no training example of {instance.word}")
        if instance.id not in key:
            raise UserError("D737", path=path, problem=f"{instance.id} is not in the key")
    if not test:
        raise UserError("D737", path=path, problem="no test instance")


MFS = "most frequent sense"
OFFICIAL = "most frequent sense, as published"
"""Counted over the first sense of each training instance, without P and U."""
SIGNIFICANCE = 0.05
STAGES = ("reading", "tokens and tags", "features", "learning", "deciding")
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class SystemResults:
    """The results of a system on the test part."""

    chosen: tuple[str, ...]  # the chosen sense of each test instance
    right: NDArray[np.bool_]  # true if that is one of the key's senses
    seconds: Seconds  # processor time by stage that the system would take on its own
    reports: Sequence[Mapping[str, Any]] = ()  # the report of its learner on each word


def evaluate_systems(
    sample: SensevalSample,
    systems: Mapping[str, SystemConfig],
    *,
    progress: Progress,
    stage: str = "learning",
) -> dict[str, SystemResults]:
    """Return the results of each system, and of the most frequent sense, on a sample."""
    cache = FeatureCache(sample.occurrences, sample.train)
    results = {}
    words = sample.occurrences.instances.groups[sample.test]
    published = tuple(sample.most_frequent[sample.occurrences.words[word]] for word in words)
    results[OFFICIAL] = SystemResults(published, is_right(sample.occurrences, sample.test, published), {})
    results[MFS] = _evaluate_system(sample, MOST_FREQUENT, cache)
    for done, (name, system) in enumerate(systems.items()):
        progress(f"{stage}: {name}", done, len(systems))
        results[name] = _evaluate_system(sample, system, cache)
    progress(stage, len(systems), len(systems))
    return results


def leave_one_out_accuracies(
    sample: SensevalSample,
    systems: Mapping[str, SystemConfig],
    *,
    progress: Progress,
) -> dict[str, float]:
    """Return the leave-one-out accuracy of each system on the training part, in %."""
    occurrences, cache = sample.occurrences, FeatureCache(sample.occurrences, sample.train)
    parts = [occurrences.select_word(word, sample.train) for word in range(len(occurrences.words))]
    accuracies = {}
    for done, (name, system) in enumerate(systems.items()):
        progress(f"leave-one-out: {name}", done, len(systems))
        features, _ = cache.features(system)
        hits = sum(len(part) * leave_one_out(system, features, occurrences, part) for part in parts)
        accuracies[name] = 100 * hits / sample.n_train
    progress("leave-one-out", len(systems), len(systems))
    return accuracies


def _evaluate_system(sample: SensevalSample, system: SystemConfig, cache: FeatureCache) -> SystemResults:
    occurrences, clock = sample.occurrences, dict(sample.seconds)
    chosen = np.empty(len(occurrences), object)
    reports: list[Mapping[str, Any]] = []
    if system.extractors:
        features, clock["features"] = cache.features(system)
    for word in range(len(occurrences.words)):
        train, test = (occurrences.select_word(word, part) for part in (sample.train, sample.test))
        if system.extractors:
            chosen[test] = decide_senses(
                system, features, occurrences, train, test, clock=clock, reports=reports
            )
        else:
            chosen[test] = most_frequent(occurrences, train, test, multiwords=system.multiwords)
    answers = tuple(chosen[sample.test])
    return SystemResults(answers, is_right(occurrences, sample.test, answers), clock, reports)


def system_figures(sample: SensevalSample, results: SystemResults) -> dict[str, tuple[float, int]]:
    """Return the scores of a system in % and the numbers of instances, by granularity and part of speech."""
    answers = dict(zip(sample.ids, results.chosen, strict=True))

    def fine(ids: Sequence[str], **more: Any) -> tuple[float, int]:
        key = {id_: sample.key[id_] for id_ in ids}
        return 100 * senseval_score({id_: answers[id_] for id_ in ids}, key, **more).recall, len(ids)

    figures = {"fine": fine(sample.ids)}
    if sample.sensemap is not None:
        figures["coarse"] = fine(sample.ids, sensemap=sample.sensemap)
    words = [sample.occurrences.words[n] for n in sample.occurrences.instances.groups[sample.test]]
    for part, name in PARTS.items():
        ids = [id_ for id_, word in zip(sample.ids, words, strict=True) if word.rpartition(".")[2] == part]
        if ids:
            figures[name] = fine(ids)
    return figures


def compare_systems(
    claim: str,
    results: Mapping[str, SystemResults],
    scores: Mapping[str, float],
    first: str,
    second: str,
    *,
    significant: bool,
) -> Claim:
    """Return the claim that the first system is above the second and, if asked for, significantly so."""
    p = mcnemar(results[first].right, results[second].right)
    first_alone = int((results[first].right & ~results[second].right).sum())
    second_alone = int((results[second].right & ~results[first].right).sum())
    return Claim(
        claim,
        bool(scores[first] > scores[second]) and (p < SIGNIFICANCE or not significant),
        f"{scores[first]:.2f} and {scores[second]:.2f}: {scores[first] - scores[second]:+.2f} points; right "
        f"alone on {first_alone} and {second_alone} instances, p = {p:.2g}",
    )


def timing_note(results: Mapping[str, SystemResults]) -> str:
    """Return a note on the time that each system takes on its own."""
    learned = {name: result.seconds for name, result in results.items() if "learning" in result.seconds}
    first = next(iter(learned.values()))
    before = ", ".join(f"{stage} {first[stage]:.1f}" for stage in STAGES[:2])
    timings = [
        f"{name} {', '.join(f'{seconds.get(stage, 0.0):.1f}' for stage in STAGES[2:])}"
        for name, seconds in learned.items()
    ]
    return (
        "seconds of processor time to train and test on all words of Senseval-2: for every system "
        f"{before}; then {', '.join(STAGES[2:])}: {'; '.join(timings)}; the slowest takes "
        f"{max(sum(seconds.values()) for seconds in learned.values()):.1f} alone"
    )


def system_details(sample: SensevalSample, results: Mapping[str, SystemResults]) -> Figures:
    """Return scores, seconds and the accuracy on each word as plain values."""
    occurrences = sample.occurrences
    groups = occurrences.instances.groups[sample.test]
    return {
        name: {
            "scores": {
                setting: round(value, 3) for setting, (value, _) in system_figures(sample, result).items()
            },
            "seconds": {stage: round(value, 2) for stage, value in result.seconds.items()},
            "words": {
                word: round(100 * float(result.right[groups == n].mean()), 1)
                for n, word in enumerate(occurrences.words)
            },
            "settings": [
                {key: value for key, value in report.items() if isinstance(value, str | int | float | bool)}
                for report in result.reports[:3]
            ],
        }
        for name, result in results.items()
    }


SETTINGS = ("fine", "coarse", "nouns", "verbs", "adjectives")
PAPER = {
    "RLSC-LIN": {"fine": 65.2, "Senseval-1": 77.2, "Senseval-3": 71.8, "Senseval-3, coarse": 78.4},
    "RLSC-COMB": {"fine": 65.6, "Senseval-1": 77.5, "Senseval-3": 72.2, "Senseval-3, coarse": 78.4},
    "SVM-LIN": {"fine": 64.4, "Senseval-1": 77.1, "Senseval-3": 71.4},
    "SVM-COMB": {"fine": 64.2, "Senseval-1": 77.3, "Senseval-3": 70.8},
}
READINGS = (
    "Senseval-2 unless another edition is named; 'fine' gives full credit for any sense of the key, as "
    "the official scorer is said to do (we did not run it); 'coarse' maps senses to groups; nouns, verbs "
    "and adjectives are fine-grained; 'as published': the most frequent of the first senses of the "
    "training instances, without P and U, which is the published 47.6; p is from McNemar's test over "
    "instances"
)
TAGS = (
    "tags are those of the installed tagger (the paper: Brill's); Porter stems without spaCy's stop "
    "words; windows end at the sentence boundary, which is not a feature itself; words, tags and broad "
    "contexts otherwise as in the paper, lambda = 1e-9"
)
Scores = dict[str, tuple[float, int]]


def evaluate_editions(
    systems: Mapping[str, SystemConfig], data: Path, *, quick: bool, progress: Progress
) -> tuple[SensevalSample, dict[str, SystemResults], dict[str, dict[str, Scores]], list[str]]:
    """Run systems on Senseval-2 and on the other editions that are in the data directory."""
    progress("reading Senseval-2", 0, 1)
    sample = read_edition(SENSEVAL_2, data, quick=quick)
    results = evaluate_systems(sample, systems, progress=progress)
    notes = [READINGS, TAGS, *missing_files(data), *sample.notes]
    scores = {SENSEVAL_2.name: {name: system_figures(sample, result) for name, result in results.items()}}
    for edition in OTHERS:
        if edition.is_there(data):
            progress(f"reading {edition.name}", 0, 1)
            other = read_edition(edition, data, quick=quick)
            notes += other.notes
            other_results = evaluate_systems(other, systems, progress=progress, stage=edition.name)
            scores[edition.name] = {
                name: system_figures(other, result) for name, result in other_results.items()
            }
    return sample, results, scores, notes


def table_rows(scores: Mapping[str, Mapping[str, Scores]]) -> list[ResultRow]:
    """Return the rows of all systems, Senseval-2 first; missing editions have no figure."""
    rows = []
    for system, own_figures in scores[SENSEVAL_2.name].items():
        paper = PAPER.get(system, {})
        rows += [
            ResultRow(system, setting, paper.get(setting), *own_figures[setting])
            for setting in SETTINGS
            if setting in own_figures
        ]
        for edition in OTHERS:
            figures = scores.get(edition.name, {}).get(system, {})
            for reading, setting in (("fine", edition.name), ("coarse", f"{edition.name}, coarse")):
                if reading in figures or setting in paper:
                    value, n = figures.get(reading, (None, 0))
                    rows.append(ResultRow(system, setting, paper.get(setting), value, n))
    return rows
