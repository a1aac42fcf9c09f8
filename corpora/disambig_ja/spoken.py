"""Sentences whose numbers are spelt out in kana, to measure how many of them are converted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from disambig_boosted_lasso.kana import SegmentedText, in_kanji

_ONES = ("", "いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう")
_DIGITS = ("ぜろ", *_ONES[1:])
_KANJI = "〇一二三四五六七八九"
_HUNDREDS = {1: "ひゃく", 3: "さんびゃく", 6: "ろっぴゃく", 8: "はっぴゃく"}
_THOUSANDS = {1: "せん", 3: "さんぜん", 8: "はっせん"}
_SHORT = dict.fromkeys(("4年", "4時", "4人", "4円"), "よ") | {"4月": "し", "7月": "しち", "7時": "しち"}
_SHORT |= {"9月": "く", "9時": "く"}
"""Readings of the last digit before some counters."""
_DOUBLED = {"いち": "かさたは", "ろく": "かは", "はち": "かさたは", "じゅう": "かさたは", "ひゃく": "かは"}
"""Endings of numbers that double the first consonant of a counter: い(ち) -> いっ."""
_ROW_OF_KANA = {
    kana: row[0] for row in "かきくけこ さしすせそ たちつてと はひふへほぱぴぷぺぽ".split() for kana in row
}
_NUMBER = re.compile("[1-9][0-9]{0,3}")
_JOINED = re.compile("[0-9０-９.,．，・:：/／〜~-]+")
_IRREGULAR = frozenset({"り", "か", "つ", "とお"})
"""Readings of counters whose numbers have readings of their own: 2人, 2日, 2つ."""


@dataclass(frozen=True, slots=True)
class SpeltOut:
    """A sentence with a number that is spelt out."""

    kana: str
    written: str
    accepted: tuple[str, ...]  # the number, in digits or in kanji, with the word that follows it

    def is_right(self, text: str) -> bool:
        """Return True if a conversion has the number."""
        return any(number in unicodedata.normalize("NFKC", text) for number in self.accepted)


def spelt_out(text: SegmentedText, *, digits: bool) -> Iterator[SpeltOut]:
    """Yield the sentences with one number and a counter; with `digits`, numbers are read digit by digit."""
    for i in range(len(text)):
        # one number, and a word in kana after it
        words = text.sentence(i)
        numbers = [at for at, (surface, _, _) in enumerate(words) if _JOINED.fullmatch(surface)]
        if len(numbers) != 1 or numbers[0] + 1 == len(words):
            continue
        (at,) = numbers
        number = unicodedata.normalize("NFKC", words[at][0])
        counter, reading, _ = words[at + 1]
        if not _NUMBER.fullmatch(number) or reading in _IRREGULAR or not re.match("[ぁ-ゖ]", reading):
            continue
        if digits and (len(number) < 3 or number.endswith("00")):
            continue  # nobody reads these digit by digit
        spoken = spell(number, counter, reading)
        if digits:
            spoken = "".join(_DIGITS[int(digit)] for digit in number)
        kana = "".join(spoken if j == at else word[1] for j, word in enumerate(words))
        forms = (number, in_kanji(number), "".join(_KANJI[int(digit)] for digit in number))
        yield SpeltOut(kana, "".join(word[0] for word in words), tuple(form + counter for form in forms))


def spell(number: str, counter: str, reading: str) -> str:
    """Return the reading of a number below 10,000 before a counter."""
    thousands, hundreds, tens, ones = map(int, number.rjust(4, "0"))
    kana = _THOUSANDS.get(thousands, _ONES[thousands] + "せん") if thousands else ""
    kana += _HUNDREDS.get(hundreds, _ONES[hundreds] + "ひゃく") if hundreds else ""
    kana += (_ONES[tens] if tens > 1 else "") + "じゅう" if tens else ""
    if short := _SHORT.get(f"{ones}{counter[:1]}") if ones else None:
        return kana + short
    kana += _ONES[ones]
    row, is_foreign = _ROW_OF_KANA.get(reading[0], " "), re.match("[ァ-ヺ]", counter)
    for ending, rows in _DOUBLED.items():
        if kana.endswith(ending) and row in rows and not is_foreign:
            return kana[:-1] + "っ"
    return kana
