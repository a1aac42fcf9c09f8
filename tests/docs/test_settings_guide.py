"""The guides to settings and to what comments say name what there is, and their examples hold."""

from __future__ import annotations

import re

from readme_blocks import ROOT, blocks_of

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


def test_all_directives_are_named_and_the_example_hides_what_it_says():
    text = CHECKING.read_text("utf8").partition("## What comments say")[2].partition("\n## ")[0]
    assert {name for name in _DIRECTIVES if f"disambig: {name}" in text} == set(_DIRECTIVES)
    (example,) = [block.code for block in blocks_of(CHECKING) if block.language == "markdown"]
    found = read_directives("a.md", example, read_markup("a.md", example).comments, TextLines(example))
    assert [(each.rule, each.word) for each in found.hidden] == [("wrong-preposition", ""), ("article", "")]
    for each in found.hidden:
        assert example[each.start : each.end] == example.splitlines(keepends=True)[1]
