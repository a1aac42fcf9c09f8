from .harper import (
    HarperChecker as HarperChecker,
)
from .kenlm import (
    KenLM as KenLM,
    KenLMChecker as KenLMChecker,
    make_kenlm as make_kenlm,
    missing as missing,
    with_scores as with_scores,
)
from .ngram_ratio import (
    IMPOSSIBLE as IMPOSSIBLE,
    NgramRatio as NgramRatio,
)
