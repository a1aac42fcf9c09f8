"""Training data of converters: sentences, folds, usage, voiced readings; the task, and written lines."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    Conversion,
    Converter,
    ConverterSettings,
    KanaKanji,
    KanaLexicon,
    adaptation as adapting,
    cross_fit_lists,
    fold_blocks,
    format_lines,
    general_usage,
    reading_usage,
    split_sentences,
    unseen_weights,
    with_voiced_readings,
)
from disambig_boosted_lasso.kana.lexicon import MIN_FREQUENCY
from kana_words import KANA, WRITTEN, converter, segmented

from disambig.config import resolve
from disambig.errors import UserError
from disambig.formats import read_nbest
from disambig.models import decide_lists
from disambig.testing import check_task
from disambig.training import train_candidates


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["猫がいる。犬もいる！ほんと？"], ["猫がいる。", "犬もいる！", "ほんと？"]),
        (["「いる。」と言った"], ["「いる。」", "と言った"]),
        (["", "　", "---", "12,000", "。。"], []),
        (["　猫。\t", "ｶﾀｶﾅ｡次"], ["猫。", "カタカナ。", "次"]),
        (["え!?うん"], ["え!?", "うん"]),
        (["あ" * 300, "い" * 256], ["い" * 256]),
    ],
)
def test_sentences(lines, wanted):
    assert list(split_sentences(lines)) == wanted


def test_a_converter_never_converts_what_it_has_learned_from():
    text = segmented()
    folds = np.arange(len(text)) % 3
    asked = np.arange(len(text)) != 4
    outside, reported = [], []

    def learn(rows):
        outside.append(rows)
        return Converter.learn(text.take(rows))

    lists, rows = cross_fit_lists(text, folds, learn, asked=asked, k=5, tell=lambda *a: reported.append(a))
    assert sorted(rows.tolist()) == np.flatnonzero(asked).tolist()
    for fold, learned in enumerate(outside):
        assert learned.tolist() == np.flatnonzero(folds != fold).tolist()
    assert folds[rows].tolist() == sorted(folds[rows].tolist())
    written = text.column(0)
    for at, row in enumerate(rows.tolist()):
        costs = lists.costs[lists.offsets[at] : lists.offsets[at + 1]]
        right = [text == written[row] for text in lists.instance_candidates(at)]
        assert [cost == 0 for cost in costs] == right
    assert [stage[1:] for stage in reported] == [(0, 3), (1, 3), (2, 3)]
    assert fold_blocks(5, 2).tolist() == [0, 0, 1, 1, 2]


def test_some_sentences():
    text = segmented()
    some = text.take(np.array([3, 0, 3]))
    assert some.column(0) == [text.column(0)[row] for row in (3, 0, 3)]
    assert some.sentence(1) == text.sentence(0)
    assert len(text.take(np.array([], int))) == 0


def test_texts_that_are_refused():
    for weight in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="D695"):
            adapting.check_texts(["猫。"] * 50, weight)
    with pytest.raises(UserError, match=r"D694.* 3 Japanese sentences .*at least 20"):
        adapting.check_texts(["猫。"] * 3, None)
    adapting.check_texts(["猫。"] * adapting.LEAST, 0.5)


WORDS = {("事", "こと", "名詞"): 6, ("こと", "こと", "名詞"): 3, ("々々", "おどり", "記号"): 1}
NEVER = {("古都", "こと", "名詞"): 0, ("琴", "こと", "名詞"): 0}


def lexicon():
    words = WORDS | NEVER
    return KanaLexicon.counted(words, words.values())


def test_usage_is_a_power_of_the_ratio_of_frequencies_within_bounds():
    one = lexicon()
    usage = general_usage(one, {"事": 0.1, "こと": 0.9}, weight=0.5, most=1.0, share=0.0)
    by_surface = dict(zip(one.surfaces, usage.tolist(), strict=True))
    assert by_surface["こと"] == pytest.approx(0.5 * min(1.0, np.log(0.9 / 0.3)))
    assert by_surface["事"] == pytest.approx(0.5 * max(-1.0, np.log(0.1 / 0.6)))
    assert by_surface["々々"] == pytest.approx(
        -0.5
    )  # the other text lacks it: at most as often as MIN_FREQUENCY
    assert by_surface["古都"] == by_surface["琴"] == 0.0
    alike = general_usage(one, {"事": 0.6, "こと": 0.3, "々々": 0.1}, share=0.0)
    np.testing.assert_allclose(alike, 0.0, atol=1e-6)
    rare = KanaLexicon.counted([("事", "こと", "名詞"), ("稀", "まれ", "名詞")], [10**9, 1])
    assert general_usage(rare, {"事": 1.0}, most=9.0)[1] == 0.0  # not more often for being left out
    assert MIN_FREQUENCY > 1e-9


def test_words_that_text_lacks_are_divided_as_the_other_text_has_them():
    one = lexicon()
    never = one.counts == 0
    before = unseen_weights(one)[never] / unseen_weights(one)[never].sum()
    usage = general_usage(one, {"琴": 2e-6, "古都": 6e-6, "事": 1.0}, share=0.5)[never]
    after = before * np.exp(usage)
    expected = np.array([{"琴": 0.25, "古都": 0.75}[one.surfaces[row]] for row in np.flatnonzero(never)])
    np.testing.assert_allclose(after, 0.5 * before + 0.5 * expected, rtol=1e-6)
    assert not general_usage(one, {}, share=0.5)[never].any()


def test_usage_decides_between_spellings_and_is_stored_and_kept_beside_more_words(tmp_path):
    plain = converter(unit="pair", weighed=False)
    kana = "はし"
    surfaces = set(plain.lexicon.surfaces)
    last = [text for text in plain.nbest([kana], 20).texts if text in surfaces][-1]
    pushed = np.array([40.0 if surface == last else 0.0 for surface in plain.lexicon.surfaces], np.float32)
    assert pushed.any()
    informed = replace(plain, lexicon=replace(plain.lexicon, usage=pushed))
    assert informed.best([kana]) == [last] != plain.best([kana])
    informed.save(tmp_path / "it")
    again = Converter.load(tmp_path / "it")
    np.testing.assert_array_equal(again.lexicon.usage, pushed)
    more = again.lexicon.with_more(KanaLexicon.counted([("新語", "しんご", "名詞")], [1]))
    kept = dict(zip(more.surfaces, more.usage.tolist(), strict=True))
    assert kept[last] == 40.0 and kept["新語"] == 0.0


def test_reading_usage_compares_pairs_of_reading_and_spelling():
    words = [(*pair.split("/"), "名詞") for pair in "豚/ぶた 二/ぶた 二/に 猪/い 亥/い".split()]
    one = KanaLexicon.counted(words, [1, 1, 8, 0, 0])
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


VOICED = """
鼻血/はなじ/名詞 鼻/はな/名詞 血/ち/名詞 身近/みじか/名詞 身/み/名詞 近/ちか/名詞 頷く/うなずく/動詞
年中/ねんじゅう/名詞 年/ねん/名詞 中/ちゅう/名詞 意地/いじ/名詞 意/い/名詞 地/ち/名詞
瑞樹/みずき/名詞-固有名詞 瑞/み/名詞 樹/つき/名詞 ずつ/ずつ/助詞
"""


def test_second_parts_read_with_chi_or_tsu_are_found_voiced():
    words = [tuple(word.split("/")) for word in VOICED.split()]
    lexicon = with_voiced_readings(KanaLexicon.counted(words, [3, 2, 2] + [1] * (len(words) - 3)))
    counts = dict(zip(zip(lexicon.surfaces, lexicon.readings, strict=True), lexicon.counts, strict=True))
    added = set(counts) - {(surface, reading) for surface, reading, _ in words}
    assert added == {("鼻血", "はなぢ"), ("身近", "みぢか"), ("頷く", "うなづく")}
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


CONFIG = {
    "task": {"@disambig_tasks": "boosted_lasso.KanaKanji.v1"},
    "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
    "extractors": {
        "source": {"@disambig_extractors": "disambig.SourceFeatures.v1"},
        "words": {"@disambig_extractors": "disambig.TextNgrams.v1"},
    },
    "learner": {"@disambig_learners": "boosted_lasso.Boosting.v1"},
    "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
}


def test_the_contract():
    for check in check_task(KanaKanji(), ["ははは。", ""]):
        check()
    with pytest.raises(UserError, match="D675"):
        KanaKanji(k=0)
    with pytest.raises(UserError, match="D674"):
        KanaKanji().lists(["はし"])


def test_a_reranker_learns_what_the_language_model_gets_wrong(tmp_path):
    converter().save(tmp_path / "converter")
    lists = KanaKanji(str(tmp_path / "converter")).lists(KANA * 10, references=WRITTEN * 10)
    parts = resolve(CONFIG)
    model = train_candidates(parts, lists, [str(i) for i in range(len(lists))], name="my/conversions")
    decided = decide_lists(model, lists)
    before = lists.costs[lists.offsets[:-1]].sum()
    after = lists.costs[lists.offsets[:-1] + decided.chosen].sum()
    assert before > 0
    assert after < before / 2


def test_what_is_shown(tmp_path):
    conversion = Conversion(converter())
    block = [("a.txt:1", "ねこ。"), ("a.txt:2", ""), ("a.txt:3", "はし")]
    assert format_lines(conversion, block, 0, None, jsonl=False) == "猫。\n\n橋\n"
    rows = [line.split("\t") for line in format_lines(conversion, block, 7, 2, jsonl=False).splitlines()]
    assert [row[0] for row in rows] == ["8", "8", "9", "10", "10"]
    assert [row[2] for row in rows][-2:] == ["橋", "箸"]
    assert float(rows[0][1]) > float(rows[1][1])
    path = tmp_path / "lists.jsonl"
    path.write_text(format_lines(conversion, block, 0, 2, jsonl=True), encoding="utf8")
    first = json.loads(path.read_text(encoding="utf8").splitlines()[0])
    assert first["id"] == "a.txt:1" and first["kana"] == "ねこ。"
    assert first["candidates"][0]["words"] == ["猫", "。"]
    assert [len(item.source["candidates"]) for item in read_nbest([str(path)])] == [2, 1, 2]
