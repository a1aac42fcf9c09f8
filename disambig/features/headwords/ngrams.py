"""Headword n-grams: a candidate between the head words of its place, as keys of a count table.

They are n-grams like all others, of words that need not stand side by side, under a name of their own for
their "tokenisation": ``listen to``, ``to music``, ``listen to music`` and, with a gap between verb and
candidate, ``provide * with access``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.features.headwords.asking import NAME
from disambig.features.headwords.heads import heads_of
from disambig.features.headwords.parts_of_speech import PartsOfSpeech
from disambig.text.hashing import GAP, GAP_HASH, MASK, NOTHING, ORDER, PLACES, UNKNOWN, fmix, hash_word
from disambig.text.view import TokenView

PATTERNS = ("_ object", "governor _", "verb * _", "governor _ object", "verb * _ object")
ORDERS = np.array([2, 2, 3, 3, 4])
"""Words of each pattern; a gap counts as one."""
_OBJECT = np.array([True, False, False, True, True])
_HEAD = np.array([-1, 0, 1, 0, 1])
_GAPPED = np.array([False, False, True, False, True])
_PLACE = (_HEAD >= 0).astype(np.int64) + _GAPPED
PARENTS = np.array([[-1, -1], [-1, -1], [-1, -1], [1, 0], [2, 0]])
"""The shorter patterns of each, -1 where there is none, shape ``(5, 2)``."""


def hashes_of(group: Group) -> NDArray[np.uint64]:
    """Return what stands for each candidate in keys, shape (K,)."""
    return np.array([hash_word(word or NOTHING) for word in group.candidates], np.uint64)


def head_words(parts: PartsOfSpeech, view: TokenView, instances: Instances) -> NDArray[np.uint64]:
    """Return the hashes of each place's head words, 0 where there is none, shape (n, 3); see `heads`."""
    at = heads_of(parts, view, instances)
    return np.where(at >= 0, view.hashes[np.maximum(at, 0)], np.uint64(UNKNOWN))


def known_patterns(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which patterns each place can fill, shape (n, 5); `words` as by `head_words`."""
    has = words != UNKNOWN
    heads = np.where(_HEAD[None, :] >= 0, has[:, np.maximum(_HEAD, 0)], True)
    return heads & (has[:, 2:] | ~_OBJECT)


def fixed_parts(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return what the keys of a place's n-grams have in common, and where the candidate stands in them.

    Parameters
    ----------
    words : array of uint64, shape (n, 3)
        Head words.

    Returns
    -------
    fixed : array of uint64, shape (n, 5)
        A key is ``fmix(fixed + candidate * place)``, with the multiplier of the candidate's place.
    place : array of int64, shape (5,)
    """
    places = np.array(PLACES, np.uint64)
    fixed = np.empty((len(words), len(PATTERNS)), np.uint64)
    for pattern, order in enumerate(ORDERS.tolist()):
        start = hash_word(NAME) + order * ORDER + (GAP_HASH * PLACES[1] if _GAPPED[pattern] else 0)
        fixed[:, pattern] = np.uint64(start & MASK)
        if _HEAD[pattern] >= 0:
            fixed[:, pattern] += words[:, _HEAD[pattern]] * places[0]
        if _OBJECT[pattern]:
            fixed[:, pattern] += words[:, 2] * places[_PLACE[pattern] + 1]
    return fixed, _PLACE


def keys(words: NDArray[np.uint64], candidates: NDArray[np.uint64], pattern: int) -> NDArray[np.uint64]:
    """Return the keys of one pattern filled with candidates.

    Parameters
    ----------
    words : array of uint64, shape (n, 3)
        Head words.
    candidates : array of uint64, shape (n, K) or (K,)

    Returns
    -------
    array of uint64, shape (n, K)
    """
    fixed, place = fixed_parts(words)
    return fmix(fixed[:, pattern, None] + candidates * np.array(PLACES, np.uint64)[place[pattern]])


def alone(candidates: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of candidates without any head word, shape (K,)."""
    start = np.uint64((hash_word(NAME) + ORDER) & MASK)
    return fmix(start + candidates * np.uint64(PLACES[0]))


def text_of(pattern: int, governor: str, verb: str, object_: str, candidate: str) -> str:
    """Return one n-gram for people; a table is asked for it so, unless the candidate is of two words."""
    found = [governor, verb][_HEAD[pattern]] if _HEAD[pattern] >= 0 else ""
    parts = [
        found,
        GAP if _GAPPED[pattern] else "",
        candidate or NOTHING,
        object_ if _OBJECT[pattern] else "",
    ]
    return " ".join(part for part in parts if part)
