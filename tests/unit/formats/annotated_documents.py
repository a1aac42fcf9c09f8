"""Documents annotated by the fake models, and their encoding in a format."""

from __future__ import annotations

from typing import Any

from fake_models import annotate_texts

from disambig.formats import AnnotatedDocument, Document, make_format


def annotated(text: str, name: str = "a.txt", *, id: str = "", **more) -> AnnotatedDocument:
    """Return a document with the decisions of the fake models."""
    return AnnotatedDocument(Document(id or name, text, name, **more), tuple(annotate_texts([text])))


def encode(format: Any, *results: AnnotatedDocument, chunks: int = 1, **options: Any) -> bytes:
    """Encode documents in a format, given by name or as an object, in some chunks."""
    if isinstance(format, str):
        format = make_format(format, **options)
    output: list[bytes] = []
    format.join([format.encode(list(results[i::chunks])) for i in range(chunks)], output.append)
    return b"".join(output)
