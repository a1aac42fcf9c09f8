from .kernels import (
    back_off_weight as back_off_weight,
    empty_state as empty_state,
    score_word as score_word,
    seen_word as seen_word,
    shorter_state as shorter_state,
    start_state as start_state,
    state_after as state_after,
    state_behind as state_behind,
    word_log_probability as word_log_probability,
)
from .mixture import (
    FALLBACK as FALLBACK,
    CrossEntropy as CrossEntropy,
    Mixture as Mixture,
    adapt as adapt,
    cross_entropy as cross_entropy,
    estimate as estimate,
    estimate_discounts as estimate_discounts,
    perplexity as perplexity,
    sentence_scores as sentence_scores,
    word_scores as word_scores,
)
from .model import (
    SPECIAL as SPECIAL,
    LanguageModel as LanguageModel,
    NgramArrays as NgramArrays,
    Sentences as Sentences,
    WordVocabulary as WordVocabulary,
    vocabulary_from_state as vocabulary_from_state,
    words_of_lines as words_of_lines,
    words_of_texts as words_of_texts,
)
from .storage import (
    load_language_model as load_language_model,
    load_mixture as load_mixture,
    pack_levels as pack_levels,
    quantise as quantise,
    save_language_model as save_language_model,
    save_mixture as save_mixture,
    to_arpa as to_arpa,
)
