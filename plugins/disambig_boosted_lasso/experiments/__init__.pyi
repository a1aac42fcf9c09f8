from .adaptation import (
    ALL_LEARNERS as ALL_LEARNERS,
    BASELINE as BASELINE,
    CER as CER,
    LEARNERS as LEARNERS,
    MAP as MAP,
    AdaptationResults as AdaptationResults,
    ConversionDomain as ConversionDomain,
    ConversionFeatures as ConversionFeatures,
    ConversionLists as ConversionLists,
    DomainLists as DomainLists,
    DomainParts as DomainParts,
    adapt_every_way as adapt_every_way,
    add_words as add_words,
    make_learner as make_learner,
    rerank_lists as rerank_lists,
    spread_sentences as spread_sentences,
)
from .english import (
    FIRST as FIRST,
    ORACLE as ORACLE,
    PAIRS as PAIRS,
    SHIPS as SHIPS,
    WRITTEN as WRITTEN,
    Gao2006English as Gao2006English,
    claim_lower_cost as claim_lower_cost,
    claim_more_corrections as claim_more_corrections,
)
from .english_lists import (
    MAX_CANDIDATES as MAX_CANDIDATES,
    NgramFamily as NgramFamily,
    RowExtractor as RowExtractor,
    WordLists as WordLists,
    apply_edits as apply_edits,
    build_correction_lists as build_correction_lists,
    edit_features as edit_features,
    possible_edits as possible_edits,
    select_lists as select_lists,
)
from .english_systems import (
    OTHERS as OTHERS,
    OURS as OURS,
    SYSTEMS as SYSTEMS,
    ScoredChoice as ScoredChoice,
    choice_costs as choice_costs,
    correction_choice as correction_choice,
    correction_rows as correction_rows,
    default_choice as default_choice,
    fit_best_setting as fit_best_setting,
    oracle_choice as oracle_choice,
    restrained_choice as restrained_choice,
    tag_accuracy as tag_accuracy,
    unchanged_choice as unchanged_choice,
)
from .figures import (
    Gao2006Figures as Gao2006Figures,
    measure_curves as measure_curves,
)
from .headwords import (
    Gao2006Headwords as Gao2006Headwords,
)
from .table1 import (
    ONE_LEXICON as ONE_LEXICON,
    OWN_WORDS as OWN_WORDS,
    DomainResults as DomainResults,
    Gao2006Table1 as Gao2006Table1,
    table1_rows as table1_rows,
)
