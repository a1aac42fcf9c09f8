"""The hooks that are shipped for pre-commit: the manifest is whole and each entry runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import srsly

ROOT = Path(__file__).parents[2]
HOOKS = srsly.read_yaml(ROOT / ".pre-commit-hooks.yaml")
FAKES = Path(__file__).with_name("fake_models.py")


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_a_hook_says_what_pre_commit_needs(hook):
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert hook["language"] == "python"
    assert hook["types_or"] == ["markdown", "plain-text", "tex", "rst", "html", "jupyter", "asciidoc"]
    assert re.search(hook["exclude"], "docs/requirements-dev.txt")
    assert not re.search(hook["exclude"], "docs/notes.txt")


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_the_entry_of_a_hook_runs(hook, tmp_path):
    command, *arguments = shlex.split(hook["entry"])
    assert command == "disambig"
    wrong, right = tmp_path / "wrong.md", tmp_path / "right.md"
    wrong.write_text("It was a quite place.\n")
    right.write_text("All is well.\n")
    done = subprocess.run(
        [sys.executable, str(FAKES), *arguments, "wrong.md", "right.md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("wrong.md:1:10: quite -> quiet (spelling)")
    fixes = "--fix" in arguments
    assert wrong.read_text() == f"It was a {'quiet' if fixes else 'quite'} place.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["right.md", "wrong.md"]
