"""Names of columns, packed into one array of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.columns import LazySequence
from disambig.types import Arrays


@dataclass(frozen=True, slots=True, eq=False)
class PackedStrings(LazySequence[str]):
    """Strings packed into one array of bytes; each is decoded on access.

    Attributes
    ----------
    letters : array of uint8
        The concatenated words, in UTF-8.
    ends : array of int64, shape (D,)
        End of each word in `letters`.
    """

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def from_words(cls, words: Iterable[str]) -> PackedStrings:
        """Pack `words`."""
        encoded = [word.encode("utf8", "replace") for word in words]
        ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8).copy(), ends)

    @classmethod
    def from_known(cls, words: Mapping[int, str], n: int) -> PackedStrings:
        """Pack `n` words, given those at some indices; the others are empty."""
        return cls(np.zeros(0, np.uint8), np.zeros(n, np.int64)).replaced(words)

    def __len__(self) -> int:
        return len(self.ends)

    def made(self, index: int) -> str:
        """Return one word."""
        start = int(self.ends[index - 1]) if index else 0
        return bytes(self.letters[start : int(self.ends[index])]).decode("utf8", "replace")

    def replaced(self, words: Mapping[int, str]) -> PackedStrings:
        """Return a copy with the words at some indices replaced."""
        lengths, parts, done = np.diff(self.ends, prepend=0), [], 0
        for place, word in sorted(words.items()):
            encoded = np.frombuffer(word.encode("utf8", "replace"), np.uint8)
            parts += [self.letters[done : self.ends[place] - lengths[place]], encoded]
            done, lengths[place] = int(self.ends[place]), len(encoded)
        return PackedStrings(np.concatenate([*parts, self.letters[done:]]), np.cumsum(lengths))

    def state(self) -> Arrays:
        """Return the words as arrays; no arrays if there are no words."""
        return {"letters": self.letters, "ends": self.ends} if len(self) else {}


def strings_from_state(arrays: Arrays, n: int) -> PackedStrings:
    """Restore the result of `PackedStrings.state` for `n` columns; no words if it has none.

    Raises
    ------
    KeyError, ValueError
        If arrays are missing or do not fit together.
    """
    if "letters" not in arrays and "ends" not in arrays:
        return PackedStrings.from_words(())
    letters, ends = arrays["letters"], arrays["ends"]
    kinds = letters.dtype == np.uint8, ends.dtype.kind == "i"
    if ends.shape != (n,) or letters.ndim != 1 or not all(kinds):
        raise ValueError("names of columns: their number is not the number of columns")
    bounds = np.concatenate([[0], ends, [len(letters)]])
    if (bounds[1:] < bounds[:-1]).any() or (len(ends) and ends[-1] != len(letters)):
        raise ValueError("names of columns: ends of words are outside the array of letters")
    return PackedStrings(letters, ends.astype(np.int64))
