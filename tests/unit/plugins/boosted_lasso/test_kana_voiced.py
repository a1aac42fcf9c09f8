"""Words that a dictionary stores with じ and ず are found by readings in ぢ and づ as well."""

from __future__ import annotations

from dataclasses import replace

import pytest
from disambig_boosted_lasso.kana import Converter, ConverterSettings, KanaLexicon, with_voiced_readings
from kana_words import segmented

WORDS = {
    ("鼻血", "はなじ", "名詞"): 3,
    ("鼻", "はな", "名詞"): 2,
    ("血", "ち", "名詞"): 2,
    ("身近", "みじか", "名詞"): 1,
    ("身", "み", "名詞"): 1,
    ("近", "ちか", "名詞"): 1,
    ("頷く", "うなずく", "動詞"): 1,
    ("年中", "ねんじゅう", "名詞"): 1,
    ("年", "ねん", "名詞"): 1,
    ("中", "ちゅう", "名詞"): 1,
    ("意地", "いじ", "名詞"): 1,
    ("意", "い", "名詞"): 1,
    ("地", "ち", "名詞"): 1,
    ("瑞樹", "みずき", "名詞-固有名詞"): 1,
    ("瑞", "み", "名詞"): 1,
    ("樹", "つき", "名詞"): 1,
    ("ずつ", "ずつ", "助詞"): 1,
}


def test_second_parts_read_with_chi_or_tsu_are_found_voiced():
    lexicon = with_voiced_readings(KanaLexicon.counted(WORDS, WORDS.values()))
    pairs = set(zip(lexicon.surfaces, lexicon.readings, strict=True))
    added = pairs - {(surface, reading) for surface, reading, _ in WORDS}
    assert added == {("鼻血", "はなぢ"), ("身近", "みぢか"), ("頷く", "うなづく")}
    counts = dict(zip(zip(lexicon.surfaces, lexicon.readings, strict=True), lexicon.counts, strict=True))
    assert all(counts[pair] == 0 for pair in added)
    assert with_voiced_readings(lexicon).readings == lexicon.readings


@pytest.mark.parametrize("unit", ["pair", "spelling"])
def test_both_readings_have_one_probability(unit):
    text = """
彼/かれ/代名詞 は/は/助詞 鼻血/はなじ/名詞 が/が/助詞 出/で/動詞 た/た/助動詞 。/。/補助記号
鼻/はな/名詞 が/が/助詞 高い/たかい/形容詞 。/。/補助記号
血/ち/名詞 が/が/助詞 出/で/動詞 た/た/助動詞 。/。/補助記号
"""
    plain = Converter.learn(segmented(text), settings=ConverterSettings(least=1, unit=unit))
    converter = replace(plain, lexicon=with_voiced_readings(plain.lexicon))
    lists = converter.nbest(["かれははなじがでた。", "かれははなぢがでた。"], 1)
    assert list(lists.texts) == ["彼は鼻血が出た。"] * 2
    assert lists.scores[0] == pytest.approx(lists.scores[1])
    assert plain.best(["かれははなぢがでた。"]) != ["彼は鼻血が出た。"]
