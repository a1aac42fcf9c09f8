"""Measures how often the flags of the pack's models are right, and writes it beside them: ``trust.json``.

    python corpora/disambig_en/build.py DATA --trust

The curves are of the development part, without the flags on untouched paragraphs that show a mistake, as one
reader read them (`reading`); what they say is looked up on the test part beside it, for the card.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from material import CORRECTING, HOME, people, say
from reading import mistakes_read
from real_words import TASKS as REAL_WORDS
from scoring import save_figures

from disambig.data.trust import PUT_IN, TAKEN_OUT, Point, Trust
from disambig.evaluation.mistakes.checkers import Models
from disambig.evaluation.mistakes.trial import Trial
from disambig.evaluation.mistakes.trust import PER_1000, measured, share_at
from disambig.model.trust import write_trust

SHARES = (0.5, 2 / 3, 0.8, 0.9)
"""What the card shows: one in two, two in three, four in five, nine in ten."""


def measure_trust(data: Path) -> None:
    """Measure the models as they are, and write a file for each and the figures of the card."""
    checker = Models.named("+".join(f"disambig_en/{task}" for task in (*CORRECTING, *REAL_WORDS)))
    trials = {}
    for number, part in enumerate(("dev", "test")):
        say(f"trust: {part}", number, 2)
        trials[part] = Trial.of(checker, *people(data, part))
    dev = trials["dev"].without(mistakes_read(trials["dev"].clean))
    found = measured(dev, checker.limits(), text=_text(dev))
    for task in checker.tasks:
        path = HOME / "models" / task
        if task in found:
            write_trust(path, found[task])
        else:
            (path / "trust.json").unlink(missing_ok=True)
    rows = {
        f"{task}, {kind}" if kind else task: _rows(trust, trials["test"], kind)
        for task, trust in found.items()
        for kind in ("", *(kind for kind in (PUT_IN, TAKEN_OUT) if kind in trust.pairs))
    }
    tasks = {name: some for name, some in rows.items() if some}
    save_figures({"trust": {"per_1000": PER_1000, "text": _text(trials["dev"]), "tasks": tasks}})


def _text(trial: Trial) -> str:
    projects = len({each.repo for each in (*trial.fixes, *trial.clean)})
    return f"documentation of {projects} projects, as if {PER_1000:g} words in 1,000 were mistakes"


def _rows(trust: Trust, test: Trial, kind: str) -> list[dict[str, Any]]:
    """Return for each of `SHARES` the probability from which on it holds, and what both parts say there."""
    rows: list[dict[str, Any]] = []
    for asked in SHARES:
        points = trust.pairs[kind] if kind else trust.points
        point = next((point for point in points if point.share >= asked), None)
        if point is not None:
            beside = share_at(test, trust.task, point.least, kind=kind)
            rows.append({"asked": asked, "dev": _plain(point), "test": beside and _plain(beside)})
    return rows


def _plain(point: Point) -> dict[str, Any]:
    return {name: getattr(point, name) for name in Point.__slots__}
