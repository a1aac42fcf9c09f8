"""The section on commands of plugins/README.md is true: its command is one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from packages import install, write

from disambig import registry as plugins
from disambig.cli import main

GUIDE = (Path(__file__).parents[2] / "plugins" / "README.md").read_text(encoding="utf8")
SECTION = GUIDE.partition("\n## Commands\n")[2].partition("\n## ")[0]
BLOCKS = [dedent(block).strip() for block in re.findall(r"(?:^(?:    .*)?\n)+", SECTION, re.M)]
HOOK, COMMAND = (f"{block}\n" for block in BLOCKS if block)
PYPROJECT = """
[project]
name = "disambig-kind"
version = "0.1.0"

[project.entry-points.disambig]
kind = "disambig_kind.plugin"
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    files = {
        "pyproject.toml": PYPROJECT,
        "disambig_kind/__init__.py": "",
        "disambig_kind/plugin.py": f"from disambig.api import hookimpl\n{HOOK}",
        "disambig_kind/commands.py": COMMAND,
    }
    write(tmp_path, files)
    install(tmp_path, monkeypatch)
    plugins.reload_plugins()
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    monkeypatch.undo()
    for module in [name for name in sys.modules if name.startswith("disambig_kind")]:
        del sys.modules[module]
    plugins.reload_plugins()


def call(*arguments):
    with pytest.raises(SystemExit) as end:
        main.run([*map(str, arguments)])
    return end.value.code


def test_the_command_of_the_guide_is_listed_and_runs(home, capsys):
    assert call("--help") == 0
    assert re.search("^  shout +Write text in capitals.$", capsys.readouterr().out, re.M)
    assert "disambig_kind.commands" not in sys.modules
    (home / "a.txt").write_text("one\n\ntwo", encoding="utf8")
    assert call("shout", "a.txt") == 0
    assert capsys.readouterr().out == "ONE\n\nTWO\n"
    assert call("shout", "a.txt", "-o", "b.txt", "--quiet") == 0
    assert (home / "b.txt").read_text() == "ONE\n\nTWO\n"
    assert call("shout", "a.txt", "-o", "b.txt") == 2
    assert "[D310]" in capsys.readouterr().err
    assert call("shout", "nothing.txt") == 2
    assert capsys.readouterr().err == "disambig: [D300] nothing.txt: no such file or directory\n"
    assert call("shout", "--help") == 0
    assert "Usage: disambig shout [OPTIONS] [PATHS...]" in capsys.readouterr().out
