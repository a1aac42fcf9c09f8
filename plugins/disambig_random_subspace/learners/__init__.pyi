from ._kernels import (
    confidence_labels as confidence_labels,
)
from .linear import (
    SGD as SGD,
    ConfidenceWeighted as ConfidenceWeighted,
    PassiveAggressive as PassiveAggressive,
    Perceptron as Perceptron,
    descend_folds as descend_folds,
)
from .problem import (
    InterceptScorer as InterceptScorer,
    prepare_labels as prepare_labels,
)
from .random_subspaces import (
    RandomSubspaces as RandomSubspaces,
    keep_masks as keep_masks,
)
