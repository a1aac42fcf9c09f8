from ._rivals import (
    ALONE as ALONE,
)
from ._rivals import (
    EARLIER as EARLIER,
)
from ._rivals import (
    FEATURES as FEATURES,
)
from ._rivals import (
    MOST as MOST,
)
from ._rivals import (
    NO_KEY as NO_KEY,
)
from ._rivals import (
    HashedWeights as HashedWeights,
)
from ._rivals import (
    alternatives_repeat as alternatives_repeat,
)
from ._rivals import (
    edit_change as edit_change,
)
from ._rivals import (
    edit_kind as edit_kind,
)
from ._rivals import (
    find_alternatives as find_alternatives,
)
from ._rivals import (
    term_keys as term_keys,
)
from .calibration import (
    ERROR_RATE as ERROR_RATE,
)
from .calibration import (
    Calibration as Calibration,
)
from .calibration import (
    compare_with_observed as compare_with_observed,
)
from .calibration import (
    error_probabilities as error_probabilities,
)
from .calibration import (
    fit_calibration as fit_calibration,
)
from .calibration import (
    fit_choices as fit_choices,
)
from .calibration import (
    fit_logistic as fit_logistic,
)
from .corrections import (
    Corrections as Corrections,
)
from .corrections import (
    substitutes as substitutes,
)
from .labels import (
    BestOfList as BestOfList,
)
from .labels import (
    Labels as Labels,
)
from .labels import (
    best_threshold as best_threshold,
)
from .labels import (
    label_softmax as label_softmax,
)
from .mistakes import (
    EVERYWHERE as EVERYWHERE,
)
from .mistakes import (
    LEAST_SEEN as LEAST_SEEN,
)
from .mistakes import (
    LEAST_WEIGHT as LEAST_WEIGHT,
)
from .mistakes import (
    RIDGE as RIDGE,
)
from .mistakes import (
    RIDGES as RIDGES,
)
from .mistakes import (
    ErrorWeights as ErrorWeights,
)
from .mistakes import (
    Mistakes as Mistakes,
)
from .mistakes import (
    fit_weights as fit_weights,
)
from .mistakes import (
    join_cases as join_cases,
)
from .mistakes import (
    weighted_cases as weighted_cases,
)
from .overlaps import (
    edit_slots as edit_slots,
)
from .overlaps import (
    edits_to_keep as edits_to_keep,
)
from .overlaps import (
    extend_to_next_word as extend_to_next_word,
)
from .overlaps import (
    resolve_overlaps as resolve_overlaps,
)
from .overlaps import (
    surviving_edits as surviving_edits,
)
from .overlaps import (
    task_ranks as task_ranks,
)
from .padded_scores import (
    pad as pad,
)
from .padded_scores import (
    unpad as unpad,
)
from .padded_scores import (
    variant_matrix as variant_matrix,
)
from .second_look import (
    ExpectedMistakes as ExpectedMistakes,
)
from .second_look import (
    LabelledProposals as LabelledProposals,
)
from .second_look import (
    Proposals as Proposals,
)
from .second_look import (
    Proposer as Proposer,
)
from .second_look import (
    SecondLook as SecondLook,
)
from .second_look import (
    look_again_together as look_again_together,
)
from .second_look import (
    paragraph_shifts as paragraph_shifts,
)
from .selection import (
    check_decision_rule as check_decision_rule,
)
from .selection import (
    check_error_corpus as check_error_corpus,
)
from .selection import (
    default_rule_config as default_rule_config,
)
from .selection import (
    is_correction_task as is_correction_task,
)
from .thresholds import (
    RATES as RATES,
)
from .thresholds import (
    OperatingPoint as OperatingPoint,
)
from .thresholds import (
    check_rate as check_rate,
)
from .thresholds import (
    concave_envelope as concave_envelope,
)
from .thresholds import (
    share_budget as share_budget,
)
from .thresholds import (
    tune_operating_point as tune_operating_point,
)
