"""Words of ready counts put into the normal form of a tokenisation. No counts here.

One principle for all sources: a word counts as what the tokenisation makes of it. A word that it would
cut in several, or not take for one, has no normal form; n-grams with it are left out and their lines
counted. For `web1t.v1` words stand as they are: its corpora are cut already, and some of its words
(``'s``, ``Mr.``) are only cut so inside a sentence. ``<S>`` and ``</S>`` are the ends of a sentence.
In Google Books ``_START_`` and ``_END_`` are; n-grams with other tags (``burnt_VERB``, ``_NOUN_``) are
left out, or kept, the word in its normal form and the tag as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.text.hashing import hash_word
from disambig.text.view import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH

AS_THEY_STAND = ("web1t.v1",)
"""Tokenisations whose words in files of counts are in normal form."""
_TAGS = rb"NOUN|VERB|ADJ|ADV|PRON|DET|ADP|NUM|CONJ|PRT|X|\."
_TAGGED = re.compile(rb"_(?:%b|ROOT)_|(.+)(_(?:%b))" % (_TAGS, _TAGS), re.DOTALL)
_BOUNDARIES = {SENTENCE_START.encode(): START_HASH, SENTENCE_END.encode(): END_HASH}
_GOOGLE_BOUNDARIES = {b"_START_": START_HASH, b"_END_": END_HASH}


class WordMap:
    """A growing map from the hashes of words as they stand to those of their normal forms.

    Parameters
    ----------
    tokenisation : str
        Registry name.
    google : bool
        The words are those of Google Books.
    tagged : bool
        Words with a tag are kept.

    Attributes
    ----------
    entries : array of uint64, shape (a power of two, 2)
        For kernels (`reader_kernels.place_in`); the second is `CUT` or `TAGGED` for a word without a form.
    """

    def __init__(self, tokenisation: str, *, google: bool = False, tagged: bool = False) -> None:
        from disambig.text.tokenisations.by_name import tokenisation_named

        self.entries = np.zeros((1 << 16, 2), dtype=np.uint64)
        self._n = 0
        self._cut = None if tokenisation in AS_THEY_STAND else tokenisation_named(tokenisation)
        self._google = google
        self._tagged = tagged

    def learn(self, words: Sequence[bytes]) -> None:
        """Enter words (UTF-8)."""
        from disambig.counts.importing.reader_kernels import put_all

        while 2 * (self._n + len(words)) > len(self.entries):
            old = self.entries[self.entries[:, 0] != 0]
            self.entries = np.zeros((2 * len(self.entries), 2), dtype=np.uint64)
            put_all(self.entries, old[:, 0].copy(), old[:, 1].copy())
        raw = np.fromiter(map(hash_word, words), dtype=np.uint64, count=len(words))
        self._n += put_all(self.entries, raw, self._normal(words, raw))

    def _normal(self, words: Sequence[bytes], raw: NDArray[np.uint64]) -> NDArray[np.uint64]:
        from disambig.counts.importing.reader_kernels import TAGGED

        values = raw.copy() if self._cut is None else self._by_tokenisation(words)
        boundaries = _BOUNDARIES | _GOOGLE_BOUNDARIES if self._google else _BOUNDARIES
        for i, word in enumerate(words):
            if word in boundaries:
                values[i] = boundaries[word]
            elif self._google and b"_" in word and (match := _TAGGED.fullmatch(word)):
                values[i] = self._tagged_form(match) if self._tagged else TAGGED
        return values

    def _by_tokenisation(self, words: Sequence[bytes]) -> NDArray[np.uint64]:
        from disambig.counts.importing.reader_kernels import CUT

        assert self._cut is not None
        view = self._cut([word.decode() for word in words])
        sizes = np.diff(view.documents)  # three: the word between the ends of its sentence
        middle = np.minimum(view.documents[:-1] + 1, max(len(view) - 1, 0))
        if not len(view):
            return np.full(len(words), CUT, dtype=np.uint64)
        return np.where(sizes == 3, view.hashes[middle], np.uint64(CUT))

    def _tagged_form(self, match: re.Match[bytes]) -> int:
        from disambig.counts.importing.reader_kernels import CUT

        if self._cut is None or match[1] is None:
            return hash_word(match[0])
        form = self._cut.words(match[1].decode())
        return hash_word(form[1].encode() + match[2]) if len(form) == 3 else CUT
