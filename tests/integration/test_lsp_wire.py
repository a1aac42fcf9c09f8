"""The language server on the raw wire: what no well-behaved client sends, and what clients differ in."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from commands import here as run
from lsp_wire import WAITS, Wire, at

BAD = "It was better then we had hoped.\n"
URI = "file:///nowhere/notes.md"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """Start one server for all tests that need none of their own: each connects as an editor."""
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
        made = socket.create_connection(("127.0.0.1", port))
        opened.append((made, Wire(made.makefile("rb"), made.makefile("wb"))))
        return opened[-1][1]

    yield connected
    for made, wire in opened:
        with contextlib.suppress(OSError):  # the server has ended it
            made.shutdown(socket.SHUT_RDWR)
        wire.reading.join(WAITS)
        for each in (wire.source, wire.target, made):
            each.close()


@pytest.fixture
def wire(connect):
    return connect()


@pytest.fixture
def process(tmp_path: Path):
    with Wire.started(tmp_path) as started:
        yield started


def lives(wire: Wire) -> bool:
    """Tell whether a text that is opened now is checked."""
    wire.open(BAD, uri="file:///nowhere/alive.md")
    found = wire.next(lambda m: m.get("params", {}).get("uri") == "file:///nowhere/alive.md")
    return len(found["params"]["diagnostics"]) == 1


def actions(wire: Wire, diagnostics: list, uri: str = URI, **context) -> list[dict]:
    where = diagnostics[0]["range"]
    params = {
        "textDocument": {"uri": uri},
        "range": where,
        "context": {"diagnostics": diagnostics, **context},
    }
    return wire.ask("textDocument/codeAction", params)["result"]


def test_what_is_no_message_is_answered_and_the_server_lives(wire):
    wire.body(b"{nothing")
    answer = wire.next(lambda message: "error" in message)
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert "[D847]" in answer["error"]["message"]
    wire.raw(b"Content-Length: many\r\n\r\n")
    assert "[D847]" in wire.told()["message"]
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
    assert "[D847]" in wire.told()["message"]
    wire.body(b'{"jsonrpc": "2.0", "id": "nobody asked", "result": null}')
    assert lives(wire)


def test_what_comes_before_initialize_or_after_shutdown_is_refused(process):
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
    assert wire.process.wait(WAITS) == 0


def test_an_editor_that_is_gone_ends_the_server(process):
    process.initialize()
    process.process.stdin.close()
    assert process.process.wait(WAITS) == 1


def test_an_editor_may_end_the_server_while_it_decides(process):
    process.initialize()
    process.open((BAD + "\n") * 3000)
    assert process.end() == 0


def test_an_edit_outside_the_text_is_told_until_all_of_it_comes(wire):
    wire.initialize()
    wire.open(BAD)
    assert len(wire.diagnostics(1)["diagnostics"]) == 1
    wire.change(2, {"range": at(7, 0, 3), "text": "x"})
    assert "[D843] /nowhere/notes.md" in wire.told()["message"]
    assert wire.diagnostics(2)["diagnostics"] == []
    wire.change(3, {"text": BAD + BAD})
    assert len(wire.diagnostics(3)["diagnostics"]) == 2


def test_no_older_version_is_published(wire):
    wire.initialize()
    wire.open(BAD)
    wire.diagnostics(1)
    for version in range(2, 60):
        wire.change(version, {"range": at(0, 0), "text": "x"})
    assert len(wire.diagnostics(59)["diagnostics"]) == 1
    versions = [each["params"]["version"] for each in wire.seen if "version" in each.get("params", {})]
    assert versions == sorted(versions)


def test_a_text_that_is_closed_while_it_is_decided(wire):
    wire.initialize()
    wire.open((BAD + "\n") * 2000)
    wire.send("textDocument/didClose", {"textDocument": {"uri": URI}})
    wire.change(2, {"text": BAD})
    assert "not open" in wire.told()["message"]
    assert lives(wire)
    about = [each["params"]["diagnostics"] for each in wire.seen if each.get("params", {}).get("uri") == URI]
    assert about == [[]]


def test_ten_megabytes_at_once_are_told_not_to_be_checked(wire):
    wire.initialize()
    wire.open(BAD)
    wire.diagnostics(1)
    wire.change(2, {"range": at(0, 0), "text": (BAD * 10) * 32_000})
    message = wire.told()["message"]
    assert "[D845] /nowhere/notes.md" in message
    assert "disambig check" in message
    assert wire.diagnostics(2)["diagnostics"] == []
    wire.change(3, {"text": BAD})
    assert len(wire.diagnostics(3)["diagnostics"]) == 1


@pytest.mark.parametrize(
    ("settings", "code"),
    [("this is = = no TOML", "D972"), ("ignor = ['then']", "D970"), ("ignore = 3", "D971")],
)
def test_a_file_of_settings_that_is_none_is_told_and_read_again(wire, tmp_path, settings, code):
    (tmp_path / "disambig.toml").write_text(settings)
    wire.initialize(root=tmp_path)
    uri = (tmp_path / "notes.md").as_uri()
    wire.open(BAD, uri=uri)
    message = wire.told()["message"]
    assert f"[{code}]" in message
    assert str(tmp_path) in message
    assert wire.diagnostics(1)["diagnostics"] == []
    (tmp_path / "disambig.toml").write_text("")
    wire.send("textDocument/didSave", {"textDocument": {"uri": (tmp_path / "disambig.toml").as_uri()}})
    assert len(wire.diagnostics(1)["diagnostics"]) == 1


def test_settings_that_are_no_table_are_told_and_those_before_hold(wire):
    wire.initialize({"ignore": ["then"]})
    wire.send("workspace/didChangeConfiguration", {"settings": "loud"})
    assert "[D849]" in wire.told()["message"]
    wire.open(BAD)
    assert wire.diagnostics(1)["diagnostics"] == []


def test_an_empty_notification_of_settings_takes_nothing_back(wire):
    wire.initialize({"ignore": ["then"]})
    wire.send("workspace/didChangeConfiguration", {"settings": {}})  # Neovim and eglot begin so
    wire.open(BAD)
    assert wire.diagnostics(1)["diagnostics"] == []


def test_settings_are_asked_for_where_the_editor_sends_none(wire):
    wire.initialize(workspace={"configuration": True})
    wire.send("workspace/didChangeConfiguration", {"settings": None})
    asked = wire.next(lambda message: message.get("method") == "workspace/configuration")
    assert asked["params"]["items"] == [{"section": "disambig"}]
    wire.body(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": [{"ignore": ["then"]}]}).encode())
    wire.open(BAD)
    assert wire.diagnostics(1)["diagnostics"] == []


def test_to_ignore_a_word_everywhere_edits_the_settings_and_holds_at_once(wire, tmp_path):
    (tmp_path / "disambig.toml").write_text('# ours\nignore = ["affect"]\n')
    wire.initialize(root=tmp_path)
    uri = (tmp_path / "notes.md").as_uri()
    wire.open(BAD, uri=uri)
    found = wire.diagnostics(1)["diagnostics"]
    action = next(each for each in actions(wire, found, uri) if each["title"].endswith("everywhere"))
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
def test_a_comment_that_hides_nothing_is_shown_and_can_be_taken_out(wire, text, left):
    wire.initialize()
    wire.open(text)
    found = wire.diagnostics(1)["diagnostics"]
    assert {each["code"] for each in found} == {"disambig/unused"}
    assert "does not suppress any flag" in found[0]["message"]
    offered = actions(wire, found)
    if left is None:
        assert offered == []
        return
    ((change,),) = [each["edit"]["documentChanges"] for each in offered]
    (edit,) = change["edits"]
    lines, start, end = text.split("\n"), edit["range"]["start"], edit["range"]["end"]
    first, last = (
        "\n".join([*lines[: at["line"]], lines[at["line"]][: at["character"]]]) for at in (start, end)
    )
    assert text[: len(first)] + text[len(last) :] == left


def test_clients_that_send_no_data_back_get_the_same_actions(wire):
    wire.initialize()
    wire.open(BAD)
    found = wire.diagnostics(1)["diagnostics"]
    titles = [each["title"] for each in actions(wire, found)]
    bare = [{key: value for key, value in each.items() if key != "data"} for each in found]
    assert [each["title"] for each in actions(wire, bare)] == titles
    wire.change(2, {"range": at(0, 0), "text": "Well. "})
    stale = actions(wire, found) if wire.received.empty() else []
    assert stale == [] or stale[0]["edit"]["documentChanges"][0]["textDocument"]["version"] == 2


def test_several_editors_by_tcp_on_the_loopback_address(connect, port):
    wires = [connect(), connect()]
    for number, wire in enumerate(wires):
        wire.initialize()
        wire.open(BAD * (number + 1))
    assert [len(wire.diagnostics(1)["diagnostics"]) for wire in wires] == [1, 2]
    wires[0].ask("shutdown")
    wires[0].send("exit")
    assert wires[0].received.get(timeout=WAITS) is None
    assert lives(wires[1])


def test_a_port_in_use_is_told(port):
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
        editor.kill()  # nobody asks for its exit status yet
        assert wire.process.wait(WAITS) == 1
        said = wire.process.stderr.read().decode()
    assert (
        said
        == f"disambig: [D892] the editor (process {editor.pid}) has exited; the language server exits, too\n"
    )


def test_an_editor_that_is_killed_ends_a_server_that_waits_for_its_pipe_to_be_read(tmp_path, editor):
    command = [sys.executable, "-m", "disambig.cli.main", "lsp"]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        asked = [{"id": 0, "method": "initialize", "params": params}]
        asked += [{"id": i, "method": "no/such", "params": None} for i in range(1, 3000)]
        for each in asked:
            body = json.dumps({"jsonrpc": "2.0", **each}).encode()
            process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        process.stdin.flush()
        process.stdout.read(1)
        editor.kill()
        try:
            assert process.wait(WAITS) == 1
        finally:
            process.kill()


def test_one_of_several_editors_that_is_killed_is_cut_off_alone(connect, editor):
    killed, other = connect(), connect()
    begin(killed, editor.pid)
    begin(other, os.getpid())
    editor.kill()
    killed.reading.join(WAITS)
    assert not killed.reading.is_alive()
    assert lives(other)


def test_an_editor_that_has_ended_before_is_none(tmp_path, editor):
    editor.kill()
    editor.wait()
    with Wire.started(tmp_path) as wire:
        params = {"processId": editor.pid, "rootUri": None, "capabilities": {}}
        wire.send("initialize", params, id=1)
        assert wire.process.wait(WAITS) == 1


def test_an_output_that_nobody_reads_ends_the_server_with_a_line(tmp_path):
    with Wire.started(tmp_path, stderr=subprocess.PIPE) as wire:
        wire.initialize()
        assert lives(wire)
        closing = wire.process.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_RDONLY), closing)  # the other end of the pipe is closed
        for number in range(5):
            with contextlib.suppress(OSError):
                wire.open(BAD, uri=f"file:///nowhere/{number}.md")
        assert wire.process.wait(WAITS) == 1
        said = wire.process.stderr.read().decode()
    assert said.startswith("disambig: [D893] the editor no longer reads")
    assert said.count("\n") == 1


def test_to_exit_without_shutdown_is_an_error(process):
    process.initialize()
    process.send("exit")
    assert process.process.wait(WAITS) == 1
