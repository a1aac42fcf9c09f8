"""``disambig new-plugin``: what it writes and what it rejects."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from commands import exit_status

from disambig import scaffold
from disambig.errors import UserError
from disambig.scaffold import KINDS, check_name, plugin_files, write_plugin


@pytest.mark.parametrize("kind", KINDS)
def test_command_writes_a_package(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    assert exit_status("new-plugin", "kind", "--kind", kind) == 0
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    shown = capsys.readouterr()
    assert {str(Path(line)) for line in shown.out.splitlines()} == files
    assert "cd disambig-kind && pip install -e '.[test]' && pytest" in shown.err
    for path in tmp_path.rglob("*"):
        assert "NAME" not in path.name
        if path.is_file():
            text = path.read_text()
            assert "NAME" not in text and "VERSION" not in text, path


def test_labels_are_the_default(tmp_path):
    home = write_plugin("kind", tmp_path / "new")
    inside = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert inside == set(plugin_files("kind", "labels"))


def test_reports_an_unknown_kind(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert exit_status("new-plugin", "kind", "--kind", "word") == 2
    assert capsys.readouterr().err == (
        "disambig: [D526] unknown kind of plugin 'word'; available: words, decoder, labels, lists\n"
    )
    assert not list(tmp_path.iterdir())


def test_help_names_every_kind(capsys):
    assert exit_status("new-plugin", "--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{kind} (" in shown or f"or {kind}." in shown for kind in KINDS)


def test_another_directory(tmp_path):
    home = write_plugin("kind", tmp_path / "deep" / "inside")
    assert (home / "disambig_kind" / "kind.cfg").is_file()
    assert sorted(path.name for path in home.parent.iterdir()) == ["inside"]


@pytest.mark.parametrize("name", ["", "my-plugin", "Kind", "1st", "class", "_x", "disambig_x", "größe"])
def test_rejects_invalid_names(name):
    with pytest.raises(UserError, match=r"D012.*no Python keyword"):
        check_name(name)


@pytest.mark.parametrize("name", ["core", "disambig", "web1t"])
def test_rejects_names_of_the_core(name):
    with pytest.raises(UserError, match="D013"):
        check_name(name)


@pytest.mark.parametrize(
    ("group", "name", "by"),
    [("disambig", "theirs", "the plugin"), ("spacy_factories", "disambig_theirs", "the spaCy component")],
)
def test_rejects_names_of_other_plugins(monkeypatch, group, name, by):
    entry = EntryPoint(name, "their.module", group)

    def entries(*, group, name=None):
        return [entry] if entry.group == group and name in (None, entry.name) else []

    monkeypatch.setattr(scaffold, "entry_points", entries)
    with pytest.raises(UserError, match=f"D013.*{by}"):
        check_name("theirs")


def test_rejects_an_existing_directory(tmp_path, capsys):
    assert exit_status("new-plugin", "kind", "--output", tmp_path) == 2
    error = capsys.readouterr().err
    assert error.startswith("disambig: [D014]") and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_failure_leaves_no_files(tmp_path, monkeypatch):
    def broken(name, kind):
        return {"a.txt": "whole", "b.txt": None}

    monkeypatch.setattr(scaffold, "plugin_files", broken)
    with pytest.raises(TypeError):
        write_plugin("kind", tmp_path / "new")
    assert not list(tmp_path.iterdir())


def test_reports_an_unwritable_directory(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="D309"):
        write_plugin("kind", tmp_path / "file" / "new")


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_sorted_and_end_in_a_newline(kind):
    files = plugin_files("kind", kind)
    assert list(files) == sorted(files) and len(files) > 6
    assert all(text.endswith("\n") for text in files.values())
