"""The OpenAPI document of the server, published at ``/openapi.json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disambig import __version__
from disambig.data import WORDS_PER_MISTAKE
from disambig.formats import RECORD_VERSIONS, record_schema
from disambig.server._endpoints import MAX_DOCUMENTS, MAX_EXPLAINED_TEXT, MAX_N_BEST
from disambig.server.middleware import ServerLimits

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

    Parameters
    ----------
    limits : ServerLimits
        Limits on the length of texts.
    bases : sequence of str
        Base paths of LanguageTool's interface; all but the first are deprecated.
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
