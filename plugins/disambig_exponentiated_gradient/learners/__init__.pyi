from ._list_kernels import (
    moved as moved,
)
from ._list_kernels import (
    normalise as normalise,
)
from ._list_kernels import (
    slopes as slopes,
)
from .eg import (
    EG as EG,
)
from .list_dual import (
    ListDual as ListDual,
)
from .list_dual import (
    ReducedLists as ReducedLists,
)
from .pairwise import (
    PairwiseDual as PairwiseDual,
)
from .part_duals import (
    ChainDual as ChainDual,
)
from .part_duals import (
    ChartDual as ChartDual,
)
from .part_duals import (
    PackedDual as PackedDual,
)
