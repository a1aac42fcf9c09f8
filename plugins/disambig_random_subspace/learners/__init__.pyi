from ._kernels import (
    confidence_labels as confidence_labels,
)
from .linear import (
    SGD as SGD,
)
from .linear import (
    ConfidenceWeighted as ConfidenceWeighted,
)
from .linear import (
    PassiveAggressive as PassiveAggressive,
)
from .linear import (
    Perceptron as Perceptron,
)
from .linear import (
    descend_folds as descend_folds,
)
from .problem import (
    InterceptScorer as InterceptScorer,
)
from .problem import (
    prepare_labels as prepare_labels,
)
from .random_subspaces import (
    RandomSubspaces as RandomSubspaces,
)
from .random_subspaces import (
    keep_masks as keep_masks,
)
