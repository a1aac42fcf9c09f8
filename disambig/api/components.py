"""Components of spaCy pipelines beyond words and labels: documents, tokens, and what they write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.spacy.annotations import token_extension as token_extension
    from disambig.spacy.documents import document_factory as document_factory
    from disambig.spacy.factory import declared_factory as declared_factory
    from disambig.spacy.piped import Piped as Piped
    from disambig.spacy.span_writer import SpanWriter as SpanWriter
    from disambig.spacy.tokens import Universal as Universal
    from disambig.spacy.tokens import token_factory as token_factory
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
