from __future__ import annotations

from pathlib import Path

from disambig.model.located import found, located


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
    said = located(config("one/tables/my.counts"), Path("one/model"))
    assert counts_of(said) == "../tables/my.counts"
    (tmp_path / "one").rename(tmp_path / "two")
    (tmp_path / "two" / "model").mkdir()
    monkeypatch.chdir("/")
    read = found(said, tmp_path / "two" / "model")
    assert counts_of(read) == str((tmp_path / "two" / "tables" / "my.counts").resolve())
    assert located(read, tmp_path / "two" / "model") == said
    (tmp_path / "link").symlink_to(tmp_path / "two" / "model", target_is_directory=True)
    assert found(said, tmp_path / "link") == read


def test_other_tables_and_packs_stay_as_they_are(tmp_path, monkeypatch):
    elsewhere = tmp_path / "far" / "my.counts"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(b"")
    said = located(config(str(elsewhere)), tmp_path / "deep" / "model")
    assert counts_of(said) == str(elsewhere.resolve())
    assert found(said, tmp_path / "deep" / "model") == said
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    for counts in ("disambig_en", "gone/my.counts", 5):
        assert found(located(config(counts), tmp_path / "model"), tmp_path / "model") == config(counts)
    assert located({"task": {}}, tmp_path / "model") == {"task": {}}
