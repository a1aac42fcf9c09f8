from .kernel_functions import (
    GaussianKernel as GaussianKernel,
)
from .kernel_functions import (
    LinearKernel as LinearKernel,
)
from .kernel_functions import (
    PolynomialKernel as PolynomialKernel,
)
from .learners import (
    OF_MANY as OF_MANY,
)
from .learners import (
    RLSC as RLSC,
)
from .learners import (
    FeatureGroups as FeatureGroups,
)
from .learners import (
    RLSCComb as RLSCComb,
)
from .learners import (
    RLSCLin as RLSCLin,
)
from .learners import (
    alignment_weights as alignment_weights,
)
from .learners import (
    alignments as alignments,
)
from .learners import (
    auto_regularisation as auto_regularisation,
)
from .learners import (
    search_weights as search_weights,
)
from .scorers import (
    break_ties as break_ties,
)
from .scorers import (
    find_winners as find_winners,
)
from .svm import (
    SVMComb as SVMComb,
)
from .svm import (
    SVMLin as SVMLin,
)
from .systems import (
    GRID as GRID,
)
from .systems import (
    DualSystem as DualSystem,
)
from .systems import (
    PrimalSystem as PrimalSystem,
)
from .systems import (
    best_regularisation as best_regularisation,
)
from .systems import (
    leave_one_out_qualities as leave_one_out_qualities,
)
from .systems import (
    leave_one_out_quality as leave_one_out_quality,
)
from .systems import (
    prepare_problem as prepare_problem,
)
from .systems import (
    solve_reference as solve_reference,
)
