"""Decoders, which find the best rows from the scores of rows, beyond plain lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.decode import BinaryGrammar as BinaryGrammar
    from disambig.decode import Chain as Chain
    from disambig.decode import ChainScorer as ChainScorer
    from disambig.decode import ChartEdges as ChartEdges
    from disambig.decode import ChartParser as ChartParser
    from disambig.decode import Charts as Charts
    from disambig.decode import HasTerms as HasTerms
    from disambig.decode import Hypergraph as Hypergraph
    from disambig.decode import Hypergraphs as Hypergraphs
    from disambig.decode import Narrows as Narrows
    from disambig.decode import Parse as Parse
    from disambig.decode import WordScores as WordScores
    from disambig.decode import averaged_perceptron as averaged_perceptron
    from disambig.decode import from_the_least as from_the_least
    from disambig.decode import graphs_of_chains as graphs_of_chains
    from disambig.decode import semirings as semirings
    from disambig.decode import structured_examples as structured_examples
    from disambig.decode import subgradient as subgradient
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
