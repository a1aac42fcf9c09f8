from .missing_training import (
    learn_missing as learn_missing,
)
from .task import (
    MISSING_WEIGHTS as MISSING_WEIGHTS,
)
from .task import (
    PARTS_OF_SPEECH as PARTS_OF_SPEECH,
)
from .task import (
    Preposition as Preposition,
)
from .task import (
    PrepositionNetwork as PrepositionNetwork,
)
from .task import (
    PrepositionOdds as PrepositionOdds,
)
from .usage import (
    WEIGHTS as WEIGHTS,
)
from .usage import (
    PrepositionUsage as PrepositionUsage,
)
from .usage import (
    build_class_table as build_class_table,
)
from .usage import (
    look_up_classes as look_up_classes,
)
from .usage_training import (
    HASHES as HASHES,
)
from .usage_training import (
    TreebankWord as TreebankWord,
)
from .usage_training import (
    find_examples as find_examples,
)
from .usage_training import (
    fit_weights as fit_weights,
)
from .usage_training import (
    frequent_words as frequent_words,
)
from .usage_training import (
    is_preposition as is_preposition,
)
from .usage_training import (
    read_ewt_examples as read_ewt_examples,
)
from .usage_training import (
    read_labelled as read_labelled,
)
from .usage_training import (
    report_row as report_row,
)
from .usage_training import (
    swap_prepositions as swap_prepositions,
)
from .usage_training import (
    swapped_recall as swapped_recall,
)
from .usage_training import (
    threshold_for as threshold_for,
)
from .usage_training import (
    usage_report as usage_report,
)
from .usage_training import (
    word_classes as word_classes,
)
from .word_kind_training import (
    most_frequent_kind as most_frequent_kind,
)
