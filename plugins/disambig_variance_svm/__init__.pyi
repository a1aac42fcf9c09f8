from .estimator import (
    VarianceRegularizedSVC as VarianceRegularizedSVC,
)
from .plain_text import (
    COUNTED as COUNTED,
)
from .plain_text import (
    DOMAINS as DOMAINS,
)
from .plain_text import (
    EVERY_NTH as EVERY_NTH,
)
from .plain_text import (
    HELD_OUT as HELD_OUT,
)
from .plain_text import (
    PACK_COUNTED as PACK_COUNTED,
)
from .plain_text import (
    PACK_DOMAINS as PACK_DOMAINS,
)
from .plain_text import (
    PACK_HELD_OUT as PACK_HELD_OUT,
)
from .plain_text import (
    QUICK_COUNTED as QUICK_COUNTED,
)
from .spelling import (
    ENGLISH_CONFUSION_SETS as ENGLISH_CONFUSION_SETS,
)
from .spelling import (
    ENGLISH_STYLE as ENGLISH_STYLE,
)
from .spelling import (
    Spelling as Spelling,
)
