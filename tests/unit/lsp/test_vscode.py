"""The extension for VS Code: its manifest, the server that it starts, and its messages about errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from disambig import __version__
from disambig.configuration import SettingsTable
from disambig.data import WORDS_PER_MISTAKE

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
    assert set(properties) <= set(SettingsTable.model_fields)
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
def test_sends_changed_settings(run):
    done = run(documents=["markdown"], events=[["set", "settings", {"writing": "draft"}]])
    assert done["notifications"] == [
        ["workspace/didChangeConfiguration", {"settings": {"disambig": {"writing": "draft"}}}]
    ]
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
    pytest.importorskip("pygls")
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
