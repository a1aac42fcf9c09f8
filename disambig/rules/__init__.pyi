from .catalogue import (
    CATALOGUE as CATALOGUE,
    PAGE as PAGE,
    PAGE_VARIABLE as PAGE_VARIABLE,
    find_rule as find_rule,
    installed_rules as installed_rules,
    local_page as local_page,
    rule_link as rule_link,
)
from .english import (
    ENGLISH_RULES as ENGLISH_RULES,
    common_prefix as common_prefix,
    edit_distance as edit_distance,
    english_rule as english_rule,
)
from .naming import (
    ALL_RULES as ALL_RULES,
    Concern as Concern,
    Correction as Correction,
    MistakeExample as MistakeExample,
    Rule as Rule,
    RuleSelection as RuleSelection,
    RuleSet as RuleSet,
    default_rules as default_rules,
    rule_pattern as rule_pattern,
)
from .page import (
    MeasuredShare as MeasuredShare,
    measured_shares as measured_shares,
    rule_text as rule_text,
    rules_page as rules_page,
    save_measured as save_measured,
)
