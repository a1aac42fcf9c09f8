from .measures import (
    AUC as AUC,
    F1 as F1,
    Accuracy as Accuracy,
    ErrorRate as ErrorRate,
    ExactMatch as ExactMatch,
    FirstCandidate as FirstCandidate,
    MacroF1 as MacroF1,
    MeanCost as MeanCost,
    Oracle as Oracle,
    edit_distance_reference as edit_distance_reference,
    edit_distances as edit_distances,
    list_measure_named as list_measure_named,
    measure_named as measure_named,
    short_names as short_names,
    text_costs as text_costs,
    text_sizes as text_sizes,
)
from .outcomes import (
    AddsUp as AddsUp,
    CostsTexts as CostsTexts,
    Measure as Measure,
    Outcomes as Outcomes,
    Reweighs as Reweighs,
)
from .probabilities import (
    choice_reliability as choice_reliability,
    reliability as reliability,
    reliability_lines as reliability_lines,
)
from .significance import (
    DRAWS as DRAWS,
    Paired as Paired,
    bootstrap_interval as bootstrap_interval,
    chi_squared as chi_squared,
    mcnemar as mcnemar,
    mcnemar_from_counts as mcnemar_from_counts,
    mean_interval as mean_interval,
    paired_bootstrap as paired_bootstrap,
    resample_figures as resample_figures,
    times_drawn as times_drawn,
    wilcoxon as wilcoxon,
    wilson as wilson,
)
