"""From spaCy Docs to views and back from characters to spaCy tokens. spaCy itself is not imported.

The words come from ``doc.text``, so nothing that spaCy's tokeniser does can change what a word is, unless a
tokenisation asks for the Doc's own tokens (it has ``of_docs(docs)``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from operator import is_
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from disambig.text.protected import protected_layer
from disambig.text.view import ReadsDocs, Tokenisation, TokenView

if TYPE_CHECKING:
    from spacy.tokens import Doc

PROTECTED = "protected"
_LARGEST_KEPT = 4_000_000  # characters: two components that share a batch tokenise it once
_MOST_TOKENS_KEPT = 1_000_000
_last: dict[str, tuple[bool, tuple[str, ...], TokenView]] = {}
_last_docs: dict[str, tuple[bool, tuple[Doc, ...], TokenView]] = {}


def view_of_docs(docs: Sequence[Doc], tokenisation: Tokenisation, *, protected: bool = False) -> TokenView:
    """Return the words of `docs`, the same as of their texts.

    The last batch and its view are kept for each tokenisation: the next component has them at once.

    Parameters
    ----------
    docs : sequence of Doc
        A batch; any tokenisation, merged and split tokens and Docs made from words included.
    tokenisation : Tokenisation
        What a word is.
    protected : bool
        Whether the view gets the layer ``"protected"`` (see `disambig.text.protected`).
    """
    if isinstance(tokenisation, ReadsDocs):
        return _shielded(tokenisation.of_docs(docs), protected)
    kept = _last_docs.get(tokenisation.name)
    if (
        kept is not None
        and kept[0] == protected
        and len(kept[1]) == len(docs)
        and all(map(is_, kept[1], docs))  # a Doc's text never changes
    ):
        return kept[2]
    _last_docs.pop(tokenisation.name, None)
    view = view_of_texts([doc.text for doc in docs], tokenisation, protected=protected)
    if sum(map(len, docs)) <= _MOST_TOKENS_KEPT:
        _last_docs[tokenisation.name] = protected, tuple(docs), view
    return view


def view_of_texts(texts: Sequence[str], tokenisation: Tokenisation, *, protected: bool = False) -> TokenView:
    """Return the words of `texts`; otherwise like `view_of_docs`."""
    kept = _last.get(tokenisation.name)
    key = tuple(texts)
    if kept is not None and kept[:2] == (protected, key):
        return kept[2]
    _last.pop(tokenisation.name, None)
    view = _shielded(tokenisation(key), protected)
    if sum(map(len, key)) <= _LARGEST_KEPT:
        _last[tokenisation.name] = protected, key, view
    return view


def _shielded(view: TokenView, protected: bool) -> TokenView:
    if not protected:
        return view
    return dataclasses.replace(view, layers={**view.layers, PROTECTED: protected_layer(view)})


def tokens_of(
    doc: Doc, starts: NDArray[np.integer], ends: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the spaCy tokens that cover each character span, as first token and one past the last.

    Parameters
    ----------
    doc : Doc
        Whose tokens are asked for.
    starts, ends : arrays of int, shape (n,)
        Character offsets into ``doc.text``. A span that cuts a token gets the whole token; a span
        of no width, or over white space that is in no token, gets an empty range.
    """
    if not len(doc):
        nothing = np.zeros(len(starts), dtype=np.int64)
        return nothing, nothing.copy()
    columns = doc.to_array(["IDX", "LENGTH"]).astype(np.int64)
    token_starts = columns[:, 0]
    token_ends = token_starts + columns[:, 1]
    first = np.searchsorted(token_ends, starts, side="right").astype(np.int64)
    stop = np.searchsorted(token_starts, ends, side="left").astype(np.int64)
    empty = np.asarray(starts) >= np.asarray(ends)
    return first, np.where(empty, first, np.maximum(first, stop))
