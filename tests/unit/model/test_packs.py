"""Packs: their description is read, checked and never trusted to point outside."""

from __future__ import annotations

import json

import pytest

from disambig import packs
from disambig.counts import open_table
from disambig.errors import UserError
from disambig.models import load
from disambig.packs import available, default_tasks, pack, read_pack

GOOD = {
    "name": "toy_pack",
    "version": "1.0",
    "language": "xx",
    "counts": "toy.counts",
    "models": {"preposition": "models/preposition"},
}


def written(home, said):
    home.mkdir(exist_ok=True)
    (home / "pack.json").write_text(said if isinstance(said, str) else json.dumps(said))
    return home


def test_a_pack_is_read(tmp_path):
    found = read_pack(written(tmp_path / "toy_pack", GOOD))
    assert (found.name, found.version, found.language) == ("toy_pack", "1.0", "xx")
    assert found.counts == tmp_path / "toy_pack" / "toy.counts"
    assert found.models == {"preposition": tmp_path / "toy_pack" / "models" / "preposition"}


def test_a_pack_may_bring_folders_for_parts_of_plugins(tmp_path):
    said = {**GOOD, "folders": {"converter": "models/converter"}}
    found = read_pack(written(tmp_path / "toy_pack", said))
    assert found.folders == {"converter": tmp_path / "toy_pack" / "models" / "converter"}
    assert read_pack(written(tmp_path / "toy_pack", GOOD)).folders == {}


def test_a_pack_needs_no_counts_and_may_hold_models_that_run_by_name_alone(installed):
    said = {key: value for key, value in GOOD.items() if key != "counts"}
    installed(
        "quiet_pack", {**said, "name": "quiet_pack", "models": {"tag": "models/tag"}, "by_name": ["tag"]}
    )
    installed("toy_pack", GOOD)
    assert pack("quiet_pack").counts is None
    assert default_tasks() == ("preposition",)
    assert {"tag", "quiet_pack/tag"} <= set(available())
    with pytest.raises(UserError, match=r"D413.*'quiet_pack'"):
        open_table("quiet_pack")


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        *[
            json.dumps({key: value for key, value in GOOD.items() if key != left})
            for left in GOOD
            if left != "counts"
        ],
        {**GOOD, "models": ["preposition"]},
        {**GOOD, "models": None},
        {**GOOD, "by_name": 3},
    ],
)
def test_a_damaged_description(tmp_path, said):
    with pytest.raises(UserError) as caught:
        read_pack(written(tmp_path / "toy_pack", said))
    assert caught.value.code == "D403"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("outside", ["../other.counts", "/etc/passwd", "models/../../x", "link/x"])
@pytest.mark.parametrize("key", ["counts", "models", "folders"])
def test_a_description_that_points_outside(tmp_path, outside, key):
    home = written(tmp_path / "toy_pack", {**GOOD, key: outside if key == "counts" else {"it": outside}})
    (home / "link").symlink_to(tmp_path)
    with pytest.raises(UserError) as caught:
        read_pack(home)
    assert caught.value.code == "D403"
    assert "outside" in str(caught.value)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install packs: ``installed("toy_pack", description)``."""
    from importlib.metadata import EntryPoint

    entries = []
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(packs, "entry_points", lambda group: entries)

    def install(name, said):
        if said is not None:
            written(tmp_path / name, said)
        entries.append(EntryPoint(name, name, packs.GROUP))
        return tmp_path / name

    return install


def test_packs_are_found_without_being_imported(installed):
    home = installed("toy_pack", GOOD)
    (home / "__init__.py").write_text("raise RuntimeError('a pack has no code to run')")
    assert pack("toy_pack").counts == home / "toy.counts"
    assert set(available()) == {"preposition", "toy_pack/preposition"}


def test_a_pack_that_went_missing_is_no_pack(installed):
    installed("gone_pack", None)
    installed("toy_pack", GOOD)
    assert set(packs.packs()) == {"toy_pack"}


def test_unknown_packs_and_models_list_the_true_names(installed):
    installed("toy_pack", GOOD)
    with pytest.raises(UserError) as caught:
        pack("toy_pick")
    assert caught.value.code == "D402"
    assert "installed packs: toy_pack" in str(caught.value)
    with pytest.raises(UserError) as caught:
        load("prepositions")
    assert caught.value.code == "D404"
    assert str(caught.value).endswith("give a model directory or one of preposition")
    with pytest.raises(UserError, match=r"D404.*or one of toy_pack/preposition, preposition"):
        load("toy_pack/prepositions")


def test_a_component_that_cannot_be_loaded_gives_no_hint(monkeypatch):
    class Broken:
        name, value = "disambig_other", "nowhere"

        def load(self):
            raise ImportError("no")

    monkeypatch.setattr(packs, "entry_points", lambda *, group: [Broken()])
    assert packs.not_installed("other") is None


def test_a_directory_without_a_model(tmp_path):
    with pytest.raises(UserError, match=r"D666.*does not contain a model"):
        load(tmp_path)


def test_a_model_missing_from_its_pack(installed):
    installed("toy_pack", GOOD)
    with pytest.raises(UserError) as caught:
        load("preposition")
    assert caught.value.code == "D405"


def test_a_model_saved_again_is_loaded_again(tmp_path, monkeypatch):
    """A long-lived process (a notebook) sees the model that is there, not the one that was."""
    from disambig.models import storage as store

    monkeypatch.setattr(store, "load_model", lambda home: (home / "model.json").read_text())
    (tmp_path / "model.json").write_text("first")
    assert load(tmp_path) == "first"
    assert load(tmp_path) is load(tmp_path)
    (tmp_path / "model.json").write_text("the second")
    assert load(tmp_path) == "the second"
