"""Decisions as spaCy Docs in a DocBin (``.spacy``): spans by task, records as user data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from disambig.corpora.results import Annotated


@dataclass(frozen=True, slots=True)
class SpacyFormat:
    """Docs of ``spacy.blank(language)``; ``doc.user_data`` also holds ``"id"``, ``"path"`` and ``"meta"``.

    A DocBin is one compressed whole, so the documents of an output are in memory until its end.
    """

    language: str = "en"
    name: str = "spacy"
    suffix: str = ".spacy"

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return some documents as a DocBin."""
        import spacy
        from spacy.tokens import DocBin

        from disambig.spacy.annotations import write_annotations

        tokenizer = spacy.blank(self.language).tokenizer
        found = DocBin(store_user_data=True)
        for result in results:
            if result.document.blank:
                continue
            doc = tokenizer(result.document.text)
            for decisions in result.decisions:
                write_annotations(doc, decisions, spans_key=decisions.task)
            doc.user_data["id"] = result.document.id
            doc.user_data["path"] = result.document.path
            doc.user_data["meta"] = dict(result.document.meta)
            found.add(doc)
        return bytes(found.to_bytes())

    def join(self, chunks: Iterable[bytes], write: Callable[[bytes], object]) -> None:
        """Write the Docs of all `chunks` as one DocBin."""
        from spacy.tokens import DocBin

        whole = None
        for chunk in chunks:
            part = DocBin(store_user_data=True).from_bytes(chunk)
            if whole is None:
                whole = part
            else:
                whole.merge(part)
        write((whole or DocBin(store_user_data=True)).to_bytes())
