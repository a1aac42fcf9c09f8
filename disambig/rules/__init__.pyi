from .catalogue import (
    CATALOGUE as CATALOGUE,
)
from .catalogue import (
    PAGE as PAGE,
)
from .catalogue import (
    PAGE_VARIABLE as PAGE_VARIABLE,
)
from .catalogue import (
    find_rule as find_rule,
)
from .catalogue import (
    installed_rules as installed_rules,
)
from .catalogue import (
    local_page as local_page,
)
from .catalogue import (
    rule_link as rule_link,
)
from .english import (
    ENGLISH_RULES as ENGLISH_RULES,
)
from .english import (
    english_rule as english_rule,
)
from .naming import (
    Concern as Concern,
)
from .naming import (
    Correction as Correction,
)
from .naming import (
    MistakeExample as MistakeExample,
)
from .naming import (
    Rule as Rule,
)
from .naming import (
    RuleSet as RuleSet,
)
from .naming import (
    default_rules as default_rules,
)
from .naming import (
    rule_pattern as rule_pattern,
)
from .page import (
    MeasuredShare as MeasuredShare,
)
from .page import (
    measured_shares as measured_shares,
)
from .page import (
    rule_text as rule_text,
)
from .page import (
    rules_page as rules_page,
)
from .page import (
    save_measured as save_measured,
)
from .selection import (
    ALL_RULES as ALL_RULES,
)
from .selection import (
    RuleSelection as RuleSelection,
)
