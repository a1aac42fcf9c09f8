"""disambig/formats/README.md is true: its files are a plugin, and its commands run on its lists."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from packages import install, write
from typer.testing import CliRunner

from disambig import registry as plugins
from disambig.cli.main import app
from disambig.formats import parse_line
from disambig.metrics import measure_named
from disambig.scaffold import plugin_files

GUIDE = (Path(__file__).parents[2] / "disambig" / "formats" / "README.md").read_text(encoding="utf8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^\$ disambig (.*)$", GUIDE, re.MULTILINE)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The plugin of the guide, installed, and the lists that it makes."""
    write(tmp_path, {**plugin_files("shape", "lists"), **FILES})
    install(tmp_path, monkeypatch)
    plugins.reload_plugins()
    monkeypatch.chdir(tmp_path)
    (made,) = [code for language, code in BLOCKS if language == "python" and "lists.jsonl" in code]
    exec(compile(made, "README.md", "exec", dont_inherit=True), {"__name__": "guide"})
    yield tmp_path
    monkeypatch.undo()
    for module in [name for name in sys.modules if name.startswith("disambig_shape")]:
        del sys.modules[module]
    plugins.reload_plugins()


def call(line):
    done = CliRunner().invoke(app, shlex.split(line))
    assert done.exit_code == 0, f"{line}: {done.output} {done.exception!r}"
    return done.output


def test_the_files_are_those_that_new_plugin_writes():
    written = plugin_files("shape", "lists")
    assert len(FILES) == 5 and {name: written[name] for name in FILES} == FILES


def test_the_lines_are_lists():
    line, with_words = [code for language, code in BLOCKS if language == "json"]
    item = parse_line(line, "README.md")
    assert item.candidates == ("a quite place", "a quiet place") and item.features[0] == {"lm": 2.5}
    item = parse_line(with_words, "README.md")
    assert tuple("".join(words) for words in item.words) == item.candidates
    assert [len(tags) for tags in item.tags] == [len(words) for words in item.words]


def test_the_commands_run_on_the_lists(home):
    assert len(COMMANDS) == 4
    said = [call(line) for line in COMMANDS]
    assert "the first candidate" in said[1] and "the best candidate: 0.0000" in said[1]
    for name in re.findall(r"`([a-z:0-9]+)`", GUIDE.partition("\nMeasures: ")[2].partition("\n\n")[0]):
        assert measure_named(name)
    items = [json.loads(line) for line in (home / "best.jsonl").read_text().splitlines()]
    right = sum(item["candidates"][0]["text"] == item["reference"] for item in items)
    assert len(items) == 120 and right > 60
    assert {"model_score", "rank"} <= items[0]["candidates"][0].keys()


def test_the_plugin_learns_from_lists_and_keeps_its_contracts(home):
    own = runpy.run_path(str(home / "tests" / "test_shape.py"))
    assert len(own["CHECKS"]) > 15
    for check in own["CHECKS"]:
        check()
    call("train shape --lists lists.jsonl --output my_shape")
    assert "extractor: shape.Lengths.v1" in call("plugins shape")
    said = call("evaluate my_shape --lists lists.jsonl")
    chosen, first = (float(re.search(rf"{of}: (0\.\d+)", said)[1]) for of in ("choice", "first candidate"))
    assert chosen < first


def test_the_task_of_places_learns_from_text(home):
    """Its lists have no costs: what stands in the text is right."""
    sentences = [
        "If you lose the screw, it is loose.",
        "The end of the day.",
        "We took off too early to see it.",
    ]
    lines = [" ".join([f"This is day {number}.", *sentences]) for number in range(60)]
    (home / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf8")
    call("counts build text.txt --output toy.counts")
    config = (home / "disambig_shape" / "shape.cfg").read_text(encoding="utf8")
    config = config.replace("disambig.Lists.v1", "shape.Doubled.v1").replace('measure = "wer"\n', "")
    config = config.replace("shape.Lengths.v1", 'disambig.NgramCounts.v1"\ncounts = "toy.counts')
    config += '\n[tokenisation]\n@disambig_tokenisations = "disambig.words.v1"\n'
    config += '\n[baseline]\n@disambig_learners = "variance_svm.SumLM.v1"\n'
    config = config.replace('[extractors.source]\n@disambig_extractors = "disambig.SourceFeatures.v1"\n', "")
    (home / "off.cfg").write_text(config, encoding="utf8")
    assert "1 of 1 group learned" in call("train off.cfg --text text.txt --lines --output of_off")
    (home / "new.txt").write_text("The end off the day.\n", encoding="utf8")
    said = call("annotate new.txt --model of_off --format jsonl")
    decision = json.loads(next(line for line in said.splitlines() if line.startswith("{")))["decisions"][0]
    assert (decision["observed"], decision["chosen"]) == ("off", "of")
