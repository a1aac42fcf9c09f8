"""Decoders, which find the best rows from the scores of rows, beyond plain lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.decode import (
        BinaryGrammar as BinaryGrammar,
        Chain as Chain,
        ChainScorer as ChainScorer,
        ChartEdges as ChartEdges,
        ChartParser as ChartParser,
        Charts as Charts,
        Hypergraph as Hypergraph,
        Hypergraphs as Hypergraphs,
        Parse as Parse,
        WordScores as WordScores,
        averaged_perceptron as averaged_perceptron,
        from_the_least as from_the_least,
        graphs_of_chains as graphs_of_chains,
        semirings as semirings,
        structured_examples as structured_examples,
        subgradient as subgradient,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
