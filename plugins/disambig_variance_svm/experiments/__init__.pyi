from .domains import (
    AS_IS as AS_IS,
    NEAR as NEAR,
    PLAIN as PLAIN,
    POOLED as POOLED,
    PRIOR as PRIOR,
    SUM as SUM,
    Bergsma2010Domains as Bergsma2010Domains,
)
from .external import (
    SETTINGS as SETTINGS,
    TWENTY as TWENTY,
    Bergsma2010Peers as Bergsma2010Peers,
    read_external_settings as read_external_settings,
)
from .learning_curves import (
    WORDS as WORDS,
    FiveConfusionSets as FiveConfusionSets,
    check_folds as check_folds,
    check_parts as check_parts,
)
from .people import (
    PeopleDevelopmentMistakes as PeopleDevelopmentMistakes,
    PeopleMistakes as PeopleMistakes,
)
from .table1 import (
    PAPER as PAPER,
    SYSTEMS as SYSTEMS,
    Bergsma2010Table1 as Bergsma2010Table1,
)
from .table2 import (
    Bergsma2010Table2 as Bergsma2010Table2,
    complete as complete,
)
from .table3 import (
    Bergsma2010Table3 as Bergsma2010Table3,
    as_in_the_paper as as_in_the_paper,
    best_threshold as best_threshold,
    claim_free_bias_helps as claim_free_bias_helps,
    with_difference as with_difference,
)
