"""Configs by name, labels that the examples give, and baselines that tasks of labels can do without."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import pytest

from disambig.config import write_config
from disambig.errors import UserError
from disambig.training import from_config as shipped
from disambig.training import read_plan

WORDS = {
    "model": {"name": "my/words"},
    "task": {"@disambig_tasks": "disambig.Candidates.v1", "candidates": ["bring", "take"]},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {"words": {"@disambig_extractors": "disambig.ContextWords.v1"}},
    "learner": {"@disambig_learners": "disambig.NoPreference.v1"},
}


@pytest.fixture
def brought(tmp_path, monkeypatch):
    """A package with a plugin and two configs; other entry points name modules without any."""
    home = tmp_path / "site" / "some_package"
    home.mkdir(parents=True)
    for name in ("__init__.py", "plugin.py", "mine.cfg", "other.cfg", "no.txt"):
        (home / name).write_text("")
    monkeypatch.syspath_prepend(home.parent)
    names = ("some_package.plugin", "alone", "gone.package.plugin", "some_package.none.plugin")
    entries = [EntryPoint(f"e{i}", name, "disambig") for i, name in enumerate(names)]
    monkeypatch.setattr(shipped, "entry_points", lambda group: entries)
    yield home
    sys.modules.pop("some_package", None)


def test_the_configs_beside_a_plugin_are_known_by_name(brought):
    assert shipped.plugin_configs() == {"mine": brought / "mine.cfg", "other": brought / "other.cfg"}
    assert shipped.config_path("mine") == brought / "mine.cfg"
    assert "some_package" not in sys.modules  # found, and not run


def test_files_come_before_names_and_directories_do_not(brought, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("a file")
    (tmp_path / "other").mkdir()  # such as the model trained before
    assert str(shipped.config_path("mine")) == "mine"
    assert shipped.config_path("other") == brought / "other.cfg"
    for name in ("no.cfg", "some/mine", "some/other.cfg"):
        assert str(shipped.config_path(name)) == name  # whoever reads it says that it is missing


def test_a_name_that_is_none_gets_the_true_list(brought):
    with pytest.raises(UserError, match=r"D472.*'mone'.*: mine, other"):
        shipped.config_path("mone")


def test_a_task_of_words_needs_a_baseline(tmp_path):
    write_config(WORDS, tmp_path / "a.cfg")
    with pytest.raises(UserError, match=r"D005.*section \[baseline\] is missing"):
        read_plan(tmp_path / "a.cfg")


def test_a_task_of_words_keeps_its_candidates(tmp_path):
    write_config({**WORDS, "baseline": WORDS["learner"]}, tmp_path / "a.cfg")
    plan = read_plan(tmp_path / "a.cfg")
    assert plan.with_learned_settings([]) is plan


@pytest.mark.parametrize("encoding", [3, True, ["latin-1"]])
def test_an_encoding_is_a_name(tmp_path, encoding):
    config = {**WORDS, "baseline": WORDS["learner"], "training": {"encoding": encoding}}
    write_config(config, tmp_path / "a.cfg")
    with pytest.raises(UserError, match=r"D005.*training.encoding"):
        read_plan(tmp_path / "a.cfg")
