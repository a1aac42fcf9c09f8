"""What is running text, where words are left out for no reason but a mistake: no parts of words, no layout.

A hyphen makes a larger word of two; a wide blank says that something was cut out, or that a column begins; a
bracket or a sign right at a word makes it code or two words in one. Lines that are no running text are those
of `lines`. What is quoted, code or a name is found elsewhere (`protect`).
"""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from disambig.api import TokenView
from disambig.api.tasks import glued

from .lines import lines_apart

Ints = NDArray[np.int64]
_lines: WeakKeyDictionary[TokenView, dict[int, tuple[Ints, Ints]]] = WeakKeyDictionary()
"""Of the documents of a view the lines apart: several tasks ask for them."""
_ENDS = re.compile("[\r\n]")
_BEFORE = re.compile(r"[\s(\[{\"'\u2018\u201c\u201e\u00ab\u2013\u2014\u2026]")
_BEHIND = re.compile(r"[\s)\]}\"'\u2019\u201d\u00bb\u2013\u2014\u2026,;]|[.:!?]+(?!\w)")


def apart_from_text(view: TokenView, positions: Ints, lengths: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which places are parts of larger words or beside a wide blank, shape ``(n,)``.

    Parameters
    ----------
    positions, lengths : arrays, shape (n,)
        The first token of each place, and how many stand there: of an empty one the token that follows.
    """
    first = np.where(lengths > 0, positions, positions - 1)  # an empty place has a word on both sides
    last = positions + np.maximum(lengths, 1) - 1
    found: NDArray[np.bool_] = glued(view, first, last)
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


def in_running_text(view: TokenView, positions: Ints, lengths: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which places are in running text by their lines and the characters beside them, shape ``(n,)``.

    Words in capitals are not, and neither are empty places beside a number.
    """
    known = _lines.setdefault(view, {})
    found = np.zeros(len(positions), bool)
    first = np.where(lengths > 0, positions, positions - 1)
    last = positions + np.maximum(lengths, 1) - 1
    documents = view.document_of(positions)
    for document in np.unique(documents).tolist():
        text, own = view.texts[document], np.flatnonzero(documents == document)
        starts, ends = view.starts[first[own]], view.ends[last[own]]
        if document not in known:
            known[document] = lines_apart(text)
        begins, stops = known[document]
        # the first line apart that ends behind the place's begin; it must begin behind the place's end
        line = np.searchsorted(stops, starts, side="right")
        found[own] = np.append(begins, len(text) + 1)[line] >= ends
        for i in own[found[own]].tolist():
            tokens = range(int(first[i]), int(last[i]) + 1)
            words = [text[view.starts[token] : view.ends[token]] for token in tokens]
            found[i] = _is_free(text, int(view.starts[first[i]]), int(view.ends[last[i]])) and not any(
                (len(word) > 1 and word.isupper()) or (not lengths[i] and word[0].isdigit()) for word in words
            )
    return found


def _is_free(text: str, start: int, end: int) -> bool:
    """Tell whether nothing but a blank or punctuation touches a piece of text."""
    before = not start or _BEFORE.match(text, start - 1)
    behind = end == len(text) or _BEHIND.match(text, end)
    return bool(before and behind)
