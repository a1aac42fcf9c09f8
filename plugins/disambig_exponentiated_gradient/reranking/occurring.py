"""The features of candidate trees as they occur, a block of candidates at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from disambig.api.features import Occurrences

from .forest import Forest, ForestReader

Ints = NDArray[np.int64]
_A_NODE = 24
"""Features that a bracket has, about."""
_SYMBOLS = 8
"""Symbols that a feature has, about."""
_BITS = 32
"""Of the place of a feature: its number within its tree; the candidate stands above them."""
_NAMED = 400
"""Trees whose features are named together."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeOccurrences:
    """Features of candidates whose texts are trees.

    Attributes
    ----------
    texts : sequence of str
    reader : ForestReader
    """

    texts: Sequence[str]
    reader: ForestReader = field(default_factory=ForestReader)

    @property
    def sizes(self) -> Ints:
        """About how many features each candidate has, shape ``(n_candidates,)``: for blocks of equal work."""
        return _A_NODE * np.fromiter((text.count("(") for text in self.texts), np.int64, len(self.texts))

    def occur(self, first: int, last: int) -> Occurrences:
        """Return the features of candidates `first` to `last` (exclusive); rows count from 0."""
        from .emitting_kernels import keys_of

        forest = self.reader.read(self.texts[first:last])
        out, ends = self._described(forest)
        keys = np.empty(out[1], np.uint64)
        keys_of(out, self.reader.symbols.hashes, keys)
        sizes = np.diff(ends, prepend=0)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        number = np.arange(len(keys)) - np.repeat(ends - sizes, sizes)
        return Occurrences(keys, rows, ((rows + first) << _BITS) | number)

    def names(self, places: Ints) -> list[str]:
        """Return the names of features."""
        from .emitting_kernels import begins_of

        trees, numbers = places >> _BITS, places & ((1 << _BITS) - 1)
        wanted, at = np.unique(trees, return_inverse=True)
        order = np.argsort(at.ravel(), kind="stable")
        of_tree = np.concatenate([[0], np.cumsum(np.bincount(at.ravel(), minlength=len(wanted)))])
        found = [""] * len(places)
        for first in range(0, len(wanted), _NAMED):
            some = wanted[first : first + _NAMED].tolist()
            out, ends = self._described(self.reader.read([self.texts[i] for i in some]))
            begins = np.empty(out[1], np.int64)
            begins_of(out, begins)
            before = np.concatenate([[0], ends])
            for i in range(len(some)):
                for place in order[of_tree[first + i] : of_tree[first + i + 1]].tolist():
                    at = int(begins[before[i] + numbers[place]])
                    found[place] = self._name(out[at + 1 : at + 1 + out[at]].tolist())
        return found

    def _name(self, symbols: list[int]) -> str:
        template, *rest = map(self.reader.symbols.name, symbols)
        return f"{template}: {' '.join(rest)}"

    def _described(self, forest: Forest) -> tuple[NDArray[np.int32], Ints]:
        """Return the features (see `emitting_kernels.emit`), and how many there are up to each tree."""
        from .feature_kernels import describe

        room = 2 + _A_NODE * _SYMBOLS * len(forest.label)
        while True:
            out, ends = np.empty(room, np.int32), np.zeros(len(forest), np.int64)
            describe(forest.nodes, forest.words, forest.arrays, self.reader.symbols.closed, out, ends)
            if out[0] <= room:
                return out, ends
            room = int(out[0])
