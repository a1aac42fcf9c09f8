"""Numbers spelt out in kana, as they are read: さんびゃくいち and さんまるいち are 301.

A number below 10,000 is read with its units (にせんにじゅうろく is 2026) or digit by digit. Words for greater
units, such as 万, and counters are words of the lexicon: the language model knows which of them follow
numbers of how many digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from disambig.api.arrays import offsets_from_sizes

from .characters import code_points

ONES = {
    "いち": 1, "に": 2, "さん": 3, "し": 4, "よん": 4, "ご": 5, "ろく": 6,
    "しち": 7, "なな": 7, "はち": 8, "く": 9, "きゅう": 9,
}  # fmt: skip
_BEFORE_COUNTERS = {"いっ": 1, "ろっ": 6, "はっ": 8, "じゅっ": 10, "じっ": 10, "ひゃっ": 100}
"""Numbers as they sound before counters with an unvoiced first consonant: いっかい, じゅっぷん."""
_BEFORE_VOWELS = {"よ": 4}
"""Numbers as they sound before some counters: よじ, よにん."""
_TENS = dict(enumerate(["", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう"], 1))
_HUNDREDS = "ひゃく にひゃく さんびゃく よんひゃく ごひゃく ろっぴゃく ななひゃく はっぴゃく きゅうひゃく"
_THOUSANDS = "せん にせん さんぜん よんせん ごせん ろくせん ななせん はっせん きゅうせん"
_DIGITS = {
    "ぜろ": 0, "まる": 0, "れい": 0, "いち": 1, "に": 2, "にー": 2, "さん": 3, "よん": 4, "ご": 5, "ごー": 5,
    "ろく": 6, "なな": 7, "はち": 8, "きゅう": 9,
}  # fmt: skip
"""Digits as they are read one at a time."""
_COUNTERS = """
ねん がつ にち じ ふん ぷん びょう えん どる せんと ゆーろ にん めい さい かい がい ほん ぼん ぽん まい
さつ だい ひき びき ぴき とう ばん ごう しつ ど ばい はい ぱい かげつ かこく かしょ しゅう せいき
ぱーせんと めーとる きろ せんち ぐらむ りっとる ぺーじ てん ちょうめ こ わり まん おく ちょう じょう
けん くみ だんかい い き せき ぎょう れつ けた
"""
"""What may follow a number of a single word, which otherwise is more often something else."""
DIGIT_BY_DIGIT = 3
"""Minimum number of digits that are read one at a time."""
MAX_DIGITS = 12
"""Maximum number of digits that are read one at a time: a telephone number has eleven."""
_NEVER_FIRST = ("まる", "れい")
"""Readings of zero with which a number hardly ever begins, unlike other words."""
_HIRAGANA = re.compile("[ぁ-ゖー]")
_UNVOICED = "かきくけこさしすせそたちつてとぱぴぷぺぽ"


class _Word(NamedTuple):
    """A word of a number: its value, and the unit below which the next word must stay."""

    value: int
    unit: int


def _unit_words() -> dict[str, _Word]:
    """Return the words of numbers that are read with their units."""
    words = {kana: _Word(value, 1) for kana, value in (ONES | _BEFORE_VOWELS).items()}
    words |= {kana: _Word(value, 1) for kana, value in _BEFORE_COUNTERS.items()}
    words |= {f"{kana}じゅう": _Word(10 * value, 10) for value, kana in _TENS.items()}
    words |= {f"{kana}{ten}": _Word(10 * n, 1) for n, kana in _TENS.items() for ten in ("じゅっ", "じっ")}
    words |= {kana: _Word(100 * n, 100) for n, kana in enumerate(_HUNDREDS.split(), 1)}
    words |= {f"{kana[:-1]}っ": _Word(100 * n, 1) for n, kana in enumerate(_HUNDREDS.split(), 1)}
    words |= {kana: _Word(1000 * n, 1000) for n, kana in enumerate(_THOUSANDS.split(), 1)}
    return words | {"いっせん": _Word(1000, 1000)}


_WORDS = _unit_words()
_LONGEST = max(map(len, _WORDS))
_BEGINS = re.compile(f"(?={'|'.join(sorted(_WORDS.keys() | _DIGITS.keys()))})")
_IS_COUNTED = re.compile(f"(?:{'|'.join(_COUNTERS.split())})(?![ゃゅょ])")
_FOLLOWED_BY = {kana: re.compile(f"[{_UNVOICED}]") for kana in _WORDS if kana.endswith("っ")} | {
    "よ": re.compile("じ|ねん|にん|えん"),
    "し": re.compile("がつ"),
}
"""What must follow a word in the line if it ends a number."""
WORD, UNITS, DIGITS = 0, 1, 2
IN_DIGITS, IN_KANJI = -6, -7
"""Kinds of words of a path (see `_lattice_kernels`): a number written in digits, and in kanji."""
NUMERALS = {"kanji": IN_KANJI, "digits": IN_DIGITS, "words": None}
STYLE = -3.0
"""ln of a factor on the probability of the style that is not preferred."""
COSTS = (-3.0, -2.0, -4.0)
"""ln of the share of numbers that are spelt out so, by kind: one word, several with units, digit by digit.

Chosen on the sentences of the pack `disambig_ja` for choosing settings.
"""
_SHARES = {
    (1, 0): 1.0, (2, 0): 0.71, (2, 1): 0.29, (3, 0): 0.39, (3, 1): 0.23, (3, 2): 0.38,
    (4, 0): 0.80, (4, 1): 0.10, (4, 2): 0.03, (4, 3): 0.07,
}  # fmt: skip
"""For numbers of each length, the share that ends in each number of zeros: ``(length, zeros)``.

Counted in 76,000 numbers of texts under free licences.
"""


class SpokenNumber(NamedTuple):
    """A stretch of a line that reads as a number."""

    start: int
    end: int
    digits: str  # the number as it is written
    kind: int  # `WORD`, `UNITS` or `DIGITS`


def find_spoken_numbers(line: str) -> Iterator[SpokenNumber]:
    """Yield every stretch of a line of hiragana that may be a number, by its start."""
    for match in _BEGINS.finditer(line):
        yield from _with_units(line, match.start())
        yield from _digit_by_digit(line, match.start())


def _with_units(line: str, start: int) -> Iterator[SpokenNumber]:
    """Yield the numbers from a place on that are read with their units."""
    open_numbers = [(start, 0, 10_000, 0)]
    while open_numbers:
        at, value, unit, n_words = open_numbers.pop()
        for end in range(at + 1, min(at + _LONGEST, len(line)) + 1):
            kana = line[at:end]
            word = _WORDS.get(kana)
            if word is None or word.value >= unit:
                continue
            total = value + word.value
            needed = _FOLLOWED_BY.get(kana)
            if needed is None or needed.match(line, end):
                if n_words:
                    yield SpokenNumber(start, end, str(total), UNITS)
                elif _IS_COUNTED.match(line, end):
                    yield SpokenNumber(start, end, str(total), WORD)
            if word.unit > 1:
                open_numbers.append((end, total, word.unit, n_words + 1))


def _digit_by_digit(line: str, start: int) -> Iterator[SpokenNumber]:
    """Yield the numbers from a place on that are read digit by digit."""
    if line.startswith(_NEVER_FIRST, start):
        return
    at, digits = start, ""
    while len(digits) < MAX_DIGITS:
        for length in (3, 2, 1):
            digit = _DIGITS.get(line[at : at + length])
            if digit is not None:
                break
        else:
            return
        at, digits = at + length, digits + str(digit)
        if len(digits) >= DIGIT_BY_DIGIT and (_IS_COUNTED.match(line, at) or not _HIRAGANA.match(line, at)):
            yield SpokenNumber(start, at, digits, DIGITS)


def write_spoken_number(kana: str, kind: int) -> str:
    """Return a stretch of kana found by `find_spoken_numbers` as it is written, `IN_DIGITS` or `IN_KANJI`.

    Raises `ValueError` if it does not read as a number.
    """
    # Any of these may have followed the number, which only ends a word in っ before some of them.
    for following in ("ねん", "かい", "がつ"):
        for number in find_spoken_numbers(kana + following):
            if number.start == 0 and number.end == len(kana):
                return in_kanji(number.digits) if kind == IN_KANJI else number.digits
    raise ValueError(f"{kana!r} does not read as a number")


def in_kanji(digits: str) -> str:
    """Return a number from 1 to 9,999 in kanji with units: 2026 is 二千二十六."""
    places = zip(map(int, digits.rjust(4, "0")), ("千", "百", "十", ""), strict=True)
    return "".join(
        ("" if digit == 1 and unit else "〇一二三四五六七八九"[digit]) + unit
        for digit, unit in places
        if digit
    )


def number_log_prob(digits: str) -> float:
    """Return ln P of a number that does not begin with zero among those with as many digits."""
    n = len(digits)
    zeros = n - len(digits.rstrip("0")) if digits.strip("0") else n - 1
    log_count = math.log(9) if zeros == n - 1 else math.log(81) + (n - zeros - 2) * math.log(10)
    return math.log(_SHARES.get((n, zeros), 1 / n)) - log_count


class SpokenNumbers(NamedTuple):
    """The spoken numbers of some lines, for the compiled functions; those with units in both styles."""

    # int64 (n_characters + 1,): the first number that begins at each character of the concatenated lines
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]  # (n_numbers,): where it ends
    kinds: NDArray[np.int64]  # (n_numbers,): `IN_DIGITS` or `IN_KANJI`
    n_digits: NDArray[np.int64]  # (n_numbers,)
    # float64 (n_numbers,): ln of a factor on the probability of the language model's word for as many digits
    extras: NDArray[np.float64]
    # uint64 (n_numbers,): see `_lattice_kernels.hash_texts`
    hashes: NDArray[np.uint64]
    powers: NDArray[np.uint64]

    @classmethod
    def find(cls, lines: Sequence[str], style: int | None) -> SpokenNumbers:
        """Return the spoken numbers of some lines; `style` is the preferred kind, None for no numbers."""
        from ._lattice_kernels import hash_texts

        firsts = offsets_from_sizes(map(len, lines))
        columns = [
            (first + number.start, first + number.end, *written)
            for first, line in zip(firsts.tolist(), lines if style else (), strict=False)
            for number in find_spoken_numbers(line)
            for written in _styles(number, style or IN_DIGITS)
        ]
        starts, ends, kinds, n_digits, extras, texts = zip(*columns, strict=True) if columns else ((),) * 6
        codes = code_points("".join(texts))
        hashes, powers = np.zeros((2, len(columns)), np.uint64)
        hash_texts(codes, offsets_from_sizes(map(len, texts)), hashes, powers)
        begins = offsets_from_sizes(np.bincount(np.array(starts, np.int64), minlength=int(firsts[-1])))
        of_kinds = np.array(kinds, np.int64), np.array(n_digits, np.int64), np.array(extras, np.float64)
        return cls(begins, np.array(ends, np.int64), *of_kinds, hashes, powers)


def _styles(number: SpokenNumber, style: int) -> Iterator[tuple[int, int, float, str]]:
    """Yield a number as it may be written: kind, number of digits, ln of its share, text."""
    n, extra = len(number.digits), number_log_prob(number.digits) + COSTS[number.kind]
    if number.kind == DIGITS:
        yield IN_DIGITS, n, extra, number.digits
        return
    yield IN_DIGITS, n, extra + (STYLE if style == IN_KANJI else 0.0), number.digits
    yield IN_KANJI, n, extra + (STYLE if style == IN_DIGITS else 0.0), in_kanji(number.digits)
