"""Requests and answers of ``/annotate`` and ``/explain``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.formats import AnnotatedDocument, Document, JsonlFormat, to_json
from disambig.server.checker import ServerChecker
from disambig.server.languagetool import check_text, parse_json, parse_rate, task_rule
from disambig.server.middleware import unclear_request

if TYPE_CHECKING:
    from disambig.explain import NgramPair


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

    def answer(self, found: Sequence[AnnotatedDocument]) -> bytes:
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
    found = parse_json(body, "the body")
    if not isinstance(found, dict):
        raise unclear_request("the body is no object with 'text' or 'documents'")
    if unknown := [key for key in found if key not in _FIELDS]:
        raise unclear_request(f"unknown key {str(unknown[0])[:40]!r}: there are {', '.join(_FIELDS)}")
    alone = "text" in found
    if alone == ("documents" in found):
        raise unclear_request("the body must have one of 'text' and 'documents'")
    several = [found] if alone else found["documents"]
    if not isinstance(several, list) or not several or len(several) > MOST:
        raise unclear_request(f"'documents' must be a list of 1 to {MOST:,}")
    documents = tuple(_parse_document(each, i, max_text) for i, each in enumerate(several, start=1))
    check_text("".join(each.text for each in documents), max_text=max_text)
    return RecordsRequest(documents, alone, parse_rate(found.get("flags_per_1000")))


def _parse_document(found: Any, number: int, max_text: int) -> Document:
    text = found.get("text") if isinstance(found, Mapping) else None
    if not isinstance(text, str):
        raise unclear_request(f"document {number} is no object with a string as 'text'")
    name = found.get("id", number)
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise unclear_request(f"the id of document {number} is no string")
    named = check_text(str(name), max_text=max_text)
    return Document(named, check_text(text, max_text=max_text), "", kind="json")


MOST_CANDIDATES = 5
MOST_COUNTS = 3
LONGEST = 20_000
"""Characters of the text around a place."""


@dataclass(frozen=True, slots=True)
class ReasonsRequest:
    """A request that was understood: a text, and a place in it where a rule was broken."""

    text: str
    start: int
    end: int
    rule: str


def reasons_request(body: bytes, *, max_text: int) -> ReasonsRequest:
    """Return what a body asks for: ``{"text": ..., "start": ..., "end": ..., "rule": ...}``.

    Raises
    ------
    UserError
        D883 for what makes no sense, D885 for a text that is too long.
    """
    found = parse_json(body, "the body")
    if not isinstance(found, dict):
        raise unclear_request("the body is no object")
    text, start, end, rule = (found.get(key) for key in ("text", "start", "end", "rule"))
    if not isinstance(text, str) or not isinstance(rule, str):
        raise unclear_request("'text' and 'rule' must be strings")
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in (start, end)):
        raise unclear_request("'start' and 'end' must be whole numbers: offsets in characters")
    if not 0 <= start <= end <= len(text):  # type: ignore[operator]
        raise unclear_request(f"'start' and 'end' must lie in the text, from 0 to {len(text):,}")
    return ReasonsRequest(check_text(text, max_text=min(max_text, LONGEST)), start, end, rule)  # type: ignore[arg-type]


def explain_flag(request: ReasonsRequest, checker: ServerChecker) -> bytes:
    """Return the reasons of the surest decision in a place as JSON.

    Raises
    ------
    UserError
        D883 where nothing is decided in that place.
    """
    import numpy as np

    from disambig.explain import explain_decision, ngram_pairs, ngram_sentence, strongest
    from disambig.text import view_of_texts

    named = {task_rule(model.task).id: model for model in checker.models.values()}
    model = named.get(request.rule)
    if model is None:
        raise unclear_request(f"no rule {request.rule[:40]!r} checks here: there are {', '.join(named)}")
    view = view_of_texts([request.text], model.tokenisation, protected=True)
    decisions = model.decide(view, flags_per_1000=checker.rates[model.task.name])
    inside = (decisions.starts >= request.start) & (decisions.ends <= request.end)
    if not inside.any():
        raise unclear_request(f"{request.rule} decides nothing at {request.start}-{request.end}")
    index = int(np.where(inside, decisions.probabilities, -1.0).argmax())
    record, one = decisions.record(index, request.text), decisions.slice(index, index + 1)
    shares = model.candidate_probabilities(one)
    names, observed = one.candidate_texts(0), int(one.observed[0])
    fits = dict(zip(names, [0.0] * len(names) if shares is None else shares.tolist(), strict=True))
    written = names[observed] if observed >= 0 else ""
    best = [name for name, _ in record["candidates"]][:MOST_CANDIDATES]
    best += [name for name in dict.fromkeys((record["chosen"], written)) if name not in best]
    beside = ngram_pairs(explain_decision(model, view, index) or [], written, record["chosen"])
    known = [each for each in beside if each.at_most is not None]
    return to_json(
        {
            "reason": ngram_sentence(beside) or _fits(record["chosen"], written),
            "probability": record["probability"],
            "candidates": [{"candidate": name, "probability": round(fits[name], 4)} for name in best],
            "counts": [_as_json(each) for each in strongest(known, MOST_COUNTS)],
            "found": record["found"],
            "asked": record["asked"],
            "model": record["model"],
        }
    )


def _as_json(beside: NgramPair) -> dict[str, Any]:
    """Return an n-gram with what was chosen in it, and the same with what was written, and their counts.

    ``exact`` says whether the second was seen just so often, or at most.
    """
    return {
        "words": beside.proposed,
        "count": beside.proposed_count,
        "other_words": beside.written,
        "other_count": beside.at_most,
        "exact": bool(beside.written_count) or not beside.at_most,
    }


def _fits(chosen: str, written: str) -> str:
    """Say that something fits better where no n-gram says so."""
    if not written:
        return f"With “{chosen}” the words around fit together better than without a word."
    if not chosen:
        return f"Without “{written}” the words around fit together better."
    return f"“{chosen}” fits the words around better than “{written}” does."
