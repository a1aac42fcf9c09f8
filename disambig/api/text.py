"""Words and their hashes, and views of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.text.documents import view_of_texts as view_of_texts
    from disambig.text.hashing import GAP_HASH as GAP_HASH
    from disambig.text.hashing import PLACES as _NGRAM_PLACES
    from disambig.text.hashing import fmix as fmix
    from disambig.text.hashing import hash_word as hash_word
    from disambig.text.hashing import hash_words as hash_words
    from disambig.text.tokenisations.spacy_tokens import SpacyTokens as SpacyTokens
    from disambig.text.view import END_HASH as END_HASH
    from disambig.text.view import START_HASH as START_HASH

    NGRAM_PLACES = _NGRAM_PLACES
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
