from .chain import (
    Chain as Chain,
    ChainScorer as ChainScorer,
    best_states as best_states,
    best_with_states as best_with_states,
    graphs_of_chains as graphs_of_chains,
    path_edges as path_edges,
)
from .chain_kernels import (
    best_path as best_path,
    k_best_paths as k_best_paths,
    log_sums as log_sums,
    max_marginals as max_marginals,
    shared_sums as shared_sums,
)
from .charts import (
    BinaryGrammar as BinaryGrammar,
    ChartEdges as ChartEdges,
    ChartParser as ChartParser,
    Charts as Charts,
    Parse as Parse,
    WordScores as WordScores,
)
from .hypergraph import Hypergraph as Hypergraph, Hypergraphs as Hypergraphs
from .hypergraph_kernels import best_edges as best_edges, inside_outside as inside_outside
from .learning import (
    Enumerated as Enumerated,
    StructuredExamples as StructuredExamples,
    averaged_perceptron as averaged_perceptron,
    from_the_least as from_the_least,
    structured_examples as structured_examples,
    subgradient as subgradient,
)
from .semirings import (
    BEST as BEST,
    COUNT as COUNT,
    EXPECTATION as EXPECTATION,
    LOG_SUM as LOG_SUM,
    k_best as k_best,
    totals as totals,
)
