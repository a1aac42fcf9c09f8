from .chain import (
    Chain as Chain,
)
from .chain import (
    ChainScorer as ChainScorer,
)
from .chain import (
    best_states as best_states,
)
from .chain import (
    best_with_states as best_with_states,
)
from .chain import (
    graphs_of_chains as graphs_of_chains,
)
from .chain import (
    path_edges as path_edges,
)
from .chain_kernels import (
    best_path as best_path,
)
from .chain_kernels import (
    k_best_paths as k_best_paths,
)
from .chain_kernels import (
    log_sums as log_sums,
)
from .chain_kernels import (
    max_marginals as max_marginals,
)
from .chain_kernels import (
    shared_sums as shared_sums,
)
from .charts import (
    BinaryGrammar as BinaryGrammar,
)
from .charts import (
    ChartEdges as ChartEdges,
)
from .charts import (
    ChartParser as ChartParser,
)
from .charts import (
    Charts as Charts,
)
from .charts import (
    Parse as Parse,
)
from .charts import (
    WordScores as WordScores,
)
from .hypergraph import (
    Hypergraph as Hypergraph,
)
from .hypergraph import (
    Hypergraphs as Hypergraphs,
)
from .hypergraph_kernels import (
    best_edges as best_edges,
)
from .hypergraph_kernels import (
    inside_outside as inside_outside,
)
from .learning import (
    Enumerated as Enumerated,
)
from .learning import (
    HasTerms as HasTerms,
)
from .learning import (
    Narrows as Narrows,
)
from .learning import (
    StructuredExamples as StructuredExamples,
)
from .learning import (
    averaged_perceptron as averaged_perceptron,
)
from .learning import (
    from_the_least as from_the_least,
)
from .learning import (
    structured_examples as structured_examples,
)
from .learning import (
    subgradient as subgradient,
)
from .semirings import (
    BEST as BEST,
)
from .semirings import (
    COUNT as COUNT,
)
from .semirings import (
    EXPECTATION as EXPECTATION,
)
from .semirings import (
    LOG_SUM as LOG_SUM,
)
from .semirings import (
    k_best as k_best,
)
from .semirings import (
    totals as totals,
)
