"""For spaCy components beyond words and labels: documents, tokens and annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from disambig.lazy_names import lazy_names

if TYPE_CHECKING:
    from disambig.spacy.annotations import token_extension as token_extension
    from disambig.spacy.component import (
        BatchComponent as BatchComponent,
        SpanWriter as SpanWriter,
        check_pipeline_language as check_pipeline_language,
    )
    from disambig.spacy.factory import declared_factory as declared_factory
    from disambig.spacy.labellers import (
        UniversalTags as UniversalTags,
        document_factory as document_factory,
        token_factory as token_factory,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
