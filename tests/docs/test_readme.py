"""README.md is true: its Python snippets run, its configs and commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
OF_PLUGINS = [
    block
    for path in sorted(ROOT.glob("plugins/*/README.md"))
    for block in re.findall(
        r"^```(\w+)\n(.*?)^```", path.read_text(encoding="utf8"), re.MULTILINE | re.DOTALL
    )
]
PYTHON = [code for language, code in BLOCKS + OF_PLUGINS if language == "python"]
CONFIGS = [code for language, code in BLOCKS if language == "ini" and "[model]" in code]
SHELL = [
    line
    for language, code in BLOCKS
    if language == "console"
    for line in code.splitlines()
    if line.startswith("$ ")
]


def test_there_are_snippets() -> None:
    assert len(PYTHON) >= 4
    assert len(SHELL) >= 4
    assert CONFIGS


@pytest.mark.parametrize("config", CONFIGS)
def test_config_can_be_read_and_built(config: str, tmp_path: Path) -> None:
    """What stops it is that there is no text, after all its sections were understood."""
    from disambig.errors import UserError
    from disambig.training.run import run

    (tmp_path / "mine.cfg").write_text(config, encoding="utf8")
    (tmp_path / "empty.txt").write_text("Nothing.", encoding="utf8")
    with pytest.raises(UserError) as caught:
        run(tmp_path / "mine.cfg", text=[str(tmp_path / "empty.txt")])
    assert caught.value.code == "D412"


@pytest.mark.usefixtures("sense_pack")
@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_python_snippet_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = compile(PYTHON[number], f"README.md, snippet {number}", "exec", dont_inherit=True)
    exec(code, {"__name__": "readme"})


@pytest.mark.parametrize("line", SHELL)
def test_commands_and_options_exist(line: str) -> None:
    """Every `disambig` command line of the README names a command and options that there are."""
    import typer
    from typer.testing import CliRunner

    from disambig.cli.main import app

    for part in re.split(r"&&|\|", line.removeprefix("$ ")):
        words = shlex.split(part, comments=True)
        if not words or words[0] != "disambig":
            continue
        path = words[1:3] if words[1:2] == ["counts"] else words[1:2]
        shown = CliRunner().invoke(app, [*path, "--help"])
        assert shown.exit_code == 0, shown.output
        for option in [word for word in words[1:] if word.startswith("--") and word != "--help"]:
            assert option in shown.output, f"{option} of {line!r}"
    assert typer  # the command line is typer's


def test_readme_opens_with_the_two_commands() -> None:
    top = README[:900]
    assert "pip install . && disambig annotate corpora/samples" in top
    assert "pip install '.[test]' && pytest" in top
