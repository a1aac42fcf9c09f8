from ._list_kernels import (
    moved as moved,
    normalise as normalise,
    slopes as slopes,
)
from .eg import (
    EG as EG,
)
from .list_dual import (
    ListDual as ListDual,
    ReducedLists as ReducedLists,
)
from .pairwise import (
    PairwiseCharts as PairwiseCharts,
    PairwiseLists as PairwiseLists,
)
from .part_duals import (
    ChainDual as ChainDual,
    ChartDual as ChartDual,
    PackedDual as PackedDual,
)
