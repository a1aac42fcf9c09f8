"""What `packed` compares on the charts of one treebank: the PCFG and three ways to weigh features."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import LinearScorer
from disambig.api.batches import PartRows
from disambig.api.decoding import Hypergraph, averaged_perceptron, structures_of
from disambig_exponentiated_gradient.grammar.parsing import TreebankParser
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar
from disambig_exponentiated_gradient.learning.chart_dual import ChartDual
from disambig_exponentiated_gradient.learning.course import run
from disambig_exponentiated_gradient.learning.learner import EG
from disambig_exponentiated_gradient.packed.parser import LEAST, ChartsToParse
from disambig_exponentiated_gradient.packed.training_charts import THRESHOLD, TrainingCharts
from disambig_exponentiated_gradient.packed.vocabulary import ChartVocabulary
from disambig_exponentiated_gradient.treebank.parseval import Parseval
from disambig_exponentiated_gradient.treebank.tree import Tree

Floats = NDArray[np.float64]
PCFG, PERCEPTRON, COST, LOG = "PCFG", "averaged perceptron", "packed EG, cost", "packed EG, log loss"
LEARNED = (PERCEPTRON, COST, LOG)
LOSSES = {COST: "cost", LOG: "log"}
VALUES = (0.03, 0.1, 0.3)
"""C tried on development data."""
PASSES = (3, 10)
"""Of the perceptron, tried on development data."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of a treebank is used.

    Attributes
    ----------
    charts : int, optional
        Sentences to learn weights from.
    test : int, optional
        Sentences to test on, evenly spread.
    folds : int
    epochs : int
    """

    charts: int | None = None
    test: int | None = None
    folds: int = 8
    epochs: int = 20


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One treebank, ready: charts to learn from, to choose by and to test on.

    Attributes
    ----------
    charts : TrainingCharts
    batch : PartRows
    dev, test : tuple of (gold trees, charts)
    by_grammar : list of Tree or None
        The trees of the PCFG for the test sentences.
    seconds : float
        To make grammars and charts to learn from.
    """

    charts: TrainingCharts
    batch: PartRows
    dev: tuple[list[Tree], ChartsToParse]
    test: tuple[list[Tree], ChartsToParse]
    by_grammar: list[Tree | None]
    seconds: float

    @classmethod
    def of(cls, train: Sequence[Tree], dev: list[Tree], test: list[Tree], sizes: Sizes) -> Task:
        """Return the task of some trees."""
        before = time.perf_counter()
        grammar = TreebankGrammar.of(train)
        charts = TrainingCharts.held_out(train, folds=sizes.folds, most=sizes.charts)
        vocabulary = ChartVocabulary.of(charts.features, LEAST)
        batch = vocabulary.batch(charts.features, charts.graphs, charts.cost)
        seconds = time.perf_counter() - before
        parser = TreebankParser(grammar, THRESHOLD)
        dev_charts, test_charts = (
            ChartsToParse.of(parser, [tree.words() for tree in trees], vocabulary) for trees in (dev, test)
        )
        by_grammar = TreebankParser(grammar).trees([tree.words() for tree in test])
        return cls(charts, batch, (dev, dev_charts), (test, test_charts), by_grammar, seconds)

    def figures(self, weights: Floats) -> Parseval:
        """Return the counts of the development sentences by some weights."""
        trees, charts = self.dev
        return Parseval.of(trees, charts.trees(weights))


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The weights of one system, and how they were found.

    Attributes
    ----------
    weights : array of float64
    about : dict
        Plain values: C or passes, seconds, F1 on development data by each value tried.
    """

    weights: Floats
    about: dict[str, Any]


def learned(task: Task, system: str, sizes: Sizes) -> Learned:
    """Return the weights of a system; its C or number of passes has the best F1 on development data."""
    tried: dict[str, float] = {}
    best: Learned | None = None
    most = -1.0
    for value in PASSES if system == PERCEPTRON else VALUES:
        if system == PERCEPTRON:
            found = _by_perceptron(task, int(value))
        else:
            learner = EG(C=value, loss=LOSSES[system], decoder=Hypergraph(), epochs=sizes.epochs)
            fitted = learner.fit(task.batch)
            about = {name: fitted.report[name] for name in ("C", "epochs", "gap", "gold_missing")}
            seconds = fitted.report["path"]["seconds"][-1]
            scorer = fitted.scorer
            assert isinstance(scorer, LinearScorer)
            found = Learned(scorer.weights, {**about, "seconds": seconds})
        tried[f"{value:g}"] = round(100 * task.figures(found.weights).f1, 2)
        if tried[f"{value:g}"] > most:
            best, most = found, tried[f"{value:g}"]
    assert best is not None
    return Learned(best.weights, {**best.about, "development F1": tried})


def _by_perceptron(task: Task, passes: int) -> Learned:
    before = time.perf_counter()
    examples = structures_of(task.batch, Hypergraph())
    weights, mistakes = averaged_perceptron(examples, passes=passes, seed=0)
    seconds = round(time.perf_counter() - before, 1)
    return Learned(weights, {"passes": passes, "mistakes": mistakes, "seconds": seconds})


def courses(task: Task, values: dict[str, float], epochs: int) -> dict[str, dict[str, list[float]]]:
    """Return the paths of training at a C for each loss, online and all at once, with F1 by epoch.

    Parameters
    ----------
    task : Task
    values : dict
        Of each of `LOSSES` its C.
    epochs : int
    """
    found = {}
    for system, C in values.items():
        for updates in ("online", "batch"):
            dual = ChartDual(task.batch, LOSSES[system], C)
            course = run(
                dual,
                updates=updates,
                epochs=epochs,
                gap=1e-3,
                rng=np.random.default_rng(0),
                watch=lambda weights: 100 * task.figures(weights).f1,
            )
            path = course.report()["path"]
            path["F1"] = path.pop("dev_cost")
            found[f"{system}, {updates}"] = path
    return found
