"""``/annotate``: texts in, our own records out, a document each, as ``--format jsonl`` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from disambig.errors import UserError
from disambig.formats.documents import Document
from disambig.formats.jsonl.format import JsonlFormat
from disambig.formats.results import Annotated
from disambig.server.languagetool.request import check_text, json_of, rate_of
from disambig.server.refusals import unclear

MOST = 1_000
"""Documents of a request."""
MOST_DECISIONS = 100_000
"""Records of an answer, of some hundred bytes each."""
_FIELDS = ("text", "documents", "flags_per_1000", "id")


@dataclass(frozen=True, slots=True)
class RecordsRequest:
    """A request that was understood.

    Attributes
    ----------
    documents : tuple of Document
    alone : bool
        Whether one text was sent, and one record is to come back.
    flags_per_1000 : float or None
    """

    documents: tuple[Document, ...]
    alone: bool
    flags_per_1000: float | None

    @property
    def texts(self) -> list[str]:
        """The texts of the documents."""
        return [document.text for document in self.documents]

    def answer(self, found: Sequence[Annotated]) -> bytes:
        """Return the records: an object for one text, an array for several documents.

        Raises
        ------
        UserError
            D885 where too much was decided.
        """
        if sum(len(decisions) for each in found for decisions in each.decisions) > MOST_DECISIONS:
            raise UserError("D885", what="the list of decisions", limit=MOST_DECISIONS, unit="decisions")
        lines = JsonlFormat().encode(
            [replace(each, document=mine) for each, mine in zip(found, self.documents, strict=True)]
        )
        objects = lines.rstrip(b"\n")
        return objects if self.alone else b"[" + objects.replace(b"}\n{", b"},\n{") + b"]"


def records_request(body: bytes, *, max_text: int) -> RecordsRequest:
    r"""Return what a body asks for: ``{"text": ...}`` or ``{"documents": [{"id": ..., "text": ...}, ...]}``.

    Raises
    ------
    UserError
        D883 for what is neither, D885 for texts that are too long together.
    """
    found = json_of(body, "the body")
    if not isinstance(found, dict):
        raise unclear("the body is no object with 'text' or 'documents'")
    if unknown := [key for key in found if key not in _FIELDS]:
        raise unclear(f"unknown key {str(unknown[0])[:40]!r}: there are {', '.join(_FIELDS)}")
    alone = "text" in found
    if alone == ("documents" in found):
        raise unclear("the body must have one of 'text' and 'documents'")
    several = [found] if alone else found["documents"]
    if not isinstance(several, list) or not several or len(several) > MOST:
        raise unclear(f"'documents' must be a list of 1 to {MOST:,}")
    documents = tuple(_document(each, i, max_text) for i, each in enumerate(several, start=1))
    check_text("".join(each.text for each in documents), max_text=max_text)
    return RecordsRequest(documents, alone, rate_of(found.get("flags_per_1000")))


def _document(found: Any, number: int, max_text: int) -> Document:
    text = found.get("text") if isinstance(found, Mapping) else None
    if not isinstance(text, str):
        raise unclear(f"document {number} is no object with a string as 'text'")
    name = found.get("id", number)
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise unclear(f"the id of document {number} is no string")
    named = check_text(str(name), max_text=max_text)
    return Document(named, check_text(text, max_text=max_text), "", kind="json")
