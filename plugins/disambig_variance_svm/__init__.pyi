from .estimator import (
    VarianceRegularizedSVC as VarianceRegularizedSVC,
)
from .plain_text import (
    COUNTED as COUNTED,
    DOMAINS as DOMAINS,
    EVERY_NTH as EVERY_NTH,
    HELD_OUT as HELD_OUT,
    PACK_COUNTED as PACK_COUNTED,
    PACK_DOMAINS as PACK_DOMAINS,
    PACK_HELD_OUT as PACK_HELD_OUT,
    QUICK_COUNTED as QUICK_COUNTED,
)
from .spelling import (
    ENGLISH_CONFUSION_SETS as ENGLISH_CONFUSION_SETS,
    ENGLISH_STYLE as ENGLISH_STYLE,
    Spelling as Spelling,
)
