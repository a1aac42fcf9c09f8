"""The files that users copy for GitHub and GitLab: they are whole, and their scripts run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import srsly

CI = Path(__file__).parents[2] / "disambig" / "checking" / "ci"
ACTION = srsly.read_yaml(CI / "github" / "action.yml")
WORKFLOW = srsly.read_yaml(CI / "github" / "workflow.yml")
JOB = srsly.read_yaml(CI / "gitlab" / "disambig.gitlab-ci.yml")["disambig"]
FAKES = Path(__file__).with_name("fake_models.py")

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


@pytest.fixture
def home(tmp_path):
    """A folder with a text, and commands that install nothing and check with the fake models."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, does in {"pip": "true", "disambig": f'exec "{sys.executable}" "{FAKES}" "$@"'}.items():
        (commands / name).write_text(f"#!/bin/sh\n{does}\n")
        (commands / name).chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / "note.md").write_text("It was a quite place.\n")
    return home


def bash(script, home, **variables):
    path = f"{home.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=home,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
    )


def act(home, **given):
    """Run the step of the action with its inputs."""
    inputs = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | given
    step = ACTION["runs"]["steps"][-1]
    names = {name: said.split("inputs.")[1].split()[0] for name, said in step["env"].items()}
    assert sorted(names.values()) == sorted(inputs)
    return bash(step["run"], home, **{name: inputs[key] for name, key in names.items()})


def test_the_action_prints_notices(home):
    done = act(home)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::notice file=note.md,line=1,")


def test_the_action_writes_a_file_and_need_not_fail(home):
    (home / "other.md").write_text("All is well.\n")
    done = act(home, format="sarif", output="x.sarif", fail="false", paths="note.md other.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(json.loads((home / "x.sarif").read_text())["runs"][0]["results"]) == 1
    assert act(home, paths="gone.md", fail="false").returncode == 2


def test_the_workflow_gives_inputs_that_the_action_has():
    steps = [step for step in WORKFLOW["jobs"]["check"]["steps"] if step["uses"].endswith("/disambig")]
    assert len(steps) == 2
    assert all(set(step["with"]) <= set(ACTION["inputs"]) for step in steps)
    written = {step["with"].get("output") for step in steps} - {None}
    (upload,) = [step for step in WORKFLOW["jobs"]["check"]["steps"] if "upload-sarif" in step["uses"]]
    assert {upload["with"]["sarif_file"]} == written


@pytest.mark.parametrize(("paths", "status"), [("note.md", 0), ("gone.md", 1)])
def test_the_job_of_gitlab(home, paths, status):
    done = bash("\n".join(JOB["script"]), home, **{**JOB["variables"], "DISAMBIG_PATHS": paths})
    assert done.returncode == status, done.stderr
    report = json.loads((home / JOB["artifacts"]["reports"]["codequality"]).read_text())
    assert [issue["check_name"] for issue in report] == ["disambig/spelling"] * (status == 0)
