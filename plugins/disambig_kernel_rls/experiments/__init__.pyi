from .genres import (
    AS_MANY as AS_MANY,
)
from .genres import (
    KIND_OF as KIND_OF,
)
from .genres import (
    KINDS as KINDS,
)
from .genres import (
    OTHER as OTHER,
)
from .genres import (
    SAME as SAME,
)
from .genres import (
    genre_folds as genre_folds,
)
from .senseval import (
    MFS as MFS,
)
from .trials import (
    Bench as Bench,
)
from .trials import (
    WordOccurrence as WordOccurrence,
)
from .trials import (
    decide_senses as decide_senses,
)
from .trials import (
    leave_one_out as leave_one_out,
)
from .trials import (
    locate_occurrences as locate_occurrences,
)
from .trials import (
    most_frequent as most_frequent,
)
from .trials import (
    possible_senses as possible_senses,
)
from .trials import (
    sense_costs as sense_costs,
)
from .trials import (
    senses_by_frequency as senses_by_frequency,
)
