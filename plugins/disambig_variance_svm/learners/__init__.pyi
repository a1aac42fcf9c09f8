from ._fitting import (
    SUM as SUM,
)
from ._fitting import (
    CrossedScorer as CrossedScorer,
)
from ._fitting import (
    dev_accuracy as dev_accuracy,
)
from ._fitting import (
    dev_quality as dev_quality,
)
from ._fitting import (
    fold_crossed_sum as fold_crossed_sum,
)
from ._fitting import (
    fold_sum as fold_sum,
)
from ._fitting import (
    with_sum as with_sum,
)
from .baselines import (
    Majority as Majority,
)
from .baselines import (
    SumLM as SumLM,
)
from .conditional_logit import (
    ConditionalLogit as ConditionalLogit,
)
from .conditional_logit import (
    SharedScorer as SharedScorer,
)
from .conditional_logit import (
    attributes as attributes,
)
from .multiclass_svm import (
    CRAMMER_SINGER as CRAMMER_SINGER,
)
from .multiclass_svm import (
    KSVM as KSVM,
)
from .multiclass_svm import (
    MOST_PASSES as MOST_PASSES,
)
from .multiclass_svm import (
    ONE_VERSUS_ALL as ONE_VERSUS_ALL,
)
from .multiclass_svm import (
    OneVersusAll as OneVersusAll,
)
from .multiclass_svm import (
    counts_passes as counts_passes,
)
from .variance_svm import (
    GRID as GRID,
)
from .variance_svm import (
    VarianceSVM as VarianceSVM,
)
from .variance_svm import (
    pad_lists as pad_lists,
)
from .variance_svm import (
    regulariser_mean as regulariser_mean,
)
from .variance_svm import (
    weights_from_prior as weights_from_prior,
)
