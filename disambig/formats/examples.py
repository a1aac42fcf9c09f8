"""Labelled examples: one place in a text, and the right candidate there."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from disambig.errors import UserError


@dataclass(frozen=True, slots=True)
class Labelled:
    """One place in a text, and the right candidate there.

    Attributes
    ----------
    text : str
    start, end : int
        Character offsets of the place; equal for an empty place.
    label : str
        The right candidate; empty for no word at all.
    document : str
        The document; documents are never split between training and testing.
    where : str
        File and line, for messages.
    word : str
        The group that decides there, such as ``"bank.n"``; empty if the task determines it.
    gloss : str
        Reference to the meaning of the label; empty if unknown.
    also : tuple of str
        Other labels that are equally right.
    domain : str
        The kind of text, such as a genre; empty if unknown.
    picked : bool
        Whether it was picked for its label, for example by a pattern, instead of sampled. Such examples are
        learned from, but not used to estimate frequencies of labels or probabilities.
    """

    text: str
    start: int
    end: int
    label: str
    document: str
    where: str = ""
    word: str = ""
    gloss: str = ""
    also: tuple[str, ...] = ()
    domain: str = ""
    picked: bool = False


OPEN, CLOSE = "[[", "]]"
_PLACE = re.compile(r"\[\[(?:(?!\[\[|\]\]).)*\]\]", re.DOTALL)


def remove_marks(text: str, where: str) -> tuple[str, int, int]:
    """Return a text without its marks, and start and end of the marked place.

    Raises D460 unless exactly one place is marked.
    """
    before, opened, rest = text.partition(OPEN)
    inside, closed, after = rest.partition(CLOSE)
    if not opened or not closed or OPEN in inside + after or CLOSE in after:
        raise UserError("D460", where=where, problem=_mark_problem(text))
    return before + inside + after, len(before), len(before) + len(inside)


def place_at_mark(example: Labelled) -> Labelled:
    """Convert an example of a whole text with a mark to one of the marked place; others stay as they are.

    Raises D460 if a mark is incomplete, or several places are marked.
    """
    if OPEN not in example.text or (example.start, example.end) != (0, len(example.text)):
        return example
    text, start, end = remove_marks(example.text, example.where)
    document = text if example.document == example.text else example.document
    return replace(example, text=text, start=start, end=end, document=document)


def _mark_problem(text: str) -> str:
    """Return what is wrong with the marks of a text, and what to do."""
    if OPEN not in text:
        return (
            "no place is marked: put one place between [[ and ]]; a table of whole texts has the columns "
            "text and label only, named in its first line"
        )
    rest, n = _PLACE.subn("", text)
    if n > 1 and OPEN not in rest and CLOSE not in rest:
        return f"{n} places are marked instead of one place: repeat the text for each, with that place marked"
    if text.count(CLOSE) > text.count(OPEN):
        return "a ]] has no [[ before it: put one place between [[ and ]]"
    return "a [[ has no ]] after it: put one place between [[ and ]]"
