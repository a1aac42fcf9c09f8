"""Many texts of few different ones: by number, so that what is worked out of a text is worked out once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Interned(Sequence[str]):
    """Texts as numbers into a list of spellings.

    Parameters
    ----------
    spellings : sequence of str
        Others than those that occur may be among them.
    numbers : array of int, shape (n,)
    """

    __slots__ = ("numbers", "spellings")

    def __init__(self, spellings: Sequence[str], numbers: NDArray[np.integer[Any]]) -> None:
        self.spellings, self.numbers = spellings, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self.spellings[i] for i in self.numbers[index].tolist()]
        return self.spellings[int(self.numbers[index])]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def take(self, rows: Ints) -> Interned:
        """Return the texts of some rows."""
        return Interned(self.spellings, self.numbers[rows])


def taken(texts: Sequence[str], rows: Ints) -> Sequence[str]:
    """Return the texts of some rows, interned ones as such."""
    return texts.take(rows) if isinstance(texts, Interned) else [texts[row] for row in rows.tolist()]


def joined(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the texts of all parts, interned ones of the same spellings as such."""
    first = parts[0] if parts else None
    if isinstance(first, Interned):
        same = [part for part in parts if isinstance(part, Interned) and part.spellings is first.spellings]
        if len(same) == len(parts):
            return Interned(first.spellings, np.concatenate([part.numbers for part in same]))
    return [text for part in parts for text in part]


def distinct(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the different texts, and which of them each is, shape ``(n,)``."""
    if isinstance(texts, Interned):
        numbers, index = np.unique(texts.numbers, return_inverse=True)
        return [texts.spellings[i] for i in numbers.tolist()], index.astype(np.int64)
    number: dict[str, int] = {}
    index = np.fromiter((number.setdefault(text, len(number)) for text in texts), np.int64, len(texts))
    return list(number), index
