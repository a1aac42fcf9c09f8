"""disambig/decode/README.md is true: its decoder keeps the contract, and learners take it from a config."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from packages import install, write

from disambig import registry as plugins
from disambig.config import read_config, resolve
from disambig.scaffold import plugin_files
from disambig.testing import lists

GUIDE = (Path(__file__).parents[2] / "disambig" / "decode" / "README.md").read_text(encoding="utf8")
FILES = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def home(tmp_path, monkeypatch):
    write(tmp_path, {**plugin_files("pairs", "decoder"), **FILES})
    install(tmp_path, monkeypatch)
    plugins.reload_plugins()
    yield tmp_path
    monkeypatch.undo()
    for module in [name for name in sys.modules if name.startswith("disambig_pairs")]:
        del sys.modules[module]
    plugins.reload_plugins()


def test_the_files_are_those_that_new_plugin_writes():
    written = plugin_files("pairs", "decoder")
    assert len(FILES) == 4 and {name: written[name] for name in FILES} == FILES


def test_the_decoder_keeps_its_contract(home):
    own = runpy.run_path(str(home / "tests" / "test_pairs.py"))
    (mark,) = own["test_contract"].pytestmark
    assert len(mark.args[1]) > 5
    for check in mark.args[1]:
        check()


@pytest.mark.parametrize(
    "learner",
    [{}, {"@disambig_learners": "variance_svm.ConditionalLogit.v1", "strength": 1.0}],
    ids=["SGD", "logit"],
)
def test_learners_take_it_from_a_config(home, learner):
    config = read_config(home / "pairs.cfg")
    if learner:
        config["learner"] = {**learner, "decoder": config["learner"]["decoder"]}
    batch = lists()
    scorer = resolve(config)["learner"].fit(batch, rng=np.random.default_rng(0)).scorer
    scores = scorer.scores(batch)
    assert np.isfinite(scores).all() and np.ptp(scores) > 0
    del config["learner"]["decoder"]
    alone = resolve(config)["learner"].fit(batch, rng=np.random.default_rng(0)).scorer.scores(batch)
    assert not np.allclose(scores, alone)


SNIPPETS = [text for kind, text in BLOCKS if kind == "python" and text not in FILES.values()]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=["hypergraph", "chart", "learning"])
def test_the_snippets_run(home, snippet):
    exec(compile(snippet, "README.md", "exec", dont_inherit=True), {"__name__": "guide"})


def test_the_methods_are_those_of_the_contract():
    from disambig.types import Decoder, FindsTop

    shown = set(re.findall(r"^\| `(\w+)\(", GUIDE, re.MULTILINE))
    assert shown == {name for part in (Decoder, FindsTop) for name in vars(part) if not name.startswith("_")}
    assert len(BLOCKS) == len(FILES) + len(SNIPPETS)
