"""The English genitive without a noun: "better than the author's in all cases"."""

from __future__ import annotations

import re

_BEFORE = re.compile(
    r"\b(?:than|above|below|beyond|(?:beat|equal|exceed|outperform|surpass)s?|match(?:es)?|resembles?|unlike)\s+"
    r"(?:the|an?|my|your|his|her|our|their|this|that|any|each|every)\s+(?:[\w-]+\s+){0,2}\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s+(?:in|on|for|by|at|over|across|under|with|without|when|while|if|because|and|or|but|is|are|was|were|"
    r"does|do|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)
_LONGEST = 80
"""Maximum number of characters before a genitive in which a comparison is looked for."""


def may_be_elliptical(text: str, start: int, end: int) -> bool:
    """Return True if a genitive at an offset is one side of a comparison, and no noun follows."""
    return bool(_AFTER.match(text, end) and _BEFORE.search(text[max(0, start - _LONGEST) : start]))
