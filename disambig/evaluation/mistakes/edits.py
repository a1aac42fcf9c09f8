"""Edits that a checker proposes, and whether one of them corrects a mistake. No checker is known here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from disambig.formats.fixes.fix import Fix

_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Edit:
    """A flag with what should stand in its place.

    Attributes
    ----------
    start, end : int
        What is replaced; equal where something is put in.
    new : str or None
        What should stand there; None where the checker does not say.
    task : str
        Which part of the checker proposes it.
    sure : float
        The higher, the surer; compared with a limit of the task.
    others : tuple of str
        What else is offered: where one of all is right, the mistake counts as corrected.
    """

    start: int
    end: int
    new: str | None
    task: str
    sure: float = 1.0
    others: tuple[str, ...] = ()


class Checker(Protocol):
    """Something that proposes edits."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def tasks(self) -> Sequence[str]:
        """What `Edit.task` can be."""

    def edits(self, texts: Sequence[str]) -> list[list[Edit]]:
        """Return all edits that it might propose of each text, however unsure."""


def words_of(text: str) -> list[str]:
    """Return words and marks of a text as edits are compared: blanks, case and curls of ' play no part."""
    return _WORDS.findall(text.replace("\u2019", "'").casefold())


def corrects(edit: Edit, fix: Fix) -> bool:
    """Tell whether an edit of the text with a mistake gives the words of the corrected text."""
    if edit.new is None:
        return False
    left, right, wanted = fix.before[: edit.start], fix.before[edit.end :], words_of(fix.corrected())
    blank = " " if edit.start == edit.end else ""  # may be missing around a word that is put in
    return any(words_of(left + blank + new + blank + right) == wanted for new in (edit.new, *edit.others))


def touches(edit: Edit, fix: Fix) -> bool:
    """Tell whether an edit is of the place of a mistake; where a word is missing that is the gap for it."""
    start, end = _gap(fix.before, fix.start, fix.end)
    first, last = _gap(fix.before, edit.start, edit.end)
    if start == end or first == last:
        return first <= end and start <= last
    return first < end and start < last


def _gap(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place, an empty one with all blanks around it."""
    if start < end:
        return start, end
    while start > 0 and text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    return start, end
