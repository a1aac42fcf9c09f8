"""Task *preposition*: which of 34 prepositions belongs here (Bergsma et al. 2010, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from disambig.api import Finder, Group, Instances, TokenView

if TYPE_CHECKING:
    from .gate.usage import Usage

PREPOSITIONS = tuple(
    "about along among around as at beside between by down during except for from in inside into of off on "
    "onto outside over through to toward towards under until up upon with within without".split()
)
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
    name, language : str
        Of the task: the name is the default key of its annotations.
    """

    words: tuple[str, ...] | list[str] = PREPOSITIONS
    only_as_preposition: bool = True
    name: str = "preposition"
    language: str = "en"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group: every preposition against all others."""
        known = set(self.words)
        variants = tuple(pair for pair in VARIANTS if known.issuperset(pair))
        return (Group("preposition", tuple(self.words), variants),)

    @cached_property
    def finder(self) -> Finder:
        """The index of the candidates."""
        return Finder.of(self.groups)

    def instances(self, view: TokenView) -> Instances:
        """Return the places where a preposition is used as one."""
        found = self.finder.find(view)
        if not self.only_as_preposition or not len(found):
            return found
        return found.take(_usage().is_preposition(view, found.positions))


@lru_cache(maxsize=1)
def _usage() -> Usage:
    from .gate.usage import Usage

    return Usage.load()
