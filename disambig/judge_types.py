"""The contracts of judges: what makes decisions of scores, and what it learns from. See `disambig.types`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from disambig.data.groups import Group
from disambig.data.scored import Judged, Scored

if TYPE_CHECKING:
    from disambig.types import Task

Arrays = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]


class Material(Protocol):
    """Examples that scorers did not learn from: what a judge is fitted to."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def n_words(self) -> int:
        """Words of the text around the examples; 0 where there is none."""

    @property
    def rng(self) -> np.random.Generator:
        """For what is drawn at random."""

    def scored(self, group: int, *, most: int | None = None) -> Scored:
        """Return the examples of a group, scored: all, or a random sample of `most`."""


@runtime_checkable
class HasMistakes(Protocol):
    """Material with mistakes that people made, and right words of text unlike the counted one."""

    @property
    def n_mistakes(self) -> int:
        """All mistakes of the text, those that the task does not decide among them."""

    @property
    def n_right_words(self) -> int:
        """Words of the text around the right words."""

    def right(self, group: int) -> Scored:
        """Return right words of a group, in text order."""

    def mistakes(self, group: int) -> Scored:
        """Return mistakes of a group: what was written is observed, and what was meant costs nothing."""


class Judge(Protocol):
    """What makes decisions of scores: a frozen configuration, with what `fit` learned."""

    def fit(self, material: Material, *, progress: Any = None) -> Judge:
        """Return a judge fitted to examples, `task`'s groups one by one."""

    def judge(self, scored: Scored, *, flags_per_1000: float | None = None) -> Judged:
        """Decide for instances of one group, at a rate of flags other than its own if one is given."""

    def probabilities(self, scored: Scored) -> Floats | None:
        """Return the probability of each candidate to be right, ``(n_candidates,)``; None: not known."""

    def state(self) -> Arrays:
        """Return all that `fit` learned, as arrays."""

    def from_state(self, arrays: Arrays, groups: Sequence[Group]) -> Judge:
        """Return a judge of this configuration with the given state; ValueError where it does not fit."""


@runtime_checkable
class JudgesTogether(Protocol):
    """A judge that decides for several groups at once, sooner than one by one."""

    def judge_all(self, parts: Sequence[Scored], *, flags_per_1000: float | None = None) -> list[Judged]:
        """Return what `judge` makes of each part; there is one at least."""


@runtime_checkable
class Flags(Protocol):
    """A judge that flags what should be another word: at an infinite rate all that it can flag at any."""

    flags_per_1000: float
    """The rate of flags per 1,000 correct words that it is set to."""

    def limit(self, flags_per_1000: float | None = None) -> float:
        """Return the probability above which it flags at a rate; UserError D401 for an impossible one."""


@runtime_checkable
class KnowsGains(Protocol):
    """A judge that knows what it finds at each rate of flags: it can share a budget with others."""

    def gains(self) -> tuple[Floats, Floats] | None:
        """Return rates, rising, and the share of all mistakes rightly flagged at each; None: not known."""


@runtime_checkable
class KeepsSilent(Protocol):
    """A judge that says nothing where it is not sure enough."""

    @property
    def least_margin(self) -> float:
        """The margin below which nothing is said, in units of log-odds."""

    def with_least_margin(self, least_margin: float) -> Judge:
        """Return the judge with another least margin."""
