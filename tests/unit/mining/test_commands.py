"""``disambig fixes mine`` and ``disambig tune``, with the installed models."""

from __future__ import annotations

import json
import shutil

import pytest
from commands import here

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
GOOD = "Nobody has touched this old paragraph about the long river."
WRONG = "The weather was better then we had hoped, and we stayed."
RIGHT = WRONG.replace("then", "than")


@pytest.fixture
def project(history):
    history.commit("first", {"a.md": f"{GOOD}\n\n{WRONG}\n\nThey waited for for an hour there.\n"})
    history.commit("Fix", {"a.md": f"{GOOD}\n\n{RIGHT}\n\nThey waited for for an hour there.\n"}, days=800)
    history.commit("Fix", {"a.md": f"{GOOD}\n\n{RIGHT}\n\nThey waited for an hour there.\n"}, days=800)
    history.commit("last", {"b.md": "A young paragraph stands alone in this file.\n"}, days=800)
    return history.home


def test_mine_writes_what_evaluate_reads(project, tmp_path):
    done = here("fixes", "mine", project, "--output", tmp_path / "mined", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "project: 2 corrections (2 very likely)" in done.stdout
    assert "confusion" in done.stdout and "doubled" in done.stdout
    files = tmp_path / "mined" / "fixes.jsonl", tmp_path / "mined" / "clean.jsonl"
    done = here("evaluate", "--fixes", files[0], "--clean", files[1], "--json")
    assert json.loads(done.stdout)["all"]["n"] == 2
    again = here("fixes", "mine", project, "--output", tmp_path / "mined")
    assert (again.returncode, "D310" in again.stderr) == (2, True)
    forced = here("fixes", "mine", project, "--output", tmp_path / "mined", "--force", "--json", "-q")
    assert json.loads(forced.stdout)["projects"][0]["tier_1"] == 2


def test_tune_measures_both_halves_and_writes_settings(project):
    done = here("tune", project, "--dry-run", "-q")
    assert done.returncode == 0, done.stderr
    assert "newer, tuned" in done.stdout
    assert not (project / "disambig.toml").exists()
    done = here("tune", project, "--json", "-q")
    assert json.loads(done.stdout)["measured"]["older, as shipped"]["mistakes"] == 1
    assert "disambig-ignore.txt" in (project / "disambig.toml").read_text()
    assert here("check", "--show-settings", "a.md", folder=project).returncode == 0


def test_a_folder_without_a_history_is_one_line(tmp_path):
    for command in (["fixes", "mine", tmp_path, "--output", tmp_path / "x"], ["tune", tmp_path]):
        done = here(*command)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "D541" in done.stderr
