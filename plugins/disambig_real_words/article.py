"""Task *article*: a, an, the or none, where one stands and where one may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from disambig.api import Decides, Group, Instances, TokenView
from disambig.api.features import Cloze, open_cloze

from .between import listed, missing, standing
from .places import joined

ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, kw_only=True)
class Article:
    """Decide between the articles and none.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.
    articles : sequence of str
    least : float
        The log-odds of another candidate against what stands there from which on a place is decided.
    least_missing : float
        The same where none stands. The model saw a part of the empty places of its text only, and thinks
        too well of words there.
    name, language : str
        Of the task: the name is the default key of its annotations.
    """

    words: str | Path = "disambig_en"
    articles: tuple[str, ...] | list[str] = ARTICLES
    least: float = -2.0
    least_missing: float = -0.5
    name: str = "article"
    language: str = "en"
    decides: ClassVar[Decides] = Decides("words", "own")
    folders: ClassVar[tuple[str, ...]] = ("words",)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """One group, whose candidates are each place's own."""
        return (Group(self.name, ()),)

    @cached_property
    def model(self) -> Cloze:
        """The model of words in context."""
        return open_cloze(self.words)

    def instances(self, view: TokenView) -> Instances:
        """Return the articles another of which, or none, fits nearly as well; and empty places for one."""
        articles = tuple(self.articles)
        beside = listed(articles).find(view.hashes) >= 0
        return joined(
            [
                standing(self.model, view, articles, least=self.least),
                missing(self.model, view, articles, least=self.least_missing, beside=beside),
            ]
        )
