"""What the characters of Japanese text are, and how kana is written before anything looks at it.

Normalised kana (`kana_of`) is what an input method gets: hiragana, and all that is no kana as it stands.
Half-width kana becomes full-width (voicing marks joined), katakana hiragana, iteration marks the kana they
repeat. Small kana stay small, the long vowel mark stays. Digits, Latin letters and signs are left alone.
"""

from __future__ import annotations

import re
import unicodedata

_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)} | {0x30FD: 0x309D, 0x30FE: 0x309E}
_TO_KATAKANA = {low: high for high, low in _TO_HIRAGANA.items()}
_HALF_WIDTH = re.compile("[\uff66-\uff9f]+")
_REPEATED = re.compile("([ぁ-ゖ])([ゝゞ]+)")
_NATIVE = re.compile("[ぁ-ゖァ-ヺゝゞヽヾー一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f々〆〇ヶ\uff66-\uff9f]")
_KANJI = re.compile("[一-鿿㐀-䶿豈-﫿\U00020000-\U0003134f々〆〇]")
_KANA = re.compile("[ぁ-ゖァ-ヺゝゞヽヾー\uff66-\uff9f]+")
_READ = re.compile("[ぁ-ゖー・ゝゞ]+")
_VOICED = dict(
    zip(
        "かきくけこさしすせそたちつてとはひふへほう",
        "がぎぐげござじずぜぞだぢづでどばびぶべぼゔ",
        strict=True,
    )
)
_PLAIN = {voiced: plain for plain, voiced in _VOICED.items()}


def full_width(text: str) -> str:
    """Return a text with its half-width kana and Japanese signs in full width; nothing else changes."""
    return _HALF_WIDTH.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text).translate(_SIGNS)


_SIGNS = str.maketrans("｡｢｣､･", "。「」、・")


def kana_of(text: str) -> str:
    """Return a text as an input method gets it: its kana as hiragana, the rest as it stands."""
    text = unicodedata.normalize("NFC", full_width(text)).translate(_TO_HIRAGANA)
    return _REPEATED.sub(_repeat, text)


def katakana_of(text: str) -> str:
    """Return hiragana as katakana, the rest as it stands."""
    return text.translate(_TO_KATAKANA)


def is_native(text: str) -> bool:
    """Return whether a text has kana or kanji: what has none is written as it is typed."""
    return _NATIVE.search(text) is not None


def has_kanji(text: str) -> bool:
    """Return whether a text has kanji."""
    return _KANJI.search(text) is not None


def is_kana(text: str) -> bool:
    """Return whether a text is kana and nothing else."""
    return _KANA.fullmatch(text) is not None


def is_reading(text: str) -> bool:
    """Return whether a text may be the reading of a word: hiragana, with dots in names."""
    return _READ.fullmatch(text) is not None


def is_katakana(text: str) -> bool:
    """Return whether a text is katakana and nothing else."""
    return re.fullmatch("[ァ-ヺー・]+", text) is not None


def _repeat(found: re.Match[str]) -> str:
    first, marks = found[1], found[2]
    plain = _PLAIN.get(first, first)
    return first + marks.replace("ゝ", plain).replace("ゞ", _VOICED.get(plain, plain))
