"""Occurrences of words to disambiguate in a view, with their senses; each word is a group of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word in a text.

    Attributes
    ----------
    text : int
        Which text.
    start, end : int
        Its place there, in characters.
    word : str
        What is disambiguated, such as ``"bar.n"``.
    senses : tuple of str
        Those that are right; none where that is not known.
    multiword : str
        What the data say that it is part of, such as ``"call_for"``; empty where they say nothing.
    """

    text: int
    start: int
    end: int
    word: str
    senses: tuple[str, ...] = ()
    multiword: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """All occurrences in one view.

    Attributes
    ----------
    view : TokenView
    instances : Instances
        Their places, in the order of `senses`; `groups` says the word.
    words : tuple of str
    senses : sequence of tuple of str
    multiwords : sequence of str
    """

    view: TokenView
    instances: Instances
    words: tuple[str, ...]
    senses: Sequence[tuple[str, ...]]
    multiwords: Sequence[str]

    def __len__(self) -> int:
        return len(self.senses)

    def of_word(self, word: int, among: Index) -> Index:
        """Return the occurrences of a word among some."""
        return among[self.instances.groups[among] == word]


def located(view: TokenView, found: Sequence[Occurrence]) -> Occurrences:
    """Find the tokens of occurrences; those of no token are taken at the one that follows."""
    words = tuple(sorted({each.word for each in found}))
    number = {word: n for n, word in enumerate(words)}
    solid = view.ends > view.starts
    places = np.flatnonzero(solid)
    ends = np.searchsorted(places, view.documents)
    positions, lengths = [], []
    for each in found:
        lo, hi = int(ends[each.text]), int(ends[each.text + 1])
        inside = places[lo:hi]
        first = int(np.searchsorted(view.ends[inside], each.start, side="right"))
        last = int(np.searchsorted(view.starts[inside], each.end, side="left"))
        first = min(first, len(inside) - 1)
        positions.append(int(inside[first]))
        lengths.append(max(last - first, 1))
    instances = Instances(
        np.array(positions, np.int64),
        np.array(lengths, np.int32),
        np.array([number[each.word] for each in found], np.int32),
        np.zeros(len(found), np.int32),
    )
    senses, multiwords = [each.senses for each in found], [each.multiword for each in found]
    return Occurrences(view, instances, words, senses, multiwords)


def senses_by_frequency(occurrences: Occurrences, rows: Index) -> dict[str, int]:
    """Return how often each sense is right, the most frequent first; of equals, the one met first."""
    counts: dict[str, int] = {}
    for row in rows.tolist():
        for sense in occurrences.senses[row]:
            counts[sense] = counts.get(sense, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: -each[1]))


def costs(occurrences: Occurrences, rows: Index, senses: Sequence[str]) -> NDArray[np.float32]:
    """Return 0 where a sense is right and 1 elsewhere, shape ``(n, K)``."""
    found = np.ones((len(rows), len(senses)), np.float32)
    number = {sense: n for n, sense in enumerate(senses)}
    for at, row in enumerate(rows.tolist()):
        for sense in occurrences.senses[row]:
            if sense in number:
                found[at, number[sense]] = 0.0
    return found
