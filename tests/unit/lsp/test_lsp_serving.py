"""The language server: messages, scheduling, settings; the extension for VS Code."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import io
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from commands import here
from hypothesis import given, strategies as st

from disambig import __version__
from disambig.configuration import SettingsTable
from disambig.data import WORDS_PER_MISTAKE
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


@pytest.mark.skipif(os.name != "posix", reason="other systems know no signals")
def test_detects_the_end_of_a_process(monkeypatch):
    monkeypatch.setattr(serving, "POLL_SECONDS", 0.05)
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


def test_watches_a_running_process_until_stopped():
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    assert not serving.wait_for_exit(os.getpid(), stop)
    assert not serving.wait_for_exit(0, threading.Event())
    assert not serving.wait_for_exit(-1, threading.Event())


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system does not say when one started")
def test_recognises_a_reused_process_id(monkeypatch):
    monkeypatch.setattr(serving, "POLL_SECONDS", 0.05)
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


@pytest.mark.skipif(os.name != "posix", reason="other systems have no pseudo-terminals")
def test_a_user_who_starts_the_server_in_a_terminal_is_told_what_it_waits_for():
    terminal, other_side = os.openpty()
    os.write(terminal, b"\x04")  # end of input
    command = [sys.executable, "-m", "disambig.cli.main", "lsp"]
    done = subprocess.run(command, stdin=other_side, capture_output=True, timeout=60)
    os.close(terminal)
    os.close(other_side)
    assert b"waiting for an editor" in done.stderr and done.stdout == b""


def test_listens_at_the_loopback_address_and_at_a_port_only_with_tcp():
    done = here("lsp", "--port", "8000")
    assert (done.returncode, "[D848]" in done.stderr) == (2, True)
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


ROOT = Path(__file__).parents[3]
HOME = ROOT / "disambig" / "lsp" / "vscode"
STUB = Path(__file__).with_name("vscode_stub.js")
MANIFEST = json.loads((HOME / "package.json").read_text(encoding="utf8"))
SETTINGS = MANIFEST["contributes"]["configuration"]["properties"]
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node")


def test_manifest_agrees_with_the_source():
    assert MANIFEST["version"] == __version__
    assert {"name", "publisher", "engines", "main"} <= set(MANIFEST)
    source = (HOME / "src" / "extension.js").read_text(encoding="utf8")
    named = {command["command"] for command in MANIFEST["contributes"]["commands"]}
    assert named == set(re.findall(r"registerCommand\('([\w.]+)'", source))
    read = set(re.findall(r"configuration\(\)\.get\('(\w+)'", source))
    assert {f"disambig.{key}" for key in read} | {"disambig.trace.server"} == set(SETTINGS)
    assert MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == ["disambig.path"]


def test_settings_are_those_of_projects():
    properties = SETTINGS["disambig.settings"]["properties"]
    assert set(properties) == set(SettingsTable.model_fields) - {"include"}  # an open text is always checked
    assert set(properties["writing"]["enum"]) == set(WORDS_PER_MISTAKE)


def test_guide_names_every_setting():
    guide = (HOME / "README.md").read_text(encoding="utf8")
    assert set(re.findall(r"^\| `([\w.]+)` \|", guide, re.MULTILINE)) == set(SETTINGS)


@pytest.fixture
def run(tmp_path):
    """Run the extension with stubs; by default `disambig` is a server that answers something and waits."""
    server = tmp_path / "bin" / "disambig"
    server.parent.mkdir()
    server.write_text("#!/bin/sh\necho ready\nexec sleep 60\n")
    server.chmod(0o755)

    def call(extension=HOME / "src" / "extension.js", **scenario):
        defaults = {key.removeprefix("disambig."): SETTINGS[key]["default"] for key in SETTINGS}
        scenario["settings"] = defaults | scenario.get("settings", {})
        (tmp_path / "scenario.json").write_text(json.dumps(scenario))
        done = subprocess.run(
            [NODE, str(STUB), str(extension), str(tmp_path / "scenario.json")],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{server.parent}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call


@needs_node
def test_starts_the_server_if_a_document_is_open(run):
    done = run(documents=["json", "markdown"], settings={"settings": {"flags_per_1000": 0.5}})
    (start,) = done["starts"]
    assert start["command"] == ["disambig", "lsp"] and start["id"] == "disambig"
    assert start["initializationOptions"] == {"flags_per_1000": 0.5} == start["section"][0]
    assert {"scheme": "file", "language": "markdown"} in start["documentSelector"]
    assert not done["errors"] and done["subscriptions"] == 5


@needs_node
def test_waits_for_a_document_to_check(run):
    assert not run(documents=["json"], events=[["open", "json"]])["starts"]
    assert len(run(documents=["json"], events=[["open", "python"], ["open", "markdown"]])["starts"]) == 1
    settings = {"languages": ["json"]}
    (start,) = run(documents=["json"], settings=settings)["starts"]
    assert {selector["language"] for selector in start["documentSelector"]} == {"json"}


@needs_node
def test_a_changed_path_restarts_the_server(run, tmp_path):
    other = tmp_path / "bin" / "other"
    shutil.copy(tmp_path / "bin" / "disambig", other)
    done = run(documents=["markdown"], events=[["set", "path", "${workspaceFolder}/bin/other"]])
    assert [start["command"] for start in done["starts"]] == [["disambig", "lsp"], [str(other), "lsp"]]
    done = run(documents=["markdown"], settings={"path": "~/x/disambig"})
    assert f'"{Path.home()}/x/disambig" was not found' in done["errors"][0]


@needs_node
def test_sends_changed_settings_and_null_for_those_removed(run):
    initial = {"settings": {"trust": "4/5", "writing": "draft"}}
    done = run(documents=["markdown"], settings=initial, events=[["set", "settings", {"writing": "edited"}]])
    changed = {"settings": {"disambig": {"trust": None, "writing": "edited"}}}
    assert done["notifications"] == [["workspace/didChangeConfiguration", changed]]
    assert len(done["starts"]) == 1


@needs_node
def test_reports_a_missing_command(run):
    done = run(documents=["markdown"], settings={"path": "no-such-disambig"}, events=[["open", "markdown"]])
    (error,) = done["errors"]  # once, not for each document
    assert '"no-such-disambig" was not found' in error and 'pip install ".[lsp]"' in error
    assert done["executed"] == [["workbench.action.openSettings", "disambig.path"]]
    assert done["starts"][0]["closed"] == {"action": "do not restart", "handled": True}


@needs_node
def test_shows_the_error_of_a_server_that_cannot_start(run, tmp_path):
    broken = tmp_path / "bin" / "disambig"
    broken.write_text("#!/bin/sh\necho 'disambig: [D840] a language server needs pygls' >&2\nexit 2\n")
    done = run(documents=["markdown"])
    assert done["errors"] == ["disambig: [D840] a language server needs pygls"]
    assert len(done["starts"]) == 1 and "has ended" in done["log"]


@needs_node
def test_commands(run):
    done = run(
        documents=["markdown"], events=[["command", "disambig.restart"], ["command", "disambig.showLog"]]
    )
    assert len(done["starts"]) == 2 and done["shown"] == ["log"] and not done["errors"]


@needs_node
def test_server_answers_the_command_of_the_extension():
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    command = [sys.executable, "-m", "disambig.cli.main", "lsp"]
    sent = f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    answer = subprocess.run(command, input=sent, capture_output=True, timeout=120, check=False).stdout
    assert b'"capabilities"' in answer


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_builds_the_package(tmp_path, run):
    home = tmp_path / "vscode"
    shutil.copytree(HOME, home, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))

    def npm(*arguments):
        done = subprocess.run(["npm", *arguments], cwd=home, capture_output=True, text=True, check=False)
        if arguments[0] == "install" and re.search("ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT", done.stderr):
            pytest.skip("the npm registry cannot be reached")
        assert done.returncode == 0, done.stdout + done.stderr

    npm("install", "--no-audit", "--no-fund")
    npm("run", "check")  # the types
    npm("run", "package")
    with zipfile.ZipFile(home / f"disambig-{__version__}.vsix") as package:
        assert set(package.namelist()) == {
            "[Content_Types].xml",
            "extension.vsixmanifest",
            "extension/package.json",
            "extension/readme.md",
            "extension/dist/extension.js",
        }
        assert MANIFEST["main"] == "./dist/extension.js"
        bundle = package.read("extension/dist/extension.js").decode()
    assert 'require("vscode")' in bundle and 'require("vscode-languageclient' not in bundle
