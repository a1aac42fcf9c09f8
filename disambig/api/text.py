"""Words and their hashes, and token views of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.rules import begins_gerund_subject as begins_gerund_subject
    from disambig.text import (
        CODE_SIGNS as CODE_SIGNS,
        END_HASH as END_HASH,
        GAP_HASH as GAP_HASH,
        HIDDEN as HIDDEN,
        PLACES as _NGRAM_PLACES,
        SPOKEN_CONSONANT as SPOKEN_CONSONANT,
        SPOKEN_VOWEL as SPOKEN_VOWEL,
        START_HASH as START_HASH,
        SpacyTokens as SpacyTokens,
        fmix as fmix,
        hash_word as hash_word,
        hash_words as hash_words,
        tokenisation_named as tokenisation_named,
        view_of_texts as view_of_texts,
        visible_width as visible_width,
    )

    NGRAM_PLACES = _NGRAM_PLACES
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
