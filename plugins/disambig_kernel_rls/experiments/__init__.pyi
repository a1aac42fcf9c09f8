from .genres import (
    AS_MANY as AS_MANY,
    KIND_OF as KIND_OF,
    KINDS as KINDS,
    OTHER as OTHER,
    SAME as SAME,
    genre_folds as genre_folds,
)
from .senseval import (
    MFS as MFS,
)
from .trials import (
    FeatureCache as FeatureCache,
    WordOccurrence as WordOccurrence,
    decide_senses as decide_senses,
    leave_one_out as leave_one_out,
    locate_occurrences as locate_occurrences,
    most_frequent as most_frequent,
    possible_senses as possible_senses,
    sense_costs as sense_costs,
    senses_by_frequency as senses_by_frequency,
)
