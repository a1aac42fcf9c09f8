"""Requests and responses of ``/annotate``, ``/explain`` and ``/models``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig.errors import UserError
from disambig.formats import RECORD_VERSIONS, AnnotatedDocument, Document, JsonlFormat, to_json
from disambig.runtime import DeadlineExceeded, check_time, processor_time_limit
from disambig.server.checker import ServerChecker
from disambig.server.languagetool import (
    PREFIX,
    check_text,
    parse_json,
    parse_rate,
    parse_writing,
    rule_id,
)
from disambig.server.middleware import unclear_request

if TYPE_CHECKING:
    from disambig.data import Decisions
    from disambig.explain import NgramPair
    from disambig.models import Model, StandaloneModel
    from disambig.rules import RuleSet
    from disambig.text import TokenView


MAX_DOCUMENTS = 1_000
"""Maximum number of documents per request."""
MAX_DECISIONS = 100_000
"""Maximum number of decisions per response; each has a few hundred bytes."""
_FIELDS = ("text", "documents", "flags_per_1000", "writing", "records", "id")


@dataclass(frozen=True, slots=True)
class RecordsRequest:
    """A parsed request to ``/annotate``."""

    documents: tuple[Document, ...]
    is_single: bool  # whether a single text was sent, so that the response is a single record
    flags_per_1000: float | None
    writing: str | None = None  # kind of writing
    version: int = RECORD_VERSIONS[-1]  # version of the records

    @property
    def texts(self) -> list[str]:
        """The texts of the documents."""
        return [document.text for document in self.documents]

    def answer(self, results: Sequence[AnnotatedDocument]) -> bytes:
        """Return the records: an object for one text, an array for several documents.

        Raises D885 if there are too many decisions.
        """
        if sum(len(decisions) for result in results for decisions in result.decisions) > MAX_DECISIONS:
            raise UserError("D885", what="the list of decisions", limit=MAX_DECISIONS, unit="decisions")
        lines = JsonlFormat(version=self.version).encode(
            [replace(result, document=source) for result, source in zip(results, self.documents, strict=True)]
        )
        objects = lines.rstrip(b"\n")
        return objects if self.is_single else b"[" + objects.replace(b"}\n{", b"},\n{") + b"]"


def parse_records_request(body: bytes, *, max_text: int) -> RecordsRequest:
    r"""Parse a body: ``{"text": ...}`` or ``{"documents": [{"id": ..., "text": ...}, ...]}``.

    Raises D883 for any other body, D885 if the texts are too long in total.
    """
    fields = parse_json(body, "the body")
    if not isinstance(fields, dict):
        raise unclear_request("the body is not an object with 'text' or 'documents'")
    _check_keys(fields, _FIELDS)
    is_single = "text" in fields
    if is_single == ("documents" in fields):
        raise unclear_request("the body must have one of 'text' and 'documents'")
    values = [fields] if is_single else fields["documents"]
    if not isinstance(values, list) or not values or len(values) > MAX_DOCUMENTS:
        raise unclear_request(f"'documents' must be a list of 1 to {MAX_DOCUMENTS:,}")
    documents = tuple(_parse_document(value, i, max_text) for i, value in enumerate(values, start=1))
    check_text("".join(document.text for document in documents), max_text=max_text)
    version = fields.get("records", RECORD_VERSIONS[-1])
    if version not in RECORD_VERSIONS or isinstance(version, bool | float):
        raise unclear_request(f"'records' must be one of {', '.join(map(str, RECORD_VERSIONS))}")
    return RecordsRequest(
        documents,
        is_single,
        parse_rate(fields.get("flags_per_1000")),
        parse_writing(fields.get("writing")),
        version,
    )


def _check_keys(fields: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise D883 if a body has an unknown key."""
    if unknown := [key for key in fields if key not in known]:
        raise unclear_request(f"unknown key {unknown[0][:40]!r}; known keys: {', '.join(known)}")


def _parse_document(value: Any, number: int, max_text: int) -> Document:
    text = value.get("text") if isinstance(value, Mapping) else None
    if not isinstance(text, str):
        raise unclear_request(f"document {number} is not an object with a string as 'text'")
    name = value.get("id", number)
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise unclear_request(f"the id of document {number} is not a string")
    document_id = check_text(str(name), max_text=max_text)
    return Document(document_id, check_text(text, max_text=max_text), "", kind="json")


MAX_N_BEST = 100
"""Maximum number of candidates per result of a standalone model."""
_PIECE = 2_000
"""Number of characters that a standalone model gets at a time; the time limit is checked between pieces."""


@dataclass(frozen=True, slots=True)
class StandaloneRequest:
    """A parsed request to a standalone model."""

    text: str
    n_best: int  # maximum number of candidates per result

    def answer(self, model: StandaloneModel, seconds: float) -> bytes:
        """Return the results for the text as a JSON array.

        Raises D891 if that takes more processor time than `seconds`; the errors of the model.
        """
        from disambig.models import cut_pieces

        results: list[dict[str, Any]] = []
        try:
            with processor_time_limit(seconds):
                for start, end in cut_pieces(self.text, size=_PIECE, window=_PIECE - 1):
                    check_time()
                    results += model.records([self.text[start:end]], n_best=self.n_best)[0]
                return to_json(results)
        except DeadlineExceeded:
            raise UserError("D891", seconds=seconds) from None


def parse_standalone_request(body: bytes, *, max_text: int) -> StandaloneRequest:
    """Parse a body: ``{"text": ..., "n_best": ...}``.

    Raises D883 for any other body, D885 for a text that is longer than `max_text` divided by the number of
    candidates.
    """
    fields = parse_json(body, "the body")
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        raise unclear_request("the body is not an object with a string as 'text'")
    _check_keys(fields, ("text", "n_best"))
    n_best = fields.get("n_best", 1)
    if not isinstance(n_best, int) or isinstance(n_best, bool) or not 1 <= n_best <= MAX_N_BEST:
        raise unclear_request(f"'n_best' must be an integer from 1 to {MAX_N_BEST}")
    # The response grows with both numbers, so more candidates require a shorter text.
    return StandaloneRequest(check_text(fields["text"], max_text=max(1, max_text // n_best)), n_best)


def describe_standalone(models: Mapping[str, StandaloneModel]) -> bytes:
    """Return the name, the description and the language of each model as a JSON array."""
    return to_json(
        [
            {"name": name, "description": model.describe(), "language": model.language}
            for name, model in models.items()
        ]
    )


MAX_CANDIDATES = 5
MAX_COUNTS = 3
MAX_EXPLAINED_TEXT = 20_000
"""Maximum number of characters of the text around a flag."""


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """A parsed request to ``/explain``: a text, the offsets of a flag in it, and the rule of the flag."""

    text: str
    start: int
    end: int
    rule: str


def parse_explain_request(body: bytes, *, max_text: int) -> ExplainRequest:
    """Parse a body: ``{"text": ..., "start": ..., "end": ..., "rule": ...}``.

    The rule is an id, such as ``DISAMBIG_CONFUSED_WORDS``, or a name, such as ``confused-words``.

    Raises D883 for any other body, D885 for a text that is too long.
    """
    fields = parse_json(body, "the body")
    if not isinstance(fields, dict):
        raise unclear_request("the body is not an object")
    text, start, end, rule = (fields.get(key) for key in ("text", "start", "end", "rule"))
    if not isinstance(text, str) or not isinstance(rule, str):
        raise unclear_request("'text' and 'rule' must be strings")
    if not all(isinstance(offset, int) and not isinstance(offset, bool) for offset in (start, end)):
        raise unclear_request("'start' and 'end' must be integers: offsets in characters")
    if not 0 <= start <= end <= len(text):  # type: ignore[operator]
        raise unclear_request(f"'start' and 'end' must be inside the text, from 0 to {len(text):,}")
    return ExplainRequest(check_text(text, max_text=min(max_text, MAX_EXPLAINED_TEXT)), start, end, rule)  # type: ignore[arg-type]


def explain_flag(request: ExplainRequest, checker: ServerChecker) -> bytes:
    """Return the reasons for the most certain decision between two offsets as JSON.

    Raises D883 if the rule makes no decision there.
    """
    from disambig.explain import explain_decision, ngram_pairs, ngram_sentence, strongest

    model, view, decisions, index = _find_decision(request, checker)
    record, decision = decisions.record(index, request.text), decisions.slice(index, index + 1)
    probabilities = model.candidate_probabilities(decision)
    candidates, observed = decision.candidate_texts(0), int(decision.observed[0])
    values = [0.0] * len(candidates) if probabilities is None else probabilities.tolist()
    by_candidate = dict(zip(candidates, values, strict=True))
    written = candidates[observed] if observed >= 0 else ""
    shown = [candidate for candidate, _ in record["candidates"]][:MAX_CANDIDATES]
    shown += [text for text in dict.fromkeys((record["chosen"], written)) if text not in shown]
    pairs = ngram_pairs(explain_decision(model, view, index) or [], written, record["chosen"])
    counted = [pair for pair in pairs if pair.at_most is not None]
    return to_json(
        {
            "reason": ngram_sentence(pairs) or _fit_sentence(record["chosen"], written),
            "probability": record["probability"],
            "candidates": [
                {"candidate": candidate, "probability": round(by_candidate[candidate], 4)}
                for candidate in shown
            ],
            "counts": [_as_json(pair) for pair in strongest(counted, MAX_COUNTS)],
            "found": record["found"],
            "asked": record["asked"],
            "model": record["model"],
        }
    )


def _find_decision(
    request: ExplainRequest, checker: ServerChecker
) -> tuple[Model, TokenView, Decisions, int]:
    """Return the most certain decision between two offsets: its model, view, decisions and row.

    A decision that has the requested rule is preferred to others of the models that have the rule.
    """
    import numpy as np

    from disambig.text import view_of_texts
    from disambig.types import task_rules

    requested = request.rule if request.rule.startswith(PREFIX) else rule_id(request.rule)
    models = [
        model
        for model in checker.models.values()
        if requested in _rule_ids(model.task.name, task_rules(model.task))
    ]
    if not models:
        names = sorted(map(rule_id, checker.rules))
        raise unclear_request(f"unknown rule {request.rule[:40]!r}; known rules: {', '.join(names)}")
    decided = []
    for model in models:
        view = view_of_texts([request.text], model.tokenisation, protected=True)
        decisions = model.decide(view, flags_per_1000=checker.rates[model.task.name])
        inside = (decisions.starts >= request.start) & (decisions.ends <= request.end)
        for row in np.flatnonzero(inside).tolist():
            has_rule = rule_id(decisions.rule_name(row, request.text)) == requested
            decided.append((has_rule, float(decisions.probabilities[row]), model, view, decisions, row))
    if not decided:
        raise unclear_request(f"{request.rule} makes no decision at {request.start}-{request.end}")
    return max(decided, key=lambda item: item[:2])[2:]


def _rule_ids(task: str, rules: RuleSet) -> set[str]:
    return {rule_id(name) for name in (task, *(rule.name for rule in rules.rules))}


def _as_json(pair: NgramPair) -> dict[str, Any]:
    """Return an n-gram with the chosen word and the same n-gram with the written word, with their counts.

    ``exact`` is False if the second count is an upper bound.
    """
    return {
        "words": pair.proposed,
        "count": pair.proposed_count,
        "other_words": pair.written,
        "other_count": pair.at_most,
        "exact": bool(pair.written_count) or not pair.at_most,
    }


def _fit_sentence(chosen: str, written: str) -> str:
    """Return the reason for a decision that no n-gram count explains."""
    if not written:
        return f"“{chosen}” fits this context better than no word."
    if not chosen:
        return f"The context fits better without “{written}”."
    return f"“{chosen}” fits this context better than “{written}”."
