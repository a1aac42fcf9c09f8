"""Systems on a sample of Senseval: what they chose, how it scores, how long it took, who is ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api.evaluation import mcnemar, senseval_score
from disambig.api.experiments import Claim, Progress

from ..systems import MOST_FREQUENT, System
from .editions import PARTS, Sample
from .occurrences import Index
from .trials import Bench, Seconds, decide, left_out, most_frequent, right

MFS = "most frequent sense"
OFFICIAL = "most frequent sense, as published"
"""Of the first sense of each training instance, P and U left out."""
SURE = 0.05
STAGES = ("reading", "tokens and tags", "features", "learning", "deciding")
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
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


def tried(
    sample: Sample, systems: Mapping[str, System], *, progress: Progress, stage: str = "learning"
) -> dict[str, Tried]:
    """Return what each system, and the most frequent sense, does on a sample."""
    bench = Bench(sample.occurrences, sample.train)
    found = {OFFICIAL: _official(sample), MFS: _tried(sample, MOST_FREQUENT, bench)}
    for done, (name, system) in enumerate(systems.items()):
        progress(f"{stage}: {name}", done, len(systems))
        found[name] = _tried(sample, system, bench)
    progress(stage, len(systems), len(systems))
    return found


def left_out_of(
    sample: Sample, systems: Mapping[str, System], *, progress: Progress, stage: str = "leave-one-out"
) -> dict[str, float]:
    """Return the leave-one-out accuracy of each system on the training part, in %."""
    occurrences, bench = sample.occurrences, Bench(sample.occurrences, sample.train)
    parts = [occurrences.of_word(word, sample.train) for word in range(len(occurrences.words))]
    found = {}
    for done, (name, system) in enumerate(systems.items()):
        progress(f"{stage}: {name}", done, len(systems))
        features, _ = bench.features(system)
        hits = sum(len(part) * left_out(system, features, occurrences, part) for part in parts)
        found[name] = 100 * hits / sample.n_train
    progress(stage, len(systems), len(systems))
    return found


def _tried(sample: Sample, system: System, bench: Bench) -> Tried:
    occurrences, clock = sample.occurrences, dict(sample.seconds)
    chosen = np.empty(len(occurrences), object)
    reports: list[Mapping[str, Any]] = []
    if system.extractors:
        features, clock["features"] = bench.features(system)
    for word in range(len(occurrences.words)):
        train, test = (occurrences.of_word(word, part) for part in (sample.train, sample.test))
        if system.extractors:
            found = decide(system, features, occurrences, train, [test], clock=clock, reports=reports)
        else:
            found = most_frequent(occurrences, train, [test], multiwords=system.multiwords)
        chosen[test] = found[0]
    answers = tuple(chosen[sample.test])
    return Tried(answers, right(occurrences, sample.test, answers), clock, reports)


def _official(sample: Sample) -> Tried:
    occurrences = sample.occurrences
    words = [occurrences.words[n] for n in occurrences.instances.groups[sample.test]]
    answers = tuple(sample.most_frequent[word] for word in words)
    return Tried(answers, right(occurrences, sample.test, answers), {})


def figures_of(sample: Sample, of: Tried) -> dict[str, tuple[float, int]]:
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
            each for each, place in zip(sample.ids, sample.test, strict=True) if _part(sample, place) == part
        ]
        if ids:
            found[name] = fine(ids)
    return found


def _part(sample: Sample, place: Index) -> str:
    word = sample.occurrences.words[int(sample.occurrences.instances.groups[place])]
    return word.rpartition(".")[2]


def against(
    claim: str, of: Mapping[str, Tried], scores: Mapping[str, float], first: str, second: str, *, sure: bool
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


def seconds_of(of: Mapping[str, Tried]) -> str:
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


def details_of(sample: Sample, of: Mapping[str, Tried]) -> Figures:
    """Return scores, seconds and the accuracy of each word, plain."""
    occurrences = sample.occurrences
    groups = occurrences.instances.groups[sample.test]
    return {
        name: {
            "scores": {setting: round(value, 3) for setting, (value, _) in figures_of(sample, each).items()},
            "seconds": {stage: round(value, 2) for stage, value in each.seconds.items()},
            "words": {
                word: round(100 * float(each.right[groups == n].mean()), 1)
                for n, word in enumerate(occurrences.words)
            },
            "settings": [_plain(report) for report in each.reports[:3]],
        }
        for name, each in of.items()
    }


def _plain(report: Mapping[str, Any]) -> Figures:
    return {key: value for key, value in report.items() if isinstance(value, str | int | float | bool)}
