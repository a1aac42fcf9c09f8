"""What readers of examples share: the example of a whole text, and the error of a line that is none."""

from __future__ import annotations

from disambig.errors import UserError
from disambig.formats.documents import can_be_encoded
from disambig.formats.labelled.example import Labelled


def whole(text: str, label: str, document: str, where: str, word: str = "", gloss: str = "") -> Labelled:
    """Return the example of a whole text; a mark in it is text here."""
    label = label.strip()
    if not label:
        raise refused(where, "an empty label")
    if not can_be_encoded(label):
        raise refused(where, "half a surrogate pair in its label")
    return Labelled(text, 0, len(text), label, document, where, word.strip(), gloss)


def refused(where: str, problem: str) -> UserError:
    """Return the error of a line that is no example."""
    return UserError("D460", where=where, problem=problem)
