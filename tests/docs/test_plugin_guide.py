"""plugins/README.md is true: its files are those that `disambig new-plugin` writes, and they work."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packages import install, write
from typer.testing import CliRunner

import disambig.types
from disambig import registry as plugins
from disambig.cli.main import app
from disambig.errors import UserError
from disambig.scaffold import plugin_files, write_plugin
from disambig.types import decides

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "plugins" / "README.md").read_text(encoding="utf8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
ROWS = re.findall(
    r"^\| `(\w+)(?:\(\))?`(?:, `\w+\(\)`)? \| "
    r"(task|extractor|scorer|learner|decoder|decision rule|calibration data) \| (.*) \|$",
    GUIDE,
    re.MULTILINE,
)


@pytest.fixture
def kind(tmp_path, monkeypatch):
    """The package of the guide, with what it does not show, installed."""
    home = tmp_path / "disambig-kind"
    shown = plugin_files("kind")
    write(home, {"disambig_kind/__init__.py": shown["disambig_kind/__init__.py"], **FILES})
    write(home, {"examples.jsonl": shown["examples.jsonl"]})
    install(home, monkeypatch)
    plugins.reload_plugins()
    yield home
    monkeypatch.undo()
    for module in [name for name in sys.modules if name.startswith("disambig_kind")]:
        del sys.modules[module]
    plugins.reload_plugins()


def test_every_block_is_a_file_that_is_written():
    assert len(FILES) == len(re.findall(r"^```\w+$", GUIDE, re.MULTILINE)) >= 8
    written = plugin_files("kind")
    assert {name: written[name] for name in FILES} == FILES


def test_the_files_are_a_plugin_that_trains_and_labels(kind, tmp_path):
    own = runpy.run_path(str(kind / "tests" / "test_kind.py"))
    for check in own["CHECKS"]["task"] + own["CHECKS"]["extractor"]:
        check()
    call = CliRunner().invoke
    listed = call(app, ["plugins", "kind"])
    assert listed.exit_code == 0 and "task: kind.Labels.v1" in listed.output
    model, mail = tmp_path / "model", tmp_path / "mail.txt"
    done = call(app, ["train", "kind", "--labelled", str(kind / "examples.jsonl"), "--output", str(model)])
    assert done.exit_code == 0, done.output
    mail.write_text("Please wait. The train was late.\n", encoding="utf8")
    done = call(app, ["annotate", str(mail), "--model", str(model), "--format", "jsonl"])
    assert done.exit_code == 0, done.output
    (said,) = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [each["chosen"] for each in said["decisions"]] == ["request", "report"]


def test_the_component_of_the_guide(kind):
    """It is known by name; without a model it says which pack would bring one."""
    code = "import spacy; spacy.blank('en').add_pipe('disambig_kind')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert re.search("D506.*'disambig_kind' .* disambig-kind-models", done.stderr), done.stderr


def test_traits_are_those_of_the_contracts():
    classes = {
        "task": disambig.types.TaskTraits,
        "extractor": disambig.types.ExtractorTraits,
        "learner": disambig.types.LearnerTraits,
        "decision rule": disambig.types.DecisionRuleTraits,
    }
    traits = {
        (name, owner)
        for owner, traits in classes.items()
        for name in vars(traits)
        if not name.startswith("_")
    }
    shown = {(name, owner) for name, owner, _ in ROWS if name.islower()}
    assert shown == traits


def test_abilities_are_those_of_the_contracts():
    protocols = {
        name: part
        for name, part in vars(disambig.types).items()
        if getattr(part, "_is_runtime_protocol", False)
        and part.__module__ == "disambig.types"
        and name != "CandidateBatch"
    }
    shown = {
        name: set(re.findall(r"`(\w+)`", said.partition(":")[0]))
        for name, _, said in ROWS
        if not name.islower()
    }
    assert set(shown) == set(protocols)
    for name, part in protocols.items():
        own = {
            each for each in [*vars(part), *vars(part).get("__annotations__", {})] if not each.startswith("_")
        }
        assert shown[name] == own, name


def test_the_message_of_the_guide_is_the_message():
    class Labels:
        decides = "labels"

    with pytest.raises(UserError) as caught:
        decides(Labels())
    assert f"    {caught.value}" in GUIDE.splitlines()


def test_links_lead_somewhere():
    for place in re.findall(r"\]\((\.\./[^)]*)\)", GUIDE):
        assert (ROOT / "plugins" / place).resolve().is_file(), place


def test_words_are_found_by_their_hashes():
    from disambig.api import Words
    from disambig.api.text import hash_word

    (code,) = re.findall(r"`(np\.flatnonzero\(.*?\))` finds", GUIDE)
    view = Words()(["A light bag. Light and LIGHT, lights."])
    found = eval(code, {"np": np, "hash_word": hash_word, "view": view})
    assert [view.texts[0][view.starts[i] : view.ends[i]] for i in found] == ["light", "Light", "LIGHT"]


@pytest.mark.slow
def test_the_wheel_of_the_guide(tmp_path):
    """Its commands build it, install it and list the plugin; only the first fetches from an index."""
    pytest.importorskip("hatchling")
    section = GUIDE.partition("### 8. A wheel\n")[2].partition("\n## ")[0]
    first, build, installing, listing = re.findall(r"^    (.*)$", section, re.MULTILINE)
    assert first == "pip install hatchling"
    home, site = write_plugin("kind", tmp_path / "new"), tmp_path / "site"

    def call(line, *more, **variables):
        program, *arguments = line.split()
        module = {"pip": "pip", "disambig": "disambig.cli.main"}[program]
        command = [sys.executable, "-m", module, *arguments, *map(str, more)]
        environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"} | variables
        done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call(build)
    with zipfile.ZipFile(home / installing.split()[-1]) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("disambig_kind/")}
    assert held == {name for name in plugin_files("kind") if name.startswith("disambig_kind/")}
    call(installing, "--no-deps", "--target", site)
    assert "learner: kind.Softmax.v1" in call(listing, PYTHONPATH=str(site))
