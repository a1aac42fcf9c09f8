"""What hosts of code and containers read: the Dockerfile, the citation, the policy, the style of editors."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import srsly
from running_server import running

from disambig import __version__

sys.path.insert(0, str(Path(__file__).parents[1]))

from commands import here

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "disambig" / "server" / "Dockerfile"
INSTRUCTIONS = [
    tuple(line.split(maxsplit=1))
    for line in DOCKERFILE.read_text(encoding="utf8").splitlines()
    if line and not line.startswith("#")
]


def values(instruction: str) -> list[str]:
    return [value for name, value in INSTRUCTIONS if name == instruction]


def test_the_dockerfile_has_known_instructions_only():
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in INSTRUCTIONS} <= known
    for name in ("ENTRYPOINT", "CMD"):
        (value,) = values(name)
        assert all(isinstance(word, str) for word in json.loads(value))


def test_whatever_is_copied_exists_and_is_sent_to_docker():
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
        asked = code.replace(place, f"127.0.0.1:{port}/")
        assert subprocess.run([sys.executable, "-c", asked], timeout=60, check=False).returncode == 0
    gone = subprocess.run([sys.executable, "-c", asked], capture_output=True, timeout=60, check=False)
    assert gone.returncode != 0


def test_the_citation_is_of_this_version():
    citation = srsly.read_yaml(ROOT / ".github" / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what the format requires
    assert citation["version"] == __version__ and citation["license"] == "MIT"


def test_the_policy_links_to_what_there_is():
    text = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf8")
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links and all((ROOT / ".github" / link).is_file() for link in links)


def test_editors_are_told_the_line_length_of_ruff():
    style = (ROOT / ".editorconfig").read_text(encoding="utf8")
    assert style.startswith("root = true\n")
    (length,) = re.findall(r"\[\*\.py\]\nmax_line_length = (\d+)\n", style)
    assert f"\nline-length = {length}\n" in (ROOT / "pyproject.toml").read_text(encoding="utf8")
