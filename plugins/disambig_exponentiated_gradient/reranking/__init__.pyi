from .features import (
    TreeFeatures as TreeFeatures,
)
from .features import (
    TreeOccurrences as TreeOccurrences,
)
from .lists import (
    TreeLists as TreeLists,
)
from .lists import (
    candidate_trees as candidate_trees,
)
from .lists import (
    jackknife_lists as jackknife_lists,
)
from .lists import (
    read_lists as read_lists,
)
from .lists import (
    write_lists as write_lists,
)
from .symbols import (
    CLOSED_TAGS as CLOSED_TAGS,
)
from .symbols import (
    CLOSED_WORDS as CLOSED_WORDS,
)
