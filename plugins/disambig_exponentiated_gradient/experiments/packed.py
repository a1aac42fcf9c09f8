"""``collins2005.packed``: charts, not lists, of sentences of at most 25 words ("local representations")."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api.experiments import ExperimentResult, Progress, Row, in_parts
from disambig.api.measures import Paired
from disambig_exponentiated_gradient.packed.training_charts import LONGEST, THRESHOLD
from disambig_exponentiated_gradient.treebank.corpora import (
    CRAFT,
    PENN,
    Split,
    craft_split,
    no_longer,
    penn_split,
)
from disambig_exponentiated_gradient.treebank.parseval import Parseval
from disambig_exponentiated_gradient.treebank.tree import Tree

from .packed_claims import Trees, claims_of, compared_pairs, panels_of, rows_of
from .packed_systems import COST, LEARNED, LOG, PCFG, Sizes, Task, courses, learned

PENN_NAMES = {"PTB 00 to 01": ("00", "01"), "PTB 01 to 00": ("01", "00")}
FIRST, CRAFT_NAME = "PTB 00 to 01", "CRAFT"
CRAFT_TREES, CRAFT_CHARTS, CRAFT_DEV, CRAFT_TEST = 6000, 2000, 300, 1000
"""Sentences of CRAFT: of the grammar, of charts to learn from, to choose by, to test on."""
QUICK = Sizes(charts=80, test=60, folds=2, epochs=6)


@dataclass(frozen=True, slots=True)
class Packed:
    """PCFG, perceptron and packed EG on the charts of three splits of two treebanks."""

    title: ClassVar[str] = "Collins 2005: training on packed charts, sentences of at most 25 words, in %"
    description: ClassVar[str] = "parsing: PCFG, averaged perceptron and packed EG on the same charts"
    needs: ClassVar[tuple[str, ...]] = (PENN, CRAFT)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Learn and test on each treebank; with `quick` on a few sentences of one."""
        return in_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Return the names of the treebanks."""
        return [FIRST] if quick else [CRAFT_NAME, *PENN_NAMES]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> Treebank:
        """Learn and test on one treebank."""
        step = 0

        def told(stage: str) -> None:
            nonlocal step
            progress(f"{name}: {stage}", step, 2 + len(LEARNED))
            step += 1

        sizes = QUICK if quick else Sizes(CRAFT_CHARTS if name == CRAFT_NAME else None)
        told("charts")
        split = craft_split(data) if name == CRAFT_NAME else penn_split(data, *PENN_NAMES[name])
        task = Task.of(*_trees(split, name, sizes), sizes)
        found: dict[str, Trees] = {PCFG: task.by_grammar}
        about: dict[str, Any] = _about(task)
        gold, charts = task.test
        values: dict[str, float] = {}
        for system in LEARNED:
            told(system)
            one = learned(task, system, sizes)
            before = time.perf_counter()
            found[system] = charts.trees(one.weights)
            spent = time.perf_counter() - before
            about[system] = {**one.about, "decoding, sentences a second": round(len(gold) / spent, 1)}
            if system in (COST, LOG):
                values[system] = one.about["C"]
        paths, by_grammar = None, 0.0
        if name == FIRST:
            told("courses")
            paths = courses(task, values, sizes.epochs)
            dev, dev_charts = task.dev
            by_grammar = 100 * Parseval.of(dev, dev_charts.parser.trees(dev_charts.sentences)).f1
        rows, pairs = rows_of(name, gold, found), compared_pairs(gold, found)
        return Treebank(rows, pairs, about, _note(name, task, about), paths, by_grammar)

    def joined(self, found: Mapping[str, Treebank], *, quick: bool) -> ExperimentResult:
        """Put the treebanks' figures together."""
        found = {name: found[name] for name in (*PENN_NAMES, CRAFT_NAME) if name in found}
        first = found[FIRST]
        assert first.paths is not None
        significance = {
            name: {f"{b} - {a}": [round(100 * at.difference, 3), at.p] for (a, b), at in each.pairs.items()}
            for name, each in found.items()
        }
        said = [
            f"Each edge of a chart has local features; grammars prune at {THRESHOLD:g}. Charts to learn from "
            "are made by grammars of the other folds, and a gold tree that such a grammar lacks has the "
            "derivation with the fewest wrong labels in its place. C, and the passes of the perceptron, are "
            f"those of the best F1 on development sentences. Sentences have at most {LONGEST} words, "
            "punctuation counted.",
            *(each.note for each in found.values()),
        ]
        if quick:
            said.append("a quick run: few sentences of one treebank")
        return ExperimentResult(
            [row for each in found.values() for row in each.rows],
            claims_of({name: each.pairs for name, each in found.items()}, first.paths),
            said,
            {
                **{name: each.about for name, each in found.items()},
                "paths": first.paths,
                "significance": significance,
            },
            panels_of(first.paths, first.by_grammar),
            places=2,
        )


@dataclass(frozen=True, slots=True)
class Treebank:
    """What one treebank gave.

    Attributes
    ----------
    rows : list of Row
    pairs : dict of Paired by two systems
    about : dict
        More figures, as plain values.
    note : str
    paths : dict, optional
        The courses of training, of the first treebank alone.
    by_grammar : float
        F1 of the PCFG on its development sentences, in %.
    """

    rows: list[Row]
    pairs: dict[tuple[str, str], Paired]
    about: dict[str, Any]
    note: str
    paths: dict[str, dict[str, list[float]]] | None
    by_grammar: float


def _trees(split: Split, treebank: str, sizes: Sizes) -> tuple[list[Tree], list[Tree], list[Tree]]:
    """Return trees to learn from, and those to choose by and to test on, of which none is too long."""
    train, dev, test = list(split.train), no_longer(split.dev, LONGEST), no_longer(split.test, LONGEST)
    if sizes is QUICK:
        return train[:600], dev[:30], _spread(test, sizes.test)
    if treebank == CRAFT_NAME:
        return _spread(train, CRAFT_TREES), _spread(dev, CRAFT_DEV), _spread(test, CRAFT_TEST)
    return train, dev, _spread(test, sizes.test)


def _spread(trees: list[Tree], most: int | None) -> list[Tree]:
    if most is None or len(trees) <= most:
        return trees
    return [trees[i] for i in np.linspace(0, len(trees) - 1, most).astype(np.int64).tolist()]


def _about(task: Task) -> dict[str, Any]:
    charts = task.charts
    return {
        "charts": len(charts),
        "edges": len(charts.cost),
        "features": len(task.batch.columns),
        "gold derivation missing": charts.gold_missing,
        "wrong labels in their place": charts.wrong_labels,
        "gold derivation put in again": charts.forced,
        "without a chart": charts.without_chart,
        "seconds to make charts": round(task.seconds, 1),
        "development sentences": len(task.dev[0]),
        "test sentences without a chart": len(task.test[0]) - len(task.test[1].charts),
    }


def _note(treebank: str, task: Task, about: dict[str, Any]) -> str:
    edges = about["edges"] / max(about["charts"], 1)
    return (
        f"{treebank}: {about['charts']:,} charts of {edges:,.0f} edges on average, "
        f"{about['features']:,} features, "
        f"{about['gold derivation missing']:,} without the gold derivation; C: "
        + ", ".join(f"{about[system]['C']:g} ({system})" for system in (COST, LOG))
        + "; seconds of training: "
        + ", ".join(f"{about[system]['seconds']:.0f} ({system})" for system in LEARNED)
        + "."
    )
