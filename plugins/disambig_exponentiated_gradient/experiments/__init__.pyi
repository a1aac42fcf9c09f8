from .convergence import (
    BATCH as BATCH,
)
from .convergence import (
    ONLINE as ONLINE,
)
from .convergence import (
    Collins2005Convergence as Collins2005Convergence,
)
from .convergence import (
    epochs_to as epochs_to,
)
from .convergence import (
    plain_steps as plain_steps,
)
from .packed import (
    Collins2005Packed as Collins2005Packed,
)
from .reranking import (
    PAIRS as PAIRS,
)
from .reranking import (
    Collins2005Reranking as Collins2005Reranking,
)
from .reranking import (
    Difference as Difference,
)
from .reranking import (
    RerankerComparison as RerankerComparison,
)
from .reranking import (
    compare_rerankers as compare_rerankers,
)
from .reranking import (
    reranking_claims as reranking_claims,
)
from .tagging import (
    Collins2005Tagging as Collins2005Tagging,
)
from .tree_lists import (
    HINGE as HINGE,
)
from .tree_lists import (
    ORACLE as ORACLE,
)
from .tree_lists import (
    informative_features as informative_features,
)
