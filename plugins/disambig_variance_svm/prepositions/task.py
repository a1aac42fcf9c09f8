"""Task *preposition*: choose between 34 prepositions or none (Bergsma et al. 2010, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import CandidateFinder, Group, Instances, TokenView
from disambig.api.features import Headwords, MissingWordOdds, WordNetwork, load_gaps
from disambig.api.tasks import ENGLISH_RULES, RuleSet, apart, capitalised_tokens, empty_places
from disambig.api.text import hash_words

if TYPE_CHECKING:
    from .usage import PrepositionUsage


PREPOSITIONS = tuple(
    "about along among around as at beside between by down during except for from in inside into of off on "
    "onto outside over through to toward towards under until up upon with within without".split()
)
MISSING_WEIGHTS = Path(__file__).parent / "gaps"
"""Folder with the weights that predict where a preposition may be missing."""
ZERO = ""
"""The empty candidate: no preposition."""
VARIANTS = (("toward", "towards"), ("on", "upon"))
NEED, DARE, BE = hash_words(["need", "dare", "be"])
"""The first two are verbs after which an infinitive may stand without "to": "no file need be closed"."""


@dataclass(frozen=True, kw_only=True)
class Preposition:
    """Decide between prepositions at every word that is used as a preposition.

    Parameters
    ----------
    words : list of str
        The candidates.
    only_as_preposition : bool
        Leave out particles ("give up"), infinitives ("to go"), adverbs and conjunctions, as predicted from
        the neighbouring words (see `usage`).
    or_none : bool
        Add the empty candidate: a preposition in the text may be superfluous, and one may be missing between
        two words.
    least_odds : float
        With `or_none`: minimum log-odds of a preposition between two words for the empty place to be decided
        (see `disambig.features`).
    learned_odds : float
        The same for training. It should admit more empty places, because "none" is also the usual answer
        where a preposition is superfluous.
    gaps : path
        A folder with the weights for these log-odds.
    name, language : str
        Name and language of the task; the name is the default key of its annotations.
    """

    words: tuple[str, ...] | list[str] = PREPOSITIONS
    only_as_preposition: bool = True
    or_none: bool = False
    least_odds: float = -0.5
    learned_odds: float = -4.0
    gaps: str | Path = MISSING_WEIGHTS
    name: str = "preposition"
    concerns: ClassVar[str] = "grammar"
    rules: ClassVar[RuleSet] = ENGLISH_RULES
    language: str = "en"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group: every preposition against all others."""
        words = set(self.words)
        variants = tuple(pair for pair in VARIANTS if words.issuperset(pair))
        return (Group("preposition", (*self.words, *((ZERO,) if self.or_none else ())), variants),)

    @cached_property
    def finder(self) -> CandidateFinder:
        """The index of the candidates that are words."""
        return CandidateFinder.from_groups((Group("preposition", tuple(self.words)),))

    def examples(self, view: TokenView) -> Instances:
        """Return the instances for training: with `or_none`, more empty places than are decided."""
        return self.instances(view, min(self.least_odds, self.learned_odds))

    def instances(self, view: TokenView, least_odds: float | None = None) -> Instances:
        """Return the words that are used as prepositions, and the places where one may be missing.

        `least_odds`: see `Preposition`; by default that of the task.
        """
        instances = self.finder.find(view)
        empty = self._empty(view, instances, least_odds) if self.or_none else np.zeros(0, np.int64)
        first, after = instances.positions, instances.positions + instances.lengths
        doubled = (view.hashes[first] == view.hashes[after]) | (view.hashes[first] == view.hashes[first - 1])
        doubled &= instances.lengths == 1
        if doubled.any():
            instances = instances.take(~doubled)  # a task of its own decides these
        if self.only_as_preposition and len(instances):
            instances = instances.take(_usage().is_preposition(view, instances.positions))
        in_capitals = capitalised_tokens(view)[instances.positions]
        if in_capitals.any():  # a name, as in "ORDER BY"
            for row in in_capitals.nonzero()[0].tolist():
                word = view.written(instances.positions[row])
                in_capitals[row] = len(word) > 1 and word.isupper()
            instances = instances.take(~in_capitals)
        if not len(empty):
            return instances
        nothing = np.zeros(len(empty), np.int32)
        both = Instances.joined(
            [instances, Instances(empty, nothing, nothing, np.full(len(empty), len(self.words), np.int32))]
        )
        return both.take(both.positions.argsort(kind="stable"))

    def _empty(self, view: TokenView, instances: Instances, least_odds: float | None) -> NDArray[np.int64]:
        """Return the places where a preposition may be missing: between words that are not candidates."""
        places = empty_places(view)
        places = places[apart(places, instances, len(view.hashes))]
        before, after = view.hashes[places - 1], view.hashes[places]
        places = places[~(((before == NEED) | (before == DARE)) & (after == BE))]
        odds = load_gaps(str(self.gaps)).log_odds(view, places - 1, places)
        return places[odds >= (self.least_odds if least_odds is None else least_odds)]


@lru_cache(maxsize=1)
def _usage() -> PrepositionUsage:
    from .usage import PrepositionUsage

    return PrepositionUsage.load()


PARTS_OF_SPEECH = Path(__file__).parent / "parts_of_speech"
"""Folder with the most frequent kind of each English word."""


@dataclass(frozen=True, slots=True)
class PrepositionOdds(MissingWordOdds):
    """Extractor of the log-odds that a place has no preposition at all.

    Parameters
    ----------
    gaps : path
        A folder with the weights for these log-odds.
    """

    gaps: str | Path = MISSING_WEIGHTS


class PrepositionHeads(Headwords):
    """Extractor of the probability of each preposition between the head words of its place.

    Parameters
    ----------
    counts : str, path or CountTable
        A count table with headword n-grams.
    parts_of_speech : path
        A folder with kinds of words; it must be the one that was used to count the table.
    """

    def __init__(self, *, counts: Any, parts_of_speech: str | Path = PARTS_OF_SPEECH) -> None:
        super().__init__(counts=counts, parts_of_speech=parts_of_speech)


@dataclass(frozen=True, slots=True, eq=False)
class PrepositionNetwork(WordNetwork):
    """A word network with the head words of a place as additional input.

    Parameters
    ----------
    near, far, vocabulary, dimensions, hidden, examples, epochs, seed : int
        See `WordNetwork`.
    parts_of_speech : path
        A folder with kinds of words.
    """

    parts_of_speech: str | Path | None = PARTS_OF_SPEECH
