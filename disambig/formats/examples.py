"""A labelled example: one place of a text and what is right there."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from disambig.errors import UserError


@dataclass(frozen=True, slots=True)
class Labelled:
    """One place of a text and what is right there.

    Attributes
    ----------
    text : str
    start, end : int
        Character offsets of the place; equal for an empty one.
    label : str
        The candidate that is right; empty for no word at all.
    document : str
        What must not be split between training and testing.
    where : str
        File and line, for messages.
    word : str
        The group that decides there, such as ``"bank.n"``; empty where the task is to find it.
    gloss : str
        Where to read what the label means; empty where that is not known.
    also : tuple of str
        Other labels that are as right: of these any will do.
    domain : str
        The kind of text, such as a genre; empty where that is not known.
    picked : bool
        Whether it was picked for its label, as by a pattern, and not taken as it comes: it is learned from,
        but says nothing of how frequent labels are or how sure one may be.
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
    """Return a text without its marks, and where the marked place begins and ends.

    Raises
    ------
    UserError
        D460 where not one place is marked: none, several, or one that does not end or begin.
    """
    before, opened, rest = text.partition(OPEN)
    inside, closed, after = rest.partition(CLOSE)
    if not opened or not closed or OPEN in inside + after or CLOSE in after:
        raise UserError("D460", where=where, problem=_mark_problem(text))
    return before + inside + after, len(before), len(before) + len(inside)


def place_at_mark(example: Labelled) -> Labelled:
    """Return the example of a whole text that has a mark as one of the marked place; others as they are.

    Raises
    ------
    UserError
        D460 where a mark is open, or several places are marked.
    """
    if OPEN not in example.text or (example.start, example.end) != (0, len(example.text)):
        return example
    text, start, end = remove_marks(example.text, example.where)
    document = text if example.document == example.text else example.document
    return replace(example, text=text, start=start, end=end, document=document)


def _mark_problem(text: str) -> str:
    """Say what is wrong with the marks of a text, and what to do."""
    if OPEN not in text:
        return (
            "no place is marked: put one place between [[ and ]]; a table of whole texts has the columns "
            "text and label only, named in its first line"
        )
    rest, n = _PLACE.subn("", text)
    if n > 1 and OPEN not in rest and CLOSE not in rest:
        return f"{n} places are marked, not one place: write the text once for each, with that place marked"
    if text.count(CLOSE) > text.count(OPEN):
        return "a ]] has no [[ before it: leave one place between [[ and ]]"
    return "a [[ has no ]] behind it: close it, so that one place stands between [[ and ]]"
