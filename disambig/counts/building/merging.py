"""Runs become one: n-grams of all kinds in the order of their keys, the rare ones left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.counts.building import runs
from disambig.counts.building.pruning import least_counts
from disambig.counts.building.runs import Run
from disambig.counts.index.layout import order_of

_AT_ONCE = 1 << 19
"""N-grams merged at a time."""

Merged = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]
"""Distinct keys, ascending, with their counts and their kinds (see `layout.PATTERN`)."""


class Merge:
    """The n-grams of some runs, and how many there were.

    Parameters
    ----------
    orders : int
        The longest n-grams.
    kinds : sequence of int
        What is counted.
    of_kinds : sequence of sequence of Run
        The runs of each kind.
    min_counts : mapping of int to int, optional
        See `pruning.least_counts`.

    Attributes
    ----------
    edges : array of int64, shape ``(SLICES + 1,)``
        How many n-grams of all runs lie before each slice, those in several runs more than once.
    seen, distinct, kept : list of int
        N-grams of each kind that passed: all, different ones, those that were not left out.
    """

    def __init__(
        self,
        orders: int,
        kinds: Sequence[int],
        of_kinds: Sequence[Sequence[Run]],
        min_counts: Mapping[int, int] | None = None,
    ) -> None:
        least = least_counts(min_counts, orders=orders)
        self._least = [least[order_of(kind)] for kind in kinds]
        self._kinds = np.array(kinds, dtype=np.uint8)
        self._runs = of_kinds
        every = (run.edges for row in of_kinds for run in row)
        self.edges = sum(every, np.zeros(runs.SLICES + 1, np.int64))
        self.seen, self.distinct, self.kept = ([0] * len(kinds) for _ in range(3))

    def chunks(self, first: int = 0, stop: int = runs.SLICES) -> Iterator[Merged]:
        """Yield the n-grams of the slices ``first:stop``, some half a million at a time."""
        for begin, end in spans(self.edges, first, stop, _AT_ONCE):
            parts = []
            for row, here in enumerate(self._runs):
                keys, counts = runs.merged([run.read(begin, end) for run in here])
                self.seen[row] += int(counts.sum(dtype=np.uint64))
                self.distinct[row] += len(keys)
                if self._least[row] > 1:
                    wanted = counts >= np.uint64(self._least[row])
                    keys, counts = keys[wanted], counts[wanted]
                self.kept[row] += len(keys)
                parts.append((keys, (counts << np.uint64(3)) | np.uint64(row)))
            keys, payload = runs.interleaved(parts)
            if len(keys):
                yield keys, payload >> np.uint64(3), self._kinds[(payload & np.uint64(7)).astype(np.intp)]


def spans(edges: NDArray[np.int64], first: int, stop: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of the slices ``first:stop`` with about `size` n-grams each, one slice at least."""
    while first < stop:
        last = int(np.searchsorted(edges, edges[first] + size, side="right")) - 1
        last = min(max(last, first + 1), stop)
        yield first, last
        first = last
