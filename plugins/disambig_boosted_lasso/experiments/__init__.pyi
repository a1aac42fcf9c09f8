from .adaptation import (
    ALL_LEARNERS as ALL_LEARNERS,
)
from .adaptation import (
    BASELINE as BASELINE,
)
from .adaptation import (
    CER as CER,
)
from .adaptation import (
    LEARNERS as LEARNERS,
)
from .adaptation import (
    MAP as MAP,
)
from .adaptation import (
    AdaptationResults as AdaptationResults,
)
from .adaptation import (
    ConversionDomain as ConversionDomain,
)
from .adaptation import (
    ConversionFeatures as ConversionFeatures,
)
from .adaptation import (
    ConversionLists as ConversionLists,
)
from .adaptation import (
    DomainLists as DomainLists,
)
from .adaptation import (
    DomainParts as DomainParts,
)
from .adaptation import (
    adapt_every_way as adapt_every_way,
)
from .adaptation import (
    adapt_with_one_lexicon as adapt_with_one_lexicon,
)
from .adaptation import (
    add_words as add_words,
)
from .adaptation import (
    make_learner as make_learner,
)
from .adaptation import (
    rerank_lists as rerank_lists,
)
from .adaptation import (
    spread_sentences as spread_sentences,
)
from .english import (
    FIRST as FIRST,
)
from .english import (
    ORACLE as ORACLE,
)
from .english import (
    PAIRS as PAIRS,
)
from .english import (
    SHIPS as SHIPS,
)
from .english import (
    WRITTEN as WRITTEN,
)
from .english import (
    Gao2006English as Gao2006English,
)
from .english import (
    claim_lower_cost as claim_lower_cost,
)
from .english import (
    claim_more_corrections as claim_more_corrections,
)
from .english_lists import (
    MOST as MOST,
)
from .english_lists import (
    NgramFamily as NgramFamily,
)
from .english_lists import (
    RowExtractor as RowExtractor,
)
from .english_lists import (
    WordLists as WordLists,
)
from .english_lists import (
    apply_edits as apply_edits,
)
from .english_lists import (
    build_correction_lists as build_correction_lists,
)
from .english_lists import (
    edit_features as edit_features,
)
from .english_lists import (
    first_least_cost as first_least_cost,
)
from .english_lists import (
    possible_edits as possible_edits,
)
from .english_lists import (
    select_lists as select_lists,
)
from .english_systems import (
    OTHERS as OTHERS,
)
from .english_systems import (
    OURS as OURS,
)
from .english_systems import (
    SYSTEMS as SYSTEMS,
)
from .english_systems import (
    ScoredChoice as ScoredChoice,
)
from .english_systems import (
    choice_costs as choice_costs,
)
from .english_systems import (
    chosen_candidates as chosen_candidates,
)
from .english_systems import (
    correction_choice as correction_choice,
)
from .english_systems import (
    correction_rows as correction_rows,
)
from .english_systems import (
    default_choice as default_choice,
)
from .english_systems import (
    fit_best_setting as fit_best_setting,
)
from .english_systems import (
    oracle_choice as oracle_choice,
)
from .english_systems import (
    restrained_choice as restrained_choice,
)
from .english_systems import (
    tag_accuracy as tag_accuracy,
)
from .english_systems import (
    unchanged_choice as unchanged_choice,
)
from .figures import (
    Gao2006Figures as Gao2006Figures,
)
from .figures import (
    measure_curves as measure_curves,
)
from .headwords import (
    Gao2006Headwords as Gao2006Headwords,
)
from .table1 import (
    ONE_LEXICON as ONE_LEXICON,
)
from .table1 import (
    OWN_WORDS as OWN_WORDS,
)
from .table1 import (
    DomainResults as DomainResults,
)
from .table1 import (
    Gao2006Table1 as Gao2006Table1,
)
from .table1 import (
    table1_rows as table1_rows,
)
