"""Segmented text by columns: words as numbers of entries (spelling, reading, part of speech), and its file.

The file has a line a sentence and three columns parted by tabs: the words, their readings and their parts of
speech, each parted by single blanks; blanks of theirs are written ``␣``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError

from .overrides import Word

_BLANK = "␣"


@dataclass(frozen=True, slots=True, eq=False)
class Segmented:
    """Sentences of words.

    Attributes
    ----------
    entries : tuple of (str, str, str)
        Each word as it is found: spelling, reading, part of speech.
    ids : array of int32, shape (n_words,)
        The entry of each word.
    offsets : array of int64, shape (n_sentences + 1,)
        Where the words of each sentence begin.
    """

    entries: tuple[Word, ...]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[Word]]) -> Segmented:
        """Return sentences by columns."""
        numbers: dict[Word, int] = {}
        ids: list[NDArray[np.int32]] = []
        for words in sentences:
            ids.append(np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32))
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in ids])]).astype(np.int64)
        return cls(tuple(numbers), np.concatenate(ids or [np.empty(0, np.int32)]), offsets)

    @classmethod
    def joined(cls, parts: Sequence[Segmented]) -> Segmented:
        """Return the sentences of all parts, one after the other."""
        numbers: dict[Word, int] = {}
        ids, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
        for part in parts:
            own = np.array([numbers.setdefault(word, len(numbers)) for word in part.entries], np.int32)
            ids.append(own[part.ids] if len(own) else part.ids)
            sizes.append(np.diff(part.offsets))
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
        return cls(tuple(numbers), np.concatenate(ids), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sentence(self, index: int) -> list[Word]:
        """Return the words of one sentence."""
        return [self.entries[i] for i in self.ids[self.offsets[index] : self.offsets[index + 1]].tolist()]

    def __getitem__(self, index: slice) -> Segmented:
        """Return a stretch of the sentences, of the same entries."""
        first, last, _ = index.indices(len(self))
        last = max(first, last)
        offsets = self.offsets[first : last + 1]
        return Segmented(self.entries, self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])

    def take(self, which: NDArray[np.integer]) -> Segmented:
        """Return some of the sentences, in the order of `which`, of the same entries."""
        starts, sizes = self.offsets[which], np.diff(self.offsets)[which]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
        return Segmented(self.entries, self.ids[places], offsets)

    def column(self, which: int) -> list[str]:
        """Return each sentence written (0) or read (1), its words joined."""
        strings = [entry[which] for entry in self.entries]
        ids, bounds = self.ids.tolist(), self.offsets.tolist()
        pairs = itertools.pairwise(bounds)
        return ["".join([strings[i] for i in ids[a:b]]) for a, b in pairs]


def write_segmented(path: str | Path, sentences: Iterable[Sequence[Word]]) -> int:
    """Write sentences to a file; return how many there were."""
    count = 0
    with Path(path).open("w", encoding="utf8", newline="\n") as file:
        for words in sentences:
            columns = (" ".join(part.replace(" ", _BLANK) for part in column) for column in zip(*words))  # noqa: B905
            file.write("\t".join(columns) + "\n")
            count += 1
    return count


def read_segmented(path: str | Path) -> Segmented:
    """Read sentences from a file.

    Raises
    ------
    UserError
        D300 where there is no file, D672 for a line that is none.
    """
    if not Path(path).is_file():
        raise UserError("D300", path=path)
    with Path(path).open(encoding="utf8", newline="\n") as file:
        return Segmented.of(_sentence(line.rstrip("\n"), path, number) for number, line in enumerate(file, 1))


def _sentence(line: str, path: str | Path, number: int) -> list[Word]:
    if not line:
        return []
    columns = [[part.replace(_BLANK, " ") for part in column.split(" ")] for column in line.split("\t")]
    if len(columns) != 3 or len({len(column) for column in columns}) != 1:
        raise UserError("D672", path=path, line=number)
    return list(zip(*columns, strict=True))
