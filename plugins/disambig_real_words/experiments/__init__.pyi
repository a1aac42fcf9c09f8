from .cloze import (
    COUNTS as COUNTS,
)
from .cloze import (
    MEAN as MEAN,
)
from .cloze import (
    OURS as OURS,
)
from .cloze import (
    ClozeFigures as ClozeFigures,
)
from .cloze import (
    find_cloze_places as find_cloze_places,
)
