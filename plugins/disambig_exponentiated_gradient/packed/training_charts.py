"""Charts to learn from: those of each sentence by a grammar that has not seen it.

A grammar finds what it was made of likelier than anything new: trusted by what is learned from its charts, it
would mislead on other sentences. So each fold's charts are made by the grammar of the other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.decoding import Hypergraphs
from disambig_exponentiated_gradient.grammar.parsing import TreebankParser
from disambig_exponentiated_gradient.grammar.treebank_grammar import TreebankGrammar
from disambig_exponentiated_gradient.treebank.binarising import Binarisation
from disambig_exponentiated_gradient.treebank.tree import Tree

from .features import PartFeatures
from .forcing import joined_graphs, with_derivations
from .gold import Gold
from .named_edges import NamedEdges

FOLDS = 8
LONGEST = 25
"""Words of a sentence to learn from, at most."""
THRESHOLD = 1e-3
"""What the coarser grammar finds less probable is in no chart."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingCharts:
    """Charts with features and costs of their edges.

    Attributes
    ----------
    features : PartFeatures
    graphs : Hypergraphs
    cost : array of float32, shape (n_edges,)
    trees : tuple of Tree
        The gold tree of each chart.
    without_chart : int
        Sentences that the grammar has no parse of, or whose chart is too large.
    gold_missing, wrong_labels : int
        See `Gold`.
    forced : int
        Charts that had lost the gold derivation by pruning, and got it back.
    """

    features: PartFeatures
    graphs: Hypergraphs
    cost: NDArray[np.float32]
    trees: tuple[Tree, ...]
    without_chart: int
    gold_missing: int
    wrong_labels: int
    forced: int

    def __len__(self) -> int:
        return len(self.trees)

    @classmethod
    def of(
        cls, grammar: TreebankGrammar, trees: Sequence[Tree], *, threshold: float = THRESHOLD
    ) -> TrainingCharts:
        """Return the charts of the sentences of some trees by one grammar."""
        sentences = [tree.words() for tree in trees]
        words = grammar.words_of(sentences)
        pruned = TreebankParser(grammar, threshold).charts.charts(words)
        charts, rows = with_derivations(grammar, pruned, words, [grammar.derivation(tree) for tree in trees])
        longer = np.diff(charts.graphs.offsets) > np.diff(pruned.graphs.offsets)
        named = NamedEdges.of_charts(grammar, charts, sentences)
        own = tuple(trees[i] for i in charts.sentences.tolist())
        gold = Gold.of(named, grammar.binarisation, own, rows)
        return cls(
            PartFeatures.of(named), named.graphs, gold.cost, own, len(trees) - len(own),
            gold.missing, gold.wrong_labels, int(longer.sum()),
        )  # fmt: skip

    @classmethod
    def held_out(
        cls,
        trees: Sequence[Tree],
        binarisation: Binarisation | None = None,
        *,
        folds: int = FOLDS,
        longest: int = LONGEST,
        most: int | None = None,
        threshold: float = THRESHOLD,
        told: Callable[[int, int], None] | None = None,
    ) -> TrainingCharts:
        """Return the charts of sentences by grammars of the other folds, which are runs of trees.

        Parameters
        ----------
        trees : sequence of Tree
            The grammars are made of all of them.
        binarisation : Binarisation, optional
        folds : int
            2 at least; fewer where there are fewer trees.
        longest : int
            Words of a sentence that has a chart, at most.
        most : int, optional
            Charts at most, of sentences spread over all folds.
        threshold : float
        told : callable, optional
            Told how many folds are done, of how many.

        Raises
        ------
        UserError
            D614 for a setting, D634 for no tree, D613 where no sentence has a chart.
        """
        for setting, value, fewest in (("folds", folds, 2), ("longest", longest, 1), ("most", most, 1)):
            if value is not None and (isinstance(value, bool) or value < fewest):
                raise UserError(
                    "D614", setting=setting, value=value, wanted=f"a whole number from {fewest} on"
                )
        lengths = np.array([len(tree.words()) for tree in trees])
        chosen = np.flatnonzero(lengths <= longest)
        if most is not None and len(chosen) > most:
            chosen = chosen[np.linspace(0, len(chosen) - 1, most).astype(np.int64)]
        edges = np.linspace(0, len(trees), min(folds, len(trees)) + 1).astype(np.int64)
        found = []
        for fold, (first, last) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)):
            own = chosen[(chosen >= first) & (chosen < last)].tolist()
            if own:
                grammar = TreebankGrammar.of([*trees[:first], *trees[last:]], binarisation)
                found.append(cls.of(grammar, [trees[i] for i in own], threshold=threshold))
            if told is not None:
                told(fold + 1, len(edges) - 1)
        if not any(map(len, found)):
            raise UserError("D613", n=len(trees))
        return cls.joined(found)

    @classmethod
    def joined(cls, each: Sequence[TrainingCharts]) -> TrainingCharts:
        """Return all charts of several."""
        counts = ("without_chart", "gold_missing", "wrong_labels", "forced")
        return cls(
            PartFeatures.joined([one.features for one in each]),
            joined_graphs([one.graphs for one in each]),
            np.concatenate([one.cost for one in each]),
            tuple(tree for one in each for tree in one.trees),
            *(sum(getattr(one, name) for one in each) for name in counts),
        )
