"""Words and their hashes, and token views of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.api._renamed import renamed_names
from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.text import END_HASH as END_HASH
    from disambig.text import GAP_HASH as GAP_HASH
    from disambig.text import HIDDEN as HIDDEN
    from disambig.text import PLACES as _NGRAM_PLACES
    from disambig.text import SPOKEN_CONSONANT as SPOKEN_CONSONANT
    from disambig.text import SPOKEN_VOWEL as SPOKEN_VOWEL
    from disambig.text import START_HASH as START_HASH
    from disambig.text import SpacyTokens as SpacyTokens
    from disambig.text import begins_gerund_subject as begins_gerund_subject
    from disambig.text import fmix as fmix
    from disambig.text import hash_word as hash_word
    from disambig.text import hash_words as hash_words
    from disambig.text import tokenisation_named as tokenisation_named
    from disambig.text import view_of_texts as view_of_texts
    from disambig.text import visible_width as visible_width

    NGRAM_PLACES = _NGRAM_PLACES
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, renamed_names(__name__))
