"""Words of a text as a treebank writes them: its brackets, quotes, dashes and apostrophes.

Treebanks differ: the Penn Treebank has no curly quotes, CRAFT hardly any others. Of several ways to write a
word that is taken which the treebank has.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from disambig_exponentiated_gradient.treebank.written_words import as_in_brackets

_OPENING, _CLOSING = ("``", "\N{LEFT DOUBLE QUOTATION MARK}"), ("''", "\N{RIGHT DOUBLE QUOTATION MARK}")
_SIGNS: dict[str, tuple[str, ...]] = {
    "[": ("[", "-LSB-", "-LRB-"),
    "]": ("]", "-RSB-", "-RRB-"),
    "{": ("{", "-LCB-", "-LRB-"),
    "}": ("}", "-RCB-", "-RRB-"),
    "\N{LEFT DOUBLE QUOTATION MARK}": _OPENING[::-1],
    "\N{RIGHT DOUBLE QUOTATION MARK}": _CLOSING[::-1],
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": _OPENING,
    "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}": _CLOSING,
    "\N{DOUBLE LOW-9 QUOTATION MARK}": _OPENING,
    "\N{LEFT SINGLE QUOTATION MARK}": ("\N{LEFT SINGLE QUOTATION MARK}", "`", "'"),
    "\N{RIGHT SINGLE QUOTATION MARK}": ("'", "\N{RIGHT SINGLE QUOTATION MARK}"),
    "\N{EM DASH}": ("\N{EM DASH}", "--"),
    "\N{EN DASH}": ("\N{EN DASH}", "--", "-"),
    "--": ("--", "\N{EM DASH}", "\N{EN DASH}"),
    "\N{HORIZONTAL ELLIPSIS}": ("...", "\N{HORIZONTAL ELLIPSIS}"),
    "...": ("...", "\N{HORIZONTAL ELLIPSIS}"),
}


def as_in_treebank(words: Sequence[str], known: Container[str]) -> list[str]:
    """Return the words of a sentence as a treebank writes them; all can stand in a bracketed tree.

    Parameters
    ----------
    words : sequence of str
        As they are in the text; a straight double quote opens and closes by turns.
    known : container of str
        The treebank's words.
    """
    found = []
    is_open = False
    ways: tuple[str, ...]
    for word in words:
        if word == '"':
            ways, is_open = (_CLOSING if is_open else _OPENING), not is_open
        else:
            if word in _OPENING or word in _CLOSING:
                is_open = word in _OPENING
            ways = _SIGNS.get(word) or _ways(word)
        found.append(as_in_brackets(next((way for way in ways if way in known), ways[0])))
    return found


def _ways(word: str) -> tuple[str, ...]:
    plain = word.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    escaped = plain.replace("/", "\\/").replace("*", "\\*")
    return (plain, word, escaped, as_in_brackets(plain))
