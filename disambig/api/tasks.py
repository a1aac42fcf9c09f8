"""Groups of candidates, and the places where they are decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data import CandidateLists as CandidateLists
    from disambig.data import CandidateWords as CandidateWords
    from disambig.data import Interned as Interned
    from disambig.data import apart as apart
    from disambig.data import confusion_set as confusion_set
    from disambig.data import empty_places as empty_places
    from disambig.data import glued as glued
    from disambig.data import read_confusion_sets as read_confusion_sets
    from disambig.data import word_tokens as word_tokens
    from disambig.features import Gaps as Gaps
    from disambig.features import learn_gaps as learn_gaps
    from disambig.models import decide_lists as decide_lists
    from disambig.rules import ENGLISH_RULES as ENGLISH_RULES
    from disambig.rules import Correction as Correction
    from disambig.rules import MistakeExample as MistakeExample
    from disambig.rules import Rule as Rule
    from disambig.rules import RuleSet as RuleSet
    from disambig.rules import english_rule as english_rule
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
