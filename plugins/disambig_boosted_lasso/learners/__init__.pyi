from .baselines import (
    AveragedPerceptron as AveragedPerceptron,
    PairwiseL2 as PairwiseL2,
)
from .pairs import (
    base_weights as base_weights,
    build_pairs as build_pairs,
    encode_values as encode_values,
)
from .path import (
    Stepper as Stepper,
    StepSettings as StepSettings,
)
from .stagewise import (
    FSLR as FSLR,
    BLasso as BLasso,
    Boosting as Boosting,
    FBoosting as FBoosting,
)
