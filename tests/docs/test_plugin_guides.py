"""The guides to plugins, commands, decoders and lists: their files are written, installed and run."""

from __future__ import annotations

import importlib
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from commands import exit_status
from readme_blocks import installed, write
from typer.testing import CliRunner

import disambig.types
from disambig import registry as plugins
from disambig.api.runners import EngineOptions
from disambig.cli.main import app
from disambig.config import read_config, resolve
from disambig.data import CrossedRows, DenseBlocks, DenseLists, JoinedRows, SparseRows, convert
from disambig.errors import UserError
from disambig.formats import ReaderTraits, parse_line
from disambig.metrics import Outcomes, measure_named
from disambig.models import load_standalone
from disambig.packs import default_tasks, packs
from disambig.scaffold import plugin_files, write_plugin
from disambig.testing import (
    blocks,
    check_extractor,
    check_judge,
    check_kernel,
    check_measure,
    check_reader,
    check_runner,
    check_standalone,
    check_tokenisation,
    crossed,
    dense_lists,
    lists,
    make_calibration_data,
)
from disambig.types import decides

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "plugins" / "README.md").read_text(encoding="utf8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))

ROWS = re.findall(
    r"^\| `(\w+)(?:\(\))?`(?:, `\w+\(\)`)? \| "
    r"(task|extractor|scorer|learner|decoder|decision rule|reader|calibration data) \| (.*) \|$",
    GUIDE,
    re.MULTILINE,
)


@pytest.fixture
def kind(tmp_path, monkeypatch):
    """The installed package of the guide, with the parts that it does not show."""
    home = tmp_path / "disambig-kind"
    shown = plugin_files("kind")
    write(home, {"disambig_kind/__init__.py": shown["disambig_kind/__init__.py"], **FILES})
    write(home, {"examples.jsonl": shown["examples.jsonl"]})
    with installed(home, monkeypatch, "disambig_kind"):
        yield home


def test_every_block_is_a_file_that_is_written():
    assert len(FILES) == len(re.findall(r"^```\w+$", GUIDE, re.MULTILINE)) >= 8
    written = plugin_files("kind")
    assert {name: written[name] for name in FILES} == FILES


def test_the_files_are_a_plugin_that_trains_and_labels(kind, tmp_path):
    namespace = runpy.run_path(str(kind / "tests" / "test_kind.py"))
    for check in namespace["CHECKS"]["task"] + namespace["CHECKS"]["extractor"]:
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
    (output,) = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [item["chosen"] for item in output["decisions"]] == ["request", "report"]


def test_the_component_of_the_guide(kind):
    """It is found by name; without a model, the message names the pack to install."""
    code = "import spacy; spacy.blank('en').add_pipe('disambig_kind')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert re.search("D506.*'disambig_kind' .* disambig_kind_models", done.stderr), done.stderr


def test_traits_are_those_of_the_contracts():
    classes = {
        "task": disambig.types.TaskTraits,
        "extractor": disambig.types.ExtractorTraits,
        "learner": disambig.types.LearnerTraits,
        "decision rule": disambig.types.DecisionRuleTraits,
        "reader": ReaderTraits,
    }
    traits = {
        (name, owner)
        for owner, traits in classes.items()
        for name in vars(traits)
        if not name.startswith("_")
    }
    shown = {(name, owner) for name, owner, _ in ROWS if name.islower()}
    assert shown == traits


def test_the_decision_rule_of_the_guide(kind, monkeypatch):
    """It fulfils its contract, and a model uses it with the section in the guide."""
    (_, config) = section_blocks("Decision rules")
    rule = add_entry(kind, monkeypatch, "rule", "Decision rules", "judges", "kind.Cautious.v1", "Cautious")
    monkeypatch.chdir(kind)
    checks = check_judge(rule(), make_calibration_data("labels"))
    assert len(checks) > 5
    for check in checks:
        check()
    (kind / "my.cfg").write_text(FILES["disambig_kind/kind.cfg"] + config, encoding="utf8")
    run_line("train my.cfg --labelled examples.jsonl --output model")
    assert "least = 0.2" in (kind / "model" / "config.cfg").read_text(encoding="utf8")
    (kind / "mail.txt").write_text("Please wait.\n", encoding="utf8")
    assert "request" in run_line("annotate mail.txt --model model --format text")
    assert "least : float" in run_line("plugins kind.Cautious.v1")


def section_blocks(title):
    """Return the indented blocks of a section of the guide: its code and, in some, a config."""
    section = GUIDE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [dedent(block) for block in re.findall(r"\n\n((?:(?:    .*)?\n)+)(?=\S|\Z)", section)]


def add_entry(kind, monkeypatch, module, title, hook, name, factory):
    """Write the code of a section into the package of the guide and register it; return what it defines."""
    code = section_blocks(title)[0]
    write(kind, {f"disambig_kind/{module}.py": code.strip() + "\n"})
    assert f'register("{name}", ".{module}:{factory}")' in GUIDE
    with (kind / "disambig_kind" / "plugin.py").open("a", encoding="utf8") as plugin:
        plugin.write(
            f"\n\n@hookimpl\ndef disambig_register_{hook}(register):\n"
            f'    register("{name}", ".{module}:{factory}")\n'
        )
    monkeypatch.delitem(sys.modules, "disambig_kind.plugin", raising=False)
    plugins.reload_plugins()
    return plugins.get(hook, name)


def test_the_tokenisation_of_the_guide(kind, monkeypatch, tmp_path):
    """It fulfils its contract, and counts are made with it."""
    name = "kind.German.v1"
    german = add_entry(kind, monkeypatch, "words", "Tokenisations", "tokenisations", name, "German")()
    assert german.words("Er weiß, daß es E-Mails gibt. Ja?")[:5] == ["<S>", "er", "weiss", ",", "dass"]
    for check in check_tokenisation(german, ["Er weiß nicht, daß es regnet. Ja?", "", "E-Mail!\n\nEnde"]):
        check()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text(
        "Er sagt, daß es regnet.\nSie sagt, dass es regnet.\n", encoding="utf8"
    )
    run_line(f"counts build text.txt -o german.counts --tokenisation {name}")
    assert run_line("counts query german.counts 'sagt, daß'").split() == ["sagt,", "daß", "2"]


def test_the_extractor_of_counts_of_the_guide(kind, monkeypatch, tmp_path):
    add = add_entry(
        kind, monkeypatch, "neighbours", "Counts of n-grams", "extractors", "kind.Neighbours.v1", "Neighbours"
    )
    monkeypatch.chdir(tmp_path)
    sentences = ["It was quite good.", "Keep quiet now, please.", "A quiet room is quite nice.", ""]
    (tmp_path / "text.txt").write_text("\n".join(sentences * 9), encoding="utf8")
    run_line("counts build text.txt -o my.counts")
    extractor, task = add("my.counts"), resolve({"task": dict(CONFUSED)})["task"]
    for check in check_extractor(extractor, task, sentences):
        check()
    config = FILES["disambig_kind/kind.cfg"].partition("[task]")[0] + CONFUSED_CONFIG
    (tmp_path / "my.cfg").write_text(config, encoding="utf8")
    run_line("train my.cfg --text text.txt --lines --output model --no-test")
    assert 'counts = "../my.counts"' in (tmp_path / "model" / "config.cfg").read_text(encoding="utf8")


CONFUSED = {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["quite", "quiet"], "language": "en"}
CONFUSED_CONFIG = """
[task]
@disambig_tasks = "disambig.Candidates.v1"
candidates = ["quite", "quiet"]

[tokenisation]
@disambig_tokenisations = "disambig.words.v1"

[extractors]

[extractors.near]
@disambig_extractors = "kind.Neighbours.v1"
counts = "my.counts"

[learner]
@disambig_learners = "kind.Softmax.v1"

[baseline]
@disambig_learners = "disambig.NoPreference.v1"
"""


def test_the_measure_of_the_guide(kind, monkeypatch):
    name = "kind.WorstRecall.v1"
    measure = add_entry(kind, monkeypatch, "measures", "Measures", "measures", name, "WorstRecall")()
    outcomes = Outcomes.from_group(["a", "b"], [0, 0, 1, 1], [0, 0, 1, 0])
    for check in check_measure(measure, answers=[(outcomes, 0.5)]):
        check()
    assert measure_named(name) == measure


def test_the_experiment_of_the_guide(kind, monkeypatch, tmp_path):
    name = "paper2026.table1.v1"
    add_entry(kind, monkeypatch, "experiments", "Experiments", "experiments", name, "Table1")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = CliRunner().invoke(app, ["reproduce", "paper2026.table1", "--data", str(empty)])
    assert re.search(r"D721.*kind/\*.jsonl", str(done.exception))
    write(tmp_path, {"kind/examples.jsonl": (kind / "examples.jsonl").read_text(encoding="utf8")})
    shown = run_line(f"reproduce paper2026.table1 --data {tmp_path} --quick")
    assert re.search(r"holds +more examples help", shown) and "softmax" in shown


def test_the_decision_rule_for_words_of_the_guide(tmp_path, monkeypatch):
    """It fulfils its contract, also without optional settings."""
    section = GUIDE.partition("\n## Decision rules for words\n")[2].partition("\n## ")[0]
    code, config = (dedent(block) for block in re.findall(r"\n\n((?:(?:    .*)?\n)+)(?=\S|\Z)", section))
    write(tmp_path, {"lead.py": code})
    monkeypatch.syspath_prepend(str(tmp_path))
    rule = importlib.import_module("lead").Lead
    checks = check_judge(rule())
    assert len(checks) > 10
    for check in checks:
        check()
    with pytest.raises(UserError, match=r"D780.*Lead\.flags_per_1000"):
        rule(flags_per_1000=-1)
    assert "flags_per_1000 = 1.0" in config


def test_the_reader_of_the_guide(kind, monkeypatch):
    """It fulfils its contract, and a model can be trained on the files that it reads."""
    section = GUIDE.partition("\n## Readers\n")[2].partition("\n## ")[0]
    (code,) = (dedent(block) for block in re.findall(r"\n\n((?:(?:    .*)?\n)+)(?=\S)", section))
    write(kind, {"disambig_kind/reader.py": code.strip() + "\n"})
    hook = 'def disambig_register_readers(register):\n    register("kind.Arrows.v1", ".reader:Arrows")\n'
    with (kind / "disambig_kind" / "plugin.py").open("a", encoding="utf8") as plugin:
        plugin.write(f"\n\n@hookimpl\n{hook}")
    monkeypatch.delitem(sys.modules, "disambig_kind.plugin")
    plugins.reload_plugins()
    monkeypatch.chdir(kind)
    rows = [json.loads(line) for line in (kind / "examples.jsonl").read_text().splitlines()]
    write(kind, {"a.arrows": "".join(f"{row['text']} -> {row['label']}\n" for row in rows)})
    checks = check_reader(plugins.get("readers", "kind.Arrows.v1")(), "a.arrows")
    assert len(checks) > 3
    for check in checks:
        check()
    write(kind, {"a.arrows": (kind / "a.arrows").read_text() + "Nothing.\n"})
    output = run_line("train kind --labelled a.arrows --output model")
    assert "1 of 1 group learned" in output and "on 24 examples" in output
    assert "a.arrows:25: there is no arrow" in output


def test_the_model_without_a_task_of_the_guide(kind, monkeypatch, tmp_path):
    """It fulfils its contract, is found by its format, and a damaged folder is one line."""
    make = add_entry(
        kind, monkeypatch, "shapes", "Models without a task", "models", "kind.Shapes.v1", "Shapes"
    )
    for check in check_standalone(make(), ["Old men\nsleep", "A tree"]):
        check()
    make("aeiouy").save(tmp_path / "my")
    model = load_standalone(tmp_path / "my")
    assert model.records(["Why"]) == [[{"line": "Why", "shape": "ccv"}]]
    (tmp_path / "my" / "shapes.npz").write_bytes(b"")
    with pytest.raises(UserError, match=r"D025.*cannot read .*my: .*; make it again"):
        load_standalone(tmp_path / "my")


def test_the_kernel_of_the_guide(kind, monkeypatch):
    """It fulfils its contract, and a learner uses it with the section in the guide."""
    (_, config) = section_blocks("Kernels")
    kernel = add_entry(kind, monkeypatch, "kernel", "Kernels", "kernels", "kind.Squared.v1", "Squared")
    monkeypatch.chdir(kind)
    checks = check_kernel(kernel())
    assert len(checks) > 3
    for check in checks:
        check()
    before = FILES["disambig_kind/kind.cfg"].partition("[learner]")[0]
    (kind / "my.cfg").write_text(before + config, encoding="utf8")
    assert "1 of 1 group learned" in run_line("train my.cfg --labelled examples.jsonl --output model")
    (kind / "mail.txt").write_text("Please wait.\n", encoding="utf8")
    assert "request" in run_line("annotate mail.txt --model model --format text")


def test_the_runner_of_the_guide(kind):
    """It fulfils the contract of runners without processes of their own."""
    section = GUIDE.partition("\n## Engines of jobs\n")[2].partition("\n## ")[0]
    _, code = (dedent(block) for block in re.findall(r"\n\n((?:(?:    .*)?\n)+)(?=\S)", section))
    write(kind, {"disambig_kind/away.py": code.strip() + "\n"})
    make_runner = runpy.run_path(str(kind / "disambig_kind" / "away.py"))["Away"]
    checks = check_runner(lambda timeout: make_runner(EngineOptions(timeout=timeout)), processes=False)
    assert len(checks) > 3
    for check in checks:
        check()


SETTINGS = ("DecisionRule", "Task", "FeatureExtractor", "Kernel", "Decoder", "Learner")
"""Protocols that are no abilities: a setting may be declared as one, and is then checked at run time."""


def test_abilities_are_those_of_the_contracts():
    protocols = {
        name: part
        for name, part in vars(disambig.types).items()
        if getattr(part, "_is_runtime_protocol", False)
        and part.__module__ == "disambig.types"
        and name not in {"CandidateBatch", *SETTINGS}
    }
    shown = {
        name: set(re.findall(r"`(\w+)`", output.partition(":")[0]))
        for name, _, output in ROWS
        if not name.islower()
    }
    assert set(shown) == set(protocols)
    for name, part in protocols.items():
        members = {
            item for item in [*vars(part), *vars(part).get("__annotations__", {})] if not item.startswith("_")
        }
        assert shown[name] == members, name


def test_conversions_are_those_of_the_guide():
    table = re.findall(
        r"^\| (?:several, joined \()?`(\w+)`\)? \| (`(?:Sparse|Dense|Crossed).*) \|$", GUIDE, re.M
    )
    batches = {type(batch).__name__: batch for batch in (blocks(3), crossed(3), lists(3), dense_lists(3))}
    batches["JoinedRows"] = JoinedRows.from_parts([blocks(3), crossed(3)])
    assert [name for name, _ in table] == list(batches)
    for name, targets in table:
        shown = set(re.findall(r"`(\w+)`", targets.replace("if all are `DenseBlocks` or", "")))
        shown.discard("DenseLists" if name == "DenseBlocks" else name)  # only with columns that are shared
        possible = set()
        for storage in {DenseBlocks, CrossedRows, SparseRows, DenseLists} - {type(batches[name])}:
            with suppress(UserError):
                convert(batches[name], storage)
                possible.add(storage.__name__)
        assert possible == shown, name


def test_the_message_of_the_guide_is_the_message():
    class Labels:
        decides = "labels"

    with pytest.raises(UserError) as caught:
        decides(Labels())
    message = str(caught.value).replace("the task Labels", "the task kind.Labels.v1 of the plugin kind")
    assert f"    {message}" in GUIDE.splitlines()


def test_links_of_the_guide_lead_somewhere():
    for place in re.findall(r"\]\((\.\./[^)]*)\)", GUIDE):
        assert (ROOT / "plugins" / place).resolve().is_file(), place


def test_words_are_found_by_their_hashes():
    from disambig.api import Words
    from disambig.api.text import hash_word

    (code,) = re.findall(r"`(np\.flatnonzero\(.*?\))` finds", GUIDE)
    view = Words()(["A light bag. Light and LIGHT, lights."])
    result = eval(code, {"np": np, "hash_word": hash_word, "view": view})
    assert [view.texts[0][view.starts[i] : view.ends[i]] for i in result] == ["light", "Light", "LIGHT"]


def test_the_pack_of_the_guide(kind, monkeypatch):
    """Its model is found by its name and by that of its pack, and the component uses it."""
    section = GUIDE.partition("### 9. A model as a pack\n")[2].partition("\n## ")[0]
    shown = re.findall(r"^`([\w./-]+)`:\n\n((?:(?:    .*)?\n)+)", section, re.MULTILINE)
    write(kind, {path: dedent(text).strip() + "\n" for path, text in shown})
    monkeypatch.chdir(kind)
    (training,) = re.findall(r"^    disambig (train .*)$", section, re.MULTILINE)
    run_line(training)
    home = kind / "disambig-kind-models"
    assert sorted(path.name for path in home.rglob("*.*") if path.parent.name != "kind") == [
        "pack.json",
        "pyproject.toml",
    ]
    with installed(home, monkeypatch, "disambig_kind_models"):
        assert "disambig_kind_models" in packs() and "kind" not in default_tasks()
        (kind / "mail.txt").write_text("Please wait.\n", encoding="utf8")
        for name in re.findall(r"`--model ([\w/]+)`", section):
            assert "request" in run_line(f"annotate mail.txt --model {name} --format text")
        code = "import spacy; n = spacy.blank('en'); n.add_pipe('disambig_kind'); "
        code += "print(*(span.label_ for span in n('Please wait.').spans['kind']))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout == "request\n", done.stderr


@pytest.mark.slow
def test_the_wheel_of_the_guide(tmp_path):
    """Its commands build and install it and list the plugin; only the first one uses an index."""
    pytest.importorskip("hatchling")
    section = GUIDE.partition("### 8. A wheel\n")[2].partition("\n##")[0]
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


COMMAND_PYPROJECT = """
[project]
name = "disambig-kind"
version = "0.1.0"

[project.entry-points.disambig]
kind = "disambig_kind.plugin"
"""

SECTION = GUIDE.partition("\n## Commands\n")[2].partition("\n## ")[0]
COMMAND_BLOCKS = [dedent(block).strip() for block in re.findall(r"(?:^(?:    .*)?\n)+", SECTION, re.M)]
COMMAND_HOOK, COMMAND_CODE = (f"{block}\n" for block in COMMAND_BLOCKS if block)


@pytest.fixture
def command_home(tmp_path, monkeypatch):
    files = {
        "pyproject.toml": COMMAND_PYPROJECT,
        "disambig_kind/__init__.py": "",
        "disambig_kind/plugin.py": f"from disambig.api import hookimpl\n{COMMAND_HOOK}",
        "disambig_kind/commands.py": COMMAND_CODE,
    }
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    with installed(tmp_path, monkeypatch, "disambig_kind") as home:
        yield home


def test_the_command_of_the_guide_is_listed_and_runs(command_home, capsys):
    assert exit_status("--help") == 0
    assert re.search("^  shout +Write text in capitals.$", capsys.readouterr().out, re.M)
    assert "disambig_kind.commands" not in sys.modules
    (command_home / "a.txt").write_text("one\n\ntwo", encoding="utf8")
    assert exit_status("shout", "a.txt") == 0
    assert capsys.readouterr().out == "ONE\n\nTWO\n"
    assert exit_status("shout", "a.txt", "-o", "b.txt", "--quiet") == 0
    assert (command_home / "b.txt").read_text() == "ONE\n\nTWO\n"
    assert exit_status("shout", "a.txt", "-o", "b.txt") == 2
    assert "[D310]" in capsys.readouterr().err
    assert exit_status("shout", "nothing.txt") == 2
    assert capsys.readouterr().err == "disambig: [D300] nothing.txt: no such file or directory\n"
    assert exit_status("shout", "--help") == 0
    assert "Usage: disambig shout [OPTIONS] [PATHS...]" in capsys.readouterr().out


DECODER_GUIDE = (Path(__file__).parents[2] / "disambig" / "decode" / "README.md").read_text(encoding="utf8")

DECODER_FILES = dict(
    re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", DECODER_GUIDE, re.MULTILINE | re.DOTALL)
)

DECODER_BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DECODER_GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def decoder_home(tmp_path, monkeypatch):
    write(tmp_path, {**plugin_files("pairs", "decoder"), **DECODER_FILES})
    with installed(tmp_path, monkeypatch, "disambig_pairs") as home:
        yield home


def test_new_plugin_writes_the_decoder_of_the_guide():
    written = plugin_files("pairs", "decoder")
    assert len(DECODER_FILES) == 4 and {name: written[name] for name in DECODER_FILES} == DECODER_FILES


def test_the_decoder_keeps_its_contract(decoder_home):
    namespace = runpy.run_path(str(decoder_home / "tests" / "test_pairs.py"))
    (mark,) = namespace["test_contract"].pytestmark
    assert len(mark.args[1]) > 5
    for check in mark.args[1]:
        check()


@pytest.mark.parametrize(
    "learner",
    [{}, {"@disambig_learners": "variance_svm.ConditionalLogit.v1", "strength": 1.0}],
    ids=["SGD", "logit"],
)
def test_learners_take_it_from_a_config(decoder_home, learner):
    config = {"learner": read_config(decoder_home / "disambig_pairs" / "pairs.cfg")["learner"]}
    if learner:
        config["learner"] = {**learner, "decoder": config["learner"]["decoder"]}
    batch = lists()
    scorer = resolve(config)["learner"].fit(batch, rng=np.random.default_rng(0)).scorer
    scores = scorer.scores(batch)
    assert np.isfinite(scores).all() and np.ptp(scores) > 0
    del config["learner"]["decoder"]
    alone = resolve(config)["learner"].fit(batch, rng=np.random.default_rng(0)).scorer.scores(batch)
    assert not np.allclose(scores, alone)


DECODER_SNIPPETS = [
    text for kind, text in DECODER_BLOCKS if kind == "python" and text not in DECODER_FILES.values()
]


@pytest.mark.parametrize("snippet", DECODER_SNIPPETS, ids=["hypergraph", "chart", "learning"])
def test_the_snippets_run(decoder_home, snippet):
    exec(compile(snippet, "README.md", "exec", dont_inherit=True), {"__name__": "guide"})


def test_the_methods_are_those_of_the_contract():
    from disambig.types import Decoder, FindsTop

    shown = set(re.findall(r"^\| `(\w+)\(", DECODER_GUIDE, re.MULTILINE))
    assert shown == {name for part in (Decoder, FindsTop) for name in vars(part) if not name.startswith("_")}
    others = [kind for kind, _ in DECODER_BLOCKS if kind == "console"]
    assert len(DECODER_BLOCKS) == len(DECODER_FILES) + len(DECODER_SNIPPETS) + len(others)


def test_a_model_is_trained_with_the_decoder(decoder_home, monkeypatch):
    monkeypatch.chdir(decoder_home)
    training, evaluating = re.findall(r"^\$ disambig (.*)$", DECODER_GUIDE, re.MULTILINE)
    assert "1 of 1 group learned" in run_line(training)
    chosen, first = re.findall(r"(?:choice|first candidate): (0\.\d+)", run_line(evaluating))
    assert float(chosen) < float(first)


LISTS_GUIDE = (Path(__file__).parents[2] / "disambig" / "formats" / "README.md").read_text(encoding="utf8")
LISTS_FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", LISTS_GUIDE, re.MULTILINE | re.DOTALL))
LISTS_BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", LISTS_GUIDE, re.MULTILINE | re.DOTALL)
LISTS_COMMANDS = re.findall(r"^\$ disambig (.*)$", LISTS_GUIDE, re.MULTILINE)


@pytest.fixture
def lists_home(tmp_path, monkeypatch):
    """The installed plugin of the guide, and the lists that it writes."""
    write(tmp_path, {**plugin_files("shape", "lists"), **LISTS_FILES})
    monkeypatch.chdir(tmp_path)
    with installed(tmp_path, monkeypatch, "disambig_shape") as home:
        (code,) = [code for language, code in LISTS_BLOCKS if language == "python" and "lists.jsonl" in code]
        exec(compile(code, "README.md", "exec", dont_inherit=True), {"__name__": "guide"})
        yield home


def run_line(line):
    done = CliRunner().invoke(app, shlex.split(line))
    assert done.exit_code == 0, f"{line}: {done.output} {done.exception!r}"
    return done.output


def test_new_plugin_writes_the_lists_plugin_of_the_guide():
    written = plugin_files("shape", "lists")
    assert len(LISTS_FILES) == 5 and {name: written[name] for name in LISTS_FILES} == LISTS_FILES


def test_the_lines_are_lists():
    line, with_words = [code for language, code in LISTS_BLOCKS if language == "json"]
    item = parse_line(line, "README.md")
    assert item.candidates == ("a quite place", "a quiet place") and item.features[0] == {"lm": 2.5}
    item = parse_line(with_words, "README.md")
    assert tuple("".join(words) for words in item.words) == item.candidates
    assert [len(tags) for tags in item.tags] == [len(words) for words in item.words]


def test_the_commands_run_on_the_lists(lists_home):
    assert len(LISTS_COMMANDS) == 4
    output = [run_line(line) for line in LISTS_COMMANDS]
    assert "the first candidate" in output[1] and "the best candidate: 0.0000" in output[1]
    for name in re.findall(r"`([a-z:0-9]+)`", LISTS_GUIDE.partition("\nMeasures: ")[2].partition("\n\n")[0]):
        assert measure_named(name)
    items = [json.loads(line) for line in (lists_home / "best.jsonl").read_text().splitlines()]
    right = sum(item["candidates"][0]["text"] == item["reference"] for item in items)
    assert len(items) == 120 and right > 60
    assert {"model_score", "rank"} <= items[0]["candidates"][0].keys()


def test_the_plugin_learns_from_lists_and_keeps_its_contracts(lists_home):
    namespace = runpy.run_path(str(lists_home / "tests" / "test_shape.py"))
    assert len(namespace["CHECKS"]) > 15
    for check in namespace["CHECKS"]:
        check()
    run_line("train shape --lists lists.jsonl --output my_shape")
    assert "extractor: shape.Lengths.v1" in run_line("plugins shape")
    output = run_line("evaluate my_shape --lists lists.jsonl")
    chosen, first = (float(re.search(rf"{of}: (0\.\d+)", output)[1]) for of in ("choice", "first candidate"))
    assert chosen < first


def test_the_task_of_places_learns_from_text(lists_home):
    """Its lists have no costs: the observed candidate is right."""
    sentences = [
        "If you lose the screw, it is loose.",
        "The end of the day.",
        "We took off too early to see it.",
    ]
    lines = [" ".join([f"This is day {number}.", *sentences]) for number in range(60)]
    (lists_home / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf8")
    run_line("counts build text.txt --output toy.counts")
    config = (lists_home / "disambig_shape" / "shape.cfg").read_text(encoding="utf8")
    config = config.replace("disambig.Lists.v1", "shape.Doubled.v1").replace('measure = "wer"\n', "")
    config = config.replace("shape.Lengths.v1", 'disambig.NgramCounts.v1"\ncounts = "toy.counts')
    config += '\n[tokenisation]\n@disambig_tokenisations = "disambig.words.v1"\n'
    config += '\n[baseline]\n@disambig_learners = "variance_svm.SumLM.v1"\n'
    config = config.replace('[extractors.source]\n@disambig_extractors = "disambig.SourceFeatures.v1"\n', "")
    (lists_home / "off.cfg").write_text(config, encoding="utf8")
    assert "1 of 1 group learned" in run_line("train off.cfg --text text.txt --lines --output of_off")
    (lists_home / "new.txt").write_text("The end off the day.\n", encoding="utf8")
    output = run_line("annotate new.txt --model of_off --format jsonl")
    decision = json.loads(next(line for line in output.splitlines() if line.startswith("{")))["decisions"][0]
    assert (decision["observed"], decision["chosen"]) == ("off", "of")
