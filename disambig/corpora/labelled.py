"""Labelled examples: places of a text with the right candidate for each. What a task is is not known here.

JSON Lines
    ``{"text": ..., "start": 3, "end": 5, "label": "referential", "document": "a.txt"}``; several places of a
    text under ``"places": [{"start": ..., "end": ..., "label": ...}, ...]``. Offsets are in characters.
Two or three columns (.tsv)
    the text with the place marked ``[[it]]`` (``[[]]`` for an empty place), the label, and the document.

Without a document each text is one of its own: parts to learn from and to test on are cut by documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disambig.corpora.opening import READ_ERRORS, decode, open_bytes, read_error, without_compression
from disambig.errors import UserError

JSON_ENDINGS = (".jsonl", ".ndjson")
_OPEN, _CLOSE = "[[", "]]"


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
    """

    text: str
    start: int
    end: int
    label: str
    document: str
    where: str = ""


def read_labelled(paths: str | Path | Sequence[str | Path]) -> list[Labelled]:
    """Read files of labelled examples, by their endings: .jsonl and .ndjson, otherwise columns.

    Raises
    ------
    UserError
        D460 for a line that is no example, D461 where there is none; D300 to D308 for the file.
    """
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    found: list[Labelled] = []
    for file in files:
        name = str(file)
        is_json = without_compression(name).endswith(JSON_ENDINGS)
        for number, line in enumerate(_lines(name), 1):
            if line.strip():
                where = f"{name}, line {number}"
                found.extend(_of_json(line, where) if is_json else _of_columns(line, where))
    if not found:
        raise UserError("D461", path=", ".join(map(str, files)))
    return found


def _lines(path: str) -> list[str]:
    try:
        with open_bytes(path) as stream:
            text = decode(stream.read(), path)
    except READ_ERRORS as problem:
        raise read_error(path, problem) from problem
    return text.removeprefix("\ufeff").split("\n")


def _of_json(line: str, where: str) -> Iterator[Labelled]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise UserError("D460", where=where, problem=f"no JSON: {problem}") from problem
    if not isinstance(said, dict) or not isinstance(said.get("text"), str):
        raise UserError("D460", where=where, problem='no object with a "text"')
    places = said.get("places", [said])
    if not isinstance(places, list):
        raise UserError("D460", where=where, problem='"places" is no list')
    for place in places:
        yield _checked(place, said["text"], str(said.get("document", said["text"])), where)


def _checked(place: Any, text: str, document: str, where: str) -> Labelled:
    start, end, label = (
        (place.get("start"), place.get("end"), place.get("label")) if isinstance(place, dict) else (None,) * 3
    )
    if not isinstance(label, str) or type(start) is not int or type(end) is not int:
        raise UserError("D460", where=where, problem='a place needs whole "start" and "end", and a "label"')
    if not 0 <= start <= end <= len(text):
        raise UserError("D460", where=where, problem=f"{start} to {end} is no part of {len(text)} characters")
    return Labelled(text, start, end, label, document, where)


def _of_columns(line: str, where: str) -> Iterator[Labelled]:
    columns = line.rstrip("\r").split("\t")
    if len(columns) not in (2, 3):
        problem = f"{len(columns)} columns, not two or three (text, label, document) with TABs between"
        raise UserError("D460", where=where, problem=problem)
    before, opened, rest = columns[0].partition(_OPEN)
    inside, closed, after = rest.partition(_CLOSE)
    if not opened or not closed or _OPEN in inside + after or _CLOSE in after:
        raise UserError("D460", where=where, problem="not one place between [[ and ]]")
    text = before + inside + after
    document = columns[2] if len(columns) == 3 else text
    yield Labelled(text, len(before), len(before) + len(inside), columns[1], document, where)
