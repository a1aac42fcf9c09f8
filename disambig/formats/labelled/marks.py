"""Places marked in a text, with the two brackets of ``[[bank]]`` around them."""

from __future__ import annotations

import re
from dataclasses import replace

from disambig.errors import UserError
from disambig.formats.labelled.example import Labelled

OPEN, CLOSE = "[[", "]]"
_PLACE = re.compile(r"\[\[(?:(?!\[\[|\]\]).)*\]\]", re.DOTALL)


def unmarked(text: str, where: str) -> tuple[str, int, int]:
    """Return a text without its marks, and where the marked place begins and ends.

    Raises
    ------
    UserError
        D460 where not one place is marked: none, several, or one that does not end or begin.
    """
    before, opened, rest = text.partition(OPEN)
    inside, closed, after = rest.partition(CLOSE)
    if not opened or not closed or OPEN in inside + after or CLOSE in after:
        raise UserError("D460", where=where, problem=_problem(text))
    return before + inside + after, len(before), len(before) + len(inside)


def at_its_mark(example: Labelled) -> Labelled:
    """Return the example of a whole text that has a mark as one of the marked place; others as they are.

    Raises
    ------
    UserError
        D460 where a mark is open, or several places are marked.
    """
    if OPEN not in example.text or (example.start, example.end) != (0, len(example.text)):
        return example
    text, start, end = unmarked(example.text, example.where)
    document = text if example.document == example.text else example.document
    return replace(example, text=text, start=start, end=end, document=document)


def _problem(text: str) -> str:
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
