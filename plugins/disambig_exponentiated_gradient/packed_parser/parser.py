"""A parser of packed charts: the best tree of each chart by learned weights of local features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from disambig.api import Arrays, UserError
from disambig.api.arrays import Floats, minibatch
from disambig.api.batches import PartRows
from disambig.api.decoding import Charts, Hypergraph

from ..grammar.rules import Derivation
from ..grammar.treebank_grammar import TreebankGrammar, TreebankParser
from ..treebank.binarisation import Binarisation
from ..treebank.tree import Tree
from .features import NUMBERS, ChartVocabulary, NamedEdges, PartFeatures
from .training_charts import THRESHOLD, TrainingCharts

Words = Sequence[str]
MIN_PARTS = 3
"""Minimum number of parts with a feature for it to get a column."""
_AT_A_TIME = 200
"""Number of sentences whose charts are in memory at a time."""
_PREFIX = "grammar."


@dataclass(frozen=True, slots=True, eq=False)
class PackedParser:
    """Parse sentences with the charts of a grammar and learned weights of edge features."""

    grammar: TreebankGrammar  # makes the charts, and parses sentences without a chart
    vocabulary: ChartVocabulary
    weights: Floats  # float64 (n_columns,)
    threshold: float = THRESHOLD  # pruning threshold (see `ChartParser`), the same as in training
    _parser: TreebankParser = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.vocabulary):
            raise ValueError(f"{len(self.weights)} weights for {len(self.vocabulary)} columns")
        object.__setattr__(self, "_parser", TreebankParser(self.grammar, self.threshold))

    def trees(self, sentences: Sequence[Words]) -> list[Tree | None]:
        """Return the best tree of each sentence; without a chart the grammar's tree, or None."""
        trees: list[Tree | None] = []
        for batch in minibatch(sentences, _AT_A_TIME):
            trees += ChartBatch.from_sentences(self._parser, batch, self.vocabulary).trees(self.weights)
        return trees

    def state(self) -> Arrays:
        """Return everything that was learned as arrays of numbers."""
        arrays = {
            "keys": self.vocabulary.keys,
            "weights": self.weights,
            "threshold": np.array([self.threshold]),
        }
        return arrays | {_PREFIX + name: array for name, array in self.grammar.state().items()}

    @classmethod
    def from_state(cls, arrays: Arrays) -> PackedParser:
        """Return the parser from its state.

        Raises D612 for arrays that do not contain a parser, D635 for arrays that do not contain a grammar.
        """
        for name in ("keys", "weights", "threshold"):
            if name not in arrays:
                raise UserError("D612", problem=f"{name!r} is missing")
        keys, weights, threshold = (np.asarray(arrays[name]) for name in ("keys", "weights", "threshold"))
        if keys.dtype != np.uint64 or keys.ndim != 1 or (keys[1:] <= keys[:-1]).any():
            raise UserError("D612", problem="the keys are not sorted")
        fits = weights.dtype.kind == "f" and weights.shape == (len(keys) + len(NUMBERS),)
        if not fits or not np.isfinite(weights).all():
            raise UserError("D612", problem=f"{weights.size} weights do not fit {len(keys)} keys")
        if threshold.dtype.kind not in "fiu" or threshold.shape != (1,) or not 0 <= threshold[0] < 1:
            raise UserError("D612", problem="the threshold is not a number of at least 0 and below 1")
        grammar = TreebankGrammar.from_state(
            {name.removeprefix(_PREFIX): array for name, array in arrays.items() if name.startswith(_PREFIX)}
        )
        return cls(grammar, ChartVocabulary(keys), weights.astype(np.float64), float(threshold[0]))


@dataclass(frozen=True, slots=True, eq=False)
class ChartBatch:
    """Charts of sentences with their features, for use with several weights."""

    parser: TreebankParser
    sentences: Sequence[Words]
    charts: Charts  # charts of the sentences that have one
    batch: PartRows  # without costs

    @classmethod
    def from_sentences(
        cls, parser: TreebankParser, sentences: Sequence[Words], vocabulary: ChartVocabulary
    ) -> ChartBatch:
        """Return the charts of sentences; empty sentences have none."""
        filled = np.flatnonzero([len(words) > 0 for words in sentences])
        with_words = [sentences[i] for i in filled.tolist()]
        tree_charts = parser.charts.charts(parser.grammar.score_words(with_words))
        named = NamedEdges.from_charts(parser.grammar, tree_charts, with_words)
        fields = ("sentences", "without_parse", "too_large")  # numbers of sentences
        charts = replace(tree_charts, **{name: filled[getattr(tree_charts, name)] for name in fields})
        cost = np.zeros(len(tree_charts.edges), np.float32)
        batch = vocabulary.batch(PartFeatures.from_edges(named), tree_charts.graphs, cost)
        return cls(parser, sentences, charts, batch)

    def trees(self, weights: Floats) -> list[Tree | None]:
        """Return the best tree of each sentence for some weights."""
        return self.best(self.batch.scores(weights))

    def best(self, scores: Floats) -> list[Tree | None]:
        """Return the best tree of each sentence for some edge scores."""
        trees: list[Tree | None] = [None] * len(self.sentences)
        for sentence, (_, best) in zip(
            self.charts.sentences.tolist(), Hypergraph().top(scores, self.charts.graphs, 1), strict=True
        ):
            edges = self.charts.edges.take(best[0])
            trees[sentence] = self.parser.grammar.tree(self.sentences[sentence], Derivation.from_edges(edges))
        missing = [i for i, tree in enumerate(trees) if tree is None and self.sentences[i]]
        again = self.parser.trees([self.sentences[i] for i in missing])
        for i, tree in zip(missing, again, strict=True):
            trees[i] = tree
        return trees


@dataclass(frozen=True, slots=True, eq=False)
class LearnedParser:
    """A parser, with a report on its training."""

    parser: PackedParser
    # the learner's report; and for the charts ``charts``, ``edges``, ``without_chart``, ``gold_forced``,
    # ``gold_missing`` and ``wrong_labels`` (see `TrainingCharts`)
    report: dict[str, Any]


def train_packed_parser(
    trees: Sequence[Tree],
    learner: Any,
    *,
    binarisation: Binarisation | None = None,
    least: int = MIN_PARTS,
    dev: Sequence[Tree] = (),
    report: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> LearnedParser:
    """Train a parser on clean trees.

    Parameters
    ----------
    trees : sequence of Tree
    learner : Learner
        A learner with the decoder `Hypergraph`, such as ``EG(decoder=Hypergraph())``.
    binarisation : Binarisation, optional
    least : int
        Minimum number of parts with a feature for which the feature gets a column.
    dev : sequence of Tree
        Trees for tuning, if the learner has settings to tune.
    report : callable, optional
        Called with the number of folds whose charts are done, and the number of folds.
    settings : mapping
        Settings of `TrainingCharts.held_out`.

    Raises
    ------
    UserError
        D634 for no trees, D613 if no sentence has a chart for training.
    """
    grammar = TreebankGrammar.from_trees(trees, binarisation)
    charts = TrainingCharts.held_out(trees, binarisation, report=report, **settings)
    vocabulary = ChartVocabulary.from_features(charts.features, least)
    batch = vocabulary.batch(charts.features, charts.graphs, charts.cost)
    threshold = float(settings.get("threshold", THRESHOLD))
    dev_batch = None
    if dev:
        dev_charts = TrainingCharts.from_trees(grammar, dev, threshold=threshold)
        dev_batch = vocabulary.batch(dev_charts.features, dev_charts.graphs, dev_charts.cost)
    fitted = learner.fit(batch, dev=dev_batch)
    counts = {
        "charts": len(charts), "edges": len(charts.cost), "without_chart": charts.without_chart,
        "gold_forced": charts.forced, "gold_missing": charts.gold_missing,
        "wrong_labels": charts.wrong_labels,
    }  # fmt: skip
    parser = PackedParser(grammar, vocabulary, fitted.scorer.weights, threshold)
    return LearnedParser(parser, {**fitted.report, **counts})
