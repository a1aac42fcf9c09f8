from ._cloze_network import (
    DENSE as DENSE,
    ENDING_SHARE as ENDING_SHARE,
    HALVES as HALVES,
    ClozeCandidates as ClozeCandidates,
    ClozeExamples as ClozeExamples,
    ClozeNetwork as ClozeNetwork,
    ClozeSettings as ClozeSettings,
    FloatWeights as FloatWeights,
    ThreadPool as ThreadPool,
    TrainingPlaces as TrainingPlaces,
    WordEndings as WordEndings,
    adagrad as adagrad,
    adam as adam,
)
from .candidate_lists import (
    HeadwordBigrams as HeadwordBigrams,
    KnownNgrams as KnownNgrams,
    Occurrences as Occurrences,
    SourceFeatures as SourceFeatures,
    TextNgrams as TextNgrams,
    columns_named as columns_named,
    count_known as count_known,
    distinguishing_ngrams as distinguishing_ngrams,
    known_ngrams_from_state as known_ngrams_from_state,
    name_keys as name_keys,
    require_lists as require_lists,
)
from .cloze import (
    CLOZE_ARRAYS as CLOZE_ARRAYS,
    CLOZE_FILE as CLOZE_FILE,
    CLOZE_FOLDER as CLOZE_FOLDER,
    ENDING_LENGTH as ENDING_LENGTH,
    PRODUCT_STEP as PRODUCT_STEP,
    STATE_STEP as STATE_STEP,
    UNKNOWN_WORD_SCORE as UNKNOWN_WORD_SCORE,
    Cloze as Cloze,
    ClozeVocabulary as ClozeVocabulary,
    ContextPlaces as ContextPlaces,
    WordsInContext as WordsInContext,
    context_vectors as context_vectors,
    open_cloze as open_cloze,
    score_candidates as score_candidates,
)
from .cloze_learning import (
    count_vocabulary as count_vocabulary,
    learn_cloze as learn_cloze,
    quantise as quantise,
)
from .context_window import (
    CLASS as CLASS,
    CONTEXTS as CONTEXTS,
    DISCOUNT as DISCOUNT,
    MULTIPLIERS as MULTIPLIERS,
    ONE_SIDED as ONE_SIDED,
    SEEDS as SEEDS,
    SHAPE as SHAPE,
    CandidateHashes as CandidateHashes,
    ContextWindow as ContextWindow,
    Subsequences as Subsequences,
    context_room as context_room,
    feature_buckets as feature_buckets,
    fitting_contexts as fitting_contexts,
    ngram_text as ngram_text,
)
from .gaps import (
    Gaps as Gaps,
    MissingWordOdds as MissingWordOdds,
    learn_gaps as learn_gaps,
    load_gaps as load_gaps,
)
from .heads import (
    GROUP_NAME as GROUP_NAME,
    HEADWORD_TOKENISATION as HEADWORD_TOKENISATION,
    WORD_KINDS as WORD_KINDS,
    HeadwordCounter as HeadwordCounter,
    Headwords as Headwords,
    HeadwordTokenisation as HeadwordTokenisation,
    PartsOfSpeech as PartsOfSpeech,
    find_heads as find_heads,
    load_parts_of_speech as load_parts_of_speech,
)
from .learned_words import (
    ContextWords as ContextWords,
    SentenceWords as SentenceWords,
)
from .ngram_counts import (
    BIAS as BIAS,
    ContextProbabilities as ContextProbabilities,
    NgramCounts as NgramCounts,
    NgramKeys as NgramKeys,
    ngram_columns as ngram_columns,
)
from .rows import (
    StatelessExtractor as StatelessExtractor,
    by_group as by_group,
    one_score as one_score,
)
from .tfidf import (
    TermSelector as TermSelector,
    Tfidf as Tfidf,
)
from .token_context import (
    TokenContext as TokenContext,
    WordClasses as WordClasses,
    learn_classes as learn_classes,
    learn_usage as learn_usage,
    tagged_batch as tagged_batch,
    tagged_instances as tagged_instances,
)
from .union import (
    ExtractorChoice as ExtractorChoice,
    attributes as attributes,
    changed_attributes as changed_attributes,
    check_candidate_kind as check_candidate_kind,
    check_same_numbers as check_same_numbers,
    extractor_error as extractor_error,
    extractor_names as extractor_names,
    fit_checked as fit_checked,
    join as join,
    restore_checked as restore_checked,
    transform_checked as transform_checked,
    transform_runs as transform_runs,
    transform_table as transform_table,
    transform_union as transform_union,
)
from .word_network import (
    FIRST_KNOWN as FIRST_KNOWN,
    OUTSIDE as OUTSIDE,
    TOPIC_SHIFT as TOPIC_SHIFT,
    UNKNOWN as UNKNOWN,
    NetworkWeights as NetworkWeights,
    WordNetwork as WordNetwork,
)
from .word_vectors import (
    Vectors as Vectors,
    WordVectors as WordVectors,
    learn_vectors as learn_vectors,
)
