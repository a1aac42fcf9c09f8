"""Help for newcomers: words for values, lines that fit."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from disambig.cli.main import app
from disambig.cli.names import COMMANDS

PATHS = [[name] for name in COMMANDS] + [
    ["fixes", "mine"],
    *(["data", name] for name in ("list", "show", "get")),
    *(["counts", name] for name in ("build", "import", "merge", "prune", "info", "query", "verify")),
]
TYPES = re.compile(r"<(str|int|float|path|bool|list|uuid)\b|list\[|\{\w+|(?<!ARGS)\]\.\.\.")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_has_words_for_values_and_fits(path, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = CliRunner().invoke(app, [*path, "--help"], terminal_width=width)
    assert shown.exit_code == 0
    assert not TYPES.findall(shown.output)
    assert max(map(len, shown.output.splitlines())) <= width
