"""What kind of edit leads from the word that stands there to another: what people mix up is of few kinds.

The change is what is left of two words without the letters that both begin with: of "walk" and "walks" none
and "s". What people do with one word they do with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import hash_word

OTHER, INSERTION, DELETION, LETTER, MARK = range(5)
"""To another word, to one where none stands, to none, to almost the same letters, ``'`` or a space apart."""
NO_CHANGE = 0
"""Where a word stands against none, or words share too little."""
LONGEST = 4
"""Letters that change, of each word, at most."""
KINDS = ("other word", "insertion", "deletion", "a letter", "apostrophe or space")


@lru_cache(maxsize=1 << 16)
def kind_of(written: str, meant: str) -> int:
    """Return the kind of one edit."""
    if not written or not meant:
        return DELETION if written else INSERTION
    if _letters(written) == _letters(meant):
        return MARK
    return LETTER if _near(written, meant) else OTHER


@lru_cache(maxsize=1 << 16)
def change_of(written: str, meant: str) -> int:
    """Return the hash of what changes from one word to another, or `NO_CHANGE`."""
    if not written or not meant:
        return NO_CHANGE
    written, meant, same = written.lower(), meant.lower(), 0
    while same < min(len(written), len(meant)) and written[same] == meant[same]:
        same += 1
    if max(len(written), len(meant)) - same > LONGEST:
        return NO_CHANGE
    return hash_word(f"{written[same:]}>{meant[same:]}")


@lru_cache(maxsize=4096)
def edits_between(candidates: tuple[str, ...]) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the kind of edit and the change from each candidate to each other, shape ``(K, K)``."""
    kinds = [[kind_of(a, b) for b in candidates] for a in candidates]
    changes = [[change_of(a, b) for b in candidates] for a in candidates]
    return np.array(kinds, np.int8), np.array(changes, np.uint64)


def edits_of_pairs(
    written: Sequence[str], meant: Sequence[str]
) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the kinds and the changes of some edits, shape ``(n,)``."""
    kinds = np.fromiter(map(kind_of, written, meant), np.int8, len(written))
    return kinds, np.fromiter(map(change_of, written, meant), np.uint64, len(written))


def _letters(word: str) -> str:
    return word.replace("'", "").replace(" ", "").replace("-", "")


def _near(a: str, b: str) -> bool:
    """Tell whether one letter more, less, other or swapped with the next leads from one word to the other."""
    if abs(len(a) - len(b)) > 1:
        return False
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    a, b = a[same:], b[same:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[1:] == shorter
