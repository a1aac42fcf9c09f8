"""The table of what a dictionary's readings get wrong (``overrides.tsv``): rules with the words around."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .characters import is_katakana

Word = tuple[str, str, str]
"""A word of a text: as written, its reading, its part of speech."""
TABLE = Path(__file__).with_name("overrides.tsv")
NOUN, NAME = "名詞-", "名詞-固有名詞"
_DIGITS = re.compile("[0-9０-９]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table."""

    word: str
    read: str
    after: str
    before: str
    reading: str

    def of(self, words: Sequence[Word], at: int) -> str | None:
        """Return the reading of a word of a sentence by this rule; None where it does not fit."""
        surface, reading, _ = words[at]
        if not (_begins(self.word, surface) and (self.read == "*" or _begins(self.read, reading))):
            return None
        before = words[at - 1] if at else None
        behind = words[at + 1] if at + 1 < len(words) else None
        if not (_is(before, self.after) and _is(behind, self.before)):
            return None
        return self.reading + (reading[len(self.read) - 1 :] if self.read[1:].endswith("*") else "")


def overridden(words: Sequence[Word]) -> list[Word]:
    """Return the words of a sentence, each with the reading that the table says it has."""
    found = list(words)
    table, beginnings = rules()
    for at, (surface, _, tag) in enumerate(words):
        for rule in [*table.get(surface, ()), *beginnings.get(surface[:1], ())]:
            said = rule.of(words, at)
            if said is not None:
                found[at] = surface, said, tag
                break
    return found


@cache
def rules() -> tuple[dict[str, list[Rule]], dict[str, list[Rule]]]:
    """Return the rules of whole words by these, and of beginnings by their first character."""
    whole: dict[str, list[Rule]] = {}
    beginnings: dict[str, list[Rule]] = {}
    for line in TABLE.read_text(encoding="utf8").splitlines():
        if line and not line.startswith("#"):
            rule = Rule(*line.split("\t"))
            place, key = (beginnings, rule.word[0]) if rule.word.endswith("*") else (whole, rule.word)
            place.setdefault(key, []).append(rule)
    return whole, beginnings


def _begins(said: str, text: str) -> bool:
    return text.startswith(said[:-1]) if said.endswith("*") else text == said


def _is(word: Word | None, said: str) -> bool:
    """Return whether the word beside is one of those that a rule names."""
    if said == "*":
        return True
    return word is not None and any(_is_one(word, kind) for kind in said.split("|"))


def _is_one(word: Word, kind: str) -> bool:
    surface, _, tag = word
    if kind.startswith("#"):
        number = _DIGITS.fullmatch(surface) is not None
        return number and (kind == "#" or _ends(surface, kind[1:].split(",")))
    if kind == "@noun":
        return tag.startswith(NOUN) and not _DIGITS.match(surface)
    if kind == "@name":
        return tag == NAME
    if kind == "@katakana":
        return is_katakana(surface)
    return surface == kind


def _ends(number: str, said: Sequence[str]) -> bool:
    """Return whether a number ends in one of some digits; of several tens and units only it itself does."""
    return number in said or (len(said[0]) == 1 and "10" not in said and number[-1] in said)
