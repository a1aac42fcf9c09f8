from .convergence import (
    BATCH as BATCH,
    ONLINE as ONLINE,
    Collins2005Convergence as Collins2005Convergence,
    epochs_to as epochs_to,
    plain_steps as plain_steps,
)
from .packed import (
    Collins2005Packed as Collins2005Packed,
)
from .reranking import (
    COMPARED as COMPARED,
    Collins2005Reranking as Collins2005Reranking,
    compare_rerankers as compare_rerankers,
    reranking_claims as reranking_claims,
)
from .tagging import (
    Collins2005Tagging as Collins2005Tagging,
)
from .tree_lists import (
    HINGE as HINGE,
    ORACLE as ORACLE,
    informative_features as informative_features,
)
