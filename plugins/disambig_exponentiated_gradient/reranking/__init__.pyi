from .features import (
    TreeFeatures as TreeFeatures,
    TreeOccurrences as TreeOccurrences,
)
from .lists import (
    TreeLists as TreeLists,
    candidate_trees as candidate_trees,
    jackknife_lists as jackknife_lists,
    read_lists as read_lists,
    write_lists as write_lists,
)
from .symbols import (
    CLOSED_TAGS as CLOSED_TAGS,
    CLOSED_WORDS as CLOSED_WORDS,
)
