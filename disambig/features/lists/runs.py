"""Runs of units that follow one another, from one unit to a few; longer ones know where a text ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disambig.features.lists.counting import Ints, Occurrences
from disambig.features.lists.units import BETWEEN, CHARACTERS, Keys, Units, appended, begun
from disambig.text.hashing import hash_words

EDGES = ("<s>", "</s>")


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The n-grams of candidates; those of two units or more may begin or end at an edge of the text.

    Attributes
    ----------
    units : Units
    order : int
        The longest n-grams; ``place % (order + 1)`` is an n-gram's length, the rest the unit it begins with,
        two edges to each candidate.
    unit : str
        ``"words"`` or ``"characters"``.
    """

    units: Units
    order: int
    unit: str

    @property
    def sizes(self) -> Ints:
        """How many n-grams each candidate has, at most."""
        return (np.diff(self.units.words.offsets) + 2) * self.order

    def occur(self, first: int, last: int) -> Occurrences:
        """Return the n-grams of candidates `first` to `last` (exclusive)."""
        offsets = self.units.words.offsets[first : last + 1]
        ends = offsets[1:] - offsets[0] + 2 * np.arange(1, last - first + 1)  # with edges
        rows = np.repeat(np.arange(last - first), np.diff(offsets) + 2)
        n = len(rows)
        inner = np.ones(n, np.bool_)
        inner[ends - 1] = inner[ends - np.diff(offsets) - 2] = False
        hashes = np.zeros(n, np.uint64)
        hashes[inner] = self.units.hashes[self.units.words.ids[offsets[0] : offsets[-1]]]
        closing = np.zeros(n, np.bool_)
        closing[ends - 1] = True
        keys = np.empty((n, self.order), np.uint64)
        there = np.empty((n, self.order), np.bool_)
        after = ends[rows] - np.arange(n)  # units up to the end, this one among them
        keys[:, 0] = np.where(inner, appended(begun(n), hashes), _past_edge(begun(n), EDGES[0], self.unit))
        there[:, 0] = inner
        for length in range(2, self.order + 1):
            there[:, length - 1] = after >= length
            at = np.minimum(np.arange(n) + length - 1, n - 1)
            before = keys[:, length - 2]
            keys[:, length - 1] = appended(before, hashes[at])
            last_one = np.flatnonzero(there[:, length - 1] & closing[at])
            keys[last_one, length - 1] = _past_edge(before[last_one], EDGES[1], self.unit)
        begins, lengths = np.nonzero(there)
        places = (begins + offsets[0] + 2 * first) * (self.order + 1) + lengths + 1
        return Occurrences(keys[there], rows[begins], places)

    def names(self, places: Ints) -> list[str]:
        """Return the units of n-grams."""
        begins, lengths = np.divmod(places, self.order + 1)
        offsets = self.units.words.offsets
        rows = np.searchsorted(offsets + 2 * np.arange(len(offsets)), begins, "right") - 1
        words = begins - 2 * rows - 1  # the place of the first unit among all words
        lows, highs = offsets[rows], offsets[rows + 1]
        between, found = BETWEEN[self.unit], []
        for word, low, high, n in zip(
            words.tolist(), lows.tolist(), highs.tolist(), lengths.tolist(), strict=True
        ):
            inner = self.units.spelt(max(word, low), min(word + n, high))
            edges = [EDGES[0]] * (word < low), [EDGES[1]] * (word + n > high)
            found.append(between.join([*edges[0], *inner, *edges[1]]))
        return found


def _past_edge(keys: Keys, edge: str, unit: str) -> Keys:
    """Return the keys of n-grams with an edge behind them, which is one word, or a few characters."""
    for spelt in hash_words(list(edge) if unit == CHARACTERS else [edge]):
        keys = appended(keys, spelt)
    return keys
