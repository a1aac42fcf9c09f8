"""What is running text, where words are left out for no reason but a mistake: no parts of words, no layout.

A hyphen makes a larger word of two; a wide blank says that something was cut out, or that a column begins; a
bracket or a sign right at a word makes it code or two words in one. Lines that are no running text are those
of `lines`. What is quoted, code or a name is found elsewhere (`protect`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView
from disambig.api.tasks import glued

from .lines import lines_apart

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_ENDS = re.compile("[\r\n]")
_BEFORE = "([{\"'\u2018\u201c\u201e\u00ab\u2013\u2014\u2026"
_BEHIND = ")]}\"'\u2019\u201d\u00bb\u2013\u2014\u2026,;"
_STOPS = ".:!?"
"""These touch a word where no other word follows at once."""
_TABLE = 0x2100
"""Characters below are looked up, others asked one by one."""


def apart_from_text(view: TokenView, positions: Ints, lengths: NDArray[np.int32]) -> Bools:
    """Tell which places are parts of larger words or beside a wide blank, shape ``(n,)``.

    Parameters
    ----------
    positions, lengths : arrays, shape (n,)
        The first token of each place, and how many stand there: of an empty one the token that follows.
    """
    first = np.where(lengths > 0, positions, positions - 1)  # an empty place has a word on both sides
    last = positions + np.maximum(lengths, 1) - 1
    found: Bools = glued(view, first, last)
    for left in (first - 1, last - 1, last):
        right = left + 1
        words = (view.ends[left] > view.starts[left]) & (view.ends[right] > view.starts[right])
        wide = np.flatnonzero(words & (view.starts[right] - view.ends[left] > 1))
        documents = view.document_of(left[wide]).tolist()
        between = zip(
            documents, view.ends[left[wide]].tolist(), view.starts[right[wide]].tolist(), strict=True
        )
        blanks = [view.texts[document][end:start] for document, end, start in between]
        found[wide] |= np.array([not blank.strip() and not _ENDS.search(blank) for blank in blanks], bool)
    return found


def in_running_text(view: TokenView, positions: Ints, lengths: NDArray[np.int32]) -> Bools:
    """Tell which places are in running text by their lines and the characters beside them, shape ``(n,)``.

    Words in capitals are not, and neither are empty places beside a number.
    """
    if view not in _texts:
        _texts[view] = _Text(view)
    text = _texts[view]
    first = np.where(lengths > 0, positions, positions - 1)
    last = positions + np.maximum(lengths, 1) - 1
    documents = view.document_of(positions)
    base = text.bases[documents]
    starts, ends = base + view.starts[first], base + view.ends[last]
    found = text.in_lines(np.unique(documents), starts, ends) & text.is_free(starts, ends)
    rows = np.flatnonzero(found)
    for tokens in (first[rows], last[rows]):
        at, behind = base[rows] + view.starts[tokens], base[rows] + view.ends[tokens]
        found[rows] &= ~text.in_capitals(at, behind) & ((lengths[rows] > 0) | ~text.is_a("isdigit", at))
    return found


def stands_twice(view: TokenView) -> Bools:
    """Tell which tokens are the same word as the one before or behind, shape ``(n_tokens,)``."""
    found = np.zeros(len(view), bool)
    found[1:] = (view.hashes[1:] == view.hashes[:-1]) & (view.ends[1:] > view.starts[1:])
    found[:-1] |= found[1:]
    return found


def before_a_mark(view: TokenView, positions: Ints) -> Bools:
    """Tell which words have no word behind them, but a mark or the end of a sentence, shape ``(n,)``."""
    behind = positions + 1
    starts, documents = view.starts[behind].tolist(), view.document_of(behind).tolist()
    ended = view.ends[behind] <= view.starts[behind]
    marks = [
        not view.texts[document][start : start + 1].isalnum()
        for document, start in zip(documents, starts, strict=True)
    ]
    return ended | np.array(marks, bool)


class _Text:
    """The characters of all documents, one behind the other, and their lines that are no running text."""

    def __init__(self, view: TokenView) -> None:
        whole = "\n".join(["", *view.texts, "", ""])
        self._view, self._whole = view.texts, whole
        self._codes = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)
        sizes = np.fromiter(map(len, view.texts), np.int64, len(view.texts))
        self.bases: Ints = np.concatenate([[1], 1 + np.cumsum(sizes + 1)])
        self._lines: dict[int, tuple[Ints, Ints]] = {}

    def in_lines(self, documents: Ints, starts: Ints, ends: Ints) -> Bools:
        """Tell which places of some documents no line apart overlaps."""
        for document in documents.tolist():
            if document not in self._lines:
                self._lines[document] = lines_apart(self._view[document])
        lines = [(self.bases[i], *self._lines[i]) for i in documents.tolist()]
        begins = np.concatenate([*(base + begins for base, begins, _ in lines), [len(self._whole) + 1]])
        stops = np.concatenate([np.empty(0, np.int64), *(base + stops for base, _, stops in lines)])
        # the first line apart that ends behind the place's begin must begin behind the place's end
        found: Bools = begins[np.searchsorted(stops, starts, side="right")] >= ends
        return found

    def is_free(self, starts: Ints, ends: Ints) -> Bools:
        """Tell whether nothing but a blank or punctuation touches a piece of text."""
        before = self.is_a("isspace", starts - 1) | self._is_one_of(_BEFORE, starts - 1)
        behind = self.is_a("isspace", ends) | self._is_one_of(_BEHIND, ends)
        word = self.is_a("isalnum", ends + 1) | self._is_one_of("_", ends + 1)
        return before & (behind | (self._is_one_of(_STOPS, ends) & ~word))

    def in_capitals(self, starts: Ints, ends: Ints) -> Bools:
        """Tell which words of more than one letter are written in capitals."""
        found = (ends - starts > 1) & ~self.is_a("islower", starts) & ~self.is_a("islower", starts + 1)
        for i in np.flatnonzero(found).tolist():
            found[i] = self._whole[starts[i] : ends[i]].isupper()
        return found

    def is_a(self, kind: str, places: Ints) -> Bools:
        """Tell which characters are what a method of strings, such as ``isspace``, says."""
        codes = self._codes[places]
        found = _table(kind)[np.minimum(codes, _TABLE - 1)]
        for i in np.flatnonzero(codes >= _TABLE).tolist():
            found[i] = getattr(chr(codes[i]), kind)()
        return found

    def _is_one_of(self, characters: str, places: Ints) -> Bools:
        codes = self._codes[places]
        found: Bools = _members(characters)[np.minimum(codes, _TABLE - 1)] & (codes < _TABLE)
        return found


_texts: WeakKeyDictionary[TokenView, _Text] = WeakKeyDictionary()
"""Several tasks ask for the same."""


@lru_cache(maxsize=8)
def _table(kind: str) -> Bools:
    return np.array([getattr(chr(code), kind)() for code in range(_TABLE)], bool)


@lru_cache(maxsize=8)
def _members(characters: str) -> Bools:
    found = np.zeros(_TABLE, bool)
    found[[ord(character) for character in characters]] = True
    return found
