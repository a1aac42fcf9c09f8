"""The action for GitHub, and the files that users copy for GitHub and GitLab: their scripts run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import srsly

from disambig.checking import FORMATS

sys.path.insert(0, str(Path(__file__).parents[1]))

from commands import here

ROOT = Path(__file__).parents[2]
CI = ROOT / "disambig" / "checking" / "ci"
ACTION = srsly.read_yaml(ROOT / "action.yml")
WORKFLOW = srsly.read_yaml(CI / "github" / "workflow.yml")
JOB = srsly.read_yaml(CI / "gitlab" / "disambig.gitlab-ci.yml")["disambig"]
FAKES = Path(__file__).with_name("fake_models.py")

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


@pytest.fixture
def home(tmp_path):
    """A folder with a text, and commands that install nothing and check with the fake models."""
    commands = tmp_path / "bin"
    commands.mkdir()
    checks = f'exec "{sys.executable}" "{FAKES}" "$@"'
    for name, does in {"pip": 'echo "$@" > "$PIP_SAID"', "disambig": checks}.items():
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
        env={**os.environ, "PATH": path, "PIP_SAID": str(home.parent / "pip"), **variables},
        capture_output=True,
        text=True,
    )


def act(home, **given):
    """Run the step of the action with its inputs."""
    inputs = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | given
    step = ACTION["runs"]["steps"][-1]
    values = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()}
    setup = ACTION["runs"]["steps"][0]["with"]["python-version"]
    github = {"action_path": "/the/action", "action_repository": "someone/disambig", "action_ref": "v1"}
    replacements = {f"${{{{ github.{name} }}}}": value for name, value in github.items()}
    assert {setup, *step["env"].values()} == {*values, *replacements}  # each input is used
    values |= replacements
    return bash(step["run"], home, **{name: values[said] for name, said in step["env"].items()})


def test_the_action_prints_notices(home):
    done = act(home)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::notice file=note.md,line=1,")
    assert (home.parent / "pip").read_text() == "install --quiet /the/action\n"


def test_the_action_gives_the_address_of_the_rules(home):
    (home.parent / "bin" / "disambig").write_text('#!/bin/sh\necho "$DISAMBIG_RULES_PAGE"\n')
    step = ACTION["runs"]["steps"][-1]["run"]
    given = {"HERE": ".", "FORMAT": "github", "REPOSITORY": "someone/disambig", "REVISION": "v1"}
    done = bash(step, home, GITHUB_SERVER_URL="https://github.com", PATHS=".", FAIL="true", **given)
    assert done.stdout == "https://github.com/someone/disambig/blob/v1/disambig/rules/README.md\n", (
        done.stderr
    )


def test_the_action_writes_a_file_and_need_not_fail(home):
    (home / "other.md").write_text("All is well.\n")
    done = act(home, format="sarif", output="x.sarif", fail="false", paths="note.md other.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(json.loads((home / "x.sarif").read_text())["runs"][0]["results"]) == 1
    assert act(home, paths="gone.md", fail="false").returncode == 2


def test_the_action_takes_a_package_and_more_options(home):
    done = act(
        home, package="git+https://host/disambig", options="--max-flags-per-1000 0 --no-detect-language"
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (home.parent / "pip").read_text() == "install --quiet git+https://host/disambig\n"


def test_the_options_of_the_action_exist():
    """Each option in its command line, however its inputs are set."""
    shown = here("check", "--help").stdout
    (line,) = [line for line in ACTION["runs"]["steps"][-1]["run"].splitlines() if "disambig check" in line]
    options = re.findall(r"(--[a-z][a-z0-9-]*)", line)
    assert options == ["--format", "--since"] and all(option in shown for option in options)
    assert {"github", "sarif"} <= set(FORMATS)
    assert ACTION["inputs"]["format"]["default"] == "github"


def test_the_workflow_gives_inputs_that_the_action_has():
    steps = [
        step for step in WORKFLOW["jobs"]["check"]["steps"] if step["uses"].startswith("OWNER/disambig@")
    ]
    assert len(steps) == 2
    assert all(set(step["with"]) <= set(ACTION["inputs"]) for step in steps)
    written = {step["with"].get("output") for step in steps} - {None}
    (upload,) = [step for step in WORKFLOW["jobs"]["check"]["steps"] if "upload-sarif" in step["uses"]]
    assert {upload["with"]["sarif_file"]} == written


@pytest.mark.parametrize(("paths", "status"), [("note.md", 0), ("gone.md", 1)])
def test_the_job_of_gitlab(home, paths, status):
    done = bash(
        "\n".join(JOB["script"]),
        home,
        **{**JOB["variables"], "DISAMBIG_PATHS": paths, "DISAMBIG_PACKAGE": "disambig.whl"},
    )
    assert done.returncode == status, done.stderr
    report = json.loads((home / JOB["artifacts"]["reports"]["codequality"]).read_text())
    assert [issue["check_name"] for issue in report] == ["disambig/spelling"] * (status == 0)


def test_the_job_of_gitlab_asks_what_to_install(home):
    done = bash("\n".join(JOB["script"]), home, **JOB["variables"])
    assert done.returncode != 0 and "set it to the place where you got disambig from" in done.stderr
