"""Whether a word takes "an" or "a": counts by spelling, and the extractor on them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Arrays, Features, Group, Instances, TokenView, UserError
from disambig.api.features import one_score

ENGLISH_SOUNDS = Path(__file__).parent / "languages" / "en.sounds.tsv"
LONGEST = 5
"""First letters that are looked at."""
SURE, SUREST = 6.0, 10.0
"""Log-odds are cut here; of numbers at the second."""
OF_CAPITALS, OF_NUMBERS = 2.0, 3.0
"""What is read out letter by letter, or a number, begins with one sound: where both articles were counted,
those who wrote took it for another. So log-odds are so many times as large."""
_SMOOTHING = 0.25
_NEXT = re.compile(r"[ \t\r\n]+[\"'\u2018\u201c(\[{`*_$@.#<]*(\w+(?:[,.]\d{3})*)")
"""The word behind an article, what opens a quotation or marks it up in between."""
_VOWELS = "AEIOU"
_ELEVENS = ("11", "18")


class WordSounds:
    """Log-odds of "an" before words.

    Parameters
    ----------
    odds : mapping from str to float
        By key: see `keys_of`.
    """

    def __init__(self, odds: Mapping[str, float]) -> None:
        self._odds = odds
        self._of_word = lru_cache(maxsize=1 << 16)(self._word_log_odds)

    def __len__(self) -> int:
        return len(self._odds)

    def article_log_odds(self, text: str, end: int) -> float:
        """Return the log-odds of "an" and not "a" where an article ends at `end`, zero if it is not known."""
        found = _NEXT.match(text, end, end + 60)
        return 0.0 if found is None else self._of_word(found[1])

    def _word_log_odds(self, word: str) -> float:
        return next((self._odds[key] for key in sound_keys(word) if key in self._odds), 0.0)


def sound_keys(word: str) -> Iterator[str]:
    """Yield the keys of a word as it is written, the most particular first.

    Of identifiers (``ExecutorJob``, ``max_size``) the first word counts, or the first letters in capitals.
    """
    if "0" <= word[0] <= "9":
        yield f"#{_spoken_number(word)}"
        return
    word = word.lstrip("_").partition("_")[0] or word
    capitals = re.match("[^\\W\\da-z_]+", word)
    run = capitals[0] if capitals else ""
    if len(run) > 1 and not (len(run) == 2 and word[2:3].islower()):
        run = run if not word[len(run) : len(run) + 1].islower() else run[:-1]  # HTTPServer
        yield f"={run}"
        yield f"+{run[0].lower()}{'' if run[1] in _VOWELS else '.'}"
        return
    first = re.match(r"\w[a-z\u00df-\u00ff]*", word)
    plain = (first[0] if first else word).lower()
    if len(plain) == 1 and word[1:2] and not word[1:2].islower():
        yield f"+{plain}"  # e-mail is a word of its own; l2, xUnit
    yield f"={plain}"
    if len(plain) == 1:
        yield f"+{plain}"
    for length in range(min(LONGEST, len(plain)), 0, -1):
        yield f"{plain[:length]}-"


def read_sounds(path: str | Path) -> WordSounds:
    """Return what a file says; read once.

    Raises
    ------
    UserError
        D998 for a file that cannot be read, or a line that is no key with two counts.
    """
    return _read(str(path))


@lru_cache(maxsize=4)
def _read(path: str) -> WordSounds:
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as problem:
        said = getattr(problem, "strerror", None) or problem
        raise UserError("D998", path=path, problem=said) from problem
    counted: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("// ") or not line.strip():
            continue
        key, *counts = line.split("\t")
        if not key or len(counts) != 2 or not all(each.isascii() and each.isdigit() for each in counts):
            raise UserError("D998", path=path, problem=f"line {number}: a key and two counts are wanted")
        counted[key] = int(counts[0]), int(counts[1])
    return WordSounds(_key_log_odds(counted))


def _key_log_odds(counted: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    """Return the log-odds of each key.

    Of numbers against those of all numbers: whoever takes all digits for one knows these (see
    `disambig.words.v1`), so what is to be known beside is how much this number differs.
    """
    numbers = [found for key, found in counted.items() if key[0] == "#"]
    usual = log_odds(*map(sum, zip(*numbers, strict=True))) if numbers else 0.0
    odds = {}
    for key, found in counted.items():
        if key[0] == "#":
            odds[key] = _clip(OF_NUMBERS * _ratio(*found) - usual, SUREST)
        else:
            odds[key] = _clip((OF_CAPITALS if key[0] == "+" else 1.0) * _ratio(*found), SURE)
    return odds


def log_odds(a: int, an: int) -> float:
    """Return the log-odds of "an" where the two were counted, smoothed, `SURE` at most."""
    return _clip(_ratio(a, an), SURE)


def _ratio(a: int, an: int) -> float:
    return math.log((an + _SMOOTHING) / (a + _SMOOTHING))


def _clip(odds: float, most: float) -> float:
    return max(-most, min(most, odds))


def _spoken_number(word: str) -> str:
    """Return how a number begins to the ear: its first digit, ``11``, ``18``, or ``1800`` for 18 hundred."""
    groups = re.split("[,.]", word)
    digits = re.sub("[^0-9].*", "", groups[0])
    lead = digits[: (len(digits) - 1) % 3 + 1]
    if lead in _ELEVENS:
        return lead
    if len(groups) == 1 and len(digits) == 4 and digits[:2] in _ELEVENS:
        return f"{digits[:2]}00"
    return digits[:1]


A_AN = ("a", "an")


class ArticleSound:
    """One score a candidate: half the log-odds of "an" for "an", the same below zero for "a", else zero.

    Parameters
    ----------
    sounds : path, optional
        A file of how words begin to the ear (see `sounds`); by default the English one.

    Raises
    ------
    UserError
        On first use D998, for a file that has none.
    """

    folders: ClassVar[tuple[str, ...]] = ("sounds",)

    def __init__(self, *, sounds: str | Path | None = None) -> None:
        self.sounds = sounds

    @cached_property
    def word_sounds(self) -> WordSounds:
        """How words begin to the ear."""
        return read_sounds(self.sounds or ENGLISH_SOUNDS)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> ArticleSound:
        """Return self: what words sound like was counted beforehand."""
        return self

    def state(self) -> Arrays:
        """Return nothing: the file is referred to, not copied."""
        return {}

    def from_state(self, arrays: Arrays) -> ArticleSound:
        """Return self."""
        return self

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the scores: what follows the place says what stands there should sound like."""
        empty = instances.lengths == 0
        last = np.where(empty, instances.positions - 1, instances.positions + instances.lengths - 1)
        offsets = instances.offsets(group)
        row = np.repeat(np.arange(len(instances)), np.diff(offsets))
        texts = list(group.candidates) * len(instances) if instances.own is None else instances.own.texts
        sign = np.array([(text == "an") - (text == "a") for text in texts], np.float32)
        odds = log_odds_after(self.word_sounds, view, last).astype(np.float32)
        return one_score(sign * odds[row] / np.float32(2), instances, group, "sound")

    def __getstate__(self) -> dict[str, Any]:
        return {"sounds": self.sounds}


def log_odds_after(sounds: WordSounds, view: TokenView, tokens: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log-odds of "an" by what follows each token, shape ``(n,)``."""
    places = zip(view.document_indices(tokens).tolist(), view.ends[tokens].tolist(), strict=True)
    return np.fromiter(
        (sounds.article_log_odds(view.texts[i], end) for i, end in places), np.float64, len(tokens)
    )
