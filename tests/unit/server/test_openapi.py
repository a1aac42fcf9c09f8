"""The OpenAPI document describes every route, and every response conforms to it."""

from __future__ import annotations

import json

import jsonschema
import pytest
from fake_checker import TEXT, fake_checker

from disambig.server import BASES, AllowedOrigins, ModelThread, ServerLimits, make_app, openapi

DOCUMENT = openapi(ServerLimits(), BASES)
OPERATIONS = {(method, path) for path, operations in DOCUMENT["paths"].items() for method in operations}
FORM = {"language": "en-US", "text": TEXT}
START = TEXT.index("quite")
PLACE = {"text": TEXT, "start": START, "end": START + 5, "rule": "DISAMBIG_SPELLING"}
REQUESTS = [
    *(("get", path, {}) for method, path in sorted(OPERATIONS) if method == "get"),
    *(("get", f"{base}/configinfo", {"params": {"language": "en"}}) for base in BASES),
    *(("get", f"{base}/check", {"params": FORM}) for base in BASES),
    *(("post", f"{base}/check", {"data": FORM}) for base in BASES),
    *(("post", path, {"content": b"\xff"}) for method, path in sorted(OPERATIONS) if method == "post"),
    *(("delete", path, {}) for path in DOCUMENT["paths"]),
    *(("get", path, {"headers": {"host": "elsewhere.example"}}) for path in DOCUMENT["paths"]),
    ("post", "/annotate", {"json": {"text": TEXT}}),
    ("post", "/annotate", {"json": {"documents": [{"id": 7, "text": TEXT}, {"text": "none"}]}}),
    ("post", "/annotate", {"json": {"text": "x" * 500_001}}),
    ("post", "/annotate", {"json": {"text": "RAISE"}}),
    ("post", "/explain", {"json": PLACE | {"rule": "no such"}}),
]


def test_publishes_the_document(ask):
    answer = ask("GET", "/openapi.json")
    assert answer.json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1.")
    names = [item["operationId"] for path in DOCUMENT["paths"].values() for item in path.values()]
    assert len(set(names)) == len(names)


def test_paths_are_the_routes():
    checker = fake_checker()
    worker = ModelThread(checker.annotate)
    app = make_app(checker, worker, limits=ServerLimits(), origins=AllowedOrigins())
    worker.end()
    routes = {
        (method.lower(), route.path.replace(":path", ""))  # names may contain slashes
        for route in app.routes
        for method in route.methods - {"HEAD"}
    }
    assert routes == OPERATIONS


@pytest.mark.parametrize(("method", "path", "request_"), REQUESTS)
def test_responses_conform_to_the_document(ask, method, path, request_):
    answer = ask(method.upper(), path, **request_)
    operations = DOCUMENT["paths"][path]
    operation = operations.get(method) or next(iter(operations.values()))
    ((kind, content),) = operation["responses"][str(answer.status_code)]["content"].items()
    assert answer.headers["content-type"].partition(";")[0] == kind
    body = json.loads(answer.content) if kind == "application/json" else answer.text
    schema = content["schema"] | {"components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(body)
