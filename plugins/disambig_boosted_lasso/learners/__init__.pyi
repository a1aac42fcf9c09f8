from .baselines import (
    AveragedPerceptron as AveragedPerceptron,
)
from .baselines import (
    PairwiseL2 as PairwiseL2,
)
from .pairs import (
    base_weights as base_weights,
)
from .pairs import (
    build_pairs as build_pairs,
)
from .pairs import (
    encode_values as encode_values,
)
from .path import (
    Stepper as Stepper,
)
from .path import (
    StepSettings as StepSettings,
)
from .stagewise import (
    FSLR as FSLR,
)
from .stagewise import (
    BLasso as BLasso,
)
from .stagewise import (
    Boosting as Boosting,
)
from .stagewise import (
    FBoosting as FBoosting,
)
