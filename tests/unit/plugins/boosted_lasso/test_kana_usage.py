"""What is known of words beside the text: ratios of frequencies, clipped, and shares of what text lacks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from disambig_boosted_lasso.kana import Converter, KanaLexicon, general_usage, reading_usage, unseen_weights
from disambig_boosted_lasso.kana.lexicon import LEAST
from kana_words import converter

WORDS = {("事", "こと", "名詞"): 6, ("こと", "こと", "名詞"): 3, ("々々", "おどり", "記号"): 1}
NEVER = {("古都", "こと", "名詞"): 0, ("琴", "こと", "名詞"): 0}


def lexicon() -> KanaLexicon:
    words = WORDS | NEVER
    return KanaLexicon.counted(words, words.values())


def test_usage_is_a_power_of_the_ratio_of_frequencies_within_bounds():
    one = lexicon()
    found = general_usage(one, {"事": 0.1, "こと": 0.9}, weight=0.5, most=1.0, share=0.0)
    by_surface = dict(zip(one.surfaces, found.tolist(), strict=True))
    assert by_surface["こと"] == pytest.approx(0.5 * min(1.0, np.log(0.9 / 0.3)))
    assert by_surface["事"] == pytest.approx(0.5 * max(-1.0, np.log(0.1 / 0.6)))
    assert by_surface["々々"] == pytest.approx(-0.5)  # the other text lacks it: at most as often as LEAST
    assert by_surface["古都"] == by_surface["琴"] == 0.0
    alike = general_usage(one, {"事": 0.6, "こと": 0.3, "々々": 0.1}, share=0.0)
    np.testing.assert_allclose(alike, 0.0, atol=1e-6)
    rare = KanaLexicon.counted([("事", "こと", "名詞"), ("稀", "まれ", "名詞")], [10**9, 1])
    assert general_usage(rare, {"事": 1.0}, most=9.0)[1] == 0.0  # not more often for being left out
    assert LEAST > 1e-9


def test_words_that_text_lacks_are_divided_as_the_other_text_has_them():
    one = lexicon()
    never = one.counts == 0
    before = unseen_weights(one)[never] / unseen_weights(one)[never].sum()
    found = general_usage(one, {"琴": 2e-6, "古都": 6e-6, "事": 1.0}, share=0.5)[never]
    after = before * np.exp(found)
    told = np.array([{"琴": 0.25, "古都": 0.75}[one.surfaces[row]] for row in np.flatnonzero(never)])
    np.testing.assert_allclose(after, 0.5 * before + 0.5 * told, rtol=1e-6)
    assert not general_usage(one, {}, share=0.5)[never].any()


def test_usage_decides_between_spellings_and_is_stored_and_kept_beside_more_words(tmp_path):
    plain = converter(unit="pair", weighed=False)
    kana = "はし"
    known = set(plain.lexicon.surfaces)
    last = [text for text in plain.nbest([kana], 20).texts if text in known][-1]
    pushed = np.array([40.0 if surface == last else 0.0 for surface in plain.lexicon.surfaces], np.float32)
    assert pushed.any()
    told = replace(plain, lexicon=replace(plain.lexicon, usage=pushed))
    assert told.best([kana]) == [last] != plain.best([kana])
    told.save(tmp_path / "it")
    again = Converter.load(tmp_path / "it")
    np.testing.assert_array_equal(again.lexicon.usage, pushed)
    more = again.lexicon.with_more(KanaLexicon.counted([("新語", "しんご", "名詞")], [1]))
    kept = dict(zip(more.surfaces, more.usage.tolist(), strict=True))
    assert kept[last] == 40.0 and kept["新語"] == 0.0


def test_reading_usage_compares_pairs_of_reading_and_spelling():
    words = {
        ("豚", "ぶた", "名詞"): 1,
        ("二", "ぶた", "名詞"): 1,
        ("二", "に", "名詞"): 8,
        ("猪", "い", "名詞"): 0,
    }
    one = KanaLexicon.counted([*words, ("亥", "い", "名詞")], [*words.values(), 0])
    frequencies = {("ぶた", "豚"): 0.4, ("に", "二"): 0.4, ("い", "亥"): 0.2, ("ん", "無"): 9.0}
    usage = reading_usage(one, frequencies, weight=0.5, most=1.2, share=0.9, gain=0.5)
    of_pair = dict(zip(zip(one.readings, one.surfaces, strict=True), usage.tolist(), strict=True))
    assert of_pair["ぶた", "豚"] == pytest.approx(0.5 * 1.2)  # ln(0.4 / 0.1) is bounded
    assert of_pair["に", "二"] == pytest.approx(0.5 * np.log(0.4 / 0.8))
    assert of_pair["ぶた", "二"] == 0.0
    # the two words that the text lacks are alike in kind: the other text has only one of them
    assert np.exp(of_pair["い", "亥"] - 0.5) == pytest.approx(0.1 + 0.9 * 2)
    assert np.exp(of_pair["い", "猪"] - 0.5) == pytest.approx(0.1)
    assert not reading_usage(one, {}).any()
