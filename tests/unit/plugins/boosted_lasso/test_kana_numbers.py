"""Numbers that are spelt out in kana are found, and written in digits or in kanji."""

from __future__ import annotations

import math
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
    find_spoken_numbers,
    in_kanji,
    number_log_prob,
    write_spoken_number,
)
from kana_folders import folder_of
from kana_words import converter

from disambig.errors import UserError


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
def test_other_words_are_no_numbers(line):
    assert not [one for one in find_spoken_numbers(line) if one.start == 0]


def test_units_come_in_their_order():
    line = "ひゃくせんえん"
    assert {line[one.start : one.end] for one in find_spoken_numbers(line)} == {"せん"}
    line = "さんじゅうごじゅうえん"
    numbers = {one.digits for one in find_spoken_numbers(line) if one.start == 0}
    assert numbers == {"35"}  # and neither 3050 nor 85


@pytest.mark.parametrize(
    ("digits", "kanji"),
    [("1", "一"), ("10", "十"), ("21", "二十一"), ("301", "三百一"), ("1111", "千百十一")],
)
def test_numbers_in_kanji(digits, kanji):
    assert in_kanji(digits) == kanji


def test_a_stretch_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="does not read as a number"):
        write_spoken_number("はし", IN_KANJI)


def with_numbers(how):
    made = converter()
    return replace(made, settings=replace(made.settings, numbers=how))


@pytest.mark.parametrize(
    ("how", "written"),
    [("digits", "2008年に橋ができる。"), ("kanji", "二千八年に橋ができる。")],
)
def test_a_converter_writes_numbers_in_the_style_that_is_asked(how, written):
    best, second = with_numbers(how).nbest(["にせんはちねんにはしができる。"], 2).texts
    assert best == written
    assert {best, second} == {"2008年に橋ができる。", "二千八年に橋ができる。"}


def test_without_numbers_only_the_words_of_the_lexicon_are_candidates():
    lists = with_numbers("words").nbest(["にせんはちねんにはしができる。"], 100)
    assert not [text for text in lists.texts if "2008" in text or "二千" in text]


def test_the_score_is_that_of_the_typed_number_and_of_its_being_spelt_out():
    made = with_numbers("kanji")
    (typed,) = made.nbest(["3ねんのあいだ"], 1).scores
    lists = made.nbest(["さんねんのあいだ"], 5)
    scores = dict(zip(lists.texts, lists.scores, strict=True))
    spelt_out = typed + number_log_prob("3") + COSTS[WORD]
    assert scores["三年の間"] == pytest.approx(spelt_out, abs=1e-5)
    assert scores["3年の間"] == pytest.approx(spelt_out + STYLE, abs=1e-5)


def test_numbers_are_words_with_the_tag_of_numerals():
    words = with_numbers("digits").nbest(["にせんはちねん", "はし"], 1).words
    assert words.candidate_words(0) == ("2008", "年")
    assert words.candidate_tags(0)[0] == "名詞-数詞"


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


def test_a_long_line_has_few_numbers_each_of_few_digits():
    numbers = list(find_spoken_numbers("に" * 2_000))
    assert len(numbers) < 40 and max(len(one.digits) for one in numbers) <= 12
    assert number_log_prob("5" * 400) < number_log_prob("5" * 12) < 0


@pytest.mark.parametrize("n", range(1, 6))
def test_the_probabilities_of_numbers_of_a_length_sum_to_one(n):
    numbers = map(str, range(10 ** (n - 1), 10**n))
    assert sum(math.exp(number_log_prob(number)) for number in numbers) == pytest.approx(1)
