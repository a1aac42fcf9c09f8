from .estimation import (
    FALLBACK as FALLBACK,
)
from .estimation import (
    estimate as estimate,
)
from .estimation import (
    estimate_discounts as estimate_discounts,
)
from .kernels import (
    back_off_weight as back_off_weight,
)
from .kernels import (
    empty_state as empty_state,
)
from .kernels import (
    score_word as score_word,
)
from .kernels import (
    seen_word as seen_word,
)
from .kernels import (
    shorter_state as shorter_state,
)
from .kernels import (
    start_state as start_state,
)
from .kernels import (
    state_after as state_after,
)
from .kernels import (
    state_behind as state_behind,
)
from .kernels import (
    word_log_probability as word_log_probability,
)
from .mixture import (
    CrossEntropy as CrossEntropy,
)
from .mixture import (
    Mixture as Mixture,
)
from .mixture import (
    adapt as adapt,
)
from .mixture import (
    cross_entropy as cross_entropy,
)
from .mixture import (
    perplexity as perplexity,
)
from .mixture import (
    sentence_scores as sentence_scores,
)
from .mixture import (
    word_scores as word_scores,
)
from .model import (
    LanguageModel as LanguageModel,
)
from .model import (
    NgramArrays as NgramArrays,
)
from .sentences import (
    SPECIAL as SPECIAL,
)
from .sentences import (
    Sentences as Sentences,
)
from .sentences import (
    WordVocabulary as WordVocabulary,
)
from .sentences import (
    vocabulary_from_state as vocabulary_from_state,
)
from .sentences import (
    words_of_lines as words_of_lines,
)
from .sentences import (
    words_of_texts as words_of_texts,
)
from .storage import (
    load_language_model as load_language_model,
)
from .storage import (
    load_mixture as load_mixture,
)
from .storage import (
    pack_levels as pack_levels,
)
from .storage import (
    quantise as quantise,
)
from .storage import (
    save_language_model as save_language_model,
)
from .storage import (
    save_mixture as save_mixture,
)
from .storage import (
    to_arpa as to_arpa,
)
