from __future__ import annotations

import io
import json

import pytest

pytest.importorskip("pygls")

from disambig.lsp import LoadedCheckers, serve

BEGIN = {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
END = [{"id": 2, "method": "shutdown"}, {"method": "exit"}]


class NoModels(LoadedCheckers):
    def get(self, settings):
        return lambda texts: []


def said(*messages: dict) -> tuple[int, list[dict]]:
    """Return the exit status of a server that is sent messages between begin and end, and what it said."""
    source, target = io.BytesIO(), io.BytesIO()
    for each in (BEGIN, *messages, *END):
        body = json.dumps({"jsonrpc": "2.0", **each}).encode()
        source.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    source.seek(0)
    status = serve(source, target, NoModels())
    bodies = target.getvalue().split(b"Content-Length:")[1:]
    return status, [json.loads(body.split(b"\r\n\r\n", 1)[1]) for body in bodies]


@pytest.mark.parametrize(
    "bad",
    [
        {"method": []},
        {"method": {}, "id": 5},
        {"method": None, "id": 5},
        {"id": [1], "result": None},
        {"id": {}, "error": {"code": 1, "message": "x"}},
        {"id": [1], "method": "textDocument/hover"},
        {"method": "$/cancelRequest", "params": {"id": [1]}},
        {"method": "$/cancelRequest", "params": {}},
        {"method": "$/cancelRequest", "params": [1]},
    ],
)
def test_one_bad_message_does_not_end_the_server(bad):
    status, answers = said(bad)
    assert status == 0
    assert answers[-1] == {"jsonrpc": "2.0", "id": 2, "result": None}
    (told,) = [each for each in answers[1:-1] if "D847" in json.dumps(each)]
    if bad.get("id") == 5:
        assert (told["id"], told["error"]["code"]) == (5, -32600)


def test_what_fails_for_a_reason_nobody_knew_is_an_error_of_that_message(monkeypatch):
    from disambig.lsp import EditorProtocol

    def fail(self, message):
        if getattr(message, "method", "") == "textDocument/hover":
            raise KeyError("well")
        return real(self, message)

    real = EditorProtocol.handle_message
    monkeypatch.setattr(EditorProtocol, "handle_message", fail)
    place = {"textDocument": {"uri": "file:///a.md"}, "position": {"line": 0, "character": 0}}
    status, answers = said({"method": "textDocument/hover", "id": 7, "params": place})
    (answer,) = [each for each in answers if each.get("id") == 7]
    assert (status, answer["error"]["code"]) == (0, -32603)
    assert "D847" in answer["error"]["message"]


def test_a_text_whose_uri_is_none_is_opened():
    item = {"uri": "http://[bad", "languageId": "markdown", "version": 1, "text": "x"}
    status, answers = said({"method": "textDocument/didOpen", "params": {"textDocument": item}})
    assert status == 0
    assert "rror" not in json.dumps(answers[1:])
