from .missing_training import (
    learn_missing as learn_missing,
)
from .task import (
    MISSING_WEIGHTS as MISSING_WEIGHTS,
    PARTS_OF_SPEECH as PARTS_OF_SPEECH,
    Preposition as Preposition,
    PrepositionNetwork as PrepositionNetwork,
    PrepositionOdds as PrepositionOdds,
)
from .usage import (
    WEIGHTS as WEIGHTS,
    PrepositionUsage as PrepositionUsage,
    build_class_table as build_class_table,
    look_up_classes as look_up_classes,
)
from .usage_training import (
    HASHES as HASHES,
    TreebankWord as TreebankWord,
    find_examples as find_examples,
    fit_weights as fit_weights,
    frequent_words as frequent_words,
    is_preposition as is_preposition,
    read_ewt_examples as read_ewt_examples,
    read_labelled as read_labelled,
    report_row as report_row,
    swap_prepositions as swap_prepositions,
    swapped_recall as swapped_recall,
    threshold_for as threshold_for,
    usage_report as usage_report,
    word_classes as word_classes,
)
from .word_kind_training import (
    most_frequent_kind as most_frequent_kind,
)
