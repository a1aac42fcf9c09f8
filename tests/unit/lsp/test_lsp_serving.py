"""Serving editors: framing, invalid messages, connections, processes and the command."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest
from commands import here
from hypothesis import given, strategies as st

from disambig.lsp import LoadedCheckers, ThreadQueue, serve, serving

pytest.importorskip("pygls")


def read(data: bytes, **options: bool) -> tuple[list[bytes], list[str]]:
    taken, problems = [], []
    serving.read_messages(io.BytesIO(data), taken.append, problems.append, **options)
    return taken, problems


def frame(body: bytes, *fields: bytes) -> bytes:
    header = (b"Content-Length: %d" % len(body), *fields)
    return b"".join(field + b"\r\n" for field in header) + b"\r\n" + body


@given(st.lists(st.binary(max_size=30)))
def test_reads_framed_messages(bodies):
    assert read(b"".join(map(frame, bodies))) == (bodies, [])


TYPED = frame(b"{}", b"Content-Type: application/vscode-jsonrpc; charset=utf-8")
HTTP = b"POST / HTTP/1.1\r\nHost: localhost\r\n" + frame(b"{}") + frame(b"[]")


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (TYPED + b"content-length:2\n\n[]", {}, ([b"{}", b"[]"], [])),
        (frame(b"whole")[:-1], {}, ([], [])),  # truncated
        (
            b"X-Note: content-length: 2\r\n\r\n" + frame(b"a"),
            {},
            ([b"a"], ["a header without Content-Length"]),
        ),
        (HTTP, {"skip_invalid": False}, ([], ["not a message header: b'POST / HTTP/1.1'"])),
        (frame(b"{}"), {"skip_invalid": False}, ([b"{}"], [])),
    ],
    ids=["fields", "truncated", "other-header", "http", "strict"],
)
def test_framing(data, options, expected):
    assert read(data, **options) == expected


@pytest.mark.parametrize(
    "bad",
    [
        b"hello\r\n",
        b'{"jsonrpc": "2.0"}',
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Type: x\r\n\r\n",
        b"\xff\xfe\r\n",
    ],
)
def test_skips_invalid_headers(bad):
    taken, problems = read(bad + frame(b"next") + frame(b"one more"))
    assert taken[-2:] == [b"next", b"one more"]
    assert problems


def test_skips_messages_that_are_too_long(monkeypatch):
    monkeypatch.setattr(serving, "MAX_MESSAGE_BYTES", 10)
    taken, problems = read(frame(b"x" * 11) + frame(b"y" * 10))
    assert taken == [b"y" * 10]
    assert problems == ["a message of 11 bytes; the maximum is 10"]


INITIALIZE = {
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {}},
}


END = [{"id": 2, "method": "shutdown"}, {"method": "exit"}]


class NoModels(LoadedCheckers):
    def get(self, settings):
        return lambda texts: []


def answers_to(*messages: dict) -> tuple[int, list[dict]]:
    """Send messages to a server between initialize and exit; return its exit status and its responses."""
    source, target = io.BytesIO(), io.BytesIO()
    for item in (INITIALIZE, *messages, *END):
        body = json.dumps({"jsonrpc": "2.0", **item}).encode()
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
def test_an_invalid_message_does_not_end_the_server(bad):
    status, answers = answers_to(bad)
    assert status == 0
    assert answers[-1] == {"jsonrpc": "2.0", "id": 2, "result": None}
    (answer,) = [item for item in answers[1:-1] if "D847" in json.dumps(item)]
    if bad.get("id") == 5:
        assert (answer["id"], answer["error"]["code"]) == (5, -32600)


def test_unexpected_errors_are_sent_as_responses(monkeypatch):
    from disambig.lsp import EditorProtocol

    def fail(self, message):
        if getattr(message, "method", "") == "textDocument/hover":
            raise KeyError("well")
        return real(self, message)

    real = EditorProtocol.handle_message
    monkeypatch.setattr(EditorProtocol, "handle_message", fail)
    place = {"textDocument": {"uri": "file:///a.md"}, "position": {"line": 0, "character": 0}}
    status, answers = answers_to({"method": "textDocument/hover", "id": 7, "params": place})
    (answer,) = [item for item in answers if item.get("id") == 7]
    assert (status, answer["error"]["code"]) == (0, -32603)
    assert "D847" in answer["error"]["message"]


def test_opens_a_document_with_an_invalid_uri():
    item = {"uri": "http://[bad", "languageId": "markdown", "version": 1, "text": "x"}
    status, answers = answers_to({"method": "textDocument/didOpen", "params": {"textDocument": item}})
    assert status == 0
    assert "rror" not in json.dumps(answers[1:])


def test_closes_connections_of_other_clients():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ours = socket.create_connection(listening.getsockname(), timeout=20)
        theirs, _ = listening.accept()
    thread = threading.Thread(target=serving._serve_connection, args=(theirs, LoadedCheckers()), daemon=True)
    with ours, contextlib.suppress(ConnectionResetError):  # its messages were not read
        thread.start()
        ours.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        while ours.recv(1 << 16):
            pass
    thread.join(20)
    assert not thread.is_alive()


class Listening:
    """A socket that returns the given connections or raises the given errors."""

    def __init__(self, *given: object) -> None:
        self.given = list(given)

    def accept(self) -> tuple[object, str]:
        one = self.given.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one, "address"


def test_waits_for_the_next_connection_after_an_error(monkeypatch):
    served: list[object] = []
    monkeypatch.setattr(serving, "ACCEPT_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(serving, "_serve_connection", lambda connection, checkers: served.append(connection))
    problem = OSError(errno.EMFILE, "too many open files")
    with pytest.raises(KeyboardInterrupt):
        serving._serve_all(Listening("one", problem, "two", KeyboardInterrupt()), LoadedCheckers())
    for thread in threading.enumerate():
        if thread.name == "disambig-editor":
            thread.join(20)
    assert sorted(served) == ["one", "two"]


def test_limits_the_number_of_editors(monkeypatch):
    most, served, end = [], threading.Semaphore(0), threading.Event()
    now: list[object] = []

    def serve(connection, checkers) -> None:
        now.append(connection)
        most.append(len(now))
        served.release()
        end.wait(20)
        now.remove(connection)

    monkeypatch.setattr(serving, "MAX_EDITORS", 2)
    monkeypatch.setattr(serving, "_serve_connection", serve)
    listening = Listening(*range(5), KeyboardInterrupt())

    def run() -> None:
        with pytest.raises(KeyboardInterrupt):
            serving._serve_all(listening, LoadedCheckers())

    thread = threading.Thread(target=run)
    thread.start()
    assert served.acquire(timeout=20)
    assert served.acquire(timeout=20)
    assert not served.acquire(timeout=0.2)
    end.set()
    thread.join(20)
    assert listening.given == []
    assert max(most) == 2


@pytest.fixture(params=["told by the system", "asked for"])
def watch_mode(request, monkeypatch):
    """Watch processes with and without the support of Linux."""
    monkeypatch.setattr(serving, "POLL_SECONDS", 0.05)
    if request.param == "asked for":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.mark.skipif(os.name != "posix", reason="other systems know no signals")
@pytest.mark.usefixtures("watch_mode")
def test_detects_the_end_of_a_process():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        ended: list[bool] = []
        stop = threading.Event()
        thread = threading.Thread(target=lambda: ended.append(serving.wait_for_exit(process.pid, stop)))
        thread.start()
        thread.join(0.3)
        assert ended == []
        os.kill(process.pid, signal.SIGKILL)
        thread.join(20)
        assert ended == [True]  # its exit status was not read
        assert serving.wait_for_exit(process.pid, stop)
    assert serving.wait_for_exit(process.pid, stop)
    assert serving.wait_for_exit(2**70, stop)


@pytest.mark.usefixtures("watch_mode")
def test_watches_a_running_process_until_stopped():
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert not serving.wait_for_exit(os.getpid(), stop)
    assert not serving.wait_for_exit(0, threading.Event())
    assert not serving.wait_for_exit(-1, threading.Event())


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system does not say when one started")
def test_recognises_a_reused_process_id(monkeypatch):
    monkeypatch.setattr(serving, "POLL_SECONDS", 0.05)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    starts = iter(["100", "100", "200"])
    monkeypatch.setattr(serving, "_process_start", lambda pid: next(starts))
    assert serving.wait_for_exit(1, threading.Event())


@pytest.mark.parametrize("missing", ["pygls", "tomlkit"])
def test_command_names_the_missing_extra(monkeypatch, missing):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == missing else real(name, *rest)
    )
    done = here("lsp")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("pip install 'pygls>=2,<3' 'tomlkit>=0.12'")
    assert "[D840]" in done.stderr


def test_port_requires_tcp():
    done = here("lsp", "--port", "8000")
    assert (done.returncode, "[D848]" in done.stderr) == (2, True)


def test_listens_on_the_loopback_address_only():
    assert here("lsp", "--tcp", "--host", "0.0.0.0").returncode == 2


def test_thread_queue_survives_failures(caplog):
    worker, done, ended = ThreadQueue(), [], threading.Event()
    with caplog.at_level(logging.ERROR):
        for work in (lambda: done.append(1), lambda: 1 // 0, lambda: done.append(2), ended.set):
            worker.submit(work)
        assert ended.wait(10)
    assert done == [1, 2]
    assert "failed" in caplog.text
    (thread,) = [item for item in threading.enumerate() if item.name == "disambig-lsp"]
    worker.end()
    thread.join(10)
    assert not thread.is_alive()
