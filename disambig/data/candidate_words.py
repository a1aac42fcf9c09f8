"""The words of candidates, by columns: what features of words count without cutting texts anew.

A language that writes no blanks needs them said; for others they save the cutting. Words are numbers into one
vocabulary, so that features find n-grams by operations on arrays and make no text of a word that is not kept.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from disambig.data.batches.rows import rows_of

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CandidateWords:
    """The words of n candidates; those of candidate i are ``ids[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    ids : array of int32, shape (n_words,)
        Each is a place in `spellings`.
    offsets : array of int64, shape (n + 1,)
        A candidate may have no word.
    spellings : sequence of str
        The vocabulary, each word once; it may hold words that no candidate has.
    tags : array of int16 or int32, shape (n_words,), optional
        Part of speech or the like of each word, as a place in `tag_names`.
    tag_names : tuple of str
        Each tag once.

    Raises
    ------
    ValueError
        Where the columns do not fit together.
    """

    ids: NDArray[np.int32]
    offsets: Ints
    spellings: Sequence[str]
    tags: NDArray[np.integer] | None = None
    tag_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != len(self.ids):
            raise ValueError("offsets of words must begin with 0 and end with the number of words")
        if self.tags is not None and len(self.tags) != len(self.ids):
            raise ValueError("there must be a tag for each word, or none at all")

    @classmethod
    def of(
        cls, words: Iterable[Sequence[str]], tags: Iterable[Sequence[str]] | None = None
    ) -> CandidateWords:
        """Return the words, and the tags of these, of some candidates.

        Raises
        ------
        ValueError
            Where the tags are not one a word.
        """
        ids, offsets, spellings = _numbered(words)
        if tags is None:
            return cls(ids, offsets, spellings)
        kinds, ends, names = _numbered(tags)
        if not np.array_equal(ends, offsets):
            raise ValueError("there must be a tag for each word, or none at all")
        return cls(ids, offsets, spellings, kinds, tuple(names))

    @classmethod
    def joined(cls, parts: Sequence[CandidateWords]) -> CandidateWords:
        """Return the words of all parts, one after the other.

        Parts of one vocabulary keep its numbers; of several, one is made that holds all of them. Tags are
        kept where all parts that have words have tags.
        """
        ids, spellings = _joined([part.ids for part in parts], [part.spellings for part in parts])
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        tagged = [part for part in parts if len(part.ids)] or parts
        columns = [part.tags for part in tagged if part.tags is not None]
        if len(columns) < len(tagged):
            return cls(ids.astype(np.int32), offsets, spellings)
        tags, names = _joined(columns, [part.tag_names for part in tagged])
        return cls(ids.astype(np.int32), offsets, spellings, tags, tuple(names))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Ints) -> CandidateWords:
        """Return the words of the candidates in `rows`, in that order; the vocabulary stays."""
        places, offsets = rows_of(self.offsets, rows)
        tags = None if self.tags is None else self.tags[places]
        return CandidateWords(self.ids[places], offsets, self.spellings, tags, self.tag_names)

    def of_candidate(self, row: int) -> tuple[str, ...]:
        """Return the words of one candidate."""
        return tuple(self.spellings[i] for i in self.ids[self.offsets[row] : self.offsets[row + 1]].tolist())

    def tags_of(self, row: int) -> tuple[str, ...]:
        """Return the tags of one candidate's words; none where there are no tags."""
        if self.tags is None:
            return ()
        return tuple(self.tag_names[i] for i in self.tags[self.offsets[row] : self.offsets[row + 1]].tolist())


def _numbered(parts: Iterable[Sequence[str]]) -> tuple[NDArray[np.int32], Ints, list[str]]:
    """Return each word's number, where each part begins, and the words in the order in which they come."""
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    ids, sizes = array("i"), array("q", [0])
    for part in parts:
        sizes.append(len(part))
        ids.extend(map(number.__getitem__, part))
    return np.array(ids, np.int32), np.cumsum(np.array(sizes, np.int64)), list(number)


def _joined(
    columns: Sequence[NDArray[np.integer]], vocabularies: Sequence[Sequence[str]]
) -> tuple[NDArray[np.integer], Sequence[str]]:
    """Return numbers that stand for the same words in one vocabulary; one that all share stays as it is."""
    first = vocabularies[0]
    if all(each is first for each in vocabularies):
        return np.concatenate(columns), first
    number: dict[str, int] = {}
    to: dict[int, NDArray[np.int32]] = {}
    for words in vocabularies:  # parts may share some: each is gone through once
        if id(words) not in to:
            to[id(words)] = np.array([number.setdefault(word, len(number)) for word in words], np.int32)
    moved = [to[id(words)][ids] for ids, words in zip(columns, vocabularies, strict=True)]
    return np.concatenate(moved), list(number)
