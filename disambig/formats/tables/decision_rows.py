"""Decisions as rows of a table: one a decision, with the words around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from disambig.formats.results import Annotated, records

COLUMNS = {
    "document": str,
    "path": str,
    "line": int,
    "start": int,
    "end": int,
    "left": str,
    "observed": str,
    "right": str,
    "task": str,
    "group": str,
    "chosen": str,
    "replacement": str,
    "probability": float,
    "margin": float,
    "flagged": bool,
    "gloss": str,
}
"""Name and type of each column.

`line` is the one in which the decision begins, from 1; of a document that is a line, row, Doc or part of
CoNLL-U, where that begins. `left` and `right` are the text around, white space as one space; `gloss` is where
to read what the chosen candidate means, empty where that is not known.
"""
_AROUND = 50


def columns(*, text: bool) -> tuple[str, ...]:
    """Return the names of the columns, without the text around a decision if it is not wanted."""
    return tuple(name for name in COLUMNS if text or name not in ("left", "right"))


def rows(result: Annotated, *, text: bool) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each decision of a document, in text order, in the order of `columns`."""
    document = result.document
    names = columns(text=text)
    line, counted = 1, 0
    for record in records(result, kept=1):
        start, end = record["start"], record["end"]
        if not document.line:
            line, counted = line + document.text.count("\n", counted, start), start
        record.update(document=document.id, path=document.path, line=document.line or line)
        record.setdefault("gloss", "")
        if text:
            record["left"] = _one_line(document.text[max(start - _AROUND, 0) : start])
            record["right"] = _one_line(document.text[end : end + _AROUND])
        yield tuple(record[name] for name in names)


def _one_line(text: str) -> str:
    return " ".join(text.split())
