"""Which places are in running text: not headings, list items, verse, tables, or parts of larger words."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView
from disambig.api.tasks import glued

TextLine = tuple[int, int, str]
"""Where it begins and ends, and what stands in it."""

_LINES = re.compile("[^\r\n\u2029]+")
_ITEM = re.compile(r"(?:[-*+\u2022\u2023\u25aa\u25e6\u00b7]|\d{1,3}[.)]|\(\d{1,3}\)|\(?[a-z]\))\s+\S")
_TITLE = re.compile(r"#{1,6}\s")
_UNDERLINE = re.compile(r"(?:=+|-+|~+)\s*")
_CELLS = re.compile(r"\S\s*\t+\s*\S|(?:^|\s)\|(?:\s|$)")
_COLUMN = re.compile(r"\s{2,}(?=(\S+))")
_SENTENCE_END = re.compile(r"[.!?\u2026:;,][)\]\"'\u2019\u201d\u00bb*_]*$")
_LONGEST_TITLE = 100
_LONGEST_VERSE = 60
_LEAST_VERSES = 3


def layout_lines(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the lines that are no running text begin and end, shapes ``(m,)``, ascending."""
    blocks = _blocks(text)
    found = [
        line[:2]
        for block in blocks
        for line, apart in zip(block, _is_layout(block, alone=len(blocks) == 1), strict=True)
        if apart
    ]
    places = np.array(found, np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _blocks(text: str) -> list[list[TextLine]]:
    """Return the lines that are not empty, those without an empty one between them together."""
    blocks: list[list[TextLine]] = []
    behind = -1
    for match in _LINES.finditer(text):
        start, end = match.span()
        if not match[0].strip():
            continue
        between = text[behind:start] if blocks else ""
        if not blocks or "\u2029" in between or len(re.findall("\r\n|\r|\n", between)) > 1:
            blocks.append([])
        blocks[-1].append((start, end, match[0].strip()))
        behind = end
    return blocks


def _is_layout(block: list[TextLine], *, alone: bool) -> list[bool]:
    """Tell of each line of a block whether it is no running text; `alone` where there is no other block."""
    said = [line for _, _, line in block]
    if _is_verse(said) or (len(said) == 1 and not alone and _is_title(said[0])):
        return [True] * len(said)
    found = [
        (line.isupper() and len(line) > 1) or bool(_TITLE.match(line) or _CELLS.search(line)) for line in said
    ]
    is_list = False
    for i, line in enumerate(said):
        opens = not i or is_list or said[i - 1].endswith(":")
        is_list = is_list or (opens and bool(_ITEM.match(line)))  # up to the end of the block
        found[i] |= is_list
    columns = [_columns(line) for line in said]
    for i, (above, below) in enumerate(pairwise(columns)):
        if above & below:
            found[i] = found[i + 1] = True
        if _UNDERLINE.fullmatch(said[i + 1]):
            found[i] = True
    return found


def _is_title(line: str) -> bool:
    return len(line) <= _LONGEST_TITLE and not _SENTENCE_END.search(line)


def _is_verse(lines: list[str]) -> bool:
    """Tell whether all lines are short and begin with a capital, though not all of them begin a sentence."""
    short = len(lines) >= _LEAST_VERSES and all(len(line) <= _LONGEST_VERSE for line in lines)
    capitals = short and all(line.lstrip("\"'\u201c\u2018(")[:1].isupper() for line in lines)
    return capitals and any(line[-1] not in ".!?" for line in lines[:-1])


def _columns(line: str) -> set[int]:
    """Return where words behind a wide blank begin and end in a line."""
    return {at for match in _COLUMN.finditer(line) for at in match.span(1)}


Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_ENDS = re.compile("[\r\n]")
_BEFORE = "([{\"'\u2018\u201c\u201e\u00ab\u2013\u2014\u2026"
_BEHIND = ")]}\"'\u2019\u201d\u00bb\u2013\u2014\u2026,;"
_STOPS = ".:!?"
"""These touch a word where no other word follows at once."""
_TABLE = 0x2100
"""Characters below are looked up, others asked one by one."""


def is_word_part(view: TokenView, positions: Ints, lengths: NDArray[np.int32]) -> Bools:
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
        documents = view.document_indices(left[wide]).tolist()
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
        _texts[view] = _TextCharacters(view)
    text = _texts[view]
    first = np.where(lengths > 0, positions, positions - 1)
    last = positions + np.maximum(lengths, 1) - 1
    documents = view.document_indices(positions)
    base = text.bases[documents]
    starts, ends = base + view.starts[first], base + view.ends[last]
    found = text.in_lines(np.unique(documents), starts, ends) & text.is_free(starts, ends)
    rows = np.flatnonzero(found)
    for tokens in (first[rows], last[rows]):
        at, behind = base[rows] + view.starts[tokens], base[rows] + view.ends[tokens]
        found[rows] &= ~text.in_capitals(at, behind) & (
            (lengths[rows] > 0) | ~text.has_property("isdigit", at)
        )
    return found


def is_repeated(view: TokenView) -> Bools:
    """Tell which tokens are the same word as the one before or behind, shape ``(n_tokens,)``."""
    found = np.zeros(len(view), bool)
    found[1:] = (view.hashes[1:] == view.hashes[:-1]) & (view.ends[1:] > view.starts[1:])
    found[:-1] |= found[1:]
    return found


def is_before_punctuation(view: TokenView, positions: Ints) -> Bools:
    """Tell which words have no word behind them, but a mark or the end of a sentence, shape ``(n,)``."""
    behind = positions + 1
    starts, documents = view.starts[behind].tolist(), view.document_indices(behind).tolist()
    ended = view.ends[behind] <= view.starts[behind]
    marks = [
        not view.texts[document][start : start + 1].isalnum()
        for document, start in zip(documents, starts, strict=True)
    ]
    return ended | np.array(marks, bool)


class _TextCharacters:
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
                self._lines[document] = layout_lines(self._view[document])
        lines = [(self.bases[i], *self._lines[i]) for i in documents.tolist()]
        begins = np.concatenate([*(base + begins for base, begins, _ in lines), [len(self._whole) + 1]])
        stops = np.concatenate([np.empty(0, np.int64), *(base + stops for base, _, stops in lines)])
        # the first line apart that ends behind the place's begin must begin behind the place's end
        found: Bools = begins[np.searchsorted(stops, starts, side="right")] >= ends
        return found

    def is_free(self, starts: Ints, ends: Ints) -> Bools:
        """Tell whether nothing but a blank or punctuation touches a piece of text."""
        before = self.has_property("isspace", starts - 1) | self._is_in(_BEFORE, starts - 1)
        behind = self.has_property("isspace", ends) | self._is_in(_BEHIND, ends)
        word = self.has_property("isalnum", ends + 1) | self._is_in("_", ends + 1)
        return before & (behind | (self._is_in(_STOPS, ends) & ~word))

    def in_capitals(self, starts: Ints, ends: Ints) -> Bools:
        """Tell which words of more than one letter are written in capitals."""
        found = (
            (ends - starts > 1)
            & ~self.has_property("islower", starts)
            & ~self.has_property("islower", starts + 1)
        )
        for i in np.flatnonzero(found).tolist():
            found[i] = self._whole[starts[i] : ends[i]].isupper()
        return found

    def has_property(self, kind: str, places: Ints) -> Bools:
        """Tell which characters are what a method of strings, such as ``isspace``, says."""
        codes = self._codes[places]
        found = _table(kind)[np.minimum(codes, _TABLE - 1)]
        for i in np.flatnonzero(codes >= _TABLE).tolist():
            found[i] = getattr(chr(codes[i]), kind)()
        return found

    def _is_in(self, characters: str, places: Ints) -> Bools:
        codes = self._codes[places]
        found: Bools = _members(characters)[np.minimum(codes, _TABLE - 1)] & (codes < _TABLE)
        return found


_texts: WeakKeyDictionary[TokenView, _TextCharacters] = WeakKeyDictionary()
"""Several tasks ask for the same."""


@lru_cache(maxsize=8)
def _table(kind: str) -> Bools:
    return np.array([getattr(chr(code), kind)() for code in range(_TABLE)], bool)


@lru_cache(maxsize=8)
def _members(characters: str) -> Bools:
    found = np.zeros(_TABLE, bool)
    found[[ord(character) for character in characters]] = True
    return found
