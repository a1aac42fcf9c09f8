"""The guides to settings, directives and the server: names exist, and examples are right."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from readme_blocks import ROOT, blocks_of
from running_server import running

from disambig.checking import FORMATS, WITH_OUTCOMES, TextLines, read_directives
from disambig.checking.flags import _DIRECTIVES
from disambig.configuration import OverrideTable, ProjectSettings, SettingsTable
from disambig.markup import read_markup

SETTINGS = ROOT / "disambig" / "configuration" / "README.md"
CHECKING = ROOT / "disambig" / "checking" / "README.md"


def rows(path, header):
    """Return the first and the last cell of each row of the table with this header."""
    table = path.read_text("utf8").partition(f"| {header} |")[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {re.sub("[`]", "", row[0]): row[-1].strip(" |") for row in cells}


def test_all_keys_are_named_and_those_that_overrides_take():
    named = rows(SETTINGS, "key")
    assert set(named) == set(SettingsTable.model_fields)
    assert {key for key, last in named.items() if last == "yes"} == set(OverrideTable.model_fields)


def test_the_example_is_read(tmp_path):
    (example,) = [block.code for block in blocks_of(SETTINGS) if block.language == "toml"]
    (tmp_path / "pyproject.toml").write_text(example)
    project = ProjectSettings()
    drafts = project.for_file(str(tmp_path / "docs" / "drafts" / "a.md"))
    assert (drafts.flags_per_1000, drafts.ignore) == (0.1, ("affect", "hackathon", "then"))
    assert project.for_file(str(tmp_path / "a.tex")).tasks == ("spelling",)
    assert project.for_file(str(tmp_path / "CHANGELOG.md")).excluded
    own = example.replace("[tool.disambig]\n", "").replace("tool.disambig.", "")
    (tmp_path / "disambig.toml").write_text(own)
    same = ProjectSettings().for_file(str(tmp_path / "docs" / "drafts" / "a.md"))
    assert (same.flags_per_1000, same.ignore, same.sets) == (0.1, drafts.ignore, drafts.sets)


def test_all_formats_are_named():
    named = list(rows(CHECKING, "`--format`"))
    assert named == list(FORMATS)
    assert tuple(named[:3]) == WITH_OUTCOMES


def test_all_directives_are_documented_and_the_example_works():
    text = CHECKING.read_text("utf8").partition("## What comments say")[2].partition("\n## ")[0]
    assert {name for name in _DIRECTIVES if f"disambig: {name}" in text} == set(_DIRECTIVES)
    (example,) = [block.code for block in blocks_of(CHECKING) if block.language == "markdown"]
    result = read_directives("a.md", example, read_markup("a.md", example).comments, TextLines(example))
    assert [(item.rule, item.word) for item in result.hidden] == [("wrong-preposition", ""), ("article", "")]
    for item in result.hidden:
        assert example[item.start : item.end] == example.splitlines(keepends=True)[1]


GUIDE = ROOT / "disambig" / "server" / "README.md"


def requests():
    """Return the requests of the guide, each with the output shown below it."""
    (block,) = [block.code for block in blocks_of(GUIDE) if "$ curl" in block.code]
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_requests_are_answered_as_shown():
    assert len(requests()) == 5
    with running(fake=True) as (port, _):
        for line, shown in requests():
            words = shlex.split(line.replace("127.0.0.1:8081", f"127.0.0.1:{port}"))
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert done.stdout.strip() == shown.strip() or (not shown and done.stdout[0] in "[{"), line


def test_all_paths_and_statuses_are_named():
    from disambig.server import HTTP_STATUS

    text = GUIDE.read_text("utf8")
    app = (ROOT / "disambig" / "server" / "app.py").read_text("utf8")
    for path in re.findall(r'Route\(f?"(?:\{base\})?(/[^"]*)"', app.replace("{name:path}", "NAME")):
        assert f"`{path}`" in text or f"`/v2{path}`" in text, path
    for status in HTTP_STATUS.values():
        assert str(status) in text
