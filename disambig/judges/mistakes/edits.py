"""What kind of edit leads from the word that stands there to another: what people mix up is of few kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

OTHER, INSERTION, DELETION, LETTER, MARK = range(5)
"""To another word, to one where none stands, to none, to almost the same letters, ``'`` or a space apart."""
KINDS = ("other word", "insertion", "deletion", "a letter", "apostrophe or space")


@lru_cache(maxsize=1 << 16)
def kind_of(written: str, meant: str) -> int:
    """Return the kind of one edit."""
    if not written or not meant:
        return DELETION if written else INSERTION
    if _letters(written) == _letters(meant):
        return MARK
    return LETTER if _near(written, meant) else OTHER


@lru_cache(maxsize=4096)
def kinds_between(candidates: tuple[str, ...]) -> NDArray[np.int8]:
    """Return the kind of edit from each candidate to each other, shape ``(K, K)``."""
    return np.array([[kind_of(a, b) for b in candidates] for a in candidates], np.int8)


def kinds_of_pairs(written: Sequence[str], meant: Sequence[str]) -> NDArray[np.int8]:
    """Return the kinds of some edits, shape ``(n,)``."""
    return np.fromiter(map(kind_of, written, meant), np.int8, len(written))


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
