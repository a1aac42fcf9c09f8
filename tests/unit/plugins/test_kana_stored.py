"""Converters in folders: what is read is what was written, and nothing else is read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from disambig_boosted_lasso.kana.converter import Converter
from disambig_boosted_lasso.kana.task import KanaKanji
from kana_words import converter, segmented

from disambig.errors import UserError

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
    assert KanaKanji(str(tmp_path / "it"), 5).lists(LINES).of_instance(2) == after.of_instance(2)[:5]


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
        with pytest.raises(UserError, match=r"D67[14]"):
            Converter.load(tmp_path / "one")
    header.write_text("[]", encoding="utf8")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "one")
    (tmp_path / "spellings" / "model").rename(tmp_path / "spellings" / "old")
    (tmp_path / "other" / "model").rename(tmp_path / "spellings" / "model")
    with pytest.raises(UserError, match="D674"):
        Converter.load(tmp_path / "spellings")
    with pytest.raises(UserError, match="D655"):
        Converter.load(tmp_path / "other")
