from .measures import (
    AUC as AUC,
)
from .measures import (
    F1 as F1,
)
from .measures import (
    Accuracy as Accuracy,
)
from .measures import (
    ErrorRate as ErrorRate,
)
from .measures import (
    ExactMatch as ExactMatch,
)
from .measures import (
    FirstCandidate as FirstCandidate,
)
from .measures import (
    MacroF1 as MacroF1,
)
from .measures import (
    MeanCost as MeanCost,
)
from .measures import (
    Oracle as Oracle,
)
from .measures import (
    edit_distance_reference as edit_distance_reference,
)
from .measures import (
    edit_distances as edit_distances,
)
from .measures import (
    list_measure_named as list_measure_named,
)
from .measures import (
    measure_named as measure_named,
)
from .measures import (
    short_names as short_names,
)
from .measures import (
    text_costs as text_costs,
)
from .measures import (
    text_sizes as text_sizes,
)
from .outcomes import (
    AddsUp as AddsUp,
)
from .outcomes import (
    CostsTexts as CostsTexts,
)
from .outcomes import (
    Measure as Measure,
)
from .outcomes import (
    Outcomes as Outcomes,
)
from .outcomes import (
    Reweighs as Reweighs,
)
from .probabilities import (
    choice_reliability as choice_reliability,
)
from .probabilities import (
    reliability as reliability,
)
from .probabilities import (
    reliability_lines as reliability_lines,
)
from .significance import (
    DRAWS as DRAWS,
)
from .significance import (
    Paired as Paired,
)
from .significance import (
    bootstrap_interval as bootstrap_interval,
)
from .significance import (
    chi_squared as chi_squared,
)
from .significance import (
    mcnemar as mcnemar,
)
from .significance import (
    mcnemar_from_counts as mcnemar_from_counts,
)
from .significance import (
    mean_interval as mean_interval,
)
from .significance import (
    paired_bootstrap as paired_bootstrap,
)
from .significance import (
    resample_figures as resample_figures,
)
from .significance import (
    times_drawn as times_drawn,
)
from .significance import (
    wilcoxon as wilcoxon,
)
from .significance import (
    wilson as wilson,
)
