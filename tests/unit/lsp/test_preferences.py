from __future__ import annotations

from pathlib import Path

import pytest

from disambig.errors import UserError
from disambig.lsp import EditorSettings


def settings(folder: Path, said, name: str = "notes.md", **more):
    return EditorSettings(said, str(folder), **more).for_file(str(folder / name))


@pytest.mark.parametrize("wrapped", [False, True])
def test_what_the_editor_says_lies_above_the_file(tmp_path, wrapped):
    (tmp_path / "disambig.toml").write_text('tasks = ["spelling"]\nignore = ["affect"]\nflags_per_1000 = 1\n')
    said = {"tasks": ["slip"], "ignore": ["then"], "max_flags_per_1000": 2.0, "baseline": None}
    found = settings(tmp_path, {"disambig": said} if wrapped else said)
    assert found.tasks == ("slip",)
    assert found.ignore == ("affect", "then")
    assert (found.flags_per_1000, found.max_flags_per_1000, found.baseline) == (1, 2.0, None)


def test_paths_and_patterns_are_relative_to_the_open_folder(tmp_path):
    said = {
        "ignore_files": ["words.txt"],
        "exclude": ["old/"],
        "overrides": {"*.tex": {"tasks": ["spelling"], "ignore": ["b"]}, "b.tex": {"models": ["mine"]}},
        "ignore": ["a"],
    }
    found = settings(tmp_path, said)
    assert found.ignore_files == (str(tmp_path / "words.txt"),)
    assert not found.excluded
    assert settings(tmp_path, said, "old/notes.md").excluded
    of_tex, of_b = settings(tmp_path, said, "a.tex"), settings(tmp_path, said, "b.tex")
    assert (of_tex.tasks, of_tex.ignore) == (("spelling",), ("a", "b"))
    assert (of_b.tasks, of_b.models) == ((), (str(tmp_path / "mine"),))  # one choice, replaced together
    assert not settings(tmp_path, said, "../old/notes.md").excluded


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"ignor": ["a"]}, "D970"),
        ({"ignore": "a"}, "D971"),
        (["a"], "D849"),
        ({"overrides": {"*": {"x": 1}}}, "D970"),
    ],
)
def test_what_is_wrong_names_the_editor(tmp_path, said, code):
    with pytest.raises(UserError) as problem:
        EditorSettings(said, str(tmp_path))
    assert problem.value.code == code
    assert "settings of the editor" in str(problem.value)


@pytest.mark.parametrize("said", [None, {}, {"disambig": None}, {"disambig": {}}])
def test_an_editor_that_says_nothing_takes_nothing_back(tmp_path, said):
    assert settings(tmp_path, said, begun={"ignore": ["a"]}).ignore == ("a",)


def test_what_the_editor_says_later_lies_above_what_it_began_with(tmp_path):
    found = settings(tmp_path, {"ignore": ["b"]}, begun={"ignore": ["a"], "tasks": ["slip"]})
    assert (found.ignore, found.tasks) == (("b",), ("slip",))


def test_words_that_no_file_holds_yet(tmp_path):
    preferences = EditorSettings({"ignore": ["a"]}, str(tmp_path)).with_word("b")
    assert preferences.reloaded().for_file(str(tmp_path / "x.md")).ignore == ("a", "b")


def test_files_of_settings_are_read_once_and_anew(tmp_path):
    preferences = EditorSettings(None, str(tmp_path))
    assert preferences.for_file(str(tmp_path / "x.md")).ignore == ()
    (tmp_path / "disambig.toml").write_text('ignore = ["a"]\n')
    assert preferences.for_file(str(tmp_path / "x.md")).ignore == ()
    assert preferences.reloaded().for_file(str(tmp_path / "x.md")).ignore == ("a",)
