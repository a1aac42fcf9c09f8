"""Labelled examples as JSON Lines.

``{"text": ..., "start": 3, "end": 5, "label": "referential", "document": "a.txt"}``; several places of a
text under ``"places": [{"start": ..., "end": ..., "label": ...}, ...]``. Offsets are in characters; without
any the label is that of the whole text, or of the place marked in it. Beside a label there may be a
``"word"``, the group that decides (``"bank.n"``), and a ``"gloss"``; beside the text its ``"domain"``, a
genre: with five of them or more, probabilities are fitted to text of other domains than was learned from.
``"picked": true`` beside the text is for examples that were picked for their label, as by a search for it:
they are learned from, but probabilities are not fitted to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from disambig.formats.labelled.contract import Source
from disambig.formats.labelled.documents import LABEL
from disambig.formats.labelled.example import Labelled
from disambig.formats.labelled.marks import OPEN
from disambig.formats.labelled.whole import refused, whole


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A JSON object a line: a text with a label, or with places that have one."""

    suffixes = (".jsonl", ".ndjson")

    def read(self, source: Source) -> Iterator[Labelled]:
        """Yield the examples.

        Raises
        ------
        UserError
            D460 for a line that is no example; those of `Source.text`.
        """
        for number, line in enumerate(source.text.split("\n"), 1):
            if line.strip():
                yield from _of_line(line, f"{source.path}, line {number}")


def _of_line(line: str, where: str) -> Iterator[Labelled]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise refused(where, f"no JSON: {problem}") from problem
    if not isinstance(said, dict) or not isinstance(said.get("text"), str):
        raise refused(where, 'no object with a "text"')
    domain = said.get("domain") or ""
    if not isinstance(domain, str):
        raise refused(where, '"domain" is no string')
    picked = said.get("picked") or False
    if not isinstance(picked, bool):
        raise refused(where, '"picked" is neither true nor false')
    beside: dict[str, Any] = {"domain": domain, "picked": picked}
    document = said["text"] if said.get("document") in (None, "") else str(said["document"])
    if not {"start", "end", "places"} & said.keys():
        if not isinstance(said.get(LABEL), str):
            raise refused(where, 'no "label" that is a string')
        of_mark = [said.get(name) if OPEN in said["text"] else "" for name in ("word", "gloss")]
        about = (each if isinstance(each, str) else "" for each in of_mark)
        yield replace(whole(said["text"], said[LABEL], document, where, *about), **beside)
        return
    places = said.get("places", [said])
    if not isinstance(places, list):
        raise refused(where, '"places" is no list')
    for place in places:
        yield replace(_checked(place, said["text"], document, where), **beside)


def _checked(place: Any, text: str, document: str, where: str) -> Labelled:
    start, end, label = (
        (place.get("start"), place.get("end"), place.get("label")) if isinstance(place, dict) else (None,) * 3
    )
    if not isinstance(label, str) or type(start) is not int or type(end) is not int:
        raise refused(where, 'a place needs whole "start" and "end", and a "label"')
    if not 0 <= start <= end <= len(text):
        raise refused(where, f"{start} to {end} is no part of {len(text)} characters")
    word, gloss = place.get("word") or "", place.get("gloss") or ""
    if not isinstance(word, str) or not isinstance(gloss, str):
        raise refused(where, '"word" and "gloss" must be strings')
    return Labelled(text, start, end, label.strip(), document, where, word.strip(), gloss)
