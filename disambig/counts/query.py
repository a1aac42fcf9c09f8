"""N-grams as text: cut into words by a table's tokenisation. No counts here."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import GAP, NOTHING, hash_words
from disambig.text.view import SENTENCE_END, SENTENCE_START, Tokenisation

_GAP = re.compile(r"(?<=\s)\*(?=\s)")
_SPECIAL = re.compile(f"({'|'.join(map(re.escape, (SENTENCE_START, SENTENCE_END, GAP, NOTHING)))})")


def ngram_words(ngram: str, tokenisation: Tokenisation) -> list[str]:
    """Return the words of an n-gram given as text.

    ``<S>`` and ``</S>`` stand for the ends of a sentence, ``<0>`` for no word, a ``*`` between two words
    for any word: its word is `GAP`.
    """
    words: list[str] = []
    for piece in _SPECIAL.split(_GAP.sub(GAP, ngram.strip())):
        if _SPECIAL.fullmatch(piece):
            words.append(piece)
        elif piece.strip():
            words += tokenisation.words(piece)[1:-1]
    return words


def ngram_hashes(ngrams: Sequence[str], tokenisation: str) -> list[NDArray[np.uint64]]:
    """Return the word hashes of each n-gram given as text, shapes ``(order,)``.

    Raises
    ------
    UserError
        D001, where the tokenisation is not known here.
    """
    from disambig.text.tokenisations.by_name import tokenisation_named

    cut = tokenisation_named(tokenisation)
    return [hash_words(ngram_words(ngram, cut)) for ngram in ngrams]
