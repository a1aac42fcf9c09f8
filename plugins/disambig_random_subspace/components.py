"""The spaCy components of this plugin's tasks (loaded by spaCy alone, through its entry points)."""

from __future__ import annotations

from disambig.api.components import Universal, document_factory, token_factory

from .tagging.universal import OF_TAG, OF_WORD

make_topic = document_factory("disambig_topic")
make_tagger = token_factory("disambig_tagger", task="tag", universal=lambda: Universal(OF_TAG, OF_WORD))
