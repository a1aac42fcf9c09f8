"""Packs: descriptions are read and checked; paths outside of the pack are rejected."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import pytest

from disambig import packs
from disambig.counts import open_table
from disambig.errors import UserError
from disambig.features import open_cloze
from disambig.models import load, load_standalone, storage
from disambig.packs import PackFolder, available, default_tasks, pack, read_pack

GOOD = {
    "name": "toy_pack",
    "version": "1.0",
    "language": "xx",
    "counts": "toy.counts",
    "models": {"preposition": "models/preposition"},
}


def write_pack(home, description):
    home.mkdir(exist_ok=True)
    (home / "pack.json").write_text(description if isinstance(description, str) else json.dumps(description))
    return home


def test_reads_a_pack(tmp_path):
    home = tmp_path / "toy_pack"
    result = read_pack(write_pack(home, GOOD))
    assert (result.name, result.version, result.language) == ("toy_pack", "1.0", "xx")
    assert (result.counts, result.folders) == (home / "toy.counts", {})
    assert result.models == {"preposition": home / "models" / "preposition"}
    result = read_pack(write_pack(home, {**GOOD, "folders": {"converter": "models/converter"}}))
    assert result.folders == {"converter": home / "models" / "converter"}


def test_counts_are_optional_and_some_models_run_by_name_only(installed):
    description = {key: value for key, value in GOOD.items() if key != "counts"}
    quiet = {"name": "quiet_pack", "models": {"tag": "models/tag"}, "by_name": ["tag"]}
    installed("quiet_pack", {**description, **quiet})
    installed("toy_pack", GOOD)
    assert pack("quiet_pack").counts is None
    assert default_tasks() == ("preposition",)
    assert {"tag", "quiet_pack/tag"} <= set(available())
    with pytest.raises(UserError, match=r"D413.*'quiet_pack'"):
        open_table("quiet_pack")


@pytest.mark.parametrize(
    "description",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        *({key: GOOD[key] for key in GOOD if key != missing} for missing in GOOD if missing != "counts"),
        {**GOOD, "models": ["preposition"]},
        {**GOOD, "models": None},
        {**GOOD, "by_name": 3},
    ],
)
def test_rejects_a_damaged_description(tmp_path, description):
    with pytest.raises(UserError) as caught:
        read_pack(write_pack(tmp_path / "toy_pack", description))
    assert caught.value.code == "D403"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("outside", ["../other.counts", "/etc/passwd", "models/../../x", "link/x"])
@pytest.mark.parametrize("key", ["counts", "models", "folders"])
def test_rejects_paths_outside_of_the_pack(tmp_path, outside, key):
    home = write_pack(tmp_path / "toy_pack", {**GOOD, key: outside if key == "counts" else {"it": outside}})
    (home / "link").symlink_to(tmp_path)
    with pytest.raises(UserError, match=r"D403.*outside"):
        read_pack(home)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install packs: ``installed("toy_pack", description)``."""
    entries = []
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(packs, "entry_points", lambda group: entries)

    def install(name, description):
        if description is not None:
            write_pack(tmp_path / name, description)
        entries.append(EntryPoint(name, name, packs.GROUP))
        return tmp_path / name

    return install


def test_finds_packs_without_importing_them_and_ignores_missing_ones(installed):
    installed("gone_pack", None)
    home = installed("toy_pack", GOOD)
    (home / "__init__.py").write_text("raise RuntimeError('a pack has no code to run')")
    assert pack("toy_pack").counts == home / "toy.counts"
    assert set(available()) == {"preposition", "toy_pack/preposition"}
    assert set(packs.packs()) == {"toy_pack"}


def test_a_pack_without_a_description_is_named_once(installed, caplog):
    (installed("bare_pack", None)).mkdir()
    installed("toy_pack", GOOD)
    assert set(packs.packs()) == set(packs.packs()) == {"toy_pack"}
    (record,) = caplog.records
    message = record.getMessage()
    assert "[D403] pack" in message and "bare_pack is damaged: it has no pack.json; install it" in message
    with pytest.raises(UserError, match=r"D403.*it has no pack\.json"):
        pack("bare_pack")


@pytest.fixture
def with_torn(installed):
    """Install a good pack and a damaged one, and return the directory of the damaged one."""
    installed("toy_pack", GOOD)
    return installed("torn_pack", "{")


def test_a_damaged_pack_stops_no_other(with_torn, caplog):
    assert pack("toy_pack").version == "1.0"
    assert set(packs.packs()) == {"toy_pack"}
    assert set(available()) == {"preposition", "toy_pack/preposition"}
    assert default_tasks() == ("preposition",)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    message = record.getMessage()
    assert "[D403]" in message and str(with_torn) in message and "install it again" in message
    write_pack(with_torn, "[")
    assert set(packs.packs()) == {"toy_pack"}
    assert len(caplog.records) == 2  # another damage is named again
    write_pack(with_torn, {**GOOD, "name": "torn_pack"})
    assert set(packs.packs()) == {"toy_pack", "torn_pack"}


@pytest.mark.parametrize(
    "use",
    [
        lambda: pack("torn_pack"),
        lambda: packs.find_pack("torn_pack"),
        lambda: load("torn_pack/preposition"),
        lambda: load_standalone("torn_pack"),
        lambda: load_standalone("torn_pack/parser"),
        lambda: open_table("torn_pack"),
        lambda: open_table("torn_pack/words"),
        lambda: open_cloze("torn_pack"),
        lambda: PackFolder("x", "x", "x", lambda _: False, "torn_pack").locate("torn_pack"),
        lambda: PackFolder("x", "x", "x", lambda _: False, "torn_pack").locate("torn_pack/x"),
    ],
)
def test_who_needs_a_damaged_pack_gets_the_error(with_torn, use):
    for _ in range(2):
        with pytest.raises(UserError, match=r"D403.*torn_pack is damaged"):
            use()


def test_a_model_whose_pack_is_damaged_is_not_called_unknown(with_torn, monkeypatch):
    monkeypatch.setattr(packs, "providing_pack", lambda name: "torn_pack" if name == "verb" else None)
    with pytest.raises(UserError, match=r"D403.*torn_pack"):
        load("verb")
    with pytest.raises(UserError, match=r"D404.*may be in torn_pack, which is damaged.*preposition"):
        load("verbs")


def test_a_damaged_pack_alone_is_the_reason_why_no_model_is_found(installed):
    installed("torn_pack", "{")
    with pytest.raises(UserError, match=r"D403.*torn_pack"):
        default_tasks()


def test_unknown_packs_and_models_list_the_valid_names(installed, tmp_path):
    installed("toy_pack", GOOD)
    with pytest.raises(UserError, match=r"D402.*installed packs: toy_pack"):
        pack("toy_pick")
    with pytest.raises(UserError, match=r"D404.*give a model directory or one of preposition$"):
        load("prepositions")
    with pytest.raises(UserError, match=r"D404.*or one of toy_pack/preposition, preposition"):
        load("toy_pack/prepositions")
    with pytest.raises(UserError, match=r"D666.*does not contain a model"):
        load(tmp_path)
    (tmp_path / "my.cfg").write_text("[model]")
    with pytest.raises(UserError, match=r"D404.*my.cfg': it is a config, from which `disambig train` makes"):
        load(tmp_path / "my.cfg")
    with pytest.raises(UserError, match="D405"):  # it is missing from its pack
        load("preposition")


def test_a_component_that_cannot_be_loaded_gives_no_hint(monkeypatch):
    class Broken:
        name, value = "disambig_other", "nowhere"

        def load(self):
            raise ImportError("no")

    monkeypatch.setattr(packs, "entry_points", lambda *, group: [Broken()])
    assert packs.providing_pack("other") is None


def test_loads_a_changed_model_again(tmp_path, monkeypatch):
    """A long-lived process, such as a notebook, loads the current model, not the former one."""
    monkeypatch.setattr(storage, "load_model", lambda home: (home / "model.json").read_text())
    (tmp_path / "model.json").write_text("first")
    assert load(tmp_path) == "first"
    assert load(tmp_path) is load(tmp_path)
    (tmp_path / "model.json").write_text("the second")
    assert load(tmp_path) == "the second"
