"""Measured precision of flags, and shares and densities of mistakes as users write them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disambig.errors import UserError, nearest_first
from disambig.formatting import describe_share

PUT_IN, TAKEN_OUT = "words put in", "words taken out"
"""Names of the kinds of flags that insert a word, and of those that remove one."""
LEVELS = (("very-high", 0.9), ("high", 0.8), ("medium", 0.5), ("low", 0.0))
"""Precision levels as code scanning names them, and the minimum share of right flags of each."""


@dataclass(frozen=True, slots=True)
class PrecisionPoint:
    """Precision of the flags with at least a certain probability."""

    least: float  # the minimum probability of these flags
    share: float  # share of them that is right in text with the density of mistakes given in `PrecisionTable`
    # its 95 % interval
    low: float
    high: float
    # counts: flags that suggest the writer's own correction, flags at the place of a mistake that suggest
    # something else, and flags in paragraphs that nobody corrected
    right: int
    wrong: int
    false: int


@dataclass(frozen=True, slots=True)
class PrecisionEstimate:
    """The measured precision of flags like a given one."""

    share: float  # share of right flags among those with at least this probability
    # its 95 % interval
    low: float
    high: float
    flags: int  # number of flags it was measured on
    # kind of these flags: all of the task, those that insert words or remove words, or those of a pair
    of: str
    text: str  # the text they were measured on

    def __str__(self) -> str:
        """Return the share for people, in tenths if it was measured on few flags."""
        return describe_share(self.share, self.flags)

    @property
    def level(self) -> str:
        """The highest of `LEVELS` that the share reaches."""
        return next(name for name, least in LEVELS if self.share >= least)


@dataclass(frozen=True, slots=True)
class PrecisionTable:
    """The measured precision of the flags of a task."""

    task: str
    text: str  # description of the text that it was measured on
    per_1000: float  # mistakes per 1,000 words in the text that the shares refer to
    # for all flags, with ascending probability from 0; the share ascends too
    points: tuple[PrecisionPoint, ...]
    # the same for pairs of words with enough flags (keys from `unordered_pair`), and for `PUT_IN` and
    # `TAKEN_OUT`
    pairs: Mapping[str, tuple[PrecisionPoint, ...]] = field(default_factory=dict)

    def estimate(self, observed: str, replacement: str, probability: float) -> PrecisionEstimate:
        """Return the precision of flags that replace one word with another, at a probability."""
        pair = unordered_pair(observed, replacement)
        key = next((name for name in (pair, edit_kind(pair)) if name in self.pairs), "")
        points = self.pairs[key] if key else self.points
        thresholds = [point.least for point in points]
        point = points[max(0, bisect_right(thresholds, probability) - 1)]
        flags = point.right + point.wrong + point.false
        return PrecisionEstimate(point.share, point.low, point.high, flags, key or self.task, self.text)

    def least_for(self, share: float) -> float | None:
        """Return the lowest probability at which flags reach a precision of `share`; None if none does."""
        curves = (self.points, *self.pairs.values())
        thresholds = [point.least for points in curves for point in points if point.share >= share]
        return min(thresholds, default=None)


def unordered_pair(observed: str, replacement: str) -> str:
    """Return a key of both words that is the same for a correction and for its reverse.

    The key of a flag that inserts a word has nothing before the slash; of one that removes a word, nothing
    after it.
    """
    words = [" ".join(side.lower().replace("\u2019", "'").split()) for side in (observed, replacement)]
    return "/".join(sorted(words) if all(words) else words)


def edit_kind(pair: str) -> str:
    """Return `PUT_IN` or `TAKEN_OUT` if one side of a pair is empty, else an empty string."""
    before, _, after = pair.partition("/")
    return "" if before and after else TAKEN_OUT if before else PUT_IN


_QUOTIENT = re.compile(r"(\d+)\s*(?:/|in|of|out of)\s*(\d+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
SHARE = r"^(\d+ ?(/|in|of|out of) ?\d+|\d+(\.\d+)? ?%|1|0?\.\d+)$"
"""Regular expression by which editors check a share."""
EXAMPLES = ("4 in 5", "4/5", "80 %", "0.8")


def parse_share(value: Any) -> float:
    """Parse a share in a form like those of `EXAMPLES`: above 0, at most 1.

    Raises D860 if it is not a share.
    """
    share = _number(value.strip()) if isinstance(value, str) else value
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise UserError("D860", value=value)
    if not 0 < share <= 1:
        raise UserError("D860", value=value)
    return float(share)


def _number(text: str) -> float | None:
    """Return the number written as a quotient, in percent or as a decimal; None if it is none of these."""
    if match := _QUOTIENT.fullmatch(text):
        return int(match[1]) / int(match[2]) if int(match[2]) else None
    if match := _PERCENT.fullmatch(text):
        return float(match[1]) / 100
    try:
        return float(text)
    except ValueError:
        return None


WORDS_PER_MISTAKE = {"published": 2_000, "edited": 400, "draft": 100, "learner": 15}
"""Number of words per mistake in each kind of writing."""


def check_writing(value: Any) -> str:
    """Return the kind of writing that a user named. Raises D953 if there is no such kind of writing."""
    if not isinstance(value, str) or value not in WORDS_PER_MISTAKE:
        raise UserError("D953", value=value, names=nearest_first(str(value), WORDS_PER_MISTAKE))
    return value


def mistakes_per_1000(writing: str) -> float:
    """Return the mistakes per 1,000 words in a kind of writing.

    Raises D953 if there is no such kind of writing.
    """
    return 1000 / WORDS_PER_MISTAKE[check_writing(writing)]
