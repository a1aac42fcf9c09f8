from ._cloze_network import (
    DENSE as DENSE,
)
from ._cloze_network import (
    ENDING_SHARE as ENDING_SHARE,
)
from ._cloze_network import (
    HALVES as HALVES,
)
from ._cloze_network import (
    ClozeCandidates as ClozeCandidates,
)
from ._cloze_network import (
    ClozeExamples as ClozeExamples,
)
from ._cloze_network import (
    ClozeNetwork as ClozeNetwork,
)
from ._cloze_network import (
    ClozeSettings as ClozeSettings,
)
from ._cloze_network import (
    FloatWeights as FloatWeights,
)
from ._cloze_network import (
    ThreadPool as ThreadPool,
)
from ._cloze_network import (
    TrainingPlaces as TrainingPlaces,
)
from ._cloze_network import (
    WordEndings as WordEndings,
)
from ._cloze_network import (
    adagrad as adagrad,
)
from ._cloze_network import (
    adam as adam,
)
from ._network_weights import (
    FIRST_KNOWN as FIRST_KNOWN,
)
from ._network_weights import (
    OUTSIDE as OUTSIDE,
)
from ._network_weights import (
    TOPIC_SHIFT as TOPIC_SHIFT,
)
from ._network_weights import (
    UNKNOWN as UNKNOWN,
)
from ._network_weights import (
    NetworkWeights as NetworkWeights,
)
from ._restoring import (
    check_same as check_same,
)
from ._restoring import (
    restore_checked as restore_checked,
)
from .candidate_ngrams import (
    HeadwordBigrams as HeadwordBigrams,
)
from .candidate_ngrams import (
    KnownNgrams as KnownNgrams,
)
from .candidate_ngrams import (
    Occurrences as Occurrences,
)
from .candidate_ngrams import (
    TextNgrams as TextNgrams,
)
from .candidate_ngrams import (
    columns_named as columns_named,
)
from .candidate_ngrams import (
    count_known as count_known,
)
from .candidate_ngrams import (
    kept as kept,
)
from .candidate_ngrams import (
    known_ngrams_from_state as known_ngrams_from_state,
)
from .candidate_ngrams import (
    name_keys as name_keys,
)
from .candidate_ngrams import (
    own_lists as own_lists,
)
from .cloze import (
    FILE as FILE,
)
from .cloze import (
    FOLDER as FOLDER,
)
from .cloze import (
    LAST as LAST,
)
from .cloze import (
    NAMES as NAMES,
)
from .cloze import (
    PRODUCT_STEP as PRODUCT_STEP,
)
from .cloze import (
    STATE_STEP as STATE_STEP,
)
from .cloze import (
    UNKNOWN_WORD_SCORE as UNKNOWN_WORD_SCORE,
)
from .cloze import (
    Cloze as Cloze,
)
from .cloze import (
    ClozeVocabulary as ClozeVocabulary,
)
from .cloze import (
    ContextPlaces as ContextPlaces,
)
from .cloze import (
    WordsInContext as WordsInContext,
)
from .cloze import (
    context_vectors as context_vectors,
)
from .cloze import (
    open_cloze as open_cloze,
)
from .cloze import (
    score_candidates as score_candidates,
)
from .cloze import (
    token_numbers as token_numbers,
)
from .cloze_learning import (
    count_vocabulary as count_vocabulary,
)
from .cloze_learning import (
    learn_cloze as learn_cloze,
)
from .cloze_learning import (
    quantise as quantise,
)
from .context_probabilities import (
    DISCOUNT as DISCOUNT,
)
from .context_probabilities import (
    ContextProbabilities as ContextProbabilities,
)
from .context_window import (
    ContextWindow as ContextWindow,
)
from .contexts import (
    CLASS as CLASS,
)
from .contexts import (
    CONTEXTS as CONTEXTS,
)
from .contexts import (
    MULTIPLIERS as MULTIPLIERS,
)
from .contexts import (
    ONE_SIDED as ONE_SIDED,
)
from .contexts import (
    SEEDS as SEEDS,
)
from .contexts import (
    SHAPE as SHAPE,
)
from .contexts import (
    CandidateHashes as CandidateHashes,
)
from .contexts import (
    feature_buckets as feature_buckets,
)
from .contexts import (
    fitting_contexts as fitting_contexts,
)
from .contexts import (
    ngram_text as ngram_text,
)
from .contexts import (
    room as room,
)
from .gaps import (
    Gaps as Gaps,
)
from .gaps import (
    MissingWordOdds as MissingWordOdds,
)
from .gaps import (
    gaps_in as gaps_in,
)
from .gaps import (
    learn_gaps as learn_gaps,
)
from .heads import (
    HEADWORD_TOKENISATION as HEADWORD_TOKENISATION,
)
from .heads import (
    WORD_KINDS as WORD_KINDS,
)
from .heads import (
    HeadwordTokenisation as HeadwordTokenisation,
)
from .heads import (
    PartsOfSpeech as PartsOfSpeech,
)
from .heads import (
    find_heads as find_heads,
)
from .heads import (
    parts_of_speech_in as parts_of_speech_in,
)
from .headwords import (
    GROUP_NAME as GROUP_NAME,
)
from .headwords import (
    HeadwordCounter as HeadwordCounter,
)
from .headwords import (
    Headwords as Headwords,
)
from .learned_words import (
    ContextWords as ContextWords,
)
from .learned_words import (
    SentenceWords as SentenceWords,
)
from .learned_words import (
    one_score as one_score,
)
from .ngram_counts import (
    BIAS as BIAS,
)
from .ngram_counts import (
    NgramCounts as NgramCounts,
)
from .ngram_counts import (
    context_keys as context_keys,
)
from .ngram_counts import (
    ngram_columns as ngram_columns,
)
from .rows import (
    by_group as by_group,
)
from .source_features import (
    SourceFeatures as SourceFeatures,
)
from .stateless import (
    StatelessExtractor as StatelessExtractor,
)
from .subsequences import (
    Subsequences as Subsequences,
)
from .tfidf import (
    TermSelector as TermSelector,
)
from .tfidf import (
    Tfidf as Tfidf,
)
from .token_context import (
    TokenContext as TokenContext,
)
from .token_context import (
    WordClasses as WordClasses,
)
from .union import (
    ExtractorChoice as ExtractorChoice,
)
from .union import (
    check_candidate_kind as check_candidate_kind,
)
from .union import (
    extractor_error as extractor_error,
)
from .union import (
    extractor_names as extractor_names,
)
from .union import (
    fit_checked as fit_checked,
)
from .union import (
    join as join,
)
from .union import (
    transform_checked as transform_checked,
)
from .union import (
    transform_table as transform_table,
)
from .union import (
    transform_union as transform_union,
)
from .word_class_learning import (
    learn_classes as learn_classes,
)
from .word_class_learning import (
    learn_usage as learn_usage,
)
from .word_network import (
    WordNetwork as WordNetwork,
)
from .word_vectors import (
    Vectors as Vectors,
)
from .word_vectors import (
    WordVectors as WordVectors,
)
from .word_vectors import (
    learn_vectors as learn_vectors,
)
