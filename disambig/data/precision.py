"""How often flags of a task were right, by their probability, and shares as users write them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disambig.errors import UserError

PUT_IN, TAKEN_OUT = "words put in", "words taken out"
"""What flags are called that put a word in where none stands, and those that take one out."""
LEVELS = (("very-high", 0.9), ("high", 0.8), ("medium", 0.5), ("low", 0.0))
"""Names of shares of flags that are right, as code scanning has them, and the least share of each."""


@dataclass(frozen=True, slots=True)
class PrecisionPoint:
    """The flags of a probability or more.

    Attributes
    ----------
    least : float
        That probability.
    share : float
        How many of them are right in text of the density that is stated: see `Trust`.
    low, high : float
        Its 95 % interval.
    right, wrong, false : int
        What was seen: flags that give what the writer gave, flags of the place of a mistake that give
        something else, flags in paragraphs that nobody corrected.
    """

    least: float
    share: float
    low: float
    high: float
    right: int
    wrong: int
    false: int


@dataclass(frozen=True, slots=True)
class PrecisionEstimate:
    """How far a flag is to be trusted.

    Attributes
    ----------
    share : float
        Of the flags at least as sure as this, how many are right.
    low, high : float
        Its 95 % interval.
    flags : int
        How many flags that was seen on.
    of : str
        What these were: all flags of the task, those that put words in or take words out, or of a pair.
    text : str
        Where they were seen.
    """

    share: float
    low: float
    high: float
    flags: int
    of: str
    text: str

    @property
    def level(self) -> str:
        """The first of `LEVELS` that the share reaches."""
        return next(name for name, least in LEVELS if self.share >= least)


@dataclass(frozen=True, slots=True)
class PrecisionTable:
    """What was measured of a task.

    Attributes
    ----------
    task : str
    text : str
        The text that it was measured on, for people.
    per_1000 : float
        Mistakes in 1,000 words of the text that the shares are for.
    points : tuple of Point
        Of all its flags, the probability rising, the first one's 0; the share rises with it.
    pairs : mapping of str to tuple of Point
        The same for pairs of words of which enough was seen, by `pair_of`, and for `PUT_IN` and `TAKEN_OUT`.
    """

    task: str
    text: str
    per_1000: float
    points: tuple[PrecisionPoint, ...]
    pairs: Mapping[str, tuple[PrecisionPoint, ...]] = field(default_factory=dict)

    def estimate(self, observed: str, replacement: str, probability: float) -> PrecisionEstimate:
        """Return how far a flag is to be trusted that replaces one word by another."""
        pair = unordered_pair(observed, replacement)
        named = next((name for name in (pair, edit_kind(pair)) if name in self.pairs), "")
        points = self.pairs[named] if named else self.points
        leasts = [point.least for point in points]
        point = points[max(0, bisect_right(leasts, probability) - 1)]
        flags = point.right + point.wrong + point.false
        return PrecisionEstimate(point.share, point.low, point.high, flags, named or self.task, self.text)

    def least_for(self, share: float) -> float | None:
        """Return the probability below which no flag is trusted as far as `share`; None where none is."""
        curves = (self.points, *self.pairs.values())
        leasts = [point.least for points in curves for point in points if point.share >= share]
        return min(leasts, default=None)


def unordered_pair(observed: str, replacement: str) -> str:
    """Return what a flag and one that takes its correction back have in common: both words, in order.

    A word that is put in has nothing before the stroke, one that is taken out nothing behind it.
    """
    words = [" ".join(side.lower().replace("\u2019", "'").split()) for side in (observed, replacement)]
    return "/".join(sorted(words) if all(words) else words)


def edit_kind(pair: str) -> str:
    """Return `PUT_IN` or `TAKEN_OUT` where one side of a pair is no word, else nothing."""
    before, _, behind = pair.partition("/")
    return "" if before and behind else TAKEN_OUT if before else PUT_IN


_QUOTIENT = re.compile(r"(\d+)\s*(?:/|in|of|out of)\s*(\d+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
SHARE = r"^(\d+ ?(/|in|of|out of) ?\d+|\d+(\.\d+)? ?%|1|0?\.\d+)$"
"""What an editor takes for one."""
EXAMPLES = ("4 in 5", "4/5", "80 %", "0.8")


def parse_share(value: Any) -> float:
    """Return the share that somebody wrote as one of `EXAMPLES`: above 0, up to 1.

    Raises
    ------
    UserError
        D860 for what is none.
    """
    share = _number(value.strip()) if isinstance(value, str) else value
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise UserError("D860", value=value)
    if not 0 < share <= 1:
        raise UserError("D860", value=value)
    return float(share)


def _number(text: str) -> float | None:
    if match := _QUOTIENT.fullmatch(text):
        return int(match[1]) / int(match[2]) if int(match[2]) else None
    if match := _PERCENT.fullmatch(text):
        return float(match[1]) / 100
    try:
        return float(text)
    except ValueError:
        return None
