"""Groups of candidates, and the places where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.data.candidate_words import CandidateWords as CandidateWords
    from disambig.data.finding import apart as apart
    from disambig.data.finding import empty_places as empty_places
    from disambig.data.finding import glued as glued
    from disambig.data.finding import word_tokens as word_tokens
    from disambig.data.interned import Interned as Interned
    from disambig.data.lists import CandidateLists as CandidateLists
    from disambig.features.gaps.learning import learn_gaps as learn_gaps
    from disambig.features.gaps.model import Gaps as Gaps
    from disambig.model.lists import decide_lists as decide_lists
    from disambig.tasks.confusion_sets import confusion_set as confusion_set
    from disambig.tasks.confusion_sets import read_confusion_sets as read_confusion_sets
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
