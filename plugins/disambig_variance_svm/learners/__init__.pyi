from ._fitting import (
    SUM as SUM,
    CrossedScorer as CrossedScorer,
    dev_quality as dev_quality,
    fit_best_c as fit_best_c,
    fold_crossed_sum as fold_crossed_sum,
    fold_sum as fold_sum,
    with_sum as with_sum,
)
from .baselines import (
    Majority as Majority,
    SumLM as SumLM,
)
from .conditional_logit import (
    ConditionalLogit as ConditionalLogit,
    SharedScorer as SharedScorer,
    attributes as attributes,
)
from .multiclass_svm import (
    CRAMMER_SINGER as CRAMMER_SINGER,
    KSVM as KSVM,
    MAX_PASSES as MAX_PASSES,
    ONE_VERSUS_ALL as ONE_VERSUS_ALL,
    OneVersusAll as OneVersusAll,
    counts_passes as counts_passes,
)
from .variance_svm import (
    GRID as GRID,
    VarianceSVM as VarianceSVM,
    pad_lists as pad_lists,
    sum_weights as sum_weights,
    weights_from_prior as weights_from_prior,
)
