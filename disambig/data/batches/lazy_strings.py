"""Texts that are made when they are asked for: sequences of which a million are never held at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import overload


class LazyStrings(Sequence[str]):
    """A sequence of texts; a kind of them says how many there are, and makes one."""

    __slots__ = ()

    @abstractmethod
    def made(self, index: int) -> str:
        """Return the text at `index`, which is from 0 to the length less one."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        places = range(len(self))[index]
        return self.made(places) if isinstance(places, int) else [self.made(place) for place in places]
