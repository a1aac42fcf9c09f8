"""Decisions as spaCy Docs in a DocBin (``.spacy``): spans by task, records as user data."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from disambig.formats.docbin.reader import StoredDoc
from disambig.formats.documents import Kind, encodable
from disambig.formats.results import Annotated

if TYPE_CHECKING:
    from spacy.tokens import Doc


@dataclass(frozen=True, slots=True)
class SpacyFormat:
    """Docs of ``spacy.blank(language)``; ``doc.user_data`` also holds ``"id"``, ``"path"`` and ``"meta"``.

    Docs that came from a DocBin keep their tokens and all that they carry. A DocBin is one
    compressed whole, so the documents of an output are in memory until its end.
    """

    language: str = "en"
    name: str = "spacy"
    suffix: str = ".spacy"
    mirrors: tuple[Kind, ...] = ("spacy",)

    def encode(self, results: Sequence[Annotated]) -> bytes:
        """Return some documents as a DocBin."""
        import spacy
        from spacy.tokens import DocBin

        from disambig.spacy.annotations import write_annotations

        nlp = spacy.blank(self.language or "xx")
        kept = [result for result in results if not result.document.blank]
        found = DocBin(store_user_data=True)
        for result, doc in zip(kept, _docs(kept, nlp), strict=True):
            for decisions in result.decisions:
                write_annotations(doc, decisions, spans_key=decisions.task)
            for key, value in (
                ("id", result.document.id),
                ("path", result.document.path),
                ("meta", dict(result.document.meta)),
            ):
                doc.user_data.setdefault(key, encodable(value))
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


def _docs(results: Sequence[Annotated], nlp: Any) -> Iterator[Doc]:
    """Yield a Doc for each result; stored ones of one file are built together."""

    def shared(result: Annotated) -> int:
        source = result.document.source
        return id(source.shared) if isinstance(source, StoredDoc) else 0

    for key, group in groupby(results, shared):
        if key:
            yield from _built([result.document.source for result in group], nlp.vocab)
        else:
            yield from (nlp.tokenizer(result.document.text) for result in group)


def _built(stored: Sequence[StoredDoc], vocab: Any) -> Iterator[Doc]:
    from spacy.tokens import DocBin

    found = DocBin(store_user_data=True)
    found.attrs = list(stored[0].shared.attrs)
    found.strings = set(stored[0].shared.strings)
    found.tokens = [doc.tokens for doc in stored]
    found.spaces = [doc.spaces for doc in stored]
    found.cats = [doc.cats for doc in stored]
    found.flags = [doc.flags for doc in stored]
    found.span_groups = [doc.span_groups for doc in stored]
    found.user_data = [doc.user_data for doc in stored]
    try:
        yield from found.get_docs(vocab)
    finally:
        gc.enable()  # srsly leaves it off where it fails
