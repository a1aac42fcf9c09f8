"""The English subjunctive: "it is important that each file have a name"."""

from __future__ import annotations

import re

_BEGINS = (
    r"(?:recommend|suggest|insist|demand|request|ask)(?:s|ed|ing)?|(?:require|propose|urge)[sd]?|prefer(?:s|red)?"
    "|important|necessary|essential|vital|crucial|critical|imperative|desirable|advisable|preferable|mandatory"
)
_DETERMINERS = (
    "a an the this these those all each every any some no both many few several most other another my your "
    "his her its our their such two three four"
).split()
_VERBS = (
    "is are was were be been being has have had do does did will would can could may might must shall should"
).split()
_CONJUNCTIONS = "that which who whom when where if because".split()
_WORD = r"[^\s,;:!?]*[^\s.,;:!?]\s+"
_BEFORE = re.compile(
    rf"\b(?:{_BEGINS})\s+that\s+(?:(?!(?:{'|'.join(_VERBS + _CONJUNCTIONS)})\b){_WORD}){{0,6}}"
    rf"(?!(?:{'|'.join(_DETERMINERS + _VERBS + _CONJUNCTIONS)})\b){_WORD}\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(rf"\s+(?:{'|'.join(_VERBS)})\b", re.IGNORECASE)
_LONGEST = 120
"""Maximum number of characters before a verb in which its clause is looked for."""


def may_be_subjunctive(text: str, start: int, end: int) -> bool:
    """Return True if a verb at an offset needs no ending, whatever its subject is.

    Behind "it is important that" and "we suggest that", a verb has its base form: "that each file have a
    name". A word after which another verb stands is not the verb: "that each files are closed".
    """
    return bool(_BEFORE.search(text[max(0, start - _LONGEST) : start])) and not _AFTER.match(text, end)
