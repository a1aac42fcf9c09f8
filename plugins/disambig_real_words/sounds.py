"""Predict whether a word takes "an" or "a" from counts by spelling, and the extractor based on it.

A file of sounds has a line for each word beginning: a key, and how often "a" and "an" preceded it. From the
most specific to the most general, keys are a whole word (``=hour``), letters in capitals, which may be
spelt out or not (``+h``, or ``+h.`` if the second letter is not one of AEIOU), a number as it is spoken
(``#8``), and the first letters of a word (``uni-``, ``u-``). The most specific key of a word decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Features, Group, Instances, StatelessExtractor, TokenView, UserError, by_group
from disambig.api.arrays import row_owners
from disambig.api.features import one_score
from disambig.api.text import CODE_SIGNS, HIDDEN, SPOKEN_CONSONANT, SPOKEN_VOWEL

ENGLISH_SOUNDS = Path(__file__).parent / "languages" / "en.sounds.tsv"
LONGEST = 5
"""Maximum number of first letters in a key."""
MAX_LOG_ODDS, MAX_NUMBER_LOG_ODDS = 6.0, 10.0
"""Limits of the log-odds; the second is for numbers."""
CLEAR = 1.0
"""Log-odds of the sound from which on the form of an article ("a" or "an") counts as correct."""
CAPITALS_FACTOR, NUMBER_FACTOR = 2.0, 3.0
"""Factors of the log-odds of acronyms and numbers. Each is spoken in one way only: if both articles were
counted, some writers made a mistake, so the counts understate how certain the majority is."""
_SMOOTHING = 0.25
_GAP = rf"(?=[\s{HIDDEN}])[ \t{HIDDEN}]*(?:\r?\n[ \t\u00a0{HIDDEN}]*)?"
"""At least one blank or hidden character between two words of a paragraph, with one end of a line; in
comments of code, lines have a margin."""
_NEXT = re.compile(_GAP + r"([\"'\u2018\u201c(\[{`*_<\x1f$@.#=+\-/~&%\\]*)(\w+(?:[,.]\d{3})*)")
"""Signs before the word after an article, such as quotation marks and markup, and the word."""
_SPOKEN_SIGN = re.compile(r"[$@.#=+\-/~&%\\]")
_VOWEL_SIGNS = "@=&"
"""Signs whose names begin with a vowel: "at", "equals" and "ampersand" or "and"."""
_NEXT_HIDDEN = re.compile(rf"{_GAP}[\"'\u2018\u201c(\[{HIDDEN}]*([{CODE_SIGNS}])")
_QUOTED_SIGN = re.compile(_GAP + r"[\"'\u2018\u201c`]+[$@#=+\-/~&%\\*!?.,:;<>|^]+[\"'\u2019\u201d`]")
"""A sign as an example, which may be read in several ways: "an '@' character"."""
_REACH = 1_000
"""Number of characters after an article in which the next word is searched: a hidden link can be long."""
_VOWELS = "AEIOU"
_SPELT_OUT = re.compile("[b-df-hj-np-tv-xz]{2,}")
"""A word without vowels is spelt out, as "sftp" is."""
_SPEAKABLE = re.compile(
    "[^a-z]|.?[aeiouy]|b[lr]|c[hlrz]|d[rw]|f[lr]|g[hlnr]|k[hlnr]|p[fhlnrst]|q|rh|s[chklmnpqtvw]|t[hrsw]|v[lr]|w[hr]"
    "|z[hw]|.\\Z"
)
"""Beginnings of English words. The letters of others ("lru", "mbox") do not show how they are spoken."""
_LETTERS_AND_DIGITS = re.compile("[a-z]{2,3}[0-9]")
"""Such as "sa1100" and "mac80211", which some people speak letter by letter."""
_SQL = re.compile("sql", re.IGNORECASE)
"""Some people speak these letters one by one and others as "sequel", also in "SQLite"."""
_ELEVENS = ("11", "18")


class WordSounds:
    """Log-odds of "an" before words. `odds` are the log-odds by key (see `sound_keys`)."""

    def __init__(self, odds: Mapping[str, float]) -> None:
        self._odds = odds
        self._cached_log_odds = lru_cache(maxsize=1 << 14)(self._word_log_odds)

    def __len__(self) -> int:
        return len(self._odds)

    def article_log_odds(self, text: str, end: int) -> float:
        """Return the log-odds of "an" against "a" for an article that ends at `end`, zero if unknown.

        The result is NaN if either article may be right. This is the case before hidden code, letters such
        as "lru", words with two pronunciations such as "SQLite", rare acronyms that can be read as words, and
        signs that may be spoken or not: "a -x option" is read "a dash x".
        """
        hidden = _NEXT_HIDDEN.match(text, end, end + _REACH)
        if hidden is not None:
            return {SPOKEN_VOWEL: MAX_LOG_ODDS, SPOKEN_CONSONANT: -MAX_LOG_ODDS}.get(hidden[1], math.nan)
        match = _NEXT.match(text, end, end + _REACH)
        if match is None:
            return math.nan if _QUOTED_SIGN.match(text, end, end + _REACH) else 0.0
        odds = self._cached_log_odds(match[2])
        sign = _SPOKEN_SIGN.search(match[1])
        return odds if sign is None or (sign[0] in _VOWEL_SIGNS) == (odds > 0) else math.nan

    def _word_log_odds(self, word: str) -> float:
        """Return the log-odds of "an" before a word, NaN if it is spoken in two ways."""
        key = next((key for key in sound_keys(word) if key in self._odds), "")
        odds = self._odds.get(key, 0.0)
        speakable = _SPEAKABLE.match(word.lower())
        two_ways = (
            # writers disagree about the word itself, or about letters that may be spelt out
            ((not speakable or key.startswith(("=", "+"))) and abs(odds) < CLEAR)
            or _SQL.match(word)
            # spelt out it would take the other article
            or (_LETTERS_AND_DIGITS.match(word) and odds * self._odds.get(f"+{word[0]}.", 0.0) < 0)
        )
        return math.nan if two_ways or not (key or speakable) else odds


def sound_keys(word: str) -> Iterator[str]:
    """Yield the keys of a word as it is written, the most specific first.

    In identifiers (``ExecutorJob``, ``max_size``), the first word or the first letters in capitals count.
    """
    if "0" <= word[0] <= "9":
        yield f"#{_spoken_number(word)}"
        return
    word = word.lstrip("_").partition("_")[0] or word

    # letters in capitals at the beginning; not "Ab" and "ABc", whose last capital begins the next word
    capitals = re.match("[^\\W\\da-z_]+", word)
    run = capitals[0] if capitals else ""
    if len(run) > 1 and not (len(run) == 2 and word[2:3].islower()):
        run = run if not word[len(run) : len(run) + 1].islower() else run[:-1]  # HTTPServer
        yield f"={run}"
        yield f"+{run[0].lower()}{'' if run[1] in _VOWELS else '.'}"
        return

    # the first word of an identifier, and its first letters
    first = re.match(r"\w[a-z\u00df-\u00ff]*", word)
    plain = (first[0] if first else word).lower()
    if len(plain) == 1 and word[1:2] and not word[1:2].islower():
        yield f"+{plain}"  # e-mail is a word of its own; l2, xUnit
    yield f"={plain}"
    if len(plain) == 1:
        yield f"+{plain}"
    if _SPELT_OUT.fullmatch(plain):
        yield f"={plain.upper()}"
        yield f"+{plain[0]}."
    shortest = 1 if _SPEAKABLE.match(plain) else 2
    for length in range(min(LONGEST, len(plain)), shortest - 1, -1):
        yield f"{plain[:length]}-"


def read_sounds(path: str | Path) -> WordSounds:
    """Return the table of sounds in a file; the file is read once.

    Raises D998 for a file that cannot be read, or a line that is not a key with two counts.
    """
    return _read(str(path))


@lru_cache(maxsize=4)
def _read(path: str) -> WordSounds:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise UserError("D998", path=path, problem=reason) from problem
    counted: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("// ") or not line.strip():
            continue
        key, *counts = line.split("\t")
        if not key or len(counts) != 2 or not all(count.isascii() and count.isdigit() for count in counts):
            raise UserError("D998", path=path, problem=f"line {number}: expected a key and two counts")
        counted[key] = int(counts[0]), int(counts[1])
    return WordSounds(_key_log_odds(counted))


def _key_log_odds(counted: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    """Return the log-odds of each key.

    For numbers they are relative to the log-odds of all numbers. Other features treat all digits alike (see
    `disambig.words.v1`) and thus know the average, so only the difference of this number is new.
    """
    numbers = [pair for key, pair in counted.items() if key[0] == "#"]
    usual = log_odds(*map(sum, zip(*numbers, strict=True))) if numbers else 0.0
    odds = {}
    for key, pair in counted.items():
        factor = {"#": NUMBER_FACTOR, "+": CAPITALS_FACTOR}.get(key[0], 1.0)
        less, maximum = (usual, MAX_NUMBER_LOG_ODDS) if key[0] == "#" else (0.0, MAX_LOG_ODDS)
        odds[key] = _clip(factor * _log_ratio(*pair) - less, maximum)
    return odds


def log_odds(a: int, an: int) -> float:
    """Return the smoothed log-odds of "an" for counts of the two articles, limited to `MAX_LOG_ODDS`."""
    return _clip(_log_ratio(a, an), MAX_LOG_ODDS)


def _log_ratio(a: int, an: int) -> float:
    return math.log((an + _SMOOTHING) / (a + _SMOOTHING))


def _clip(odds: float, maximum: float) -> float:
    return max(-maximum, min(maximum, odds))


def _spoken_number(word: str) -> str:
    """Return the spoken beginning of a number: its first digit, ``11``, ``18`` or ``1800`` (18 hundred)."""
    groups = re.split("[,.]", word)
    digits = re.sub("[^0-9].*", "", groups[0])
    lead = digits[: (len(digits) - 1) % 3 + 1]
    if lead in _ELEVENS:
        return lead
    if len(groups) == 1 and len(digits) == 4 and digits[:2] in _ELEVENS:
        return f"{digits[:2]}00"
    return digits[:1]


A_AN = ("a", "an")


class ArticleSound(StatelessExtractor):
    """Extractor of one score per candidate: half the log-odds of "an" for "an", negated for "a", else zero.

    Parameters
    ----------
    sounds : path, optional
        A table of word-initial sounds (see `read_sounds`); by default the English one.

    Raises
    ------
    UserError
        On first use D998, for a file that is not such a table.
    """

    folders: ClassVar[tuple[str, ...]] = ("sounds",)

    def __init__(self, *, sounds: str | Path | None = None) -> None:
        self.sounds = sounds

    @cached_property
    def word_sounds(self) -> WordSounds:
        """The table of word-initial sounds."""
        return read_sounds(self.sounds or ENGLISH_SOUNDS)

    @by_group
    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the scores, which depend on the word after the place."""
        last = instances.positions + instances.lengths - 1  # of an empty place, the word before it
        row = row_owners(instances.offsets(group))
        sign = np.array([(text == "an") - (text == "a") for text in instances.texts(group)], np.float32)
        odds = np.nan_to_num(log_odds_after(self.word_sounds, view, last)).astype(np.float32)
        return one_score(sign * odds[row] / np.float32(2), instances, group, "sound")

    def __getstate__(self) -> dict[str, Any]:
        return {"sounds": self.sounds}


def log_odds_after(sounds: WordSounds, view: TokenView, tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-odds of "an" from the word after each token, shape ``(n,)``."""
    odds = (sounds.article_log_odds(text, end) for text, _, end in view.locate(tokens))
    return np.fromiter(odds, np.float64, len(tokens))
