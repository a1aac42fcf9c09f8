"""Files for continuous integration and hosting: the action, templates and hooks are run."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import srsly
from commands import here
from running_server import running

from disambig import __version__
from disambig.checking import FORMATS, SUFFIXES

ROOT = Path(__file__).parents[2]
CI = ROOT / "disambig" / "checking" / "ci"
ACTION = srsly.read_yaml(ROOT / "action.yml")
WORKFLOW = srsly.read_yaml(CI / "github" / "workflow.yml")
JOB = srsly.read_yaml(CI / "gitlab" / "disambig.gitlab-ci.yml")["disambig"]
FAKES = Path(__file__).with_name("fake_models.py")
needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


@pytest.fixture
def home(tmp_path):
    """A folder with a text, and commands that install nothing and use the fake models."""
    commands = tmp_path / "bin"
    commands.mkdir()
    checks = f'exec "{sys.executable}" "{FAKES}" "$@"'
    python = f'exec "{sys.executable}" "$@"'
    for name, does in {"pip": 'echo "$@" > "$PIP_SAID"', "disambig": checks, "python": python}.items():
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
    inputs = {name: str(item["default"]) for name, item in ACTION["inputs"].items()} | given
    step = ACTION["runs"]["steps"][-1]
    values = {f"${{{{ inputs.{name} }}}}": value for name, value in inputs.items()}
    setup = ACTION["runs"]["steps"][0]["with"]["python-version"]
    github = {"action_path": "/the/action", "action_repository": "someone/disambig", "action_ref": "v1"}
    replacements = {f"${{{{ github.{name} }}}}": value for name, value in github.items()}
    assert {setup, *step["env"].values()} == {*values, *replacements}  # each input is used
    values |= replacements
    return bash(step["run"], home, **{name: values[output] for name, output in step["env"].items()})


@needs_bash
def test_the_action_prints_notices(home):
    done = act(home)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::notice file=note.md,line=1,")
    assert (home.parent / "pip").read_text() == "install --quiet /the/action\n"


@needs_bash
def test_the_action_keeps_the_log_that_it_writes_to(home):
    step = f"echo begin\n{ACTION['runs']['steps'][-1]['run']}"
    given = {"HERE": ".", "FORMAT": "github", "PATHS": ".", "FAIL": "true"}
    bash(f"exec > ../log\n{step}", home, **given)
    assert (home.parent / "log").read_text().startswith("begin\n::notice file=note.md,line=1,")


@needs_bash
def test_the_action_gives_the_address_of_the_rules(home):
    (home.parent / "bin" / "disambig").write_text('#!/bin/sh\necho "$DISAMBIG_RULES_PAGE"\n')
    step = ACTION["runs"]["steps"][-1]["run"]
    given = {"HERE": ".", "FORMAT": "github", "REPOSITORY": "someone/disambig", "REVISION": "v1"}
    done = bash(step, home, GITHUB_SERVER_URL="https://github.com", PATHS=".", FAIL="true", **given)
    assert done.stdout == "https://github.com/someone/disambig/blob/v1/disambig/rules/README.md\n", (
        done.stderr
    )


@needs_bash
def test_the_action_writes_a_file_and_need_not_fail(home):
    (home / "other.md").write_text("All is well.\n")
    done = act(home, format="sarif", output="x.sarif", fail="false", paths="note.md other.md")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(json.loads((home / "x.sarif").read_text())["runs"][0]["results"]) == 1
    assert act(home, paths="gone.md", fail="false").returncode == 2


@needs_bash
def test_the_action_takes_a_package_and_more_options(home):
    done = act(
        home, package="git+https://host/disambig", options="--max-flags-per-1000 0 --no-detect-language"
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (home.parent / "pip").read_text() == "install --quiet git+https://host/disambig\n"


@needs_bash
@pytest.mark.parametrize(
    ("paths", "checked"),
    [
        ("note.md\nmore/other.md\n", ["note.md", "more/other.md"]),
        ("'two words.md' \"note.md\"", ["two words.md", "note.md"]),
        ("**/*.md", ["more/other.md", "note.md", "two words.md"]),
        ("'[x].md' m*", ["[x].md", "more"]),
        ("gone*.md", ["gone*.md"]),  # `disambig check` says that there is none
    ],
)
def test_the_action_splits_paths_like_a_shell(home, paths, checked):
    for name in ("two words.md", "[x].md", "more/other.md"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text("It was a quite place.\n")
    if "*" in paths and "gone" not in paths and "[" not in paths:
        (home / "[x].md").unlink()
    (home.parent / "bin" / "disambig").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    done = act(home, paths=paths, options="--trust '4 in 5'\n--rule its")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.splitlines()
    options = ["--format", "github", "--output", "-", "--trust", "4 in 5", "--rule", "its"]
    assert shown == ["check", *options, "--", *checked]


@needs_bash
@pytest.mark.parametrize(
    ("inputs", "named"),
    [({"paths": "'a"}, "paths"), ({"options": '"a'}, "options"), ({"paths": " "}, "paths")],
)
def test_the_action_names_an_input_that_it_cannot_read(home, inputs, named):
    done = act(home, **inputs)
    assert done.returncode == 2 and f"the input {named} " in done.stderr
    assert "Traceback" not in done.stderr


@needs_bash
def test_the_options_of_the_action_exist():
    """Each option in the command line of the action exists, for all inputs."""
    shown = here("check", "--help").stdout
    (line,) = [line for line in ACTION["runs"]["steps"][-1]["run"].splitlines() if "disambig check" in line]
    options = re.findall(r"(--[a-z][a-z0-9-]*)", line)
    assert options == ["--format", "--output", "--since"] and all(option in shown for option in options)
    assert {"github", "sarif"} <= set(FORMATS)
    assert ACTION["inputs"]["format"]["default"] == "github"


@needs_bash
def test_the_workflow_gives_inputs_that_the_action_has():
    steps = [
        step for step in WORKFLOW["jobs"]["check"]["steps"] if step["uses"].startswith("OWNER/disambig@")
    ]
    assert len(steps) == 2
    assert all(set(step["with"]) <= set(ACTION["inputs"]) for step in steps)
    written = {step["with"].get("output") for step in steps} - {None}
    (upload,) = [step for step in WORKFLOW["jobs"]["check"]["steps"] if "upload-sarif" in step["uses"]]
    assert {upload["with"]["sarif_file"]} == written


@needs_bash
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


@needs_bash
def test_the_job_of_gitlab_asks_what_to_install(home):
    done = bash("\n".join(JOB["script"]), home, **JOB["variables"])
    assert done.returncode != 0 and "set it to the place where you got disambig from" in done.stderr


DOCKERFILE = ROOT / "disambig" / "server" / "Dockerfile"

INSTRUCTIONS = [
    tuple(line.split(maxsplit=1))
    for line in DOCKERFILE.read_text(encoding="utf8").splitlines()
    if line and not line.startswith("#")
]


def values(instruction: str) -> list[str]:
    return [value for name, value in INSTRUCTIONS if name == instruction]


def test_the_dockerfile_has_known_instructions_only():
    allowed = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in INSTRUCTIONS} <= allowed
    for name in ("ENTRYPOINT", "CMD"):
        (value,) = values(name)
        assert all(isinstance(word, str) for word in json.loads(value))


def test_files_of_the_dockerfile_exist():
    ignored = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text(encoding="utf8").splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = []
    for value in values("COPY"):
        *sources, _ = shlex.split(value)
        if not sources[0].startswith("--from="):
            copied += sources
    assert ignored[0] == "*" and sent == set(copied)
    assert all((ROOT / path).exists() for path in copied)


def test_all_that_the_wheel_is_built_from_is_copied():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf8")
    (packages,) = re.findall(r"targets.wheel\]\npackages = (\[.*?\])", pyproject, re.DOTALL)
    needed = {Path(path).parts[0] for path in ast.literal_eval(packages)}
    needed |= {"pyproject.toml", *re.findall(r'^readme = "(.*)"$', pyproject, re.MULTILINE), "LICENSE"}
    copied = {word for value in values("COPY") for word in shlex.split(value)}
    assert needed <= copied


def test_the_image_runs_as_another_user_than_root():
    names = [name for name, _ in INSTRUCTIONS]
    (user,) = values("USER")
    assert user != "root" and any(re.search(rf"useradd .*\b{user}\b", value) for value in values("RUN"))
    last = len(names) - 1 - names[::-1].index("FROM")
    assert names.index("USER") > last and "RUN" not in names[names.index("USER") :]


def test_the_commands_of_the_image_exist():
    (entry,), (command,) = values("ENTRYPOINT"), values("CMD")
    program, *arguments = json.loads(entry) + json.loads(command)
    assert (program, arguments[0]) == ("disambig", "serve")
    shown = here("serve", "--help").stdout
    assert all(option in shown for option in arguments if option.startswith("--"))
    assert values("EXPOSE") == [arguments[arguments.index("--port") + 1]]
    extras = re.findall(r"\.\[([a-z,]+)\]", " ".join(values("RUN")))
    assert extras == ["server"]


def test_the_health_check_asks_a_running_server(tmp_path):
    (value,) = values("HEALTHCHECK")
    python, option, code = json.loads(value.partition("CMD ")[2])
    place = f"127.0.0.1:{values('EXPOSE')[0]}/"
    assert (python, option) == ("python", "-c") and place in code
    with running(fake=True, folder=tmp_path) as (port, _):
        options = code.replace(place, f"127.0.0.1:{port}/")
        assert subprocess.run([sys.executable, "-c", options], timeout=60, check=False).returncode == 0
    gone = subprocess.run([sys.executable, "-c", options], capture_output=True, timeout=60, check=False)
    assert gone.returncode != 0


def test_the_citation_is_of_this_version():
    citation = srsly.read_yaml(ROOT / ".github" / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what the format requires
    assert citation["version"] == __version__ and citation["license"] == "MIT"


def test_links_of_the_policy_exist():
    text = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links and all((ROOT / ".github" / link).is_file() for link in links)


def test_the_line_length_of_editors_is_that_of_ruff():
    style = (ROOT / ".editorconfig").read_text(encoding="utf8")
    assert style.startswith("root = true\n")
    (length,) = re.findall(r"\[\*\.py\]\nmax_line_length = (\d+)\n", style)
    assert f"\nline-length = {length}\n" in (ROOT / "pyproject.toml").read_text(encoding="utf8")


HOOKS = srsly.read_yaml(ROOT / ".pre-commit-hooks.yaml")


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_the_hook_has_the_keys_that_pre_commit_needs(hook):
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert hook["language"] == "python"
    assert hook["types"] == ["text"] and all(re.search(hook["files"], f"docs/A{end}") for end in SUFFIXES)
    assert not re.search(hook["files"], "src/md.py") and not re.search(hook["files"], "txt")
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
