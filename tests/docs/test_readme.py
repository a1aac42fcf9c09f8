"""The READMEs and guides: snippets run, outputs are as shown; configs, commands, links and names exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from readme_blocks import BLOCKS, DOCUMENTS, ROOT, TOP, Block, alike, read_blocks
from running_server import running
from typer.testing import CliRunner

from disambig.checking import FORMATS, WITH_OUTCOMES, TextLines, read_directives
from disambig.checking.flags import _DIRECTIVES
from disambig.cli import COMMANDS as CORE
from disambig.cli.main import app
from disambig.configuration import OverrideTable, ProjectSettings, SettingsTable
from disambig.errors import UserError
from disambig.formats import FORMATS as OUTPUT_FORMATS
from disambig.markup import read_markup
from disambig.training import run

README = TOP.read_text(encoding="utf8")
PYTHON = [block for block in BLOCKS if block.language == "python"]
LARGE = "load_converter()"
"""A snippet with it reads a million words for seconds; tests/integration/test_japanese.py calls the same."""
CONFIGS = [block for block in BLOCKS if block.language == "ini" and "[model]" in block.code]
COMMANDS = [
    (block.place, line.removeprefix("$ "))
    for block in BLOCKS
    if block.language == "console"
    for line in block.code.splitlines()
    if line.startswith("$ ")
]
SHOWN = [
    block
    for block in read_blocks(TOP)
    if block.language == "console" and any(not line.startswith("$ ") for line in block.code.splitlines())
]


def get_place(value: object) -> str | None:
    return value.place if isinstance(value, Block) else None


def test_there_are_snippets_everywhere() -> None:
    assert len(PYTHON) >= 8
    assert CONFIGS
    assert SHOWN
    rooms = ("README.md", *(f"disambig/{name}/README.md" for name in ("cli", "counts", "training")))
    for room in rooms:
        assert any(place.startswith(f"{room}:") for place, _ in COMMANDS), room


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_readme_opens_with_the_two_commands() -> None:
    top = README[:900]
    assert "pip install . && disambig annotate corpora/samples" in top
    assert "pip install '.[test]' && pytest" in top


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        file, _, heading = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]


@pytest.mark.parametrize("block", CONFIGS, ids=get_place)
def test_config_can_be_read_and_built(block: Block, tmp_path: Path) -> None:
    """It only fails because there is no text, after all sections were read."""
    (tmp_path / "mine.cfg").write_text(block.code, encoding="utf8")
    (tmp_path / "empty.txt").write_text("Nothing.", encoding="utf8")
    with pytest.raises(UserError) as caught:
        run(tmp_path / "mine.cfg", text=[str(tmp_path / "empty.txt")])
    assert caught.value.code == "D412"


@pytest.mark.usefixtures("sense_pack", "japanese_pack", "parser_pack")
@pytest.mark.parametrize(
    "block",
    [pytest.param(block, marks=pytest.mark.slow if LARGE in block.code else ()) for block in PYTHON],
    ids=get_place,
)
def test_python_snippet_runs(
    block: Block,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It runs, and prints the output below it, if one is shown."""
    monkeypatch.chdir(tmp_path)
    exec(compile(block.code, block.place, "exec", dont_inherit=True), {"__name__": "readme"})
    printed = capsys.readouterr().out
    if block.output is not None:
        assert alike(printed, block.output), printed


@pytest.mark.parametrize("block", SHOWN, ids=get_place)
def test_commands_print_what_is_shown(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    parts = re.split(r"^\$ (.*)\n", block.code, flags=re.MULTILINE)
    for line, shown in zip(parts[1::2], parts[2::2], strict=True):
        words = shlex.split(line)
        given = None
        if words[0] == "echo":  # echo TEXT > FILE, or echo TEXT | disambig ...
            given = words[1] + "\n"
            if words[2] == ">":
                Path(words[3]).write_text(given, encoding="utf8")
                continue
            words = words[3:]
        assert words[0] == "disambig"
        printed = CliRunner().invoke(app, words[1:], input=given).stdout
        assert alike(printed, shown), printed


@pytest.mark.parametrize(("place", "line"), COMMANDS)
def test_commands_and_options_exist(place: str, line: str) -> None:
    """Every `disambig` command line names a command and options that there are."""
    for part in re.split(r"&&|\||>", line):
        words = shlex.split(part, comments=True)
        if not words or words[0] != "disambig":
            continue
        path = words[1:3] if words[1] in ("counts", "data", "fixes", "job") else words[1:2]
        shown = CliRunner().invoke(app, [*path, "--help"])
        assert shown.exit_code == 0, shown.output
        for option in [word for word in words[1:] if word.startswith("-") and word != "-"]:
            assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", shown.output), (
                f"{option} of {line!r}, {place}"
            )


def test_the_guide_to_the_command_line_names_all_commands_and_formats() -> None:
    guide = (ROOT / "disambig" / "cli" / "README.md").read_text(encoding="utf8")
    rows = [line.split("|")[1] for line in guide.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`([^`]+)`", " ".join(rows))) == sorted(CORE)
    listed = guide.partition("The output format is `--format`")[2].partition(";")[0]
    assert re.findall("|".join(OUTPUT_FORMATS), listed) == list(OUTPUT_FORMATS)
    papers = {str(path.relative_to(ROOT)) for path in ROOT.glob("plugins/*/REPLICATION.md")}
    assert papers == {link for link in re.findall(r"\.\./\.\./(plugins/\w+/REPLICATION\.md)", guide)}


def test_different_outputs_are_detected() -> None:
    assert alike("then -> than (spelling, 0.61)\n", "then -> than (spelling, 0.60)")
    assert not alike("then -> than (spelling, 0.61)", "then -> than (spelling, 0.90)")
    assert not alike("then -> than (spelling, 0.61)", "their -> than (spelling, 0.61)")
    assert not alike("", "then -> than (spelling, 0.61)")


def test_contributing_names_every_package() -> None:
    """The table has every package and module of the core, and none that does not exist."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf8")
    table = text.partition("## Packages")[2].partition("## Words")[0]
    named = {
        name.removeprefix("disambig/").rstrip("/")
        for row in table.splitlines()
        if row.startswith("| `disambig/")
        for name in re.findall(r"`([^`]+)`", row.split("|")[1])
    }
    there = {
        path.name for path in (ROOT / "disambig").iterdir() if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert named == there - {"__init__.py"}


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
    (example,) = [block.code for block in read_blocks(SETTINGS) if block.language == "toml"]
    (tmp_path / "pyproject.toml").write_text(example)
    project = ProjectSettings()
    drafts = project.for_file(str(tmp_path / "docs" / "drafts" / "a.md"))
    assert (drafts.flags_per_1000, drafts.ignore) == (0.1, ("affect", "hackathon", "then"))
    assert project.for_file(str(tmp_path / "a.tex")).tasks == ("spelling",)
    assert project.for_file(str(tmp_path / "CHANGELOG.md")).excluded
    disambig_toml = example.replace("[tool.disambig]\n", "").replace("tool.disambig.", "")
    (tmp_path / "disambig.toml").write_text(disambig_toml)
    same = ProjectSettings().for_file(str(tmp_path / "docs" / "drafts" / "a.md"))
    assert (same.flags_per_1000, same.ignore, same.sets) == (0.1, drafts.ignore, drafts.sets)


def test_all_formats_are_named():
    named = list(rows(CHECKING, "`--format`"))
    assert named == list(FORMATS)
    assert tuple(named[:3]) == WITH_OUTCOMES


def test_all_directives_are_documented_and_the_example_works():
    text = CHECKING.read_text("utf8").partition("## What comments say")[2].partition("\n## ")[0]
    assert {name for name in _DIRECTIVES if f"disambig: {name}" in text} == set(_DIRECTIVES)
    (example,) = [block.code for block in read_blocks(CHECKING) if block.language == "markdown"]
    result = read_directives("a.md", example, read_markup("a.md", example).comments, TextLines(example))
    assert [(item.rule, item.word) for item in result.hidden] == [("wrong-preposition", ""), ("article", "")]
    for item in result.hidden:
        assert example[item.start : item.end] == example.splitlines(keepends=True)[1]


GUIDE = ROOT / "disambig" / "server" / "README.md"


def requests():
    """Return the requests of the guide, each with the output shown below it."""
    (block,) = [block.code for block in read_blocks(GUIDE) if "$ curl" in block.code]
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
