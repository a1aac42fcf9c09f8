"""Stems: what words have in common with their inflected forms (Porter 1980, by the snowballstemmer package).

Stop words, which say little of what a text is about, and signs have no stem.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.errors import UserError
from disambig.text.hashing import hash_word
from disambig.text.view import TokenView

_MOST_KEPT = 400_000
"""Words whose stems are remembered: those of a batch are mostly those of the one before."""


def stem_layer(view: TokenView, language: str) -> NDArray[np.uint64]:
    """Return the hash of the stem of each word of `view`, shape ``(n_tokens,)``; 0 for what has none.

    Raises
    ------
    UserError
        D203 for a language without stemmer or stop words.
    """
    known = _stems(language)
    words, first, which = np.unique(view.hashes, return_index=True, return_inverse=True)
    documents = view.document_of(first).tolist()
    starts, ends = view.starts[first].tolist(), view.ends[first].tolist()
    hashes = words.tolist()
    with known.lock:
        if len(known.of) > _MOST_KEPT:
            known.of.clear()
        for hashed, document, start, end in zip(hashes, documents, starts, ends, strict=True):
            if hashed not in known.of:
                known.of[hashed] = known.stem_hash(view.texts[document][start:end].lower())
        found = np.array([known.of[hashed] for hashed in hashes], np.uint64)
    return found[which] if len(found) else found


def content_words(view: TokenView, language: str) -> NDArray[np.bool_]:
    """Return which tokens have a stem: words that are no stop words, shape ``(n_tokens,)``."""
    return stem_layer(view, language) != 0


class _Stems:
    """The stemmer of a language, and what it said so far.

    The stemmer keeps the word in hand in itself: one thread at a time, with the `lock`.
    """

    def __init__(self, stemmer: Any, stop_words: frozenset[str]) -> None:
        self.lock = Lock()
        self.of: dict[int, int] = {}
        self._stemmer, self._stop_words = stemmer, stop_words

    def stem_hash(self, word: str) -> int:
        if word in self._stop_words or not any(map(str.isalnum, word)):
            return 0
        return hash_word(self._stemmer.stemWord(word))


@lru_cache(maxsize=4)
def _stems(language: str) -> _Stems:
    import snowballstemmer
    from spacy.util import get_lang_class

    try:
        known = get_lang_class(language)
        name = "porter" if language == "en" else _NAMES[language]
        return _Stems(snowballstemmer.stemmer(name), frozenset(known.Defaults.stop_words))
    except (ImportError, KeyError):
        raise UserError("D203", language=language, names=", ".join(sorted(_NAMES))) from None


_NAMES = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""Snowball's names of languages by their codes; English uses Porter's first stemmer."""
