"""Converters in folders: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    Converter,
    KanaKanji,
    converter as stored,
    is_converter,
    list_domains,
    save_domain,
)
from kana_words import converter, segmented

from disambig.errors import UserError
from disambig.testing import check_standalone

LINES = ["わたしははしをわたる。", "ぬゎ2008", "とりはにわでなく。"]


@pytest.mark.parametrize("mixed", [False, True])
def test_a_converter_comes_back_as_it_was(tmp_path, mixed):
    one = converter(unit="pair", weighed=False)
    if mixed:
        one = one.adapted(segmented()[2:9], weight=0.4)
    one.save(tmp_path / "it")
    again = Converter.load(tmp_path / "it")
    before, after = one.nbest(LINES, 20), again.nbest(LINES, 20)
    assert list(before.texts) == list(after.texts)
    np.testing.assert_array_equal(before.scores, after.scores)
    np.testing.assert_array_equal(before.words.tags, after.words.tags)
    assert again.settings == one.settings
    assert (
        KanaKanji(str(tmp_path / "it"), 5).lists(LINES).instance_candidates(2)
        == after.instance_candidates(2)[:5]
    )


def test_what_is_damaged_or_another_ones_is_not_read(tmp_path):
    for name in ("one", "other"):
        converter().adapted(segmented()[:8], weight=0.5).save(tmp_path / name)
    converter(unit="spelling").save(tmp_path / "spellings")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "none")
    header = tmp_path / "one" / "header.json"
    said = json.loads(header.read_text(encoding="utf8"))
    for change in (
        {"format": "another"},
        {"digest": "0"},
        {"tags": ["one"]},
        {"settings": {"unit": "none"}},
        {"settings": {"what": 1}},
        {"words": "0"},
    ):
        header.write_text(json.dumps({**said, **change}), encoding="utf8")
        with pytest.raises(UserError, match="D674") as found:
            Converter.load(tmp_path / "one")
        assert str(found.value).count("[D") == 1
    header.write_text("[]", encoding="utf8")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "one")
    (tmp_path / "spellings" / "model").rename(tmp_path / "spellings" / "old")
    (tmp_path / "other" / "model").rename(tmp_path / "spellings" / "model")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "spellings")
    with pytest.raises(UserError, match="D655"):
        Converter.load(tmp_path / "other")


def test_nothing_of_another_converter_stays(tmp_path):
    made, home = converter(), tmp_path / "it"
    mixed = made.adapted(segmented()[2:9], weight=0.4)
    mixed.save(home)
    save_domain(mixed.model, home, "birds")
    mixed.save(home)
    assert list_domains(home) == ["birds"], "the same one again keeps its domains"
    made.save(home)
    assert sorted(path.name for path in home.iterdir()) == ["header.json", "lexicon.npz", "model"]
    assert Converter.load(home).best(LINES) == made.best(LINES)
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


def test_saving_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    made, home = converter(), tmp_path / "it"
    made.save(home)

    def full(*_, **__):
        raise OSError(28, "disk full")

    monkeypatch.setattr(stored.ArrayFolder, "write", full)
    with pytest.raises(UserError, match=r"D309.*disk full"):
        converter(unit="spelling").adapted(segmented()[:8], weight=0.5).save(home)
    assert Converter.load(home).settings == made.settings
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


def test_a_folder_of_other_things_is_not_replaced(tmp_path):
    (tmp_path / "chapter.txt").write_text("kept")
    with pytest.raises(UserError, match=r"D697.*chapter\.txt"):
        converter().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["chapter.txt"]
    assert not is_converter(tmp_path)


def test_contract_of_standalone_models():
    for check in check_standalone(converter(), ["きょうは", "はな\nいぬ"]):
        check()
