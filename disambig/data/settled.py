"""What became of flags where several tasks object to one place: which lost it, and what they proposed.

Few flags overlap, so this is kept for those alone, beside the columns of `Decisions`. Nothing is chosen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a less sure task would have put where a flag stands.

    Attributes
    ----------
    task : str
    start, end : int
        Offsets into the document's original text: the place need not be that of the flag.
    chosen : str
        The candidate.
    probability : float
    """

    task: str
    start: int
    end: int
    chosen: str
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """Flags of one task that overlap others.

    Attributes
    ----------
    lost : array of int64
        Decisions, ascending, that would be flagged if no other were surer.
    won : array of int64, shape (m,)
        The flagged decision that each alternative stands behind, ascending.
    alternatives : tuple of Alternative, length m
        The surest of a decision first.
    """

    lost: Rows
    won: Rows
    alternatives: tuple[Alternative, ...]

    def of(self, decision: int) -> tuple[Alternative, ...]:
        """Return the alternatives of one decision."""
        first, last = np.searchsorted(self.won, (decision, decision + 1)).tolist()
        return self.alternatives[first:last]

    def slice(self, first: int, last: int) -> Settled | None:
        """Return what concerns the decisions `first` to `last` (exclusive); None where nothing does."""
        low, high = np.searchsorted(self.won, (first, last)).tolist()
        lost = self.lost[slice(*np.searchsorted(self.lost, (first, last)))]
        if low == high and not len(lost):
            return None
        return Settled(lost - first, self.won[low:high] - first, self.alternatives[low:high])

    def take(self, rows: Rows) -> Settled | None:
        """Return what concerns some of the decisions, in the order of `rows`; None where nothing does."""
        lost = np.flatnonzero(np.isin(rows, self.lost))
        at = np.flatnonzero(np.isin(rows, self.won))
        found = [(row, each) for row in at.tolist() for each in self.of(int(rows[row]))]
        if not found and not len(lost):
            return None
        return Settled(lost, np.array([row for row, _ in found], np.int64), tuple(each for _, each in found))


def joined(parts: Sequence[tuple[Settled | None, int, int]]) -> Settled | None:
    """Return one of pieces of a text: each with its number of decisions and its offset in the text."""
    lost: list[Rows] = []
    won: list[Rows] = []
    alternatives: list[Alternative] = []
    before = 0
    for settled, n, offset in parts:
        if settled is not None:
            lost.append(settled.lost + before)
            won.append(settled.won + before)
            alternatives += [
                Alternative(each.task, each.start + offset, each.end + offset, each.chosen, each.probability)
                for each in settled.alternatives
            ]
        before += n
    return Settled(np.concatenate(lost), np.concatenate(won), tuple(alternatives)) if lost else None
