"""From kana to kanji: the words that are chosen, long lines, threads, and what adapting brings."""

from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from disambig_boosted_lasso.kana import (
    Converter,
    ConverterSettings,
    KanaLexicon,
    SegmentedText,
    _search_kernels as nbest_kernels,
    decoding as pieces,
)
from kana_words import converter, segmented

from disambig.errors import UserError
from disambig.language_models import Mixture


@pytest.fixture(scope="module")
def small():
    return converter()


@pytest.mark.parametrize("unit", ["spelling", "pair"])
def test_words_are_chosen_by_those_beside_them(unit):
    kana = "わたしははしをわたる。 わたしははしでたべる。 とりはにわでなく。 かれはなく。"
    written = "私は橋を渡る。 私は箸で食べる。 鳥は庭で鳴く。 彼は泣く。"
    assert converter(unit=unit).best(kana.split()) == written.split()


def test_signs_of_other_scripts(small):
    lines = "1999ねんにはしができる。 XYZはかいしゃだ。 ABCはかいしゃだ!? 橋をわたる。 1,234.5ねん"
    written = "1999年に橋ができる。 XYZは会社だ。 ABCは会社だ!? 橋を渡る。 1,234.5年"
    assert small.best(lines.split()) == written.split()  # what is no kana stands for itself
    assert small.best("ぱんをたべる。 ﾊﾟﾝｦﾀﾍﾞﾙ｡ パンヲタベル。".split()) == ["パンを食べる。"] * 3
    nbest = small.nbest(["1987ぬゎX※"], 1)
    tags = dict(zip(nbest.words.candidate_words(0), nbest.words.candidate_tags(0), strict=True))
    assert tags["1987"] == "名詞-数詞"
    assert tags["X"] == "名詞-普通名詞"
    assert tags["※"] == "補助記号-一般"
    names = small.lexicon.tag_names
    lacking = tuple(name for name in ("名詞-普通名詞", "名詞-数詞", "補助記号-一般") if name not in names)
    assert len(lacking) > 1  # they come in a fixed order
    assert small.nbest(["はし"]).words.tag_names == names + lacking


def test_lines_without_an_entry(small):
    nbest = small.nbest(["", "はし", ""], 3)
    assert nbest.instance_candidates(0) == nbest.instance_candidates(2) == ("",)
    assert len(nbest.instance_candidates(1)) == 3
    assert nbest.words.candidate_words(0) == ()
    assert small.nbest([], 3).texts == []
    nbest = small.nbest(["ぬゎ"], 20)
    assert {"ぬゎ", "ヌヮ"} <= {*nbest.texts}
    assert all(text for text in nbest.texts)


def test_lists_have_all_columns(small):
    found = small.nbest(["はしをわたる。", "とりがなく。"], 5, references=["橋を渡る。", "鳥が泣く。"])
    assert found.offsets.tolist() == [0, 5, 10]
    assert found.ranks.tolist() == [0, 1, 2, 3, 4] * 2
    for i in range(2):
        own = slice(*found.offsets[i : i + 2])
        assert (np.diff(found.scores[own]) <= 0).all()
        assert len({*found.texts[own]}) == 5
    assert found.costs[0] == 0
    assert found.costs[found.texts.index("鳥が鳴く。")] == 1
    for row, text in enumerate(found.texts):
        assert "".join(found.words.candidate_words(row)) == text
    assert found.words.candidate_words(0) == ("橋", "を", "渡る", "。")
    assert found.words.candidate_tags(0) == ("名詞", "助詞", "動詞", "補助記号")
    assert np.isnan(small.nbest(["はし"]).costs).all()


def test_scores_are_those_of_the_language_model():
    plain = converter(unit="spelling", weighed=False)
    found = plain.nbest(["わたしははしをわたる。"], 1)
    words, model = ["<s>", *found.words.candidate_words(0), "</s>"], plain.model
    wanted = sum(model.log_probability(words[i], words[:i]) for i in range(1, len(words)))
    assert found.scores[0] == pytest.approx(wanted, abs=1e-5)


def test_text_of_another_kind_brings_its_words_and_its_taste():
    plain = converter()
    other = (
        "彼/かれ/代名詞 は/は/助詞 端/はし/名詞-普通名詞 を/を/助詞 渡る/わたる/動詞 。/。/補助記号\n" * 12
    )
    adapted = plain.adapted(segmented(other))
    assert isinstance(adapted.model, Mixture)
    assert plain.best(["かれははしをわたる。"]) == ["彼は橋を渡る。"]
    assert adapted.best(["かれははしをわたる。"]) == ["彼は端を渡る。"]
    lines = ["わたしははしでたべる。", "ねこはにわにいる。"]
    all_old = plain.adapted(segmented(other), weight=1.0)
    assert all_old.best(lines) == plain.best(lines)
    np.testing.assert_allclose(all_old.nbest(lines, 1).scores, plain.nbest(lines, 1).scores)
    again = adapted.adapted(segmented(other), weight=0.3)
    assert again.model.background is plain.model


def test_words_of_a_dictionary():
    more = KanaLexicon.counted([("麒麟", "きりん", "名詞-普通名詞"), ("橋", "はし", "名詞-普通名詞")], [0, 0])
    found = Converter.learn(segmented(), dictionary=more, settings=ConverterSettings(least=1))
    assert found.best(["きりんがなく。"])[0].startswith("麒麟が")
    assert "麒麟" not in converter().nbest(["きりん"], 1000).texts
    assert found.best(["はしをわたる。"]) == ["橋を渡る。"]
    # text has one reading of it, which a program chose; the spelling is the likely one all the same
    more = KanaLexicon.counted([("橋", "きょう", "名詞"), ("経", "きょう", "名詞")], [0, 0])
    made, alone = (
        Converter.learn(segmented(), settings=ConverterSettings(least=1, unit=unit), dictionary=more)
        for unit in (ConverterSettings().unit, "spelling")
    )
    assert made.best(["きょうをわたる。", "はしをわたる。"]) == ["橋を渡る。", "橋を渡る。"]
    assert "橋を渡る。" in alone.nbest(["きょうをわたる。"]).instance_candidates(0)


def test_long_lines_are_converted_in_pieces(small, monkeypatch):
    line = "わたしははしをわたる。" * 1000
    assert small.best([line]) == ["私は橋を渡る。" * 1000]
    found = small.nbest([line, "はしをわたる。", "ん" * 1000 + "はし"], 20)
    assert np.diff(found.offsets).tolist() == [20, 20, 20]
    for i in range(3):
        assert len({*found.instance_candidates(i)}) == 20
    assert "".join(found.words.candidate_words(0)) == found.texts[0]
    monkeypatch.setattr(pieces, "LONGEST", 6)
    short = small.nbest(["はしをたべる。にわでなく。ABCだ。"], 20)
    assert short.texts[0].endswith("庭で鳴く。ABCだ。")
    assert len({*short.texts}) == 20
    expected = [("ABC", "だ", "。"), "補助記号"]
    assert [short.words.candidate_words(0)[-3:], short.words.candidate_tags(0)[-1]] == expected


def test_bad_arguments_are_named(small):
    for code, call in (
        ("D677", lambda: small.nbest("はし")),
        *(("D675", lambda k=k: small.nbest(["はし"], k)) for k in (0, 1001, 2.5, True)),
        ("D676", lambda: Converter.learn(SegmentedText.from_sentences([[]]))),
        ("D676", lambda: small.adapted(SegmentedText.from_sentences([]))),
        ("D676", lambda: small.adapted(segmented()[:3])),
        ("D675", lambda: ConverterSettings(least=0)),
        ("D675", lambda: ConverterSettings(unknown=(1, 2))),
        ("D675", lambda: ConverterSettings(unknown=(0.5, 0.5, 0.5, 0.5))),
        ("D671", lambda: ConverterSettings(unit="character")),
    ):
        with pytest.raises(UserError, match=code):
            call()
    with pytest.raises(ValueError, match="2 references"):
        small.nbest(["はし"], references=["橋", "箸"])
    made = converter(numbers="digits")  # numbers that are spelt out have no score of another converter
    with pytest.raises(ValueError, match="not 'words'"):
        made.nbest_and_scores(made, ["さんねん"])


LINES = ["わたしははしをわたる。", "3ねんのはし", "ぬゎABC", "とりはにわでなく。" * 40, ""]


@pytest.mark.parametrize("unit", ["pair", "spelling"])
def test_candidates_are_scored_by_another_converter(unit):
    made = converter(unit=unit, numbers="words")
    lists, scores = made.nbest_and_scores(made, LINES, 8)
    assert lists.texts == made.nbest(LINES, 8).texts
    np.testing.assert_allclose(scores, lists.scores, atol=1e-4)  # its own scores
    other = made.adapted(segmented("箸/はし/名詞 を/を/助詞 渡る/わたる/動詞 端/はし/名詞"), weight=0.3)
    lists, scores = made.nbest_and_scores(other, LINES[:3], 8)
    others = other.nbest(LINES[:3], 1000)
    for line in range(3):
        theirs = slice(others.offsets[line], others.offsets[line + 1])
        best = dict(zip(others.texts[theirs], others.scores[theirs], strict=True))
        ours = range(lists.offsets[line], lists.offsets[line + 1])
        gaps = [best[lists.texts[row]] - scores[row] for row in ours]
        assert min(gaps) > -1e-4 and min(gaps) < 1e-4  # a text may have other words that are more probable


THREAD_LINES = ["わたしははしをわたる。" * 3, "とりはにわでなく。", "2008ねんにはしができる。", "ぬゎABC"]


def nbest_columns(lists):
    return [lists.texts, lists.scores.tolist(), lists.offsets.tolist()]


def test_threads_share_no_memory_that_kernels_write_to(monkeypatch):
    convert, met, used = nbest_kernels.find_conversions, threading.Barrier(2), []

    def waiting(*given):
        met.wait(60)  # both are at work
        used.append(given[7:9])
        return convert(*given)

    made = converter()
    made.best(THREAD_LINES)
    monkeypatch.setattr(nbest_kernels, "find_conversions", waiting)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda line: made.nbest([line], 5), THREAD_LINES[:2]))
    monkeypatch.undo()
    (one, searched), (other, searched_too) = used
    pairs = [*zip(one, other, strict=True), *zip(searched, searched_too, strict=True)]
    assert not any(a is b for a, b in pairs)
    assert [nbest_columns(each) for each in results] == [
        nbest_columns(made.nbest([line], 5)) for line in THREAD_LINES[:2]
    ]


def test_threads_and_copies_find_what_one_alone_finds():
    made = converter()
    every = nbest_columns(made.nbest(THREAD_LINES, 20))
    wanted = [nbest_columns(made.nbest([line] * 5, 20)) for line in THREAD_LINES]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            results = pool.map(lambda line: made.nbest([line] * 5, 20), THREAD_LINES)
            assert [nbest_columns(lists) for lists in results] == wanted
    for copied in (copy.deepcopy(made), copy.copy(made)):
        assert nbest_columns(copied.nbest(THREAD_LINES, 20)) == every
