r"""Words as treebanks write them and as people do: ``-LRB-`` is a bracket, ``\/`` a slash."""

from __future__ import annotations

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_ESCAPED = {sign: name for name, sign in _BRACKETS.items() if sign in "()"}


def as_written(word: str) -> str:
    """Return a word of a treebank as people write it."""
    return _BRACKETS.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def as_in_brackets(word: str) -> str:
    """Return a word so that it can stand in a bracketed tree: no bracket, no white space, not empty.

    What treebanks do with brackets that are words of their own is done to these; any other bracket gets its
    name within the word.
    """
    if word in _ESCAPED:
        return _ESCAPED[word]
    for sign, name in _ESCAPED.items():
        word = word.replace(sign, name)
    return "_".join(word.split()) or "_"
