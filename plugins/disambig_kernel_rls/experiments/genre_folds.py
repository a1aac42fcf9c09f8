"""Genre shift on NOAD-MASC: words to learn in some genres and to decide in others, document by document.

The genres are four kinds. Each kind is tested once: half of its documents are test documents, the other half
is what a word can be learned from "in the same kind"; all documents of the other kinds are "other kinds".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .occurrences import Index

KINDS = {
    "spoken": ("court-transcript", "debate-transcript", "face-to-face", "telephone"),
    "fiction": ("fiction", "ficlets", "jokes", "movie-script"),
    "messages": ("blog", "email", "letters", "spam", "twitter"),
    "informative": (
        "essays",
        "govt-docs",
        "journal",
        "newspaper:newswire",
        "non-fiction",
        "technical",
        "travel-guides",
    ),
}
KIND_OF = {genre: kind for kind, genres in KINDS.items() for genre in genres}
SAME, AS_MANY, OTHER = "same kind", "other kinds, as many", "other kinds, all"
CONDITIONS = (SAME, AS_MANY, OTHER)
LEAST = 20
"""Occurrences of a word in the half to learn from."""
LEAST_TESTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One word, tested in one kind of text.

    Attributes
    ----------
    word : int
    kind : str
    train : mapping of str to array of int64
        What is learned from, by condition.
    test : array of int64
    """

    word: int
    kind: str
    train: Mapping[str, Index]
    test: Index


def folds(
    words: NDArray[np.integer], kinds: Sequence[str], documents: Sequence[str], *, least: int = LEAST
) -> list[Fold]:
    """Return the folds of all words that occur often enough.

    Parameters
    ----------
    words : array of int, shape (n,)
        The word of each occurrence.
    kinds, documents : sequence of str
        Where it occurs.
    least : int
        Occurrences in the half of a kind to learn from; so many must stand in the other kinds too.
    """
    kind, document = np.asarray(kinds), np.asarray(documents)
    test_half = _halves(kind, document)
    found = []
    for word in np.unique(words).tolist():
        of_word = words == word
        for name in KINDS:
            inside = of_word & (kind == name)
            test, same = np.flatnonzero(inside & test_half), np.flatnonzero(inside & ~test_half)
            others = np.flatnonzero(of_word & (kind != name))
            if len(test) < LEAST_TESTS or len(same) < least or len(others) < len(same):
                continue
            rng = np.random.default_rng((20, word, list(KINDS).index(name)))
            some = np.sort(rng.choice(others, len(same), replace=False))
            found.append(Fold(word, name, {SAME: same, AS_MANY: some, OTHER: others}, test))
    return found


def _halves(kind: NDArray[np.str_], document: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return which occurrences are in test documents: of each kind every other document, by size."""
    test = np.zeros(len(kind), bool)
    for name in np.unique(kind).tolist():
        names, sizes = np.unique(document[kind == name], return_counts=True)
        order = names[np.argsort(-sizes, kind="stable")]
        # large and small ones go to either half: 0 1 1 0 0 1 1 0 ...
        chosen = {each for n, each in enumerate(order.tolist()) if n % 4 in (0, 3)}
        test |= (kind == name) & np.isin(document, list(chosen))
    return test
