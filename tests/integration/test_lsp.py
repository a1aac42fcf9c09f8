"""The language server: its wire protocol, an editor, and Neovim."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import pytest_asyncio
import pytest_lsp
from commands import here as run
from lsp_wire import TIMEOUT, Wire, at
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities

BAD = "It was better then we had hoped.\n"
URI = "file:///nowhere/notes.md"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Start one server that most tests share: each connects as an editor."""
    command = [sys.executable, "-m", "disambig.cli.main", "lsp", "--tcp", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path_factory.mktemp("server"))
    line = process.stderr.readline().decode()
    assert line.startswith("disambig: listening on 127.0.0.1:")
    yield int(line.rsplit(":", 1)[1])
    assert process.poll() is None, "the server is gone"
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.fixture
def connect(port):
    opened: list[tuple[socket.socket, Wire]] = []

    def connected() -> Wire:
        lists = socket.create_connection(("127.0.0.1", port))
        opened.append((lists, Wire(lists.makefile("rb"), lists.makefile("wb"))))
        return opened[-1][1]

    yield connected
    for lists, wire in opened:
        with contextlib.suppress(OSError):  # the server has ended it
            lists.shutdown(socket.SHUT_RDWR)
        wire.reading.join(TIMEOUT)
        for item in (wire.source, wire.target, lists):
            item.close()


@pytest.fixture
def wire(connect):
    return connect()


@pytest.fixture
def process(tmp_path: Path):
    with Wire.started(tmp_path) as started:
        yield started


def lives(wire: Wire) -> bool:
    """Return True if a text that is opened now is checked."""
    wire.open(BAD, uri="file:///nowhere/alive.md")
    result = wire.next(lambda m: m.get("params", {}).get("uri") == "file:///nowhere/alive.md")
    return len(result["params"]["diagnostics"]) == 1


def actions(wire: Wire, diagnostics: list, uri: str = URI, **context) -> list[dict]:
    where = diagnostics[0]["range"]
    params = {
        "textDocument": {"uri": uri},
        "range": where,
        "context": {"diagnostics": diagnostics, **context},
    }
    return wire.ask("textDocument/codeAction", params)["result"]


def test_invalid_messages_are_answered(wire):
    wire.body(b"{nothing")
    answer = wire.next(lambda message: "error" in message)
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert "[D847]" in answer["error"]["message"]
    wire.raw(b"Content-Length: many\r\n\r\n")
    assert "[D847]" in wire.next_params()["message"]
    wire.body(b"[1, 2]")
    wire.body(b'{"jsonrpc": "1.0", "id": 5, "method": "x"}')
    assert wire.next(lambda message: message.get("id") == 5)["error"]["code"] == -32600
    wire.initialize()
    wire.body(
        json.dumps({"jsonrpc": "2.0", "id": 6, "method": "textDocument/hover", "params": {"x": 1}}).encode()
    )
    assert wire.next(lambda message: message.get("id") == 6)["error"]["code"] == -32602
    wire.body(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "no/such"}).encode())
    assert wire.next(lambda message: message.get("id") == 7)["error"]["code"] == -32601
    wire.send("textDocument/didChange", {"contentChanges": -1})
    assert "[D847]" in wire.next_params()["message"]
    wire.body(b'{"jsonrpc": "2.0", "id": "nobody asked", "result": null}')
    assert lives(wire)


def test_requests_outside_of_the_session_are_refused(process):
    wire = process
    wire.open(BAD)
    assert wire.ask("textDocument/hover", {})["error"]["code"] == -32002
    wire.initialize()
    assert wire.ask("initialize", {"capabilities": {}, "processId": None})["error"]["code"] == -32600
    assert lives(wire)
    assert not any(message.get("params", {}).get("uri") == URI for message in wire.seen)
    wire.ask("shutdown")
    assert wire.ask("textDocument/hover", {})["error"]["code"] == -32600
    wire.send("exit")
    assert wire.process.wait(TIMEOUT) == 0


def test_the_server_exits_when_the_editor_is_gone(process):
    process.initialize()
    process.process.stdin.close()
    assert process.process.wait(TIMEOUT) == 1


def test_an_editor_may_end_the_server_while_it_decides(process):
    process.initialize()
    process.open((BAD + "\n") * 3000)
    assert process.end() == 0


def test_no_older_version_is_published(wire):
    wire.initialize()
    wire.open(BAD)
    wire.diagnostics(1)
    for version in range(2, 60):
        wire.change(version, {"range": at(0, 0), "text": "x"})
    assert len(wire.diagnostics(59)["diagnostics"]) == 1
    versions = [item["params"]["version"] for item in wire.seen if "version" in item.get("params", {})]
    assert versions == sorted(versions)


def test_a_text_that_is_closed_while_it_is_decided(wire):
    wire.initialize()
    wire.open((BAD + "\n") * 2000)
    wire.send("textDocument/didClose", {"textDocument": {"uri": URI}})
    wire.change(2, {"text": BAD})
    assert "not open" in wire.next_params()["message"]
    assert lives(wire)
    about = [item["params"]["diagnostics"] for item in wire.seen if item.get("params", {}).get("uri") == URI]
    assert about == [[]]


def test_a_text_of_ten_megabytes_is_not_checked(wire):
    wire.initialize()
    wire.open(BAD)
    wire.diagnostics(1)
    wire.change(2, {"range": at(0, 0), "text": (BAD * 10) * 32_000})
    message = wire.next_params()["message"]
    assert "[D845] /nowhere/notes.md" in message
    assert "disambig check" in message
    assert wire.diagnostics(2)["diagnostics"] == []
    wire.change(3, {"text": BAD})
    assert len(wire.diagnostics(3)["diagnostics"]) == 1


def test_an_invalid_settings_file_is_reported_and_read_again(wire, tmp_path):
    (tmp_path / "disambig.toml").write_text("ignor = ['then']")
    wire.initialize(root=tmp_path)
    uri = (tmp_path / "notes.md").as_uri()
    wire.open(BAD, uri=uri)
    message = wire.next_params()["message"]
    assert "[D970]" in message
    assert str(tmp_path) in message
    assert wire.diagnostics(1)["diagnostics"] == []
    (tmp_path / "disambig.toml").write_text("")
    wire.send("textDocument/didSave", {"textDocument": {"uri": (tmp_path / "disambig.toml").as_uri()}})
    assert len(wire.diagnostics(1)["diagnostics"]) == 1


def test_settings_are_requested_from_the_editor(wire):
    wire.initialize(workspace={"configuration": True})
    wire.send("workspace/didChangeConfiguration", {"settings": None})
    options = wire.next(lambda message: message.get("method") == "workspace/configuration")
    assert options["params"]["items"] == [{"section": "disambig"}]
    wire.body(json.dumps({"jsonrpc": "2.0", "id": options["id"], "result": [{"ignore": ["then"]}]}).encode())
    wire.open(BAD)
    assert wire.diagnostics(1)["diagnostics"] == []


def test_to_ignore_a_word_everywhere_edits_the_settings_and_holds_at_once(wire, tmp_path):
    (tmp_path / "disambig.toml").write_text('# ours\nignore = ["affect"]\n')
    wire.initialize(root=tmp_path)
    uri = (tmp_path / "notes.md").as_uri()
    wire.open(BAD, uri=uri)
    result = wire.diagnostics(1)["diagnostics"]
    action = next(item for item in actions(wire, result, uri) if item["title"].endswith("everywhere"))
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"]["uri"] == (tmp_path / "disambig.toml").as_uri()
    (edit,) = change["edits"]
    assert (edit["range"]["start"]["line"], edit["newText"]) == (1, ', "then"')
    command = action["command"]
    wire.ask("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
    assert wire.diagnostics(1)["diagnostics"] == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("So.\n\n<!-- disambig: ignore-next-line then -->\nIt is fine.\n", "So.\n\nIt is fine.\n"),
        ("It is fine. <!-- disambig: ignore-line -->\nSo.\n", "It is fine.\nSo.\n"),
        ("<!-- disambig: ignore then, quite -->\nSo.\n", None),
    ],
)
def test_directives_without_effect_are_shown_and_can_be_removed(wire, text, left):
    wire.initialize()
    wire.open(text)
    result = wire.diagnostics(1)["diagnostics"]
    assert {item["code"] for item in result} == {"disambig/unused"}
    assert result[0]["message"].startswith("'ignore")  # without file and line, which the editor shows
    assert "does not suppress any flag" in result[0]["message"]
    offered = actions(wire, result)
    if left is None:
        assert offered == []
        return
    (action,) = offered
    assert action["isPreferred"]
    (change,) = action["edit"]["documentChanges"]
    (edit,) = change["edits"]
    lines, start, end = text.split("\n"), edit["range"]["start"], edit["range"]["end"]
    first, last = (
        "\n".join([*lines[: at["line"]], lines[at["line"]][: at["character"]]]) for at in (start, end)
    )
    assert text[: len(first)] + text[len(last) :] == left


def test_clients_that_send_no_data_back_get_the_same_actions(wire):
    wire.initialize()
    wire.open(BAD)
    result = wire.diagnostics(1)["diagnostics"]
    titles = [item["title"] for item in actions(wire, result)]
    bare = [{key: value for key, value in item.items() if key != "data"} for item in result]
    assert [item["title"] for item in actions(wire, bare)] == titles


def test_actions_wait_for_the_check_of_a_change(wire):
    wire.initialize()
    wire.open(BAD)
    result = wire.diagnostics(1)["diagnostics"]
    for version in range(2, 5):
        wire.change(version, {"range": at(0, len(BAD)), "text": " So it is."})
        (change,) = actions(wire, result)[0]["edit"]["documentChanges"]
        assert change["textDocument"]["version"] == version
    hover = {"textDocument": {"uri": URI}, "position": result[0]["range"]["start"]}
    wire.change(20, {"text": BAD})
    assert "than" in wire.ask("textDocument/hover", hover)["result"]["contents"]["value"]


@pytest.mark.parametrize("supported", [{}, {"workspaceEdit": {"documentChanges": True}}])
def test_edits_have_a_form_that_the_editor_supports(wire, tmp_path, supported):
    wire.initialize(root=tmp_path, workspace={"configuration": True, **supported})
    uri, settings = ((tmp_path / name).as_uri() for name in ("notes.md", "disambig.toml"))
    wire.open(BAD, uri=uri)
    result = wire.diagnostics(1)["diagnostics"]
    edits = {item["title"].rsplit(" ", 1)[1]: item["edit"] for item in actions(wire, result, uri)}
    if supported:
        (change,) = edits["everywhere"]["documentChanges"]  # no file is created
        assert change["textDocument"]["uri"] == settings and change["edits"]
    else:
        assert list(edits["everywhere"]) == list(edits["file"]) == ["changes"]
        assert list(edits["everywhere"]["changes"]) == [settings] and list(edits["file"]["changes"]) == [uri]


def test_several_editors_by_tcp_on_the_loopback_address(connect, port):
    wires = [connect(), connect()]
    for number, wire in enumerate(wires):
        wire.initialize()
        wire.open(BAD * (number + 1))
    assert [len(wire.diagnostics(1)["diagnostics"]) for wire in wires] == [1, 2]
    wires[0].ask("shutdown")
    wires[0].send("exit")
    assert wires[0].received.get(timeout=TIMEOUT) is None
    assert lives(wires[1])


def test_a_port_in_use_is_an_error(port):
    refused = run("lsp", "--tcp", "--port", port)
    assert refused.returncode == 2
    assert "[D841] the language server cannot listen on 127.0.0.1:" in refused.stderr


@pytest.fixture
def editor():
    """Start a process that an editor might be."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as started:
        yield started
        started.kill()


def begin(wire: Wire, pid: int) -> None:
    wire.ask("initialize", {"processId": pid, "rootUri": None, "capabilities": {}})
    wire.send("initialized", {})


def test_an_editor_that_is_killed_while_others_hold_its_pipes_ends_the_server(tmp_path, editor):
    with Wire.started(tmp_path, stderr=subprocess.PIPE) as wire:
        begin(wire, editor.pid)
        assert lives(wire)
        editor.kill()  # its exit status has not been read yet
        assert wire.process.wait(TIMEOUT) == 1
        output = wire.process.stderr.read().decode()
    assert (
        output == f"disambig: [D892] the editor (process {editor.pid}) has exited, "
        "so the language server exits too\n"
    )


def test_an_editor_that_is_killed_ends_a_server_that_waits_for_its_pipe_to_be_read(tmp_path, editor):
    command = [sys.executable, "-m", "disambig.cli.main", "lsp"]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        options = [{"id": 0, "method": "initialize", "params": params}]
        options += [{"id": i, "method": "no/such", "params": None} for i in range(1, 3000)]
        for item in options:
            body = json.dumps({"jsonrpc": "2.0", **item}).encode()
            process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        process.stdin.flush()
        process.stdout.read(1)
        editor.kill()
        try:
            assert process.wait(TIMEOUT) == 1
        finally:
            process.kill()


def test_one_of_several_editors_that_is_killed_is_cut_off_alone(connect, editor):
    killed, other = connect(), connect()
    begin(killed, editor.pid)
    begin(other, os.getpid())
    editor.kill()
    killed.reading.join(TIMEOUT)
    assert not killed.reading.is_alive()
    assert lives(other)


def test_an_editor_that_has_already_exited_is_ignored(tmp_path, editor):
    editor.kill()
    editor.wait()
    with Wire.started(tmp_path) as wire:
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        wire.send("initialize", params, id=1)
        assert wire.process.wait(TIMEOUT) == 1


def test_the_server_exits_with_a_message_if_its_output_is_not_read(tmp_path):
    with Wire.started(tmp_path, stderr=subprocess.PIPE) as wire:
        wire.initialize()
        assert lives(wire)
        closing = wire.process.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_RDONLY), closing)  # the other end of the pipe is closed
        for number in range(5):
            with contextlib.suppress(OSError):
                wire.open(BAD, uri=f"file:///nowhere/{number}.md")
        assert wire.process.wait(TIMEOUT) == 1
        output = wire.process.stderr.read().decode()
    assert output.startswith("disambig: [D893] the editor no longer reads")
    assert output.count("\n") == 1


def test_to_exit_without_shutdown_is_an_error(process):
    process.initialize()
    process.send("exit")
    assert process.process.wait(TIMEOUT) == 1


def columns(text: str, encoding: str) -> int:
    codec, width = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    return len(text.encode(codec)) // width


class Editor:
    """A client with one folder open, and what an editor does in it."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.version = 1
        self.texts: dict[str, str] = {}

    async def begin(self, options: Any = None, editor: str = "visual-studio-code") -> None:
        result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities(editor),
                root_uri=self.folder.as_uri(),
                initialization_options=options,
            )
        )
        chosen = result.capabilities.position_encoding
        self.encoding = str(getattr(chosen, "value", chosen))

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    async def opened(self, name: str, text: str, language: str = "markdown") -> list[types.Diagnostic]:
        self.texts[name] = text
        item = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(name, 1)

    async def changed(self, name: str, start: int, end: int, put: str) -> list[types.Diagnostic]:
        """Type something within a text of one line."""
        text = self.texts[name]
        encoding = self.encoding
        self.version += 1
        where = types.Range(
            types.Position(0, columns(text[:start], encoding)),
            types.Position(0, columns(text[:end], encoding)),
        )
        change = types.TextDocumentContentChangePartial(text=put, range=where)
        identifier = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri(name))
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
        self.texts[name] = text[:start] + put + text[end:]
        return await self.diagnostics(name, self.version)

    async def diagnostics(self, name: str, version: int | None = None) -> list[types.Diagnostic]:
        while True:
            params = await asyncio.wait_for(
                self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), 60
            )
            if params.uri == self.uri(name) and (version is None or params.version == version):
                return list(params.diagnostics)

    async def actions(
        self, name: str, diagnostics: list[types.Diagnostic], only: list[str] | None = None
    ) -> dict[str, types.CodeAction]:
        where = (
            diagnostics[0].range if diagnostics else types.Range(types.Position(0, 0), types.Position(0, 0))
        )
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri(name)), where, types.CodeActionContext(diagnostics, only)
        )
        actual = await self.client.text_document_code_action_async(params) or []
        return {action.title: action for action in actual}

    def corrected(self, name: str, action: types.CodeAction) -> str:
        """Return a text of one line after the edits of an action."""
        text = self.texts[name]
        (change,) = [
            entry
            for entry in action.edit.document_changes
            if isinstance(entry, types.TextDocumentEdit) and entry.text_document.uri == self.uri(name)
        ]
        places = {columns(text[:at], self.encoding): at for at in range(len(text) + 1)}
        for edit in sorted(change.edits, key=lambda entry: -entry.range.start.character):
            start, end = (places[place.character] for place in (edit.range.start, edit.range.end))
            text = text[:start] + edit.new_text + text[end:]
        return text


@pytest_asyncio.fixture
async def client(port: int):
    """An editor of the server that all tests share."""
    connected = pytest_lsp.make_test_lsp_client()

    @connected.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        pass

    await connected.start_tcp("127.0.0.1", port)
    yield connected
    await connected.shutdown_session()
    await connected.stop()


@pytest.fixture
def lsp_editor(client: LanguageClient, tmp_path: Path) -> Editor:
    return Editor(client, tmp_path)


def shown(diagnostics: list[types.Diagnostic]) -> list[str]:
    return [item.message.split(" (")[0] for item in diagnostics]


@pytest.mark.asyncio(loop_scope="function")
async def test_a_mistake_is_flagged_and_goes_when_it_is_corrected(lsp_editor):
    await lsp_editor.begin()
    assert await lsp_editor.opened("notes.md", "It was better than we had hoped.\n") == []
    (result,) = await lsp_editor.changed("notes.md", 16, 17, "e")
    assert re.fullmatch(r"then -> than \((\d+ %|about \d in 10) right\)", result.message)
    assert result.severity == types.DiagnosticSeverity.Information
    assert (result.source, result.code) == ("disambig", "confused-words")
    assert result.code_description.href.endswith("/rules/README.md#confused-words")
    assert Path(url2pathname(urlsplit(result.code_description.href).path)).is_file()
    assert (result.range.start.character, result.range.end.character) == (14, 18)
    assert result.data["fixes"][0]["newText"] == "than"
    actions = await lsp_editor.actions("notes.md", [result])
    first = next(iter(actions.values()))
    assert first.is_preferred
    assert lsp_editor.corrected("notes.md", first) == "It was better than we had hoped.\n"
    assert await lsp_editor.changed("notes.md", 14, 18, "than") == []


@pytest.mark.asyncio(loop_scope="function")
@pytest.mark.parametrize(
    ("name", "encoding"), [("neovim", "utf-8"), ("visual-studio-code", "utf-16"), ("emacs", "utf-32")]
)
async def test_places_are_right_in_each_encoding(lsp_editor, name, encoding):
    await lsp_editor.begin(editor=name)
    assert lsp_editor.encoding == encoding
    before = "\U0001f600 e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2028 "
    await lsp_editor.opened("notes.txt", before, "plaintext")
    (result,) = await lsp_editor.changed("notes.txt", len(before), len(before), BAD)
    start = columns(before + "It was better ", encoding)
    assert (result.range.start.line, result.range.start.character) == (0, start)
    assert result.range.end.character == start + 4
    first = next(iter((await lsp_editor.actions("notes.txt", [result])).values()))
    assert lsp_editor.corrected("notes.txt", first) == before + BAD.replace("then", "than")


@pytest.mark.asyncio(loop_scope="function")
async def test_hover_says_why(lsp_editor):
    await lsp_editor.begin()
    (result,) = await lsp_editor.opened("notes.md", BAD)
    identifier = types.TextDocumentIdentifier(lsp_editor.uri("notes.md"))
    hover = await lsp_editor.client.text_document_hover_async(
        types.HoverParams(identifier, result.range.start)
    )
    output = hover.contents.value
    assert re.match(r"\*\*`then` -> `than`\*\* \(confused-words; \d+ % of such flags were right\)", output)
    assert '"better than" was seen' in output
    assert "| better then |" in output
    assert hover.range == result.range
    nothing = types.HoverParams(identifier, types.Position(0, 3))
    assert await lsp_editor.client.text_document_hover_async(nothing) is None


@pytest.mark.asyncio(loop_scope="function")
async def test_all_that_is_sure_is_corrected_at_once(lsp_editor):
    await lsp_editor.begin()
    text = "It was better then we had hoped, and he ate a apple in the the garden.\n"
    result = await lsp_editor.opened("notes.md", text)
    sure = [item for item in result if re.search(r"\((9\d %|about 9 in 10) right", item.message)]
    assert sure
    only = await lsp_editor.actions("notes.md", [], only=["source.fixAll"])
    assert list(only) == ["disambig: correct all flags of which 9 in 10 are right"]
    (action,) = only.values()
    left = await lsp_editor.opened("again.md", lsp_editor.corrected("notes.md", action))
    assert len(left) < len(result)
    assert "the the" not in lsp_editor.texts["again.md"]
    assert await lsp_editor.actions("notes.md", result, only=["refactor"]) == {}
    assert set(only).isdisjoint(await lsp_editor.actions("notes.md", result))


@pytest.mark.asyncio(loop_scope="function")
async def test_settings_of_files_and_of_the_editor(lsp_editor):
    (lsp_editor.folder / "disambig.toml").write_text('ignore = ["then"]\nexclude = ["old/"]\n')
    await lsp_editor.begin({"tasks": ["spelling", "slip"]})
    text = "It was better then we had hoped to find a quite place.\n"
    assert await lsp_editor.opened("old/notes.md", text) == []
    identifier = types.TextDocumentIdentifier(lsp_editor.uri("old/notes.md"))
    lsp_editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
    assert await lsp_editor.diagnostics("old/notes.md") == []
    assert shown(await lsp_editor.opened("notes.md", text)) == ["quite -> quiet"]
    (lsp_editor.folder / "disambig.toml").write_text("")
    event = types.FileEvent(lsp_editor.uri("disambig.toml"), types.FileChangeType.Changed)
    lsp_editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    assert shown(await lsp_editor.diagnostics("notes.md", 1)) == ["then -> than", "quite -> quiet"]
    for settings in (
        {"disambig": {"ignore": ["quite"]}},
        {"overrides": {"*.md": {"ignore": ["quite"]}}},
    ):
        lsp_editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        assert shown(await lsp_editor.diagnostics("notes.md", 1)) == ["then -> than"]


@pytest.mark.asyncio(loop_scope="function")
async def test_markup_and_directives_are_read_as_check_reads_them(lsp_editor):
    await lsp_editor.begin()
    text = "`better then`\n\n<!-- disambig: ignore-next-line -->\nIt was better then that.\n"
    assert await lsp_editor.opened("notes.md", text) == []
    assert (
        len(await lsp_editor.opened("notes.txt", "It was better then that. % better then\n", "plaintext"))
        == 2
    )
    assert await lsp_editor.opened("notes.tex", "% It was better then that.\n", "latex") == []
    assert len(await lsp_editor.opened("untitled", "It was better then that.\n", "latex")) == 1


@pytest.mark.asyncio(loop_scope="function")
async def test_foreign_paragraphs_are_reported_once(lsp_editor):
    await lsp_editor.begin()
    german = "Das ist besser then nichts, und es wird auch nicht schlechter.\n\n"
    assert len(await lsp_editor.opened("notes.md", german + BAD)) == 1
    await lsp_editor.changed("notes.md", 0, 0, german)
    (message,) = lsp_editor.client.messages
    assert message.type == types.MessageType.Info
    assert "[D348]" in message.message and "1 paragraph that is not in English" in message.message


needs_neovim = pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")

SCRIPT = """
local command, out = vim.env.DISAMBIG_COMMAND, {}
local function say(line) table.insert(out, line) end
local function wait(what, until_)
  if not vim.wait(60000, until_, 200) then say('waited in vain for ' .. what) end
end
local function diagnostics() return vim.diagnostic.get(0) end

vim.o.swapfile = false
vim.cmd('edit notes.md')
local id = vim.lsp.start_client({
  cmd = { command, '-m', 'disambig.cli.main', 'lsp' },
  name = 'disambig',
  root_dir = vim.fn.getcwd(),
  handlers = { ['window/showMessage'] = function(_, result) say('told: ' .. result.message) end },
})
vim.lsp.buf_attach_client(0, id)
wait('the server', function() return vim.lsp.buf_get_clients(0)[id] ~= nil end)

vim.api.nvim_feedkeys('i\\u{1F600} It was better then we had hoped.', 'x', true)
wait('the diagnostic', function() return #diagnostics() == 1 end)
for _, each in ipairs(diagnostics()) do
  say(each.source .. ' ' .. each.message:gsub(' %%(.*', '') .. ' ' .. each.lnum .. ':' .. each.col
    .. ' ' .. each.severity)
end

vim.ui.select = function(items, options, choose)
  for _, item in ipairs(items) do
    if options.format_item(item):find('than') then return choose(item, 1) end
  end
  say('no such action')
end
vim.api.nvim_win_set_cursor(0, { 1, diagnostics()[1].col + 1 })
vim.lsp.buf.code_action()
wait('the correction', function() return vim.api.nvim_get_current_line():find('than') ~= nil end)
wait('no diagnostic', function() return #diagnostics() == 0 end)
vim.cmd('write')
say('saved')
vim.fn.writefile(out, 'out.txt')
vim.cmd('quitall!')
"""


@needs_neovim
def test_type_see_correct_save(tmp_path: Path):
    (tmp_path / "script.lua").write_text(SCRIPT.replace("%%", "%"))
    environment = os.environ | {
        "DISAMBIG_COMMAND": sys.executable, "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", "luafile script.lua"],
        cwd=tmp_path, env=environment, timeout=300, capture_output=True, check=False,
    )  # fmt: skip
    assert (tmp_path / "out.txt").exists(), done.stderr.decode()
    assert (tmp_path / "out.txt").read_text("utf8").splitlines() == [
        f"disambig then -> than 0:{len('😀 It was better '.encode())} 3",  # Neovim counts bytes
        "saved",
    ]
    assert (tmp_path / "notes.md").read_text("utf8") == "\U0001f600 It was better than we had hoped.\n"
