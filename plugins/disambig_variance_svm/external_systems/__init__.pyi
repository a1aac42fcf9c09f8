from .harper import (
    HarperChecker as HarperChecker,
)
from .kenlm import (
    KenLM as KenLM,
)
from .kenlm import (
    KenLMChecker as KenLMChecker,
)
from .kenlm import (
    make_kenlm as make_kenlm,
)
from .kenlm import (
    missing as missing,
)
from .kenlm import (
    with_scores as with_scores,
)
from .ngram_ratio import (
    IMPOSSIBLE as IMPOSSIBLE,
)
from .ngram_ratio import (
    NgramRatio as NgramRatio,
)
