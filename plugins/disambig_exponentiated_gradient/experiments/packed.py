"""``collins2005.packed``: charts instead of lists, for sentences of at most 25 words (local features)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import LinearScorer
from disambig.api.arrays import Floats
from disambig.api.batches import PartRows
from disambig.api.decoding import Hypergraph, averaged_perceptron, structured_examples
from disambig.api.experiments import Claim, ExperimentResult, Panel, Progress, ResultRow, run_parts
from disambig.api.measures import Outcomes, Paired, paired_bootstrap
from disambig.api.tasks import CandidateLists

from ..grammar.treebank_grammar import TreebankGrammar, TreebankParser
from ..learners.eg import EG, run_epochs
from ..learners.pairwise import PairwiseCharts
from ..learners.part_duals import ChartDual
from ..packed_parser.features import ChartVocabulary
from ..packed_parser.parser import MIN_PARTS, ChartBatch
from ..packed_parser.training_charts import LONGEST, THRESHOLD, TrainingCharts
from ..treebank.parseval import BracketF1, Parseval
from ..treebank.reading import (
    CRAFT,
    PENN,
    CorpusSplit,
    craft_split,
    filter_by_length,
    penn_split,
    spread_evenly,
)
from ..treebank.tree import Tree, format_one_line

PCFG, PERCEPTRON, COST, LOG = "PCFG", "averaged perceptron", "packed EG, cost", "packed EG, log loss"
LEARNED = (PERCEPTRON, COST, LOG)
LOSSES = {COST: "cost", LOG: "log"}
PAIRWISE = "pairwise"
UPDATES = {COST: (PAIRWISE, "online", "batch"), LOG: ("online", "batch")}
"""Updates whose training curves are shown; the first are those of the systems that are compared."""
VALUES = (0.03, 0.1, 0.3)
"""Values of C tried on development data."""
PASSES = (3, 10)
"""Numbers of passes of the perceptron tried on development data."""


@dataclass(frozen=True, slots=True)
class PackedSizes:
    """Amounts of data from a treebank."""

    charts: int | None = None  # number of training sentences
    test: int | None = None  # number of test sentences, evenly spread
    folds: int = 8
    epochs: int = 20


@dataclass(frozen=True, slots=True, eq=False)
class PackedProblem:
    """One treebank with charts for training, tuning and testing."""

    charts: TrainingCharts
    batch: PartRows
    # (gold trees, charts)
    dev: tuple[list[Tree], ChartBatch]
    test: tuple[list[Tree], ChartBatch]
    by_grammar: list[Tree | None]  # the trees of the PCFG for the test sentences
    seconds: float  # seconds for grammars and training charts

    @classmethod
    def from_trees(
        cls, train: Sequence[Tree], dev: list[Tree], test: list[Tree], sizes: PackedSizes
    ) -> PackedProblem:
        """Return the problem for some trees."""
        started = time.perf_counter()
        grammar = TreebankGrammar.from_trees(train)
        charts = TrainingCharts.held_out(train, folds=sizes.folds, maximum=sizes.charts)
        vocabulary = ChartVocabulary.from_features(charts.features, MIN_PARTS)
        batch = vocabulary.batch(charts.features, charts.graphs, charts.cost)
        seconds = time.perf_counter() - started
        parser = TreebankParser(grammar, THRESHOLD)
        dev_charts, test_charts = (
            ChartBatch.from_sentences(parser, [tree.words() for tree in trees], vocabulary)
            for trees in (dev, test)
        )
        by_grammar = TreebankParser(grammar).trees([tree.words() for tree in test])
        return cls(charts, batch, (dev, dev_charts), (test, test_charts), by_grammar, seconds)

    def figures(self, weights: Floats) -> Parseval:
        """Return the bracket counts of the development sentences for some weights."""
        trees, charts = self.dev
        return Parseval.from_trees(trees, charts.trees(weights))


def fit_packed_system(
    problem: PackedProblem, system: str, sizes: PackedSizes
) -> tuple[Floats, dict[str, Any]]:
    """Return the weights of a system, and a report on its training as plain values.

    C or the number of passes is the one with the best F1 on development data.
    """
    tried: dict[str, float] = {}
    best_f1, best_weights, best_about = -1.0, np.zeros(0), dict[str, Any]()
    for value in PASSES if system == PERCEPTRON else VALUES:
        details: dict[str, Any]
        if system == PERCEPTRON:
            started = time.perf_counter()
            examples = structured_examples(problem.batch, Hypergraph())
            weights, mistakes = averaged_perceptron(examples, passes=int(value), seed=0)
            seconds = round(time.perf_counter() - started, 1)
            details = {"passes": int(value), "mistakes": mistakes, "seconds": seconds}
        else:
            learner = EG(C=value, loss=LOSSES[system], decoder=Hypergraph(), epochs=sizes.epochs)
            fitted = learner.fit(problem.batch)
            assert isinstance(fitted.scorer, LinearScorer)
            weights = fitted.scorer.weights
            details = {name: fitted.report[name] for name in ("C", "epochs", "gap", "gold_missing")}
            details["seconds"] = fitted.report["path"]["seconds"][-1]
        f1 = tried[f"{value:g}"] = round(100 * problem.figures(weights).f1, 2)
        if f1 > best_f1:
            best_f1, best_weights, best_about = f1, weights, details
    return best_weights, {**best_about, "development F1": tried}


def training_curves(
    problem: PackedProblem, values: dict[str, float], epochs: int
) -> dict[str, dict[str, list[float]]]:
    """Return the training curves for each loss and each kind of updates, with F1 by epoch.

    `values` is C for each of `LOSSES`.
    """
    curves = {}
    for system, C in values.items():
        for updates in UPDATES[system]:
            batch, is_pairwise = problem.batch, updates == PAIRWISE
            dual = PairwiseCharts(batch, C) if is_pairwise else ChartDual(batch, LOSSES[system], C)
            history = run_epochs(
                dual,
                updates=updates,
                epochs=epochs,
                gap=1e-3,
                rng=np.random.default_rng(0),
                watch=lambda weights: 100 * problem.figures(weights).f1,
            )
            path = history.report()["path"]
            path["F1"] = path.pop("dev_cost")
            curves[f"{system}, {updates}"] = path
    return curves


Trees = Sequence[Tree | None]
SystemPairs = dict[str, dict[str, Paired]]
"""Comparisons by the first and the second system."""
FIGURES = ("F1", "precision", "recall", "exact")


def packed_rows(treebank: str, gold: Sequence[Tree], parsed: Mapping[str, Trees]) -> list[ResultRow]:
    """Return the figures of all systems on one treebank."""
    rows = []
    for system, trees in parsed.items():
        counts = Parseval.from_trees(gold, trees)
        for figure in FIGURES:
            value = 100 * float(getattr(counts, figure.lower()))
            rows.append(ResultRow(f"{treebank}, {system}", figure, None, value, len(gold)))
    return rows


def compared_pairs(gold: Sequence[Tree], parsed: Mapping[str, Trees]) -> SystemPairs:
    """Return the differences in F1 of the pairs of systems in the claims: paired bootstrap over sentences."""
    references = [format_one_line(tree) for tree in gold]
    outcomes = {}
    for system, trees in parsed.items():
        texts = [["" if tree is None else format_one_line(tree)] for tree in trees]
        outcomes[system] = Outcomes.from_lists(CandidateLists.from_texts(texts), references=references)
    compared = {PCFG: LEARNED, PERCEPTRON: (COST, LOG), LOG: (COST,)}
    return {
        first: {
            second: paired_bootstrap(BracketF1(), outcomes[first], outcomes[second]) for second in seconds
        }
        for first, seconds in compared.items()
    }


def packed_claims(
    pairs: Mapping[str, SystemPairs], paths: Mapping[str, Mapping[str, Sequence[float]]]
) -> list[Claim]:
    """Return the claims about packed training, from the comparisons by treebank and the training curves."""
    against_grammar = [paired[PCFG][system] for system in (COST, LOG) for paired in pairs.values()]
    against_perceptron = [paired[PERCEPTRON][COST] for paired in pairs.values()]
    losses = [paired[LOG][COST] for paired in pairs.values()]
    gaps = {name: path["gap"] for name, path in paths.items() if not name.endswith("batch")}
    pairwise = {name: gaps.pop(name) for name in list(gaps) if name.endswith(PAIRWISE)}
    return [
        Claim(
            "packed training beats the PCFG, with either loss on each treebank (p < 0.05)",
            all(comparison.difference > 0 and comparison.p < 0.05 for comparison in against_grammar),
            _claim_text(pairs, [(PCFG, COST), (PCFG, LOG)]),
        ),
        Claim(
            "packed EG with costs is not worse than the averaged perceptron on the same charts",
            not any(comparison.difference < 0 and comparison.p < 0.05 for comparison in against_perceptron),
            _claim_text(pairs, [(PERCEPTRON, COST)]),
        ),
        Claim(
            "the log loss is not better than the cost-sensitive hinge",
            not any(comparison.difference < 0 and comparison.p < 0.05 for comparison in losses),
            _claim_text(pairs, [(LOG, COST)]),
        ),
        Claim(
            "with online updates it converges in about ten passes: a relative gap of at most 5 % after ten",
            *_gap_after_ten(gaps),
        ),
        Claim("with costs, pairwise steps do: at most 5 % after ten passes", *_gap_after_ten(pairwise)),
    ]


def _gap_after_ten(gaps: Mapping[str, Sequence[float]]) -> tuple[bool, str]:
    """Return whether all relative gaps are at most 5 % after ten passes, and the gaps."""
    after = {name: gap[min(10, len(gap)) - 1] for name, gap in gaps.items()}
    return all(gap <= 0.05 for gap in after.values()), "; ".join(
        f"{name}: {gap:.3g}" for name, gap in after.items()
    )


def _claim_text(pairs: Mapping[str, SystemPairs], compared: Sequence[tuple[str, str]]) -> str:
    """Return the differences between pairs of systems on each treebank."""
    phrases = []
    for treebank, by_system in pairs.items():
        for first, second in compared:
            paired = by_system[first][second]
            phrases.append(
                f"{treebank}, {second} {100 * paired.difference:+.2f} compared with {first} "
                f"(p = {paired.p:.2g})"
            )
    return "; ".join(phrases)


def packed_panels(paths: Mapping[str, Mapping[str, Sequence[float]]], by_grammar: float) -> list[Panel]:
    """Return objectives, gaps and F1 by epoch."""

    def line(name: str, key: str) -> list[tuple[float, float]]:
        return [(float(epoch), float(value)) for epoch, value in enumerate(paths[name][key], 1)]

    objectives = {
        f"{key}, {updates}": [(x, y / 1000) for x, y in line(f"{COST}, {updates}", key)]
        for updates in UPDATES[COST]
        for key in ("primal", "dual")
    }
    top = 3.0 * max(y for name, curve in objectives.items() if name.startswith("dual") for _, y in curve)
    objectives = {name: [(x, min(y, top)) for x, y in curve] for name, curve in objectives.items()}
    f1 = {name: line(name, "F1") for name in paths if not name.endswith("batch")}
    last = max(len(curve) for curve in f1.values())
    f1[PCFG] = [(1.0, by_grammar), (float(last), by_grammar)]
    return [
        Panel(f"{COST}: objective and its dual", "epochs", "thousands (cut off above)", objectives),
        Panel(
            "relative gap",
            "epochs",
            "%",
            {name: [(x, 100 * min(y, 1.0)) for x, y in line(name, "gap")] for name in paths},
        ),
        Panel("F1 on development sentences", "epochs", "%", f1),
    ]


PENN_NAMES = {"PTB 00 to 01": ("00", "01"), "PTB 01 to 00": ("01", "00")}
FIRST, CRAFT_NAME = "PTB 00 to 01", "CRAFT"
CRAFT_TREES, CRAFT_CHARTS, CRAFT_DEV, CRAFT_TEST = 6000, 2000, 300, 1000
"""Numbers of CRAFT's sentences for the grammar, training charts, tuning and testing."""
QUICK = PackedSizes(charts=80, test=60, folds=2, epochs=6)


@dataclass(frozen=True, slots=True)
class Collins2005Packed:
    """PCFG, perceptron and packed EG on the charts of three splits of two treebanks."""

    title: ClassVar[str] = "Collins 2005: training on packed charts, sentences of at most 25 words, in %"
    description: ClassVar[str] = "parsing: PCFG, averaged perceptron and packed EG on the same charts"
    needs: ClassVar[tuple[str, ...]] = (PENN, CRAFT)

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Train and test on each treebank; with `quick` on a few sentences of one."""
        return run_parts(self, data=data, quick=quick, progress=progress)

    def parts(self, *, data: Path, quick: bool, progress: Progress) -> list[str]:
        """Return the names of the treebanks."""
        return [FIRST] if quick else [CRAFT_NAME, *PENN_NAMES]

    def part(self, name: str, *, data: Path, quick: bool, progress: Progress) -> PackedTreebank:
        """Train and test on one treebank."""
        step = 0

        def report(stage: str) -> None:
            nonlocal step
            progress(f"{name}: {stage}", step, 2 + len(LEARNED))
            step += 1

        sizes = QUICK if quick else PackedSizes(CRAFT_CHARTS if name == CRAFT_NAME else None)
        report("charts")
        split = craft_split(data) if name == CRAFT_NAME else penn_split(data, *PENN_NAMES[name])
        problem = PackedProblem.from_trees(*_read_trees(split, name, sizes), sizes)
        trees: dict[str, Trees] = {PCFG: problem.by_grammar}
        details: dict[str, Any] = _describe_run(problem)
        gold, charts = problem.test
        for system in LEARNED:
            report(system)
            weights, details[system] = fit_packed_system(problem, system, sizes)
            started = time.perf_counter()
            trees[system] = charts.trees(weights)
            spent = time.perf_counter() - started
            details[system]["decoding, sentences a second"] = round(len(gold) / spent, 1)
        paths, by_grammar = None, 0.0
        if name == FIRST:
            report("courses")
            values = {system: details[system]["C"] for system in LOSSES}
            paths = training_curves(problem, values, sizes.epochs)
            dev, dev_charts = problem.dev
            by_grammar = 100 * Parseval.from_trees(dev, dev_charts.parser.trees(dev_charts.sentences)).f1
        rows, pairs = packed_rows(name, gold, trees), compared_pairs(gold, trees)
        return PackedTreebank(rows, pairs, details, _note(name, problem, details), paths, by_grammar)

    def joined(self, results: Mapping[str, PackedTreebank], *, quick: bool) -> ExperimentResult:
        """Combine the results of the treebanks."""
        results = {name: results[name] for name in (*PENN_NAMES, CRAFT_NAME) if name in results}
        first = results[FIRST]
        assert first.paths is not None
        significance = {
            name: {
                f"{second} - {first}": [round(100 * paired.difference, 3), paired.p]
                for first, seconds in result.pairs.items()
                for second, paired in seconds.items()
            }
            for name, result in results.items()
        }
        notes = [
            f"Each edge of a chart has local features; grammars prune at {THRESHOLD:g}. Training charts "
            "are made by grammars of the other folds; if such a grammar lacks a gold tree, the "
            "derivation with the fewest wrong labels replaces it. C and the perceptron's number of "
            f"passes have the best F1 on development sentences. Sentences have at most {LONGEST} words, "
            "punctuation counted.",
            *(result.note for result in results.values()),
        ]
        if quick:
            notes.append("a quick run: few sentences of one treebank")
        rows = [row for result in results.values() for row in result.rows]
        claims = packed_claims({name: result.pairs for name, result in results.items()}, first.paths)
        details: dict[str, Any] = {name: result.details for name, result in results.items()}
        details |= {"paths": first.paths, "significance": significance}
        panels = packed_panels(first.paths, first.by_grammar)
        return ExperimentResult(rows, claims, notes, details, panels, places=2)


@dataclass(frozen=True, slots=True)
class PackedTreebank:
    """Results of one treebank."""

    rows: list[ResultRow]
    pairs: SystemPairs  # the comparisons of pairs of systems
    details: dict[str, Any]  # further figures, as plain values
    note: str
    paths: dict[str, dict[str, list[float]]] | None  # training curves, only for the first treebank
    by_grammar: float  # F1 of the PCFG on the development sentences, in %


def _read_trees(
    split: CorpusSplit, treebank: str, sizes: PackedSizes
) -> tuple[list[Tree], list[Tree], list[Tree]]:
    """Return trees for training, and for tuning and testing, without sentences that are too long."""
    train = list(split.train)
    dev, test = (filter_by_length(trees, LONGEST) for trees in (split.dev, split.test))
    if sizes is QUICK:
        return train[:600], dev[:30], spread_evenly(test, sizes.test)
    if treebank == CRAFT_NAME:
        return (
            spread_evenly(train, CRAFT_TREES),
            spread_evenly(dev, CRAFT_DEV),
            spread_evenly(test, CRAFT_TEST),
        )
    return train, dev, spread_evenly(test, sizes.test)


def _describe_run(problem: PackedProblem) -> dict[str, Any]:
    charts = problem.charts
    return {
        "charts": len(charts),
        "edges": len(charts.cost),
        "features": len(problem.batch.columns),
        "gold derivation missing": charts.gold_missing,
        "wrong labels in their place": charts.wrong_labels,
        "gold derivation put in again": charts.forced,
        "without a chart": charts.without_chart,
        "seconds to make charts": round(problem.seconds, 1),
        "development sentences": len(problem.dev[0]),
        "test sentences without a chart": len(problem.test[0]) - len(problem.test[1].charts),
    }


def _note(treebank: str, problem: PackedProblem, details: dict[str, Any]) -> str:
    edges = details["edges"] / max(details["charts"], 1)
    return (
        f"{treebank}: {details['charts']:,} charts of {edges:,.0f} edges on average, "
        f"{details['features']:,} features, "
        f"{details['gold derivation missing']:,} without the gold derivation; C: "
        + ", ".join(f"{details[system]['C']:g} ({system})" for system in (COST, LOG))
        + "; seconds of training: "
        + ", ".join(f"{details[system]['seconds']:.0f} ({system})" for system in LEARNED)
        + "."
    )
