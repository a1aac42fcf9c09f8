"""Task *article*: a, an, the or none, where one stands and where one may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from disambig.api import Instances, TokenView

from .between import listed, missing, standing
from .in_context import InContext
from .places import EVERY_PLACE, joined
from .relations import Relations
from .sound import A_AN, odds_at
from .sounds import ENGLISH, Sounds, read_sounds

ARTICLES = ("a", "an", "the")
CLEAR = 1.0
"""Log-odds of the sound from which on the article that stands there has the right one."""


@dataclass(frozen=True, kw_only=True)
class Article(InContext):
    """Decide between the articles and none.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.
    articles : sequence of str
    sounds : path, optional
        A file of how words begin to the ear (see `sounds`); by default the English one. Before an unknown
        word "a" and "an" are decided by it.
    least : float
        The log-odds of another candidate against what stands there from which on a place is decided.
    least_missing : float
        The same where none stands. The model saw a part of the empty places of its text only, and thinks
        too well of words there.
    name, language : str
        Of the task: the name is the default key of its annotations.

    Raises
    ------
    UserError
        On first use D996, where `articles` are no list of words, D998 for a file that has no sounds.
    """

    articles: tuple[str, ...] | list[str] = ARTICLES
    sounds: str | Path | None = None
    least: float = -2.0
    least_missing: float = -0.5
    name: str = "article"
    folders: ClassVar[tuple[str, ...]] = (*InContext.folders, "sounds")
    concerns: ClassVar[str] = "grammar"

    def instances(self, view: TokenView) -> Instances:
        """Return the articles another of which, or none, fits nearly as well; and empty places for one."""
        return self._places(view, self.least, self.least_missing)

    def examples(self, view: TokenView) -> Instances:
        """Return all articles and all empty places, each with all articles and none."""
        return self._places(view, EVERY_PLACE, EVERY_PLACE)

    def check_files(self) -> str:
        """Read the model and the sounds, and return a line about them."""
        return f"{super().check_files()}; {len(self.heard):,} beginnings of words by their sound"

    @cached_property
    def heard(self) -> Sounds:
        """How words begin to the ear."""
        return read_sounds(self.sounds or ENGLISH)

    def _places(self, view: TokenView, least: float, least_missing: float) -> Instances:
        articles = listed("articles", self.articles)
        number = articles.find(view.hashes)
        beside = number >= 0
        twice = np.zeros(len(view), bool)  # one that stands there twice is a doubled word
        twice[:-1] = beside[:-1] & (number[:-1] == number[1:])
        twice[1:] |= twice[:-1]
        hints = self._by_sound(view, number, articles)
        return joined(
            [
                standing(self.model, view, articles, least=least, apart=twice, hints=hints),
                missing(self.model, view, articles, least=least_missing, beside=beside),
            ]
        )

    def _by_sound(self, view: TokenView, number: NDArray[np.int64], articles: Relations) -> NDArray[np.int64]:
        """Return what the sound of the next word says of "a" and "an", as `standing` takes hints."""
        found = np.full(len(view), -1)
        if not set(A_AN) <= set(articles.spellings):
            return found
        a, an = map(articles.spellings.index, A_AN)
        at = np.flatnonzero(((number == a) | (number == an)) & (view.ends > view.starts))
        odds = odds_at(self.heard, view, at)
        other, wrong = np.where(number[at] == a, an, a), np.where(number[at] == a, odds, -odds)
        found[at] = np.select([wrong > 0, wrong <= -CLEAR], [other, -2 - other], -1)
        return found
