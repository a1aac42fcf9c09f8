"""Regular inflections of English words: the forms that a word may have and training has not shown.

Irregular forms are not known here. Where spelling leaves two ways open ("travelled", "traveled"; "potatoes",
"solos") both are given: a form that nobody writes does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_VOWELS = "aeiou"
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_SHORT_END = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$|^[aeiou][^aeiouwxy]$|qu[aeio][^aeiouwxy]$")
_SYLLABLE = re.compile(r"[aeiouy]+")
_LONGEST_COMPARED = 2
"""Syllables of words that have -er and -est."""


def inflections(word: str, part: str) -> tuple[str, ...]:
    """Return a word in lower case and its regular inflections, each once.

    Parameters
    ----------
    word : str
    part : str
        ``"n"``, ``"v"``, ``"a"`` or ``"j"`` (adjective), ``"r"`` (adverb); others have none.
    """
    word = word.lower()
    if not (word.isascii() and word.isalpha() and len(word) > 1):
        return (word,)
    forms = [word]
    if part in ("n", "v"):
        forms += _with_s(word)
    if part == "v":
        forms += [*_with("ed", word), *_with("ing", word)]
    if part in ("a", "j", "r") and _syllables(word) <= _LONGEST_COMPARED:
        forms += [*_with("er", word), *_with("est", word)]
    return tuple(dict.fromkeys(forms))


def _with_s(word: str) -> Iterator[str]:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        yield word + "es"
        return
    if _CONSONANT_Y.search(word):
        yield word[:-1] + "ies"
        return
    yield word + "s"
    if word[-1] == "o" and word[-2] not in _VOWELS:
        yield word + "es"


def _with(ending: str, word: str) -> Iterator[str]:
    """Yield a word with an ending that begins with a vowel."""
    if ending == "ing":
        if word.endswith("ie"):
            yield word[:-2] + "ying"
            return
        if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
            yield word[:-1] + "ing"
            return
    elif word.endswith("e"):
        yield word + ending[1:]
        return
    elif _CONSONANT_Y.search(word):
        yield word[:-1] + "i" + ending
        return
    if word.endswith("c"):
        yield word + "k" + ending
    doubles = bool(_SHORT_END.search(word))
    if doubles:
        yield word + word[-1] + ending
    if not doubles or _syllables(word) > 1:
        yield word + ending


def _syllables(word: str) -> int:
    return len(_SYLLABLE.findall(word.removesuffix("e"))) or 1
