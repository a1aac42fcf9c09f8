"""Typed kana, readings and numbers, Sudachi if it is installed; training data of converters."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import (
    COSTS,
    IN_DIGITS,
    IN_KANJI,
    STYLE,
    WORD,
    Conversion,
    Converter,
    ConverterSettings,
    KanaKanji,
    KanaLexicon,
    SegmentedText,
    adaptation as adapting,
    apply_overrides,
    cross_fit_lists,
    find_spoken_numbers,
    fold_blocks,
    format_lines,
    full_width,
    general_usage,
    in_kanji,
    is_kana,
    is_native,
    join_readings,
    language_model_word,
    normalise_kana,
    number_log_prob,
    read_rules,
    read_segmented,
    reading_usage,
    segment_lines,
    split_sentences,
    to_katakana,
    unseen_weights,
    with_voiced_readings,
    write_segmented,
    write_spoken_number,
)
from disambig_boosted_lasso.kana.lexicon import MIN_FREQUENCY
from hypothesis import given, strategies as st
from kana_words import converter, make_folder, segmented, sentences

from disambig.errors import UserError
from disambig.formats import read_nbest

MARK = re.compile("([ぁ-ゖ])([ゝゞ])")


@given(st.text(st.sampled_from("かがんゔぁーゝゞ漢"), max_size=20))
def test_a_run_of_marks_is_read_mark_by_mark(text):
    wanted = text
    while (match := MARK.search(wanted)) is not None:
        wanted = wanted[: match.start()] + normalise_kana(match[0]) + wanted[match.end() :]
    assert normalise_kana(text) == wanted


def test_runs_of_marks_and_kinds_of_characters():
    assert normalise_kana("か" + "ゝ" * 500 + "は" + "ゞゝ" * 250) == "か" * 501 + "は" + "ばは" * 250
    assert to_katakana("ぱんー") == "パンー"
    assert full_width("ﾊﾟﾝ、パン") == "パン、パン"
    assert is_native("A山") and is_native("ｱ") and not is_native("A1。")
    assert is_kana("カナかなー") and not is_kana("山") and not is_kana("")


TYPED = """
カタカナ かたかな ｶﾞﾗｽ｡ がらす。 サーバー さーばー ヴァイオリン ゔぁいおりん か\u3099 が 一ヶ月 一ゖ月
すゞめ、いすゞ、ここゝ すずめ、いすず、こここ がゝり、みすヾ がかり、みすず いすゞ いすず こゝろ こころ
がゝゞ がかが アヽヾ あああ ゝかゝ ゝかか 漢ゝ 漢ゝ ゔゝゞ ゔうゔ ＡＢＣ１２３abc!？ ＡＢＣ１２３abc!？
""".split()


@pytest.mark.parametrize(("text", "kana"), list(zip(TYPED[::2], TYPED[1::2], strict=True)))
def test_kana_as_it_is_typed(text, kana):
    assert normalise_kana(text) == kana
    assert normalise_kana(kana) == kana


@pytest.mark.parametrize(
    ("words", "readings"),
    [
        ("私/わたくし", "わたし"),
        ("言う/ゆう 言葉/ことば", "いう ことば"),
        ("日本一/にっぽんいち", "にほんいち"),
        ("12/12 日/か", "12 にち"),
        *((f"{n}/{n} 日/にち", f"{n} か") for n in ("2", "10", "20", "24")),
        *((f"{n}/{n} 日/にち", f"{n} にち") for n in ("12", "1")),
        *((f"{n}/{n} 分/ふん", f"{n} ぷん") for n in ("10", "13", "１")),
        ("15/15 分/ふん", "15 ふん"),
        ("車/くるま 会社/かいしゃ", "くるま がいしゃ"),
        ("会社/かいしゃ", "かいしゃ"),
        ("ドイツ/どいつ 人/にん", "どいつ じん"),
        ("何/なん を/を/助詞", "なに を"),
    ],
)
def test_rules_of_the_table(words, readings):
    tagged = [(*word.split("/"), "名詞-普通名詞")[:3] for word in words.split()]
    assert " ".join(reading for _, reading, _ in apply_overrides(tagged)) == readings


def test_every_rule_has_its_columns():
    whole, beginnings = read_rules()
    rules = [rule for table in (whole, beginnings) for group in table.values() for rule in group]
    for number, rule in enumerate(rules):
        assert rule.word and normalise_kana(rule.reading) == rule.reading
        # a rule that keeps a reading is an exception to a later one
        later = {(other.word, other.read) for other in rules[number + 1 :] if other.read != other.reading}
        assert rule.read != rule.reading or (rule.word, rule.read) in later


def test_segmented_text_is_written_and_read(tmp_path):
    lines = [*sentences(), [], [("New York", "New York", "名詞"), (" ", " ", "空白")]]
    assert write_segmented(tmp_path / "it.tsv", lines) == len(lines)
    segmented_lines = read_segmented(tmp_path / "it.tsv")
    assert [segmented_lines.sentence(i) for i in range(len(segmented_lines))] == lines
    assert segmented_lines.column(0)[0] == "私は橋を渡る。"
    assert segmented_lines.column(1)[-1] == "New York "
    assert segmented_lines[1:3].column(1) == segmented_lines.column(1)[1:3]
    assert len(segmented_lines[5:2]) == 0
    both = SegmentedText.concat([segmented_lines, segmented()])
    assert both.column(1) == [*segmented_lines.column(1), *segmented().column(1)]
    (tmp_path / "bad.tsv").write_text("a b\ta\tc\n", encoding="utf8")
    with pytest.raises(UserError, match="D672"):
        read_segmented(tmp_path / "bad.tsv")
    with pytest.raises(UserError, match="D300"):
        read_segmented(tmp_path / "none.tsv")


def test_a_lexicon_counts_pairs_and_takes_the_commonest_part_of_speech():
    words = [tuple(word.split("/")) for word in "橋/はし/N 橋/はし/M 橋/きょう/N 12/12/D 端/はし/N".split()]
    counted = KanaLexicon.counted(words, [1, 2, 1, 5, 0])
    pairs = list(zip(counted.surfaces, counted.readings, counted.counts.tolist(), strict=True))
    assert pairs == [("橋", "はし", 3), ("橋", "きょう", 1), ("端", "はし", 0)]
    assert counted.tag_names[counted.tags[0]] == "M"
    assert counted.shares.tolist() == pytest.approx([3.5 / 5, 1.5 / 5, 1.0])
    assert counted.with_more(counted).counts.tolist() == [6, 2, 0]
    words, units = "7 １９ 1,234 3.14 123456 山 A1", "0 00 0000 000 00000 山 A1"
    assert [language_model_word(word) for word in words.split()] == units.split()


@pytest.fixture(scope="module")
def read():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    return lambda *lines, **how: [join_readings(words) for words in segment_lines(lines, **how)]


@pytest.mark.parametrize("mode", ["A", "B", "C"])
def test_sudachi_reads(read, mode):
    lines = "私はパンを食べる。 こんにちは！ 若しくは海へ 2008年12月3日、１５分 ABCとTシャツ ｶﾞﾗｽを2万枚"
    kana = "わたしはぱんをたべる。 こんにちは！ もしくはうみへ 2008ねん12がつ3か、１５ふん "
    kana += "ABCとTしゃつ がらすを2まんまい"
    assert read(*lines.split(), "", mode=mode) == [*kana.split(), ""]


def test_words_join_to_their_line(read):
    lines = ["彼はDNSサーバーを2台と言う。", "すゞめ　が　飛ぶ", "あ" * 12_000]
    for line, words in zip(lines, segment_lines(lines), strict=True):
        assert "".join(surface for surface, _, _ in words) == line
        assert all(reading and tag for _, reading, tag in words)
    with pytest.raises(UserError, match="D671"):
        read("山", mode="D")


NUMBERS = """
さんまるいち/ごうしつ/301 にせんにじゅうろく/ねん/2026 ごひゃく/えん/500 さんじゅっ/ぷん/30 し/がつ/4
ろっぴゃくろくじゅうろく/にん/666 はっせんご/えん/8005 にじゅうよ/ねん/24 ぜろよんなな//047
"""


@pytest.mark.parametrize("words", NUMBERS.split())
def test_numbers_are_found(words):
    number, unit, digits = words.split("/")
    line = number + unit
    numbers = {(line[one.start : one.end], one.digits) for one in find_spoken_numbers(line)}
    assert (number, digits) in numbers
    assert write_spoken_number(number, IN_DIGITS) == digits


@pytest.mark.parametrize(
    "line",
    """
    さんごくしをよむ にわにはにわ よる いっしょう ごはん じゅうを しる いちに
    まるいちごをたべた れいにさんどおじぎ にまるいちごがある いちごにさんさんのひかり
    """.split(),
)
def test_other_words_are_not_numbers(line):
    assert not [one for one in find_spoken_numbers(line) if one.start == 0]


def test_units_come_in_their_order():
    line = "ひゃくせんえん"
    assert {line[one.start : one.end] for one in find_spoken_numbers(line)} == {"せん"}
    numbers = find_spoken_numbers("さんじゅうごじゅうえん")
    assert {one.digits for one in numbers if one.start == 0} == {"35"}  # and neither 3050 nor 85
    numbers = list(find_spoken_numbers("に" * 2_000))  # a long line has few, each of few digits
    assert len(numbers) < 40 and max(len(one.digits) for one in numbers) <= 12
    with pytest.raises(ValueError, match="does not read as a number"):
        write_spoken_number("はし", IN_KANJI)


@pytest.mark.parametrize(
    ("digits", "kanji"),
    [("1", "一"), ("10", "十"), ("21", "二十一"), ("301", "三百一"), ("1111", "千百十一")],
)
def test_numbers_in_kanji(digits, kanji):
    assert in_kanji(digits) == kanji


def with_numbers(how):
    made = converter()
    return replace(made, settings=replace(made.settings, numbers=how))


def test_a_converter_writes_numbers_in_the_requested_style():
    line, digits, kanji = "にせんはちねんにはしができる。", "2008年に橋ができる。", "二千八年に橋ができる。"
    assert list(with_numbers("digits").nbest([line], 2).texts) == [digits, kanji]
    assert list(with_numbers("kanji").nbest([line], 2).texts) == [kanji, digits]
    every = with_numbers("words").nbest([line], 100)  # of the words of the lexicon alone
    assert not [text for text in every.texts if "2008" in text or "二千" in text]
    words = with_numbers("digits").nbest(["にせんはちねん", "はし"], 1).words
    assert words.candidate_words(0) == ("2008", "年")
    assert words.candidate_tags(0)[0] == "名詞-数詞"


def test_the_score_is_that_of_the_typed_number_and_of_its_being_spelt_out():
    made = with_numbers("kanji")
    (typed,) = made.nbest(["3ねんのあいだ"], 1).scores
    lists = made.nbest(["さんねんのあいだ"], 5)
    scores = dict(zip(lists.texts, lists.scores, strict=True))
    spelt_out = typed + number_log_prob("3") + COSTS[WORD]
    assert scores["三年の間"] == pytest.approx(spelt_out, abs=1e-5)
    assert scores["3年の間"] == pytest.approx(spelt_out + STYLE, abs=1e-5)


def test_the_style_of_a_saved_converter_can_be_chosen(tmp_path):
    home = make_folder(tmp_path, reranker=False, domain=False)
    line = ["にせんはちねんにはしができる。"]
    assert load_converter(home).best(line) == ["二千八年に橋ができる。"]
    assert load_converter(home, numbers="digits").best(line) == ["2008年に橋ができる。"]
    with pytest.raises(UserError, match="available: kanji, digits, words") as error:
        load_converter(home, numbers="roman")
    assert error.value.code == "D671"
    with pytest.raises(UserError):
        ConverterSettings(numbers="roman")


@pytest.mark.parametrize("n", range(1, 6))
def test_the_probabilities_of_numbers_of_a_length_sum_to_one(n):
    numbers = map(str, range(10 ** (n - 1), 10**n))
    assert sum(math.exp(number_log_prob(number)) for number in numbers) == pytest.approx(1)
    assert number_log_prob("5" * 400) < number_log_prob("5" * 12) < 0


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
    selected = np.arange(len(text)) != 4
    outside, reported = [], []

    def learn(rows):
        outside.append(rows)
        return Converter.learn(text.take(rows))

    lists, rows = cross_fit_lists(
        text, folds, learn, selected=selected, k=5, progress=lambda *a: reported.append(a)
    )
    assert sorted(rows.tolist()) == np.flatnonzero(selected).tolist()
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


def test_texts_that_are_refused():
    for weight in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(UserError, match="D695"):
            adapting.check_texts(["猫。"] * 50, weight)
    with pytest.raises(UserError, match=r"D694.* 3 Japanese sentences .*at least 20"):
        adapting.check_texts(["猫。"] * 3, None)
    adapting.check_texts(["猫。"] * adapting.MIN_SENTENCES, 0.5)


WORDS = {("事", "こと", "名詞"): 6, ("こと", "こと", "名詞"): 3, ("々々", "おどり", "記号"): 1}
NEVER = {("古都", "こと", "名詞"): 0, ("琴", "こと", "名詞"): 0}


def lexicon():
    words = WORDS | NEVER
    return KanaLexicon.counted(words, words.values())


def test_usage_is_a_power_of_the_ratio_of_frequencies_within_bounds():
    one = lexicon()
    usage = general_usage(one, {"事": 0.1, "こと": 0.9}, weight=0.5, maximum=1.0, share=0.0)
    by_surface = dict(zip(one.surfaces, usage.tolist(), strict=True))
    assert by_surface["こと"] == pytest.approx(0.5 * min(1.0, np.log(0.9 / 0.3)))
    assert by_surface["事"] == pytest.approx(0.5 * max(-1.0, np.log(0.1 / 0.6)))
    assert by_surface["々々"] == pytest.approx(-0.5)  # the other text lacks it: MIN_FREQUENCY at most
    assert by_surface["古都"] == by_surface["琴"] == 0.0
    alike = general_usage(one, {"事": 0.6, "こと": 0.3, "々々": 0.1}, share=0.0)
    np.testing.assert_allclose(alike, 0.0, atol=1e-6)
    rare = KanaLexicon.counted([("事", "こと", "名詞"), ("稀", "まれ", "名詞")], [10**9, 1])
    assert general_usage(rare, {"事": 1.0}, maximum=9.0)[1] == 0.0  # not more often for being left out
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
    usage = reading_usage(one, frequencies, weight=0.5, maximum=1.2, share=0.9, gain=0.5)
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


def test_invalid_settings_of_the_task():
    with pytest.raises(UserError, match="D675"):
        KanaKanji(k=0)
    with pytest.raises(UserError, match="D674"):
        KanaKanji().lists(["はし"])


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
