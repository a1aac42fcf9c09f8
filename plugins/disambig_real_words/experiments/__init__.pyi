from .cloze import (
    COUNTS as COUNTS,
    MEAN as MEAN,
    OURS as OURS,
    ClozeFigures as ClozeFigures,
    find_cloze_places as find_cloze_places,
)
