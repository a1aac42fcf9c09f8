"""The k best conversions of lines of kana: what the kernels of the lattice need, and what they find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .ngrams import NgramTables, Records

ENTRY = np.dtype([("extra", "f8"), ("hash", "u8"), ("power", "u8"), ("word", "i4")], align=True)
"""ln of what a word's probability is multiplied by, hash and power of what is written, the word."""
WORD = np.dtype([("kind", "i4"), ("start", "i4"), ("end", "i4")], align=True)
_ARC = np.dtype(
    [*((name, "f8") for name in ("extra", "share", "other_share")), ("hash", "u8"), ("power", "u8")]
    + [(name, "i4") for name in ("end", "kind", "word", "number", "other", "next")],
    align=True,
)
_NODE = np.dtype(
    [(name, "f8") for name in ("best", "brings", "brings_group", "off", "far", "other_off", "other_far")]
    + [(name, "i8") for name in ("state", "other", "slot", "last", "other_last")]
    + [(name, "i4") for name in ("chain", "stream", "taken", "place", "group")],
    align=True,
)
_STREAM = np.dtype(
    [("bound", "f8"), *((name, "i4") for name in ("source", "arc", "after", "kind"))], align=True
)
_GROUP = np.dtype([(name, "i8") for name in ("begin", "size", "after", "last", "other")], align=True)
_PLACE = np.dtype([(name, "i8") for name in ("head", "order", "group", "arc")], align=True)
_STRETCH = np.dtype(
    [("behind", "f8"), ("hash", "u8"), ("power", "u8"), ("parent", "i4"), ("node", "i4"), ("arc", "i4")],
    align=True,
)
_ITEM = np.dtype([(name, "i4") for name in ("stretch", "stream", "rank", "node", "arc")], align=True)
_BLOCK = 1 << 16
"""Candidates that are found at a time, in the middle."""


class LexiconTables(NamedTuple):
    """What `lattice_kernels` look words up in.

    Attributes
    ----------
    begins, labels, entry_begins : arrays
        As in `Trie`.
    entries : array of ENTRY, shape (n_entries,)
        In the order of the trie; of one reading those unknown to the language model last, the best first.
    numbers : array of int32, shape (6,)
        The words that numbers of so many digits are; the first is that of no number.
    spelling : array of float64, shape (2, 88, 88)
        Of unknown words, by `learn_spelling`.
    longest, deepest : arrays of int64, shape (1,)
        Characters of the longest unknown word, and of the longest word at all.
    """

    begins: NDArray[np.int64]
    labels: NDArray[np.int32]
    entry_begins: NDArray[np.int64]
    entries: Records
    numbers: NDArray[np.int32]
    spelling: NDArray[np.float64]
    longest: NDArray[np.int64]
    deepest: NDArray[np.int64]


class _Work(NamedTuple):
    """The lattice of a line: see `forward_kernels`."""

    tally: NDArray[np.int64]
    arcs: Records
    places: Records
    nodes: Records
    slots: NDArray[np.int32]
    order: NDArray[np.int32]
    keys: NDArray[np.float64]
    groups: Records
    members: NDArray[np.int32]
    group_heads: NDArray[np.int32]
    streams: Records
    heads: NDArray[np.int32]
    after: NDArray[np.int32]
    stamps: NDArray[np.int64]


class _Search(NamedTuple):
    """What the way back keeps: see `nbest_kernels`."""

    tally: NDArray[np.int64]
    stretches: Records
    heap: NDArray[np.float64]
    items: Records
    seen: NDArray[np.uint64]
    seen_at: NDArray[np.int64]


class _Found(NamedTuple):
    """Room for candidates."""

    tally: NDArray[np.int64]
    scores: NDArray[np.float64]
    word_ends: NDArray[np.int64]
    words: Records
    line_ends: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Candidates of lines: what each is made of.

    Attributes
    ----------
    offsets : array of int64, shape (n_lines + 1,)
        Where the candidates of each line begin; every line has one at least.
    scores : array of float64, shape (n_candidates,)
        ln P.
    word_offsets : array of int64, shape (n_candidates + 1,)
    words : array of WORD, shape (n_words,)
        The entry of the lexicon (its place in the trie; below 0 what a word is else, see `lattice_kernels`)
        and the stretch of its line.
    """

    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    word_offsets: NDArray[np.int64]
    words: Records


class _Room:
    """The memory that one thread works in at a time.

    Parameters
    ----------
    tables : NgramTables
    """

    def __init__(self, tables: NgramTables) -> None:
        self.size = 1 << 13
        self._tables = tables
        self._make()

    def grow(self) -> None:
        """Make it twice as large, and empty."""
        self.size *= 2
        self._make()

    def _make(self) -> None:
        """Make the room that lattice and search need."""
        n, n_singles, parts = self.size, len(self._tables.singles), len(self._tables.starts)
        self.work = _Work(
            tally=np.zeros(4, np.int64),
            arcs=np.zeros(n, _ARC),
            places=np.zeros(n // 32, _PLACE),
            nodes=np.zeros(n, _NODE),
            slots=np.full(2 * n, -1, np.int32),
            order=np.zeros(n, np.int32),
            keys=np.zeros(n),
            groups=np.zeros(n + 1, _GROUP),
            members=np.zeros(n, np.int32),
            group_heads=np.full(n_singles, -1, np.int32),
            streams=np.zeros(4 * n, _STREAM),
            heads=np.full(n_singles, -1, np.int32),
            after=np.zeros((parts, n), np.int32),
            stamps=np.zeros(n, np.int64),
        )
        self.search = _Search(
            tally=np.zeros(4, np.int64),
            stretches=np.zeros(n, _STRETCH),
            heap=np.zeros(4 * n),
            items=np.zeros(4 * n, _ITEM),
            seen=np.zeros(4 * n, np.uint64),
            seen_at=np.zeros(2 * n + 1, np.int64),
        )


class Decoder:
    """Finds the best conversions of lines, with memory that it keeps; several threads may ask it at once.

    Parameters
    ----------
    tables : NgramTables
    words : LexiconTables
    """

    def __init__(self, tables: NgramTables, words: LexiconTables) -> None:
        self._tables, self._words = tables, words
        self._rooms: list[_Room] = []

    def paths(self, lines: Sequence[str], k: int) -> Paths:
        """Return the k best different strings of each line, the best first; fewer where there are no more.

        Lines are kana (`kana_of`) and should be of some hundred characters: memory grows with the longest.
        """
        from .nbest_kernels import convert

        text = "".join(lines).encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(text, np.uint32).astype(np.int32)
        offsets = _offsets(np.fromiter(map(len, lines), np.int64, len(lines)))
        longest = int(np.diff(offsets).max(initial=0))
        room = self._room()
        while room.size < 32 * (longest + 3):
            room.grow()
        n, line = len(lines), 0
        found = _Found(
            np.zeros(2, np.int64),
            np.zeros(max(k, min(k * n, _BLOCK))),
            np.zeros(max(k, min(k * n, _BLOCK)), np.int64),
            np.zeros(max(k * (longest + 1), min(k * (len(codes) + n), 32 * _BLOCK)), WORD),
            np.zeros(n, np.int64),
        )
        sizes = np.zeros(n, np.int64)
        scores, counts, words = [np.zeros(0)], [np.zeros(0, np.int64)], [np.zeros(0, WORD)]
        while line < n:
            first = line
            line, wanting = convert(
                self._tables, self._words, codes, offsets, line, k, room.work, room.search, found
            )
            done, written = found.tally.tolist()
            sizes[first:line] = np.diff(found.line_ends[first:line], prepend=0)
            scores.append(found.scores[:done].copy())
            counts.append(np.diff(found.word_ends[:done], prepend=0))
            words.append(found.words[:written].copy())
            if wanting:
                room.grow()
        self._rooms.append(room)
        return Paths(
            _offsets(sizes), np.concatenate(scores), _offsets(np.concatenate(counts)), np.concatenate(words)
        )

    def _room(self) -> _Room:
        """Return memory that no other thread works in; it is given back when the work went well."""
        try:
            return self._rooms.pop()
        except IndexError:
            return _Room(self._tables)


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
