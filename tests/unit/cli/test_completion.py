"""Completion in shells: commands, options and names, without what is slow to import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from commands import process


def complete(monkeypatch, typed, shell="bash"):
    words = typed.split(" ")
    for name, value in {
        "_DISAMBIG_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
    }.items():
        monkeypatch.setenv(name, value)
    return process(python=("-X", "importtime", "-m", "disambig.cli.main"))


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("disambig ann", ["annotate"]),
        ("disambig check --fo", ["--format"]),
        ("disambig counts bu", ["build"]),
        ("disambig check --format gi", ["github", "gitlab"]),
        ("disambig check --writing le", ["learner"]),
        ("disambig new-plugin --kind li", ["lists"]),
    ],
)
def test_names_are_completed(monkeypatch, typed, shown):
    done = complete(monkeypatch, typed)
    assert done.stdout.split() == shown
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported and not imported & {"numba", "spacy", "scipy", "rich"}


def test_names_of_models_and_experiments(monkeypatch):
    assert "spelling" in complete(monkeypatch, "disambig check --task sp").stdout.split()
    assert "bergsma2010.table1" in complete(monkeypatch, "disambig reproduce berg").stdout.split()
    assert "variance_svm" in complete(monkeypatch, "disambig plugins var").stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(monkeypatch, shell):
    monkeypatch.setenv("_DISAMBIG_COMPLETE", f"source_{shell}")
    done = process()
    assert done.returncode == 0 and "_DISAMBIG_COMPLETE" in done.stdout and "disambig" in done.stdout
