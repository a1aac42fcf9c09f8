"""Which settings hold for which file."""

from __future__ import annotations

import os

import pytest

from disambig.checking import find_files, has_checked_suffix
from disambig.configuration import ProjectSettings, SettingsSource, settings_to_toml
from disambig.errors import UserError

SETTINGS = """
flags_per_1000 = 0.5
ignore = ["quite"]
sets = ["lie/lay"]
sets_files = ["sets.txt"]
models = ["model"]
baseline = "known.json"
exclude = ["vendor/*", "/gen.md", "*.bak.md", "!vendor/ours.md"]

[overrides."docs/*.md"]
flags_per_1000 = {spelling = 0.1}
ignore = ["then", "quite"]
tasks = ["spelling"]

[overrides."README.md"]
flags_per_1000 = 2
ignore_files = ["words.txt"]
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The current folder is below the one with settings."""
    top = tmp_path / "top"
    write(top / "disambig.toml", SETTINGS)
    (top / "sub").mkdir()
    monkeypatch.chdir(top / "sub")
    return top


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def code_of(call, *arguments):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    return caught.value.code


def test_without_settings_the_defaults_hold(tmp_path):
    found = ProjectSettings().for_file(str(tmp_path / "a.md"))
    assert (found.tasks, found.flags_per_1000, found.ignore, found.excluded) == ((), None, (), False)
    assert not found.origins


def test_paths_are_relative_to_the_file_of_settings(home):
    found = ProjectSettings().for_file("a.md")
    assert found.models == (str(home / "model"),)
    assert found.sets_files == (str(home / "sets.txt"),)
    assert found.baseline == str(home / "known.json")
    assert found.flags_per_1000 == 0.5


def test_lists_are_added_to_and_all_else_is_replaced(home):
    project = ProjectSettings()
    docs = project.for_file("../docs/a.md")
    assert docs.flags_per_1000 == {"spelling": 0.1}
    assert docs.ignore == ("quite", "then")
    assert (docs.tasks, docs.models) == (("spelling",), ())  # one choice of what checks
    assert project.for_file("../docs/deep/a.md").flags_per_1000 == 0.5
    both = project.for_file("../docs/README.md")
    assert (both.flags_per_1000, both.ignore) == (2, ("quite", "then"))
    assert both.ignore_files == (str(home / "words.txt"),)
    assert both.origins["ignore"] == (str(home / "disambig.toml"), f"{home / 'disambig.toml'}, docs/*.md")


def test_options_hold_above_all(home):
    values = {"flags_per_1000": 3, "ignore_files": ["mine.txt"], "models": ["other"]}
    found = ProjectSettings(SettingsSource("command line", values)).for_file("../docs/README.md")
    assert (found.flags_per_1000, found.models, found.tasks) == (3, ("other",), ())
    assert found.ignore_files == (str(home / "words.txt"), "mine.txt")
    assert found.origins["flags_per_1000"] == ("command line",)


def test_the_nearest_file_holds_and_no_other(home):
    write(home / "sub" / "pyproject.toml", "[tool.other]\nx = 1\n")
    assert ProjectSettings().for_file("a.md").flags_per_1000 == 0.5
    write(home / "sub" / "pyproject.toml", "\ufeff[tool.disambig]\r\nmax_flags_per_1000 = 1\r\n")
    found = ProjectSettings().for_file("deep/er/a.md")
    assert (found.max_flags_per_1000, found.flags_per_1000, found.ignore) == (1, None, ())
    write(home / "sub" / ".disambig.toml", "max_flags_per_1000 = 2")
    assert ProjectSettings().for_file("a.md").max_flags_per_1000 == 2
    write(home / "sub" / "disambig.toml", "")
    assert ProjectSettings().for_file("a.md").max_flags_per_1000 is None


def test_files_in_and_out(home):
    for name in ("a.md", "b.cfg", "vendor/x.md", "vendor/ours.md", "gen.md", "sub/gen.md", "sub/c.bak.md"):
        write(home / name, "x")
    project = ProjectSettings()

    def found():
        files = find_files([str(home)], lambda path: project.takes(path, has_checked_suffix))
        return [os.path.relpath(path, home) for path in files]

    assert found() == ["a.md", "sub/gen.md", "vendor/ours.md"]
    assert project.for_file(str(home / "vendor" / "deep" / "x.md")).excluded
    write(home / "disambig.toml", 'include = ["*.cfg", "/sub/*.md"]\nexclude = ["*.bak.*"]')
    project = ProjectSettings()
    assert found() == ["b.cfg", "sub/gen.md"]


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("disambig.toml", "a = ", "D972"),
        ("disambig.toml", "\0", "D303"),
        ("disambig.toml", "exclud = []", "D970"),
        ("disambig.toml", "exclude = 1", "D971"),
        ("pyproject.toml", "[tool]\ndisambig = 1", "D971"),
        ("pyproject.toml", "[tool.disambig]\nexclud = []", "D970"),
        ("pyproject.toml", "[tool.disambig", "D972"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, name, text, code):
    write(tmp_path / name, text)
    with pytest.raises(UserError) as caught:
        ProjectSettings().for_file(str(tmp_path / "a.md"))
    assert caught.value.code == code
    assert caught.value.text.startswith(str(tmp_path / name))


def test_words_and_sets_come_from_files_too(home):
    write(home / "words.txt", "one # a word\n")
    write(home / "sets.txt", "lie/lay\nthen/than\n")
    found = ProjectSettings().for_file("../docs/README.md")
    assert found.words_to_ignore() == ("quite", "then", "one")
    assert [group.name for group in found.confusion_sets()] == ["lie/lay", "then/than"]
    (home / "words.txt").unlink()
    assert code_of(found.words_to_ignore) == "D300"


def test_files_of_equal_models_are_checked_together(home):
    project = ProjectSettings()
    one, other = project.for_file("a.md"), project.for_file("../docs/a.md")
    assert one.checker != other.checker
    assert project.for_file("b.md") is one
    assert hash(other.checker)


def test_what_holds_is_shown_with_its_origin(home, monkeypatch):
    monkeypatch.chdir(home)
    lines = settings_to_toml(
        "docs/a.md", ProjectSettings(SettingsSource("command line", {"tasks": ["it"]})).for_file("docs/a.md")
    )
    assert lines.splitlines() == [
        "# docs/a.md: checked",
        'tasks = ["it"]  # command line',
        "# models: none  (default)",
        'flags_per_1000 = {"spelling" = 0.1}  # disambig.toml, docs/*.md',
        "# trust: no minimum  (default)",
        "# max_flags_per_1000: no maximum  (default)",
        "# rules: all  (default)",
        "# ignore_rules: none  (default)",
        'ignore = ["quite", "then"]  # disambig.toml, disambig.toml, docs/*.md',
        "# ignore_files: none  (default)",
        'sets = ["lie/lay"]  # disambig.toml',
        f'sets_files = ["{home}/sets.txt"]  # disambig.toml',
        f'baseline = "{home}/known.json"  # disambig.toml',
        "# writing: what each model was fitted to  (default)",
        "# detect_language: true  (default)",
        "# yaml_fields: none  (default)",
        "# include: text and documents  (default)",
        'exclude = ["vendor/*", "/gen.md", "*.bak.md", "!vendor/ours.md"]  # disambig.toml',
    ]
    assert settings_to_toml("x", ProjectSettings().for_file("vendor/x.md")).startswith(
        "# x: excluded, never checked\n"
    )
