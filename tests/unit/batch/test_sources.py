from __future__ import annotations

from types import SimpleNamespace

import pytest

from disambig.data import Group
from disambig.errors import UserError
from disambig.models import ModelSource, with_sets


def model(name):
    judge = SimpleNamespace(flags_per_1000=0.5, limit=lambda rate=None: 0.5)
    task = SimpleNamespace(name=name.rpartition("/")[2])
    return SimpleNamespace(name="fake", version="1", task=task, judge=judge)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    (tmp_path / "weights").write_text("1")
    models = {"preposition": tmp_path, "pack/preposition": tmp_path}
    monkeypatch.setattr("disambig.packs.available", lambda: models)
    monkeypatch.setattr("disambig.packs.default_tasks", lambda: tuple(n for n in models if "/" not in n))
    monkeypatch.setattr("disambig.models.sources.load", model)
    return models


def test_all_installed_models_are_used_where_none_is_named(installed):
    assert ModelSource().names() == ("preposition",)
    assert ModelSource(("a", "b")).names() == ("a", "b")
    installed.clear()
    with pytest.raises(UserError, match="D323"):
        ModelSource().names()


def test_the_description_changes_with_settings_and_with_the_contents_of_models(installed, tmp_path):
    first = ModelSource().describe()
    assert first == ModelSource().describe()
    assert first != ModelSource(flags_per_1000=1.0).describe()
    assert ModelSource(flags_per_1000={"preposition": 1.0}).describe()["flags_per_1000"] == {
        "preposition": 1.0
    }
    with pytest.raises(UserError, match=r"D950.*'spelling'.*available: preposition"):
        ModelSource(flags_per_1000={"spelling": 1.0}).describe()
    assert first != ModelSource(ignore=("word",)).describe()
    assert first != ModelSource(sets=(Group("a/b", ("a", "b")),)).describe()
    (tmp_path / "weights").write_text("2")
    assert first != ModelSource().describe()


def test_two_models_of_one_task_are_refused(installed, tmp_path):
    installed["a"] = tmp_path
    for twice in (("mine/preposition", "a", "preposition"), ("preposition", "preposition", "a")):
        for work in (ModelSource(twice).load, ModelSource(twice).describe):
            with pytest.raises(UserError, match=rf"D333.*{twice[0]}.* and preposition .*'preposition'"):
                work()
    ModelSource(("a", "preposition")).load()


def test_sets_go_to_the_models_that_take_them():
    sets = (Group("a/b", ("a", "b")),)
    plain = SimpleNamespace(name="p", task=SimpleNamespace())
    taking = SimpleNamespace(
        name="s", task=SimpleNamespace(with_groups=list), with_groups=lambda groups: ("with", groups)
    )
    assert with_sets([plain, taking], sets) == [plain, ("with", sets)]
    with pytest.raises(UserError, match="D322"):
        with_sets([plain], sets)
