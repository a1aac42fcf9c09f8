from .kernel_functions import (
    GaussianKernel as GaussianKernel,
    LinearKernel as LinearKernel,
    PolynomialKernel as PolynomialKernel,
)
from .learners import (
    LAMBDA_OF_MANY as LAMBDA_OF_MANY,
    RLSC as RLSC,
    FeatureGroups as FeatureGroups,
    RLSCComb as RLSCComb,
    RLSCLin as RLSCLin,
    SVMComb as SVMComb,
    SVMLin as SVMLin,
    alignment_weights as alignment_weights,
    alignments as alignments,
    auto_regularisation as auto_regularisation,
    search_weights as search_weights,
)
from .scorers import (
    break_ties as break_ties,
    find_winners as find_winners,
)
from .systems import (
    GRID as GRID,
    DualSystem as DualSystem,
    PrimalSystem as PrimalSystem,
    best_regularisation as best_regularisation,
    leave_one_out_qualities as leave_one_out_qualities,
    leave_one_out_quality as leave_one_out_quality,
    prepare_problem as prepare_problem,
)
