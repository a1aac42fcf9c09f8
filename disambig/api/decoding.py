"""From scores of rows to the rows that win, beyond plain lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.decode import semirings as semirings
    from disambig.decode.chain import Chain as Chain
    from disambig.decode.chain_graphs import graphs_of_chains as graphs_of_chains
    from disambig.decode.chain_scorer import ChainScorer as ChainScorer
    from disambig.decode.charts import ChartEdges as ChartEdges
    from disambig.decode.charts import ChartParser as ChartParser
    from disambig.decode.charts import Charts as Charts
    from disambig.decode.charts import Parse as Parse
    from disambig.decode.grammar import BinaryGrammar as BinaryGrammar
    from disambig.decode.grammar import WordScores as WordScores
    from disambig.decode.hypergraph import Hypergraph as Hypergraph
    from disambig.decode.hypergraphs import Hypergraphs as Hypergraphs
    from disambig.decode.objectives import from_the_least as from_the_least
    from disambig.decode.objectives import structures_of as structures_of
    from disambig.decode.online import averaged_perceptron as averaged_perceptron
    from disambig.decode.online import subgradient as subgradient
    from disambig.decode.packing import HasTerms as HasTerms
    from disambig.decode.packing import Narrows as Narrows
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
