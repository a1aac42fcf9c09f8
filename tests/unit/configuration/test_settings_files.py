"""Settings: those of a file, errors in them, and the schema for editors."""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields

import pytest
from jsonschema import Draft7Validator

from disambig.checking import find_files, has_checked_suffix
from disambig.configuration import (
    ADDED,
    CHOICES,
    PATHS,
    SCHEMA_FILE,
    CheckSettings,
    ProjectSettings,
    SettingsSource,
    SettingsTable,
    read_table,
    schema_text,
    settings_schema,
    settings_to_toml,
)
from disambig.data import EXAMPLES, parse_share
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


def test_defaults_without_settings(tmp_path):
    result = ProjectSettings().for_file(str(tmp_path / "a.md"))
    assert (result.tasks, result.flags_per_1000, result.ignore, result.excluded) == ((), None, (), False)
    assert not result.origins


def test_paths_are_relative_to_the_settings_file(home):
    result = ProjectSettings().for_file("a.md")
    assert result.models == (str(home / "model"),)
    assert result.sets_files == (str(home / "sets.txt"),)
    assert result.baseline == str(home / "known.json")
    assert result.flags_per_1000 == 0.5


def test_overrides_extend_lists_and_replace_other_values(home):
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


def test_options_take_precedence(home):
    values = {"flags_per_1000": 3, "ignore_files": ["mine.txt"], "models": ["other"]}
    result = ProjectSettings(SettingsSource("command line", values)).for_file("../docs/README.md")
    assert (result.flags_per_1000, result.models, result.tasks) == (3, ("other",), ())
    assert result.ignore_files == (str(home / "words.txt"), "mine.txt")
    assert result.origins["flags_per_1000"] == ("command line",)


def test_only_the_nearest_file_applies(home):
    write(home / "sub" / "pyproject.toml", "[tool.other]\nx = 1\n")
    assert ProjectSettings().for_file("a.md").flags_per_1000 == 0.5
    write(home / "sub" / "pyproject.toml", "\ufeff[tool.disambig]\r\nmax_flags_per_1000 = 1\r\n")
    result = ProjectSettings().for_file("deep/er/a.md")
    assert (result.max_flags_per_1000, result.flags_per_1000, result.ignore) == (1, None, ())
    write(home / "sub" / ".disambig.toml", "max_flags_per_1000 = 2")
    assert ProjectSettings().for_file("a.md").max_flags_per_1000 == 2
    write(home / "sub" / "disambig.toml", "")
    assert ProjectSettings().for_file("a.md").max_flags_per_1000 is None


def test_included_and_excluded_files(home):
    for name in ("a.md", "b.cfg", "vendor/x.md", "vendor/ours.md", "gen.md", "sub/gen.md", "sub/c.bak.md"):
        write(home / name, "x")
    project = ProjectSettings()

    def list_files():
        files = find_files([str(home)], lambda path: project.takes(path, has_checked_suffix))
        return [os.path.relpath(path, home) for path in files]

    assert list_files() == ["a.md", "sub/gen.md", "vendor/ours.md"]
    assert project.for_file(str(home / "vendor" / "deep" / "x.md")).excluded
    write(home / "disambig.toml", 'include = ["*.cfg", "/sub/*.md"]\nexclude = ["*.bak.*"]')
    project = ProjectSettings()
    assert list_files() == ["b.cfg", "sub/gen.md"]


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
def test_reports_errors_of_settings_files(tmp_path, name, text, code):
    write(tmp_path / name, text)
    with pytest.raises(UserError) as caught:
        ProjectSettings().for_file(str(tmp_path / "a.md"))
    assert caught.value.code == code
    assert caught.value.text.startswith(str(tmp_path / name))


def test_words_and_sets_from_files(home):
    write(home / "words.txt", "\ufeffone # a word\n\n# none\n Depends  of \n")
    write(home / "sets.txt", "lie/lay\nthen/than\n")
    result = ProjectSettings().for_file("../docs/README.md")
    assert result.words_to_ignore() == ("quite", "then", "one", "Depends  of")
    assert [group.name for group in result.confusion_sets()] == ["lie/lay", "then/than"]
    (home / "words.txt").unlink()
    with pytest.raises(UserError, match=r"D974.*words.txt does not exist; it is named in .*disambig.toml"):
        result.words_to_ignore()


@pytest.mark.parametrize("pattern", ["foo*", "/th.n/", "th[ea]n", "colou?r"])
def test_a_pattern_in_a_file_of_words_is_an_error(home, pattern):
    write(home / "words.txt", f"# words\n\none\n{pattern} # many\n")
    expected = f"words.txt: line 4 is {pattern!r}: patterns are not supported: give words (then)"
    with pytest.raises(UserError, match=re.escape(expected)) as caught:
        ProjectSettings().for_file("../docs/README.md").words_to_ignore()
    assert caught.value.code == "D971"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("pyproject.toml", '[project]\nname = "Beets"\n', ("beets",)),
        ("pyproject.toml", '[tool.poetry]\nname = "my-beets"\n', ("my-beets",)),
        ("pyproject.toml", '[project]\nname = ["beets"]\n', ()),
        ("pyproject.toml", "project = 1\n", ()),
        ("package.json", '{"name": "@garden/beets"}', ("beets",)),
        ("package.json", '{"name": ', ()),
        ("package.json", "[" * 100_000, ()),
        ("package.json", '["beets"]', ()),
        ("Cargo.toml", '[package]\nname = "beets"\nversion = "1"\n', ("beets",)),
        ("Cargo.toml", "\0", ()),
    ],
)
def test_names_of_a_project_from_its_manifests(tmp_path, name, text, expected):
    (tmp_path / ".git").mkdir()
    write(tmp_path / name, text)
    project = ProjectSettings()
    assert project.for_file(str(tmp_path / "docs" / "a.md")).project_names == expected
    assert project.for_file(str(tmp_path.parent / "a.md")).project_names == ()


def test_files_with_equal_models_share_a_checker(home):
    project = ProjectSettings()
    one, other = project.for_file("a.md"), project.for_file("../docs/a.md")
    assert one.checker != other.checker
    assert project.for_file("b.md") is one
    assert hash(other.checker)


def test_shows_settings_with_their_origins(home, monkeypatch):
    monkeypatch.chdir(home)
    project = ProjectSettings(SettingsSource("command line", {"tasks": ["it"]}))
    lines = settings_to_toml("docs/a.md", project.for_file("docs/a.md"))
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
        "# writing: the rate that each model was fitted to  (default)",
        "# detect_language: true  (default)",
        "# yaml_fields: description, summary  (default)",
        "# include: text and documents  (default)",
        'exclude = ["vendor/*", "/gen.md", "*.bak.md", "!vendor/ours.md"]  # disambig.toml',
    ]
    excluded = settings_to_toml("x", ProjectSettings().for_file("vendor/x.md"))
    assert excluded.startswith("# x: excluded, never checked\n")


GOOD = {
    "tasks": ["spelling"],
    "models": ["my_model"],
    "flags_per_1000": {"spelling": 0.2, "preposition": 1},
    "trust": 0.8,
    "max_flags_per_1000": 2,
    "rules": ["a-an"],
    "ignore_rules": ["article"],
    "ignore": ["quite"],
    "ignore_files": ["words.txt"],
    "sets": ["lie/lay"],
    "sets_files": ["sets.txt"],
    "writing": "draft",
    "detect_language": False,
    "yaml_fields": ["description"],
    "include": ["*.md"],
    "exclude": ["vendor/"],
    "baseline": "known.json",
    "overrides": {"docs/": {"flags_per_1000": 0.5, "ignore": ["then"]}},
}

NEAREST = "available, the nearest first:"
RATE = "tool.disambig.flags_per_1000"

BAD = [
    ({"flag_per_1000": 1}, "D970", f"'flag_per_1000' in [tool.disambig]; {NEAREST} flags_per_1000, "),
    ({"overrides": {"a/*": {"set": []}}}, "D970", f'in [tool.disambig.overrides."a/*"]; {NEAREST} sets, '),
    (
        {"overrides": {"docs": {"exclude": []}}},
        "D971",
        "overrides.docs.exclude is set: this key is only allowed",
    ),
    ({"overrides": {"*.md": {"overrides": {}}}}, "D971", "only allowed for the whole project"),
    ({"tasks": []}, "D971", "tasks is []: leave it out for the default"),
    ({"overrides": {"*.md": {"rules": []}}}, "D971", "rules is []: leave it out for the default"),
    ({"ignore": ["then", "th*"]}, "D971", "ignore.1 is 'th*': patterns are not supported"),
    ({"ignore": ["/th.n/"]}, "D971", "ignore.0 is '/th.n/': patterns are not supported"),
    (
        {"ignore": ["a b c d e f g h i j k l"]},
        "D971",
        "ignore.0 is 'a b c d e f g h i j k l': a phrase of more than 11 words is never ignored",
    ),
    ({"flags_per_1000": -1}, "D971", f"{RATE} is -1: it must be greater than or equal to 0"),
    ({"flags_per_1000": "1"}, "D971", f"{RATE} is '1': it must be a number"),
    ({"flags_per_1000": float("nan")}, "D971", "is nan: it must be a finite number"),
    ({"flags_per_1000": {"spelling": "x"}}, "D971", f"{RATE}.spelling is 'x': it must be a number"),
    ({"trust": 0}, "D971", "trust is 0: 0 is not a share of flags: give a number above 0"),
    ({"trust": "often"}, "D971", "tool.disambig.trust is 'often': 'often' is not a share of flags"),
    ({"trust": [1]}, "D971", "tool.disambig.trust is [1]: [1] is not a share of flags"),
    ({"writing": "darft"}, "D971", "writing is 'darft': unknown kind of writing 'darft'"),
    ({"writing": 1}, "D971", "tool.disambig.writing is 1: unknown kind of writing 1"),
    ({"overrides": {"a": {"writing": "Draft"}}}, "D971", "available: draft"),
    ({"max_flags_per_1000": True}, "D971", "is True: it must be a number"),
    ({"ignore": "quite"}, "D971", "tool.disambig.ignore is 'quite': it must be a list"),
    ({"ignore": [1]}, "D971", "tool.disambig.ignore.0 is 1: it must be a string"),
    ({"tasks": [""]}, "D971", "tool.disambig.tasks.0 is '': it must have at least 1 character"),
    ({"sets": ["lie"]}, "D971", "tool.disambig.sets.0 is 'lie': confusion set 'lie'"),
    ({"overrides": {"docs": 1}}, "D971", "tool.disambig.overrides.docs is 1: it must be a table"),
]


def test_accepts_all_keys():
    assert read_table(GOOD, path="x", section="") == GOOD
    assert set(GOOD) == set(settings_schema()["properties"])


@pytest.mark.parametrize(("values", "code", "message"), BAD, ids=[str(values) for values, *_ in BAD])
def test_reports_invalid_values(values, code, message):
    with pytest.raises(UserError) as caught:
        read_table(values, path="p.toml", section="tool.disambig")
    assert caught.value.code == code
    assert caught.value.text.startswith("p.toml: ") and message in caught.value.text


def test_disambig_toml_has_no_section():
    with pytest.raises(UserError, match=r"p.toml: unknown key 'x'; available, the nearest first: "):
        read_table({"x": 1}, path="p.toml", section="")


@pytest.mark.parametrize("name", ["disambig.toml", ".disambig.toml"])
def test_disambig_toml_has_no_prefix(tmp_path, name):
    write(tmp_path / name, '[tool.disambig]\nignore = ["quite"]\n')
    with pytest.raises(UserError, match=rf"D971.* in {name} the tables have no prefix tool.disambig;"):
        ProjectSettings().for_file(str(tmp_path / "a.md"))
    write(tmp_path / name, "[tool.other]\n")
    with pytest.raises(UserError, match=r"D970.*unknown key 'tool'"):
        ProjectSettings().for_file(str(tmp_path / "a.md"))


def test_shipped_schema_is_up_to_date():
    assert SCHEMA_FILE.read_text("utf8") == schema_text(), "python -m disambig.configuration.tables"


@pytest.mark.parametrize("values", [values for values, *_ in BAD if values.get("sets") is None], ids=str)
def test_schema_rejects_invalid_values(values):
    Draft7Validator.check_schema(settings_schema())
    assert Draft7Validator(settings_schema()).is_valid(GOOD)
    actual = json.dumps(values)
    if "NaN" not in actual:  # JSON has none
        assert not Draft7Validator(settings_schema()).is_valid(json.loads(actual))


def test_settings_have_the_keys_of_the_table():
    keys = {item.name for item in fields(CheckSettings)} - {"excluded", "project_names", "origins"}
    assert keys == set(SettingsTable.model_fields) - {"overrides"}
    assert {*ADDED, *CHOICES[0], *CHOICES[1], *PATHS} <= keys


def test_schema_describes_every_key():
    schema = settings_schema()
    for table in (schema, schema["definitions"]["OverrideTable"]):
        assert all(entry["description"] for entry in table["properties"].values())
    assert "null" not in schema_text()


@pytest.mark.parametrize("text", [*EXAMPLES, "8 out of 10", 0.8])
def test_parses_shares(text):
    assert parse_share(text) == 0.8


@pytest.mark.parametrize("text", ["0", "5/4", "0 in 5", "1/0", "nan", "101 %", "many", 0, 1.5, True, None])
def test_rejects_invalid_shares(text):
    with pytest.raises(UserError, match=r"D860.*above 0 and at most 1"):
        parse_share(text)
