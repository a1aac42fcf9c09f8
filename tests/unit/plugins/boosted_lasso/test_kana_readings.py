"""Kana as it is typed, the table of readings, segmented text, and what Sudachi brings if installed."""

from __future__ import annotations

import pytest
from disambig_boosted_lasso.kana import (
    KanaLexicon,
    ReadingTrie,
    SegmentedText,
    apply_overrides,
    full_width,
    is_kana,
    is_native,
    join_readings,
    language_model_word,
    normalise_kana,
    read_rules,
    read_segmented,
    segment_lines,
    to_katakana,
    write_segmented,
)
from hypothesis import given, strategies as st
from kana_words import segmented, sentences

from disambig.errors import UserError


@pytest.mark.parametrize(
    ("text", "kana"),
    [
        ("カタカナ", "かたかな"),
        ("ｶﾞﾗｽ｡", "がらす。"),
        ("サーバー", "さーばー"),
        ("ヴァイオリン", "ゔぁいおりん"),
        ("すゞめ、いすゞ、ここゝ", "すずめ、いすず、こここ"),
        ("がゝり、みすヾ", "がかり、みすず"),
        ("か\u3099", "が"),
        ("ＡＢＣ１２３abc!？", "ＡＢＣ１２３abc!？"),
        ("一ヶ月", "一ゖ月"),
        ("", ""),
    ],
)
def test_kana_as_it_is_typed(text, kana):
    assert normalise_kana(text) == kana
    assert normalise_kana(kana) == kana


def test_kinds_of_characters():
    assert to_katakana("ぱんー") == "パンー"
    assert full_width("ﾊﾟﾝ、パン") == "パン、パン"
    assert is_native("A山") and is_native("ｱ") and not is_native("A1。")
    assert is_kana("カナかなー") and not is_kana("山") and not is_kana("")


def test_rules_of_the_table():
    def read(*words):
        tagged = [
            (*word.split("/"), "名詞-普通名詞") if word.count("/") == 1 else tuple(word.split("/"))
            for word in words
        ]
        return [reading for _, reading, _ in apply_overrides(tagged)]

    assert read("私/わたくし") == ["わたし"]
    assert read("言う/ゆう", "言葉/ことば") == ["いう", "ことば"]
    assert read("日本一/にっぽんいち") == ["にほんいち"]
    assert read("12/12", "日/か") == ["12", "にち"]
    assert [read(n + "/" + n, "日/にち")[1] for n in ("2", "10", "20", "24", "12", "1")] == [
        *("か",) * 4,
        *("にち",) * 2,
    ]
    assert [read(n + "/" + n, "分/ふん")[1] for n in ("10", "13", "15", "１")] == [
        "ぷん",
        "ぷん",
        "ふん",
        "ぷん",
    ]
    assert read("車/くるま", "会社/かいしゃ") == ["くるま", "がいしゃ"]
    assert read("会社/かいしゃ") == ["かいしゃ"]
    assert read("ドイツ/どいつ", "人/にん") == ["どいつ", "じん"]
    assert read("何/なん", "を/を/助詞") == ["なに", "を"]


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
    words = [
        ("橋", "はし", "N"),
        ("橋", "はし", "M"),
        ("橋", "きょう", "N"),
        ("12", "12", "D"),
        ("端", "はし", "N"),
    ]
    found = KanaLexicon.counted(words, [1, 2, 1, 5, 0])
    assert list(zip(found.surfaces, found.readings, found.counts.tolist(), strict=True)) == [
        ("橋", "はし", 3),
        ("橋", "きょう", 1),
        ("端", "はし", 0),
    ]
    assert found.tag_names[found.tags[0]] == "M"
    assert found.shares.tolist() == pytest.approx([3.5 / 5, 1.5 / 5, 1.0])
    assert found.with_more(found).counts.tolist() == [6, 2, 0]
    assert [language_model_word(word) for word in ("7", "１９", "1,234", "3.14", "123456", "山", "A1")] == [
        *("0", "00", "0000", "000", "00000", "山", "A1")
    ]


@given(st.lists(st.text("あいう", min_size=1, max_size=4), max_size=12))
def test_a_trie_holds_each_reading_at_its_node(readings):
    trie = ReadingTrie.from_readings(readings)
    found = []

    def walk(node, said):
        found.extend(
            (entry, said) for entry in trie.entries[trie.entry_begins[node] : trie.entry_begins[node + 1]]
        )
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


def test_a_mode_that_is_none(read):
    with pytest.raises(UserError, match="D671"):
        read("山", mode="D")
