from .domains import (
    AS_IS as AS_IS,
)
from .domains import (
    NEAR as NEAR,
)
from .domains import (
    PLAIN as PLAIN,
)
from .domains import (
    POOLED as POOLED,
)
from .domains import (
    PRIOR as PRIOR,
)
from .domains import (
    SUM as SUM,
)
from .domains import (
    Bergsma2010Domains as Bergsma2010Domains,
)
from .external import (
    SETTINGS as SETTINGS,
)
from .external import (
    Bergsma2010Peers as Bergsma2010Peers,
)
from .external import (
    read_external_settings as read_external_settings,
)
from .learning_curves import (
    WORDS as WORDS,
)
from .learning_curves import (
    FiveConfusionSets as FiveConfusionSets,
)
from .learning_curves import (
    check_folds as check_folds,
)
from .learning_curves import (
    check_parts as check_parts,
)
from .people import (
    PeopleDevelopmentMistakes as PeopleDevelopmentMistakes,
)
from .people import (
    PeopleMistakes as PeopleMistakes,
)
from .table1 import (
    PAPER as PAPER,
)
from .table1 import (
    SYSTEMS as SYSTEMS,
)
from .table1 import (
    Bergsma2010Table1 as Bergsma2010Table1,
)
from .table2 import (
    Bergsma2010Table2 as Bergsma2010Table2,
)
from .table2 import (
    complete as complete,
)
from .table3 import (
    Bergsma2010Table3 as Bergsma2010Table3,
)
from .table3 import (
    as_in_the_paper as as_in_the_paper,
)
from .table3 import (
    best_threshold as best_threshold,
)
from .table3 import (
    claim_free_bias_helps as claim_free_bias_helps,
)
from .table3 import (
    with_difference as with_difference,
)
