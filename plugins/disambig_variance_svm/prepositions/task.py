"""Task *preposition*: which of 34 prepositions belongs here (Bergsma et al. 2010, section 4.1), or none; and its extractors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateFinder, Group, Instances, TokenView
from disambig.api.features import Headwords, MissingWordOdds, WordNetwork, gaps_in
from disambig.api.tasks import apart, empty_places

if TYPE_CHECKING:
    from .usage import PrepositionUsage


PREPOSITIONS = tuple(
    "about along among around as at beside between by down during except for from in inside into of off on "
    "onto outside over through to toward towards under until up upon with within without".split()
)
MISSING_WEIGHTS = Path(__file__).parent / "gaps"
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
        the place is decided (see `disambig.features`).
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
    gaps: str | Path = MISSING_WEIGHTS
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
    def finder(self) -> CandidateFinder:
        """The index of the candidates that are words."""
        return CandidateFinder.from_groups((Group("preposition", tuple(self.words)),))

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
def _usage() -> PrepositionUsage:
    from .usage import PrepositionUsage

    return PrepositionUsage.load()


PARTS_OF_SPEECH = Path(__file__).parent / "parts_of_speech"
"""What kind of word each English word mostly is."""


@dataclass(frozen=True, slots=True)
class PrepositionOdds(MissingWordOdds):
    """Extractor of the log-odds that no preposition stands in a place, whichever it would be.

    Parameters
    ----------
    gaps : path
        A folder with the weights for that.
    """

    gaps: str | Path = MISSING_WEIGHTS


class PrepositionHeads(Headwords):
    """Extractor of how probable each preposition is between the head words of its place.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table with headword n-grams.
    parts_of_speech : path
        A folder with kinds of words, the one that the table was counted with.
    """

    def __init__(self, *, counts: Any, parts_of_speech: str | Path = PARTS_OF_SPEECH) -> None:
        super().__init__(counts=counts, parts_of_speech=parts_of_speech)


@dataclass(frozen=True, slots=True, eq=False)
class PrepositionNetwork(WordNetwork):
    """A word network that is told the head words of a place, too.

    Parameters
    ----------
    near, far, vocabulary, dimensions, hidden, examples, epochs, seed : int
        As of `WordNetwork`.
    parts_of_speech : path
        A folder with kinds of words.
    """

    parts_of_speech: str | Path | None = PARTS_OF_SPEECH
