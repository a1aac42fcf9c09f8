"""Ranks of counts while a table is written: given out as counts come, put in order at the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from disambig.counts.index import layout
from disambig.counts.index.layout import Record

_SMALL = 1 << 16


class Ranks:
    """Gives each count its rank; counts that find no rank left are kept with their keys.

    For rounding records the ranks are fixed. For exact ones they follow the order in which counts
    appear, until `places` tells how to renumber them.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self._fixed = layout.rounded_values(record) if record.growth else None
        self._counts = np.empty(0, dtype=np.uint64)  # ascending
        self._ranks = np.empty(0, dtype=np.uint16)
        self._small = np.zeros(_SMALL, dtype=np.uint16)  # ranks of the counts below it; 0: not seen yet
        self._overflow: list[NDArray[np.uint64]] = []

    @classmethod
    def given(cls, record: Record, counts: NDArray[np.uint64]) -> Ranks:
        """Return ranks that are final: places among `counts`, ascending, as many as there can be."""
        made = cls(record)
        made._counts = counts
        made._ranks = np.arange(1, len(counts) + 1).astype(np.uint16)
        small = counts < _SMALL
        made._small[counts[small].astype(np.intp)] = made._ranks[small]
        return made

    def of(self, keys: NDArray[np.uint64], counts: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Return the (provisional) ranks of `counts`, shape ``(n,)``."""
        if self._fixed is not None:
            return layout.rounded_ranks(counts, self._fixed)
        small = counts < _SMALL
        ranks = self._small[np.where(small, counts, 0).astype(np.intp)]
        rest = np.flatnonzero(ranks == 0)
        if len(rest):
            ranks[rest] = self._among_all(counts[rest])
            over = np.flatnonzero(ranks == layout.OVERFLOW)
            if len(over):
                self._overflow.append(np.stack([keys[over], counts[over]], axis=1))
        return ranks

    def _among_all(self, counts: NDArray[np.uint64]) -> NDArray[np.uint16]:
        distinct, which = np.unique(counts, return_inverse=True)
        new = np.setdiff1d(distinct, self._counts)[: layout.OVERFLOW - 1 - len(self._counts)]
        ranks = np.arange(len(self._counts) + 1, len(self._counts) + 1 + len(new)).astype(np.uint16)
        self._small[new[new < _SMALL].astype(np.intp)] = ranks[new < _SMALL]
        both = np.concatenate([self._counts, new])
        order = np.argsort(both)
        self._counts = both[order]
        self._ranks = np.concatenate([self._ranks, ranks])[order]
        at = np.minimum(np.searchsorted(self._counts, distinct), len(self._counts) - 1)
        found = np.where(self._counts[at] == distinct, self._ranks[at], np.uint16(layout.OVERFLOW))
        all_found: NDArray[np.uint16] = found.astype(np.uint16)[which]
        return all_found

    def appeared(self) -> NDArray[np.uint64]:
        """Return the counts by their provisional ranks, from rank 1; none where ranks are fixed."""
        return self._counts[np.argsort(self._ranks)]

    def values(self) -> NDArray[np.uint64]:
        """Return the counts in the order of their final ranks, from rank 0 (absent, 0)."""
        if self._fixed is not None:
            return self._fixed
        return np.concatenate([np.zeros(1, dtype=np.uint64), self._counts])

    def places(self) -> NDArray[np.uint16] | None:
        """Return the final rank of each provisional one, shape ``(65536,)``; None where they are final."""
        if self._fixed is not None:
            return None
        places = np.zeros(1 << 16, dtype=np.uint16)
        places[self._ranks] = np.arange(1, len(self._ranks) + 1)
        places[layout.OVERFLOW] = layout.OVERFLOW
        return places

    def overflow(self) -> NDArray[np.uint64]:
        """Return the n-grams whose exact count has no rank: rows ``(key, count)``, keys ascending."""
        return np.concatenate([np.empty((0, 2), dtype=np.uint64), *self._overflow])
