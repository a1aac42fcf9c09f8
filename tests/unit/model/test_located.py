from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from disambig import registry
from disambig.models import absolute_paths, relative_paths


def config(counts) -> dict:
    return {
        "task": {"a": 1},
        "extractors": {"c": {"@disambig_extractors": "x.v1", "counts": counts}, "w": {}},
    }


def counts_of(made: dict) -> str:
    return made["extractors"]["c"]["counts"]


def test_a_table_beside_the_model_is_named_by_its_place_and_both_can_be_moved(tmp_path, monkeypatch):
    (tmp_path / "one" / "tables").mkdir(parents=True)
    table = tmp_path / "one" / "tables" / "my.counts"
    table.write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    said = relative_paths(config("one/tables/my.counts"), Path("one/model"))
    assert counts_of(said) == "../tables/my.counts"
    (tmp_path / "one").rename(tmp_path / "two")
    (tmp_path / "two" / "model").mkdir()
    monkeypatch.chdir("/")
    read = absolute_paths(said, tmp_path / "two" / "model")
    assert counts_of(read) == str((tmp_path / "two" / "tables" / "my.counts").resolve())
    assert relative_paths(read, tmp_path / "two" / "model") == said
    (tmp_path / "link").symlink_to(tmp_path / "two" / "model", target_is_directory=True)
    assert absolute_paths(said, tmp_path / "link") == read


def test_other_tables_and_packs_stay_as_they_are(tmp_path, monkeypatch):
    elsewhere = tmp_path / "far" / "my.counts"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(b"")
    said = relative_paths(config(str(elsewhere)), tmp_path / "deep" / "model")
    assert counts_of(said) == str(elsewhere.resolve())
    assert absolute_paths(said, tmp_path / "deep" / "model") == said
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    for counts in ("disambig_en", "gone/my.counts", 5):
        assert absolute_paths(
            relative_paths(config(counts), tmp_path / "model"), tmp_path / "model"
        ) == config(counts)
    assert relative_paths({"task": {}}, tmp_path / "model") == {"task": {}}


def test_folders_of_tasks_and_extractors_are_named_by_their_place_too(tmp_path, monkeypatch):
    for name in ("kinds", "odds"):
        (tmp_path / "one" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one")
    extractors = {"h": {"parts_of_speech": "kinds"}, "p": {"gaps": "odds", "counts": "odds"}}
    made = {"task": {"gaps": "./odds", "or_none": True}, "extractors": extractors}
    said = relative_paths(made, Path("model"))
    assert said["task"] == {"gaps": "../odds", "or_none": True}
    assert said["extractors"]["h"] == {"parts_of_speech": "../kinds"}
    assert said["extractors"]["p"] == {"gaps": "../odds", "counts": "odds"}  # a folder is no table
    monkeypatch.chdir("/")
    (tmp_path / "one").rename(tmp_path / "two")
    home = tmp_path / "two" / "model"
    home.mkdir()
    read = absolute_paths(said, home)
    assert read["extractors"]["h"]["parts_of_speech"] == str((tmp_path / "two" / "kinds").resolve())
    assert read["task"]["gaps"] == str((tmp_path / "two" / "odds").resolve())
    assert relative_paths(read, home) == said
    words = {"task": {"gaps": "all"}}  # a word of another task, whatever folders there are
    (tmp_path / "two" / "all").mkdir()
    monkeypatch.chdir(tmp_path / "two")
    assert absolute_paths(relative_paths(words, home), home) == words


def test_folders_that_a_task_declares_are_named_by_their_place(tmp_path, monkeypatch):
    """Of a task of which this module knows nothing, such as that of kana and its converter."""
    declaring = SimpleNamespace(load=lambda: type("Declaring", (), {"folders": ("converter",)}))
    monkeypatch.setattr(registry, "entries", lambda kind: {"own.Declaring.v1": declaring})
    (tmp_path / "one" / "converter").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    kind = {"@disambig_tasks": "own.Declaring.v1"}
    said = relative_paths({"task": {**kind, "converter": "one/converter"}}, Path("one/model"))
    assert said["task"]["converter"] == "../converter"
    (tmp_path / "one").rename(tmp_path / "two")
    home = tmp_path / "two" / "model"
    home.mkdir()
    assert absolute_paths(said, home)["task"]["converter"] == str((tmp_path / "two" / "converter").resolve())
    for other in ({**kind, "converter": "disambig_ja"}, {"converter": "two/converter"}):
        assert relative_paths({"task": other}, tmp_path / "two" / "model")["task"] == other
