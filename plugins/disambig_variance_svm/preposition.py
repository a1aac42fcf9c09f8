"""Task *preposition*: which of 34 prepositions belongs here (Bergsma et al. 2010, section 4.1), or none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Finder, Group, Instances, TokenView
from disambig.api.features import gaps_in
from disambig.api.tasks import apart, empty_places

if TYPE_CHECKING:
    from .gate.usage import Usage

PREPOSITIONS = tuple(
    "about along among around as at beside between by down during except for from in inside into of off on "
    "onto outside over through to toward towards under until up upon with within without".split()
)
GAPS = Path(__file__).parent / "gate" / "gaps"
"""Where the weights lie that tell where a preposition may be missing."""
ZERO = ""
"""The candidate that is no preposition."""
VARIANTS = (("toward", "towards"), ("on", "upon"))


@dataclass(frozen=True, kw_only=True)
class Preposition:
    """Decide between prepositions wherever one is used as a preposition.

    Parameters
    ----------
    words : list of str
        The candidates.
    only_as_preposition : bool
        Leave out particles ("give up"), infinitives ("to go"), adverbs and conjunctions, as far as the
        words around tell (see `usage`).
    or_none : bool
        No preposition at all is a candidate, too: one that stands may be one too many, and between two
        words one may be missing.
    least_odds : float
        With `or_none`: log-odds that a preposition stands between two words where none does, from which on
        the place is decided (see `disambig.features.gaps`).
    learned_odds : float
        The same for the empty places that are learned from, which should be more: where a preposition is one
        too many there is mostly none.
    gaps : path
        A folder with the weights for that.
    name, language : str
        Of the task: the name is the default key of its annotations.
    """

    words: tuple[str, ...] | list[str] = PREPOSITIONS
    only_as_preposition: bool = True
    or_none: bool = False
    least_odds: float = -0.5
    learned_odds: float = -4.0
    gaps: str | Path = GAPS
    name: str = "preposition"
    concerns: ClassVar[str] = "grammar"
    language: str = "en"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group: every preposition against all others."""
        known = set(self.words)
        variants = tuple(pair for pair in VARIANTS if known.issuperset(pair))
        return (Group("preposition", (*self.words, *((ZERO,) if self.or_none else ())), variants),)

    @cached_property
    def finder(self) -> Finder:
        """The index of the candidates that are words."""
        return Finder.of((Group("preposition", tuple(self.words)),))

    def instances(self, view: TokenView) -> Instances:
        """Return the places where a preposition is used as one, and those where one may be missing."""
        return self._places(view, self.least_odds)

    def examples(self, view: TokenView) -> Instances:
        """Return the places to learn from: with `or_none` more empty ones than are decided."""
        return self._places(view, min(self.least_odds, self.learned_odds))

    def _places(self, view: TokenView, least_odds: float) -> Instances:
        found = self.finder.find(view)
        empty = self._empty(view, found, least_odds) if self.or_none else np.zeros(0, np.int64)
        first, behind = found.positions, found.positions + found.lengths
        twice = (view.hashes[first] == view.hashes[behind]) | (view.hashes[first] == view.hashes[first - 1])
        found = found.take(np.flatnonzero(~twice | (found.lengths != 1)))  # a doubled word is another task's
        if self.only_as_preposition and len(found):
            found = found.take(_usage().is_preposition(view, found.positions))
        if not len(empty):
            return found
        nothing = np.zeros(len(empty), np.int32)
        both = Instances(
            np.concatenate([found.positions, empty]),
            np.concatenate([found.lengths, nothing]),
            np.concatenate([found.groups, nothing]),
            np.concatenate([found.observed, nothing + len(self.words)]),
        )
        return both.take(np.argsort(both.positions, kind="stable"))

    def _empty(self, view: TokenView, found: Instances, least_odds: float) -> NDArray[np.int64]:
        """Return the places between two words, none of them a candidate, where one may be missing."""
        places = empty_places(view)
        places = places[apart(places, found, len(view))]
        odds = gaps_in(str(self.gaps)).log_odds(view, places - 1, places)
        return places[odds >= least_odds]


@lru_cache(maxsize=1)
def _usage() -> Usage:
    from .gate.usage import Usage

    return Usage.load()
