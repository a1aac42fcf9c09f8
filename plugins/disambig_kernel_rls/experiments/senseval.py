"""Senseval's English lexical sample: its editions, systems scored on them, and what both tables of the paper share."""

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
    Bench,
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
"""Of the words, the quick form takes each so many-th."""


@dataclass(frozen=True, slots=True)
class SensevalEdition:
    """The files of one edition, below the data directory; each may be packed."""

    name: str
    folder: str
    train: str = "EnglishLS.train"
    test: str = "EnglishLS.test"
    key: str = "EnglishLS.test.key"
    sensemap: str = "EnglishLS.sensemap"

    @property
    def needs(self) -> tuple[str, ...]:
        """Patterns of the files without which nothing can be done."""
        return tuple(f"{self.folder}/{name}*" for name in (self.train, self.test, self.key))

    def path(self, data: Path, name: str) -> Path | None:
        """Return the file of that name, packed or not; None where there is none."""
        paths = (data / self.folder / f"{name}{ending}" for ending in ENDINGS)
        return next((path for path in paths if path.is_file()), None)

    def is_there(self, data: Path) -> bool:
        """Tell whether training part, test part and key are there."""
        return all(self.path(data, name) for name in (self.train, self.test, self.key))


SENSEVAL_1 = SensevalEdition("Senseval-1", "labelled/senseval1")
SENSEVAL_2 = SensevalEdition(
    "Senseval-2",
    "labelled/senseval2",
    "eng-lex-sample.training.xml",
    "eng-lex-sample.evaluation.xml",
    "key.sorted",
    "sensemap",
)
SENSEVAL_3 = SensevalEdition("Senseval-3", "labelled/senseval3")
OTHERS = (SENSEVAL_1, SENSEVAL_3)
WHERE = (
    "{names}: not in the data. Get the English lexical sample from senseval.org or "
    "web.eecs.umich.edu/~mihalcea/senseval and put it, in the XML form of Senseval-3, into {folders} as "
    "EnglishLS.train, EnglishLS.test, EnglishLS.test.key and EnglishLS.sensemap (.xz, .gz or .zst if packed)"
)


@dataclass(frozen=True, slots=True, eq=False)
class SensevalSample:
    """An edition read: training and test part in one view.

    Attributes
    ----------
    occurrences : Occurrences
        First the training part, then the test part.
    n_train : int
    ids : tuple of str
        Of the test part.
    key : mapping of str to Answer
    sensemap : object, optional
        None where the edition has none.
    most_frequent : mapping of str to str
        The sense of each word that gives the published baseline.
    seconds : dict
        Of reading, and of tokens with tags and stems.
    notes : tuple of str
        How many instances of its files are broken, if any are: they are left out.
    """

    occurrences: WordOccurrences
    n_train: int
    ids: tuple[str, ...]
    key: Mapping[str, Any]
    sensemap: Any
    most_frequent: Mapping[str, str]
    seconds: Seconds
    notes: tuple[str, ...] = ()

    @property
    def train(self) -> Index:
        """The training part."""
        return np.arange(self.n_train)

    @property
    def test(self) -> Index:
        """The test part."""
        return np.arange(self.n_train, len(self.occurrences))


def read_edition(edition: SensevalEdition, data: Path, *, quick: bool) -> SensevalSample:
    """Read an edition; with `quick` a fifth of its words, every part of speech among them.

    Raises
    ------
    UserError
        D737 where a word has no training example or the key does not know a test instance; those of the
        readers.
    """
    clock: Seconds = {}
    told: dict[str, list[str]] = {edition.train: [], edition.test: []}
    with timed(clock, "reading"):
        train, test = (read_senseval(_at(edition, data, name), tell=told[name].append) for name in told)
        key = read_key(_at(edition, data, edition.key))
        mapped = edition.path(data, edition.sensemap)
        sensemap = None if mapped is None else read_sensemap(mapped)
    words = sorted({each.word for each in test})
    kept = set(sample_words(words) if quick else words)
    train, test = ([each for each in part if each.word in kept] for part in (train, test))
    _check(edition, data, train, test, key)
    found = [
        WordOccurrence(
            n,
            each.start,
            each.end,
            each.word,
            each.senses if n < len(train) else key[each.id],
            each.multiword,
        )
        for n, each in enumerate([*train, *test])
    ]
    with timed(clock, "tokens and tags"):
        view = tokens()([each.text for each in [*train, *test]])
    ids = tuple(each.id for each in test)
    return SensevalSample(
        locate_occurrences(view, found),
        len(train),
        ids,
        {each: key[each] for each in ids},
        sensemap,
        most_frequent_senses(train),
        clock,
        _edition_problem(edition, told),
    )


def sample_words(words: Sequence[str]) -> list[str]:
    """Return a part of the words, taken evenly from each part of speech."""
    return [
        word
        for part in sorted({each.rpartition(".")[2] for each in words})
        for word in [each for each in words if each.rpartition(".")[2] == part][::EVERY]
    ]


def missing_files(data: Path) -> list[str]:
    """Return a note on the editions that are not in the data, if there are any."""
    absent = [edition for edition in OTHERS if not edition.is_there(data)]
    if not absent:
        return []
    return [
        WHERE.format(
            names=" and ".join(each.name for each in absent),
            folders=" and ".join(each.folder for each in absent),
        )
    ]


def _edition_problem(edition: SensevalEdition, told: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a note on the broken instances (D488) of each file, if there are any."""
    counts = {name: sum(line.startswith("[D488]") for line in lines) for name, lines in told.items()}
    found = ", ".join(f"{n} in {name}" for name, n in counts.items() if n)
    return (f"{edition.name}: broken instances, neither learned from nor scored: {found}",) if found else ()


def _at(edition: SensevalEdition, data: Path, name: str) -> Path:
    return edition.path(data, name) or data / edition.folder / name


def _check(
    edition: SensevalEdition, data: Path, train: Sequence[Any], test: Sequence[Any], key: Mapping[str, Any]
) -> None:
    known = {each.word for each in train if each.senses}
    path = data / edition.folder
    for each in test:
        if each.word not in known:
            raise UserError("D737", path=path, problem=f"no training example of {each.word}")
        if each.id not in key:
            raise UserError("D737", path=path, problem=f"{each.id} is not in the key")
    if not test:
        raise UserError("D737", path=path, problem="no test instance")


MFS = "most frequent sense"
OFFICIAL = "most frequent sense, as published"
"""Of the first sense of each training instance, P and U left out."""
SURE = 0.05
STAGES = ("reading", "tokens and tags", "features", "learning", "deciding")
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class SystemResults:
    """What a system did on the test part.

    Attributes
    ----------
    chosen : tuple of str
        The sense of each test instance.
    right : array of bool
        Whether that is one of the key's senses.
    seconds : dict
        By stage, in processor time: what the system alone would take.
    reports : sequence of dict
        What its learner said of each word.
    """

    chosen: tuple[str, ...]
    right: NDArray[np.bool_]
    seconds: Seconds
    reports: Sequence[Mapping[str, Any]] = ()


def evaluate_systems(
    sample: SensevalSample,
    systems: Mapping[str, SystemConfig],
    *,
    progress: Progress,
    stage: str = "learning",
) -> dict[str, SystemResults]:
    """Return what each system, and the most frequent sense, does on a sample."""
    bench = Bench(sample.occurrences, sample.train)
    found = {OFFICIAL: _official(sample), MFS: _evaluate_system(sample, MOST_FREQUENT, bench)}
    for done, (name, system) in enumerate(systems.items()):
        progress(f"{stage}: {name}", done, len(systems))
        found[name] = _evaluate_system(sample, system, bench)
    progress(stage, len(systems), len(systems))
    return found


def leave_one_out_accuracies(
    sample: SensevalSample,
    systems: Mapping[str, SystemConfig],
    *,
    progress: Progress,
    stage: str = "leave-one-out",
) -> dict[str, float]:
    """Return the leave-one-out accuracy of each system on the training part, in %."""
    occurrences, bench = sample.occurrences, Bench(sample.occurrences, sample.train)
    parts = [occurrences.select_word(word, sample.train) for word in range(len(occurrences.words))]
    found = {}
    for done, (name, system) in enumerate(systems.items()):
        progress(f"{stage}: {name}", done, len(systems))
        features, _ = bench.features(system)
        hits = sum(len(part) * leave_one_out(system, features, occurrences, part) for part in parts)
        found[name] = 100 * hits / sample.n_train
    progress(stage, len(systems), len(systems))
    return found


def _evaluate_system(sample: SensevalSample, system: SystemConfig, bench: Bench) -> SystemResults:
    occurrences, clock = sample.occurrences, dict(sample.seconds)
    chosen = np.empty(len(occurrences), object)
    reports: list[Mapping[str, Any]] = []
    if system.extractors:
        features, clock["features"] = bench.features(system)
    for word in range(len(occurrences.words)):
        train, test = (occurrences.select_word(word, part) for part in (sample.train, sample.test))
        if system.extractors:
            found = decide_senses(system, features, occurrences, train, [test], clock=clock, reports=reports)
        else:
            found = most_frequent(occurrences, train, [test], multiwords=system.multiwords)
        chosen[test] = found[0]
    answers = tuple(chosen[sample.test])
    return SystemResults(answers, is_right(occurrences, sample.test, answers), clock, reports)


def _official(sample: SensevalSample) -> SystemResults:
    occurrences = sample.occurrences
    words = [occurrences.words[n] for n in occurrences.instances.groups[sample.test]]
    answers = tuple(sample.most_frequent[word] for word in words)
    return SystemResults(answers, is_right(occurrences, sample.test, answers), {})


def system_figures(sample: SensevalSample, of: SystemResults) -> dict[str, tuple[float, int]]:
    """Return the scores of a system in % and the instances behind them, by reading and part of speech."""
    answers = dict(zip(sample.ids, of.chosen, strict=True))

    def fine(ids: Sequence[str], **more: Any) -> tuple[float, int]:
        key = {each: sample.key[each] for each in ids}
        return 100 * senseval_score({each: answers[each] for each in ids}, key, **more).recall, len(ids)

    found = {"fine": fine(sample.ids)}
    if sample.sensemap is not None:
        found["coarse"] = fine(sample.ids, sensemap=sample.sensemap)
    for part, name in PARTS.items():
        ids = [
            each
            for each, place in zip(sample.ids, sample.test, strict=True)
            if _part_score(sample, place) == part
        ]
        if ids:
            found[name] = fine(ids)
    return found


def _part_score(sample: SensevalSample, place: Index) -> str:
    word = sample.occurrences.words[int(sample.occurrences.instances.groups[place])]
    return word.rpartition(".")[2]


def compare_systems(
    claim: str,
    of: Mapping[str, SystemResults],
    scores: Mapping[str, float],
    first: str,
    second: str,
    *,
    sure: bool,
) -> Claim:
    """Claim that the first system is above the second; `sure` asks for p below `SURE`."""
    p = mcnemar(of[first].right, of[second].right)
    only = int((of[first].right & ~of[second].right).sum()), int((of[second].right & ~of[first].right).sum())
    return Claim(
        claim,
        bool(scores[first] > scores[second]) and (p < SURE or not sure),
        f"{scores[first]:.2f} and {scores[second]:.2f}: {scores[first] - scores[second]:+.2f} points; right "
        f"alone on {only[0]} and {only[1]} instances, p = {p:.2g}",
    )


def timing_note(of: Mapping[str, SystemResults]) -> str:
    """Return a note on how long a system takes alone."""
    learned = {name: each.seconds for name, each in of.items() if "learning" in each.seconds}
    first = next(iter(learned.values()))
    before = ", ".join(f"{stage} {first[stage]:.1f}" for stage in STAGES[:2])
    said = [
        f"{name} {', '.join(f'{seconds.get(stage, 0.0):.1f}' for stage in STAGES[2:])}"
        for name, seconds in learned.items()
    ]
    return (
        "seconds of processor time to train and test on all words of Senseval-2: for every system "
        f"{before}; then {', '.join(STAGES[2:])}: {'; '.join(said)}; the slowest takes "
        f"{max(sum(seconds.values()) for seconds in learned.values()):.1f} alone"
    )


def system_details(sample: SensevalSample, of: Mapping[str, SystemResults]) -> Figures:
    """Return scores, seconds and the accuracy of each word, plain."""
    occurrences = sample.occurrences
    groups = occurrences.instances.groups[sample.test]
    return {
        name: {
            "scores": {
                setting: round(value, 3) for setting, (value, _) in system_figures(sample, each).items()
            },
            "seconds": {stage: round(value, 2) for stage, value in each.seconds.items()},
            "words": {
                word: round(100 * float(each.right[groups == n].mean()), 1)
                for n, word in enumerate(occurrences.words)
            },
            "settings": [_plain_values(report) for report in each.reports[:3]],
        }
        for name, each in of.items()
    }


def _plain_values(report: Mapping[str, Any]) -> Figures:
    return {key: value for key, value in report.items() if isinstance(value, str | int | float | bool)}


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


def evaluate_editions(
    systems: Mapping[str, SystemConfig], data: Path, *, quick: bool, progress: Progress
) -> tuple[SensevalSample, dict[str, SystemResults], dict[str, dict[str, Scores]], list[str]]:
    """Try systems on Senseval-2 and on the other editions that are there.

    Returns
    -------
    The sample of Senseval-2, what each system did on it, the scores of each edition and system, and notes.
    """
    progress("reading Senseval-2", 0, 1)
    sample = read_edition(SENSEVAL_2, data, quick=quick)
    found = evaluate_systems(sample, systems, progress=progress)
    notes = [READINGS, TAGS, *missing_files(data), *sample.notes]
    scores = {SENSEVAL_2.name: {name: system_figures(sample, each) for name, each in found.items()}}
    for edition in OTHERS:
        if edition.is_there(data):
            progress(f"reading {edition.name}", 0, 1)
            other = read_edition(edition, data, quick=quick)
            notes += other.notes
            there = evaluate_systems(other, systems, progress=progress, stage=edition.name)
            scores[edition.name] = {name: system_figures(other, each) for name, each in there.items()}
    return sample, found, scores, notes


def table_rows(scores: Mapping[str, Mapping[str, Scores]]) -> list[ResultRow]:
    """Return the rows of all systems, Senseval-2 first; editions that are not there have no figure."""
    rows = []
    for system, ours in scores[SENSEVAL_2.name].items():
        paper = PAPER.get(system, {})
        rows += [
            ResultRow(system, setting, paper.get(setting), *ours[setting])
            for setting in SETTINGS
            if setting in ours
        ]
        for edition in OTHERS:
            there = scores.get(edition.name, {}).get(system, {})
            for reading, setting in (("fine", edition.name), ("coarse", f"{edition.name}, coarse")):
                if reading in there or setting in paper:
                    value, n = there.get(reading, (None, 0))
                    rows.append(ResultRow(system, setting, paper.get(setting), value, n))
    return rows
