"""Japanese characters: normalisation of kana, and bigrams of letters for unknown words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

# katakana from ァ to ヶ, and the iteration marks ヽ and ヾ
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


_SIGNS = str.maketrans("｡｢｣､･", "。「」、・")


def full_width(text: str) -> str:
    """Return a text with half-width kana and Japanese punctuation in full width; the rest is unchanged."""
    return _HALF_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text).translate(_SIGNS)


def normalise_kana(text: str) -> str:
    """Return a text as an input method receives it: kana as hiragana, the rest unchanged."""
    text = unicodedata.normalize("NFC", full_width(text)).translate(_TO_HIRAGANA)
    return _REPEATED.sub(_repeat, text)


def to_katakana(text: str) -> str:
    """Return a text with hiragana as katakana, the rest unchanged."""
    return text.translate(_TO_KATAKANA)


def is_native(text: str) -> bool:
    """Return True if a text contains kana or kanji; any other text is written as typed."""
    return _NATIVE.search(text) is not None


def has_kanji(text: str) -> bool:
    """Return True if a text contains kanji."""
    return _KANJI.search(text) is not None


def is_kana(text: str) -> bool:
    """Return True if a text consists only of kana."""
    return _KANA.fullmatch(text) is not None


def is_reading(text: str) -> bool:
    """Return True if a text may be the reading of a word: hiragana, with dots in names."""
    return _READ.fullmatch(text) is not None


def is_katakana(text: str) -> bool:
    """Return True if a text consists only of katakana."""
    return re.fullmatch("[ァ-ヺー・]+", text) is not None


def _repeat(match: re.Match[str]) -> str:
    """Write iteration marks out: こゝ is ここ, こゞ is こご."""
    first, marks = match[1], match[2]
    plain = _PLAIN.get(first, first)
    return first + marks.replace("ゝ", plain).replace("ゞ", _VOICED.get(plain, plain))


def code_points(text: str) -> NDArray[np.int32]:
    """Return the code point of each character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int32)


def pack_texts(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Return texts without line ends as bytes, each with a line end."""
    return np.frombuffer("".join(f"{text}\n" for text in texts).encode("utf8"), np.uint8)


def unpack_texts(letters: NDArray[np.generic]) -> tuple[str, ...]:
    """Return the texts of `pack_texts`."""
    return tuple(bytes(letters).decode("utf8").split("\n")[:-1])


LETTERS = 88
"""Number of letters: the word boundary, the hiragana from ぁ to ゖ, and the long vowel mark."""
_FIRST, _LONG = 0x3041, "ー"
_ADDED = 0.1


def learn_spelling(words: Iterable[str], *, shares: tuple[float, float]) -> NDArray[np.float64]:
    """Return ln P(letter | previous letter) for hiragana and katakana words, shape (2, 88, 88).

    The words are rare ones, which resemble unknown ones; those with characters other than kana are skipped.
    `shares` are those of unknown words in each script, included in the probability of the first letter.
    """
    counts = np.zeros((2, LETTERS, LETTERS))
    for word in words:
        script = int(is_katakana(word))
        letters = [hiragana_number(letter) for letter in normalise_kana(word)]
        if letters and 0 not in letters:
            np.add.at(counts[script], ([0, *letters], [*letters, 0]), 1.0)
    single = counts.sum(axis=1) + 1.0
    single /= single.sum(axis=1, keepdims=True)
    spread = _ADDED * LETTERS * single[:, None, :]
    smoothed = (counts + spread) / (counts + spread).sum(axis=2, keepdims=True)
    smoothed[:, 0] *= np.array(shares)[:, None]
    return np.log(smoothed)


def hiragana_number(letter: str) -> int:
    """Return the number of a hiragana, 0 for any other character (as the compiled `letter` does)."""
    if letter == _LONG:
        return LETTERS - 1
    return number if 0 < (number := ord(letter) - _FIRST + 1) < LETTERS - 1 else 0
