"""Gerunds that are the subject of an English sentence."""

from __future__ import annotations

import re

_OTHER_CLAUSE = (
    "that which who whom whose what when where why how if because as and but or than whether while since "
    "until though although i you he she it we they there is was are were"
).split()
"""Words after which a verb belongs to another clause than the words before it."""
_GERUND_SUBJECT = re.compile(
    rf"\s+(?:not\s+)?(?:being|having)(?:\s+(?!(?:{'|'.join(_OTHER_CLAUSE)})\b)[\w'\u2019-]+){{1,6}}?"
    r"\s+(?:(?:(?:is|was|does|did|would|could)(?:n['\u2019]t)?|will|won['\u2019]t|may|might|must)"
    r"(?!\s+(?:i|you|he|she|it|we|they|there|this|that|any\w*|some\w*)\b)|means|meant|makes|made)\s+\w",
    re.IGNORECASE,
)


def begins_gerund_subject(text: str, end: int) -> bool:
    """Return True if the word that ends at `end` precedes a gerund that is the subject of a sentence.

    The word must begin the sentence. In "Its being late is fine", "its" is right, and the result is True. In
    "Its being built now", "it's" was meant, and the result is False.
    """
    return _GERUND_SUBJECT.match(text, end) is not None
