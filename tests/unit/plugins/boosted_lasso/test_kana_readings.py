"""Typed kana, readings and numbers, segmented text, and Sudachi if it is installed."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from disambig_boosted_lasso import load_converter
from disambig_boosted_lasso.kana import (
    COSTS,
    IN_DIGITS,
    IN_KANJI,
    STYLE,
    WORD,
    ConverterSettings,
    KanaLexicon,
    ReadingTrie,
    SegmentedText,
    apply_overrides,
    characters,
    find_spoken_numbers,
    full_width,
    in_kanji,
    is_kana,
    is_native,
    join_readings,
    language_model_word,
    normalise_kana,
    number_log_prob,
    read_rules,
    read_segmented,
    segment_lines,
    to_katakana,
    write_segmented,
    write_spoken_number,
)
from hypothesis import given, strategies as st
from kana_words import converter, folder_of, segmented, sentences

from disambig.errors import UserError

MARK = re.compile("([ぁ-ゖ])([ゝゞ])")


@given(st.text(st.sampled_from("かがんゔぁーゝゞ漢"), max_size=20))
def test_a_run_of_marks_is_read_mark_by_mark(text):
    wanted = text
    while (found := MARK.search(wanted)) is not None:
        wanted = wanted[: found.start()] + normalise_kana(found[0]) + wanted[found.end() :]
    assert normalise_kana(text) == wanted


def test_runs_of_marks_and_kinds_of_characters(monkeypatch):
    repeat, calls = characters._repeat, []
    monkeypatch.setattr(characters, "_repeat", lambda found: calls.append(0) or repeat(found))
    assert normalise_kana("か" + "ゝ" * 500 + "は" + "ゞゝ" * 250) == "か" * 501 + "は" + "ばは" * 250
    assert len(calls) == 2
    assert to_katakana("ぱんー") == "パンー"
    assert full_width("ﾊﾟﾝ、パン") == "パン、パン"
    assert is_native("A山") and is_native("ｱ") and not is_native("A1。")
    assert is_kana("カナかなー") and not is_kana("山") and not is_kana("")


@pytest.mark.parametrize(
    ("text", "kana"),
    [
        ("カタカナ", "かたかな"),
        ("ｶﾞﾗｽ｡", "がらす。"),
        ("サーバー", "さーばー"),
        ("ヴァイオリン", "ゔぁいおりん"),
        ("すゞめ、いすゞ、ここゝ", "すずめ、いすず、こここ"),
        ("がゝり、みすヾ", "がかり、みすず"),
        ("いすゞ", "いすず"),
        ("こゝろ", "こころ"),
        ("がゝゞ", "がかが"),
        ("アヽヾ", "あああ"),
        ("ゝかゝ", "ゝかか"),
        ("漢ゝ", "漢ゝ"),
        ("ゔゝゞ", "ゔうゔ"),
        ("か\u3099", "が"),
        ("ＡＢＣ１２３abc!？", "ＡＢＣ１２３abc!？"),
        ("一ヶ月", "一ゖ月"),
        ("", ""),
    ],
)
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
    rules = [rule for table in (whole, beginnings) for each in table.values() for rule in each]
    for number, rule in enumerate(rules):
        assert rule.word and normalise_kana(rule.reading) == rule.reading
        # a rule that keeps a reading is an exception to a later one
        later = {(other.word, other.read) for other in rules[number + 1 :] if other.read != other.reading}
        assert rule.read != rule.reading or (rule.word, rule.read) in later


def test_segmented_text_is_written_and_read(tmp_path):
    said = [*sentences(), [], [("New York", "New York", "名詞"), (" ", " ", "空白")]]
    assert write_segmented(tmp_path / "it.tsv", said) == len(said)
    found = read_segmented(tmp_path / "it.tsv")
    assert [found.sentence(i) for i in range(len(found))] == said
    assert found.column(0)[0] == "私は橋を渡る。"
    assert found.column(1)[-1] == "New York "
    assert found[1:3].column(1) == found.column(1)[1:3]
    assert len(found[5:2]) == 0
    both = SegmentedText.concat([found, segmented()])
    assert both.column(1) == [*found.column(1), *segmented().column(1)]
    (tmp_path / "bad.tsv").write_text("a b\ta\tc\n", encoding="utf8")
    with pytest.raises(UserError, match="D672"):
        read_segmented(tmp_path / "bad.tsv")
    with pytest.raises(UserError, match="D300"):
        read_segmented(tmp_path / "none.tsv")


def test_a_lexicon_counts_pairs_and_takes_the_commonest_part_of_speech():
    words = [tuple(word.split("/")) for word in "橋/はし/N 橋/はし/M 橋/きょう/N 12/12/D 端/はし/N".split()]
    found = KanaLexicon.counted(words, [1, 2, 1, 5, 0])
    pairs = list(zip(found.surfaces, found.readings, found.counts.tolist(), strict=True))
    assert pairs == [("橋", "はし", 3), ("橋", "きょう", 1), ("端", "はし", 0)]
    assert found.tag_names[found.tags[0]] == "M"
    assert found.shares.tolist() == pytest.approx([3.5 / 5, 1.5 / 5, 1.0])
    assert found.with_more(found).counts.tolist() == [6, 2, 0]
    words, units = "7 １９ 1,234 3.14 123456 山 A1", "0 00 0000 000 00000 山 A1"
    assert [language_model_word(word) for word in words.split()] == units.split()


@given(st.lists(st.text("あいう", min_size=1, max_size=4), max_size=12))
def test_a_trie_holds_each_reading_at_its_node(readings):
    trie = ReadingTrie.from_readings(readings)
    found = []

    def walk(node, said):
        entries = trie.entries[trie.entry_begins[node] : trie.entry_begins[node + 1]]
        found.extend((entry, said) for entry in entries)
        labels = trie.labels[trie.begins[node] : trie.begins[node + 1]].tolist()
        assert labels == sorted({*labels})
        for edge, label in enumerate(labels, trie.begins[node]):
            walk(edge + 1, said + chr(label))

    if readings:
        walk(0, "")
    assert sorted(found) == list(enumerate(readings))


@pytest.fixture(scope="module")
def read():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    return lambda *lines, **how: [join_readings(words) for words in segment_lines(lines, **how)]


@pytest.mark.parametrize("mode", ["A", "B", "C"])
def test_sudachi_reads(read, mode):
    lines = {
        "私はパンを食べる。": "わたしはぱんをたべる。",
        "こんにちは！": "こんにちは！",
        "若しくは海へ": "もしくはうみへ",
        "2008年12月3日、１５分": "2008ねん12がつ3か、１５ふん",
        "ABCとTシャツ": "ABCとTしゃつ",
        "ｶﾞﾗｽを2万枚": "がらすを2まんまい",
        "": "",
    }
    assert read(*lines, mode=mode) == list(lines.values())


def test_words_join_to_their_line(read):
    lines = ["彼はDNSサーバーを2台と言う。", "すゞめ　が　飛ぶ", "あ" * 12_000]
    for line, words in zip(lines, segment_lines(lines), strict=True):
        assert "".join(surface for surface, _, _ in words) == line
        assert all(reading and tag for _, reading, tag in words)
    with pytest.raises(UserError, match="D671"):
        read("山", mode="D")


@pytest.mark.parametrize(
    ("line", "number", "digits"),
    [
        ("さんまるいちごうしつ", "さんまるいち", "301"),
        ("にせんにじゅうろくねん", "にせんにじゅうろく", "2026"),
        ("ごひゃくえん", "ごひゃく", "500"),
        ("さんじゅっぷん", "さんじゅっ", "30"),
        ("ろっぴゃくろくじゅうろくにん", "ろっぴゃくろくじゅうろく", "666"),
        ("はっせんごえん", "はっせんご", "8005"),
        ("にじゅうよねん", "にじゅうよ", "24"),
        ("しがつ", "し", "4"),
        ("ぜろよんなな", "ぜろよんなな", "047"),
    ],
)
def test_numbers_are_found(line, number, digits):
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
    home = folder_of(tmp_path, reranker=False, domain=False)
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
