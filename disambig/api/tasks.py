"""Groups of candidates, and the places where they are decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import (
        CandidateLists as CandidateLists,
        CandidateWords as CandidateWords,
        Interned as Interned,
        apart as apart,
        capitalised_tokens as capitalised_tokens,
        confusion_set as confusion_set,
        empty_places as empty_places,
        glued as glued,
        read_confusion_sets as read_confusion_sets,
        word_tokens as word_tokens,
    )
    from disambig.features import Gaps as Gaps, learn_gaps as learn_gaps
    from disambig.models import decide_lists as decide_lists
    from disambig.rules import (
        ENGLISH_RULES as ENGLISH_RULES,
        Correction as Correction,
        MistakeExample as MistakeExample,
        Rule as Rule,
        RuleSet as RuleSet,
        english_rule as english_rule,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
