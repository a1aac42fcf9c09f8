"""Requests and responses of ``/annotate``, ``/explain`` and ``/models``, and their OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from disambig import __version__
from disambig.data import WORDS_PER_MISTAKE
from disambig.errors import UserError
from disambig.formats import RECORD_VERSIONS, AnnotatedDocument, Document, JsonlFormat, record_schema, to_json
from disambig.runtime import DeadlineExceeded, check_time, processor_time_limit
from disambig.server.checker import ServerChecker
from disambig.server.languagetool import PREFIX, check_text, parse_json, parse_rate, parse_writing, rule_id
from disambig.server.middleware import ServerLimits, unclear_request

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
        # A line end inside a string is escaped in JSON, so "}\n{" only occurs between two records.
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
    # The limit also holds for the sum, since the documents are annotated together.
    check_text("".join(document.text for document in documents), max_text=max_text)
    version = fields.get("records", RECORD_VERSIONS[-1])
    if version not in RECORD_VERSIONS or isinstance(version, bool | float):  # True == 1.0 == 1
        raise unclear_request(f"'records' must be one of {', '.join(map(str, RECORD_VERSIONS))}")
    return RecordsRequest(
        documents,
        is_single,
        parse_rate(fields.get("flags_per_1000")),
        parse_writing(fields.get("writing")),
        version,
    )


def _check_keys(fields: Mapping[str, Any], allowed: Sequence[str]) -> None:
    """Raise D883 if a body has an unknown key."""
    if unknown := [key for key in fields if key not in allowed]:
        raise unclear_request(f"unknown key {unknown[0][:40]!r}; known keys: {', '.join(allowed)}")


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
                    check_time()  # a model may run long without checking the time itself
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
    # the chosen and the written word are always shown, even if others are more probable
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
    return max(decided, key=lambda item: item[:2])[2:]  # models and views cannot be compared


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


Json = dict[str, Any]
_STRING: Json = {"type": "string"}
_NUMBER: Json = {"type": "number"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_PROBABILITY: Json = {"type": "number", "minimum": 0, "maximum": 1}
_YES_OR_NO = {"type": "string", "enum": ["true", "yes", "false", "no"]}
_ERRORS = {
    "400": "The request is invalid.",
    "403": "The host or the origin is not allowed.",
    "404": "The path does not exist.",
    "405": "The path does not accept this method.",
    "408": "The request was sent too slowly.",
    "413": "The request or its text is too long, or takes too long to check.",
    "500": "The server failed.",
    "503": "The server is busy.",
}
_COMMON_ERRORS = ("400", "403", "405", "500", "503")
_TEXT_ERRORS = (*_COMMON_ERRORS, "408", "413")


def openapi(limits: ServerLimits, bases: Sequence[str]) -> Json:
    """Return the OpenAPI document.

    `bases`: base paths of LanguageTool's interface; all but the first are deprecated.
    """
    text = {"type": "string", "maxLength": limits.max_text, "pattern": "^[^\\u0000]*$"}
    paths: Json = {
        "/": {"get": _operation("page", "The demo page.", "text/html", _STRING)},
        "/rules": {"get": _operation("rulesPage", "A page that describes the rules.", "text/html", _STRING)},
        "/openapi.json": {"get": _operation("openapi", "This document.", _JSON, {"type": "object"})},
        "/annotate": {"post": _annotate(text)},
        "/explain": {"post": _explain()},
        "/models": {
            "get": _operation("models", "Parsers and converters.", _JSON, _array(_ref("Standalone")))
        },
        "/models/{name}": {"post": _standalone(text)},
    }
    for number, base in enumerate(bases):
        for path, operations in _languagetool(base, text).items():
            for operation in operations.values():
                if number:
                    operation["deprecated"] = True
                    operation["operationId"] += f"_{number + 1}"
            paths[path] = operations
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "disambig serve",
            "version": __version__,
            "summary": "Finds wrong words by their context; answers LanguageTool's HTTP interface.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {"schemas": {**_SCHEMAS, "Record": _record()}},
    }


_JSON = "application/json"


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _operation(
    name: str,
    summary: str,
    media_type: str,
    schema: Json,
    errors: Sequence[str] = _COMMON_ERRORS,
    **fields: Any,
) -> Json:
    """Return an operation with its successful response and its errors; `fields` are further fields of it."""
    content = {media_type: {"schema": schema}}
    responses: Json = {"200": {"description": "The response.", "content": content}}
    for status in sorted(errors):
        content = {"text/plain": {"schema": _ref("Refusal")}}
        responses[status] = {"description": _ERRORS[status], "content": content}
    return {"operationId": name, "summary": summary, **fields, "responses": responses}


def _body(media_type: str, schema: Json) -> Json:
    return {"required": True, "content": {media_type: {"schema": schema}}}


def _annotate(text: Json) -> Json:
    name = {"type": ["string", "integer"]}
    rate = {"type": ["number", "null"], "minimum": 0}
    writing = {"enum": [*WORDS_PER_MISTAKE, None]}
    shared = {"flags_per_1000": rate, "writing": writing, "records": {"enum": list(RECORD_VERSIONS)}}
    document = {"type": "object", "required": ["text"], "properties": {"id": name, "text": text}}
    documents = {"type": "array", "minItems": 1, "maxItems": MAX_DOCUMENTS, "items": document}
    with_text = {"type": "object", "required": ["text"], "additionalProperties": False}
    with_text["properties"] = {"id": name, "text": text, **shared}
    with_documents = {"type": "object", "required": ["documents"], "additionalProperties": False}
    with_documents["properties"] = {"documents": documents, **shared}
    record = {"anyOf": [_ref("Record"), _ref("FirstRecord")]}
    response = {"oneOf": [record, {"type": "array", "items": record}]}
    summary = "Annotate one text or several: the records of `disambig annotate --format jsonl`."
    body = _body(_JSON, {"oneOf": [with_text, with_documents]})
    return _operation("annotate", summary, _JSON, response, _TEXT_ERRORS, requestBody=body)


def _record() -> Json:
    """Return the schema of a record without the keys of a document of its own."""
    return {key: value for key, value in record_schema().items() if key not in ("$schema", "$id")}


def _explain() -> Json:
    properties = {
        "text": {**_STRING, "maxLength": MAX_EXPLAINED_TEXT},
        "start": _COUNT,
        "end": _COUNT,
        "rule": _STRING,
    }
    body = _body(_JSON, {"type": "object", "required": list(properties), "properties": properties})
    summary = "Explain a flag: the reason, and the probability of each candidate."
    return _operation("explain", summary, _JSON, _ref("Reasons"), _TEXT_ERRORS, requestBody=body)


def _standalone(text: Json) -> Json:
    n_best = {"type": "integer", "minimum": 1, "maximum": MAX_N_BEST, "default": 1}
    schema = {"type": "object", "required": ["text"], "additionalProperties": False}
    body = _body(_JSON, {**schema, "properties": {"text": text, "n_best": n_best}})
    name = {"name": "name", "in": "path", "required": True, "schema": _STRING}
    response = _array({"type": "object", "description": "A sentence or line with its result."})
    summary = "Parse or convert a text."
    errors = (*_TEXT_ERRORS, "404")
    return _operation("standalone", summary, _JSON, response, errors, parameters=[name], requestBody=body)


def _languagetool(base: str, text: Json) -> Json:
    """Return the paths of LanguageTool's API below `base`."""
    fields = {
        "language": {**_STRING, "examples": ["auto", "en-US"]},
        "preferredVariants": {**_STRING, "examples": ["en-GB,de-AT"]},
        "text": text,
        "data": {**_STRING, "description": "JSON with `annotation`, a list of text and markup, or `text`."},
        "enabledRules": _STRING,
        "disabledRules": _STRING,
        "enabledCategories": _STRING,
        "disabledCategories": _STRING,
        "enabledOnly": _YES_OR_NO,
        "level": {"type": "string", "enum": ["default", "picky"]},
        "mode": {"type": "string", "enum": ["all", "textLevelOnly", "allButTextLevelOnly"]},
        "flagsPer1000": {**_NUMBER, "minimum": 0},
        "writing": {"type": "string", "enum": list(WORDS_PER_MISTAKE)},
    }
    parameters = [{"name": name, "in": "query", "schema": schema} for name, schema in fields.items()]
    language = {"name": "language", "in": "query", "required": True, "schema": _STRING}
    form = _body("application/x-www-form-urlencoded", {"type": "object", "properties": fields})
    form["required"] = False  # a POST request may have all fields in its query
    matches, plain = _ref("Matches"), "text/plain"
    summary = "Check a text: exactly one of `text` and `data`, in the query or a form."
    languages = {"type": "array", "items": _ref("Language")}
    return {
        base: {"get": _operation("about", "A short description.", plain, _STRING)},
        f"{base}/check": {
            "get": _operation("check", summary, _JSON, matches, _TEXT_ERRORS, parameters=parameters),
            "post": _operation(
                "checkForm", summary, _JSON, matches, _TEXT_ERRORS, parameters=parameters, requestBody=form
            ),
        },
        f"{base}/languages": {"get": _operation("languages", "Languages.", _JSON, languages)},
        f"{base}/info": {"get": _operation("info", "The server's version.", _JSON, _ref("Info"))},
        f"{base}/healthcheck": {"get": _operation("health", "OK.", plain, {"const": "OK"})},
        f"{base}/maxtextlength": {
            "get": _operation(
                "longest", "Maximum number of characters per text.", plain, {**_STRING, "pattern": "^[0-9]+$"}
            )
        },
        f"{base}/configinfo": {
            "get": _operation("rules", "Rules.", _JSON, _ref("Rules"), parameters=[language])
        },
    }


def _object(**properties: Any) -> Json:
    return {"type": "object", "required": list(properties), "properties": properties}


def _array(items: Json) -> Json:
    return {"type": "array", "items": items}


def _optional(schema: Json, *keys: str) -> Json:
    """Return the schema of an object that may lack some keys."""
    return {**schema, "required": [key for key in schema["required"] if key not in keys]}


_DETECTED = _object(name=_STRING, code=_STRING, confidence=_PROBABILITY, source=_STRING)
_CONTEXT = _object(text=_STRING, offset=_COUNT, length=_COUNT)
_RULE = _optional(
    _object(
        id=_STRING,
        description=_STRING,
        issueType=_STRING,
        category=_object(id=_STRING, name=_STRING),
        urls=_array(_object(value=_STRING)),
    ),
    "urls",
)
_COUNTED = _object(
    words=_STRING, count=_COUNT, other_words=_STRING, other_count=_COUNT, exact={"type": "boolean"}
)
_SCHEMAS: Json = {
    "Refusal": {"type": "string", "pattern": "^Error: "},
    "Software": _object(name=_STRING, version=_STRING, apiVersion={"const": 1}, premium={"const": False}),
    "Info": _object(software=_ref("Software")),
    "Language": _object(name=_STRING, code=_STRING, longCode=_STRING),
    "Rules": _object(
        software=_ref("Software"),
        parameter=_object(maxTextLength=_COUNT),
        rules=_array(_object(ruleId=_STRING, description=_STRING, categoryId=_STRING, categoryName=_STRING)),
    ),
    "Match": _object(
        message=_STRING,
        shortMessage=_STRING,
        replacements=_array(_optional(_object(value=_STRING, confidence=_PROBABILITY), "confidence")),
        offset=_COUNT,
        length=_COUNT,
        context=_CONTEXT,
        sentence=_STRING,
        type=_object(typeName=_STRING),
        rule=_RULE,
    ),
    "Matches": _object(
        software=_ref("Software"),
        warnings=_object(incompleteResults={"type": "boolean"}),
        language=_object(name=_STRING, code=_STRING, detectedLanguage=_DETECTED),
        matches=_array(_ref("Match")),
    ),
    "Standalone": _object(name=_STRING, description=_STRING, language=_STRING),
    "FirstRecord": {"type": "object", "description": "A record of version 1.", "deprecated": True},
    "Reasons": _object(
        reason=_STRING,
        probability=_PROBABILITY,
        candidates=_array(_object(candidate=_STRING, probability=_PROBABILITY)),
        counts=_array(_COUNTED),
        found=_COUNT,
        asked=_COUNT,
        model=_STRING,
    ),
}
