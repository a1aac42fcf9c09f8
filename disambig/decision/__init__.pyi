from ._alternatives import (
    ALONE as ALONE,
    EARLIER as EARLIER,
    FEATURES as FEATURES,
    MAX_ALTERNATIVES as MAX_ALTERNATIVES,
    NO_KEY as NO_KEY,
    HashedWeights as HashedWeights,
    alternatives_repeat as alternatives_repeat,
    edit_change as edit_change,
    edit_kind as edit_kind,
    find_alternatives as find_alternatives,
    term_keys as term_keys,
    variant_matrix as variant_matrix,
)
from .calibration import (
    ERROR_RATE as ERROR_RATE,
    RATES as RATES,
    Calibration as Calibration,
    OperatingPoint as OperatingPoint,
    check_rate as check_rate,
    compare_with_observed as compare_with_observed,
    concave_envelope as concave_envelope,
    error_probabilities as error_probabilities,
    fit_calibration as fit_calibration,
    fit_choices as fit_choices,
    fit_logistic as fit_logistic,
    pad as pad,
    share_budget as share_budget,
    substitutes as substitutes,
    tune_operating_point as tune_operating_point,
    unpad as unpad,
)
from .contract import (
    check_decision_rule as check_decision_rule,
    check_error_corpus as check_error_corpus,
    check_fit as check_fit,
    check_methods as check_methods,
    check_predictions as check_predictions,
    default_rule_config as default_rule_config,
)
from .corrections import (
    Corrections as Corrections,
)
from .labels import (
    BestOfList as BestOfList,
    Labels as Labels,
    best_threshold as best_threshold,
    label_softmax as label_softmax,
)
from .mistakes import (
    EVERYWHERE as EVERYWHERE,
    MIN_SEEN as MIN_SEEN,
    MIN_WEIGHT as MIN_WEIGHT,
    RIDGE as RIDGE,
    RIDGES as RIDGES,
    ErrorWeights as ErrorWeights,
    Mistakes as Mistakes,
    fit_weights as fit_weights,
    join_cases as join_cases,
    weighted_cases as weighted_cases,
)
from .overlaps import (
    edit_slots as edit_slots,
    edits_to_keep as edits_to_keep,
    extend_to_next_word as extend_to_next_word,
    resolve_overlaps as resolve_overlaps,
    restore_flags as restore_flags,
    surviving_edits as surviving_edits,
    task_ranks as task_ranks,
)
from .second_look import (
    ExpectedMistakes as ExpectedMistakes,
    LabelledProposals as LabelledProposals,
    Proposals as Proposals,
    Proposer as Proposer,
    RuleAssignment as RuleAssignment,
    SecondLook as SecondLook,
    judge_together as judge_together,
    look_again_together as look_again_together,
    paragraph_shifts as paragraph_shifts,
    passage_paragraphs as passage_paragraphs,
    passage_shifts as passage_shifts,
)
