"""Candidates cut into words as the text around them is; kept, since the same come ever again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from disambig.data.interned import distinct
from disambig.text.tokenisations.by_name import tokenisation_named

Words = tuple[int, ...]
MOST_KEPT = 1 << 16
"""Candidates of a tokenisation whose words are kept."""
_kept: dict[str, dict[str, Words]] = {}


def hashes_of_candidates(
    texts: Sequence[str], tokenisation: str
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the words of candidates as hashes, and how many each has.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
    tokenisation : str
        Registry name: what one word is in the text is one here.

    Returns
    -------
    words : array of uint64, shape (n, most words)
        Zero behind the last word of a candidate; one column at least.
    lengths : array of int64, shape (n,)
    """
    known, row = distinct(texts)
    found = _words(known, tokenisation)
    lengths = np.fromiter(map(len, found), np.int64, len(found))
    words = np.zeros((len(found), int(lengths.max(initial=1))), np.uint64)
    inside = np.arange(words.shape[1]) < lengths[:, None]
    words[inside] = np.fromiter(chain.from_iterable(found), np.uint64, int(lengths.sum()))
    return words[row], lengths[row]


def _words(texts: Sequence[str], tokenisation: str) -> list[Words]:
    """Return the hashes of the words of different texts."""
    kept = _kept.setdefault(tokenisation, {})
    found = list(map(kept.get, texts))
    new = [text for text, words in zip(texts, found, strict=True) if words is None]
    if new:
        cut = dict(zip(new, _cut(new, tokenisation), strict=True))
        if len(kept) + len(cut) > MOST_KEPT:
            kept.clear()
        if len(cut) <= MOST_KEPT:
            kept.update(cut)
        found = [cut[text] if words is None else words for text, words in zip(texts, found, strict=True)]
    return [words for words in found if words is not None]


def _cut(texts: Sequence[str], tokenisation: str) -> Iterator[Words]:
    view = tokenisation_named(tokenisation)(texts)
    tokens = np.flatnonzero(view.ends > view.starts)
    ends = np.searchsorted(view.document_of(tokens), np.arange(len(texts)), side="right").tolist()
    hashes = view.hashes[tokens].tolist()
    return (tuple(hashes[start:end]) for start, end in zip([0, *ends], ends, strict=False))
