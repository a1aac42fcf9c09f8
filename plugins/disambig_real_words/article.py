"""Task *article*: a, an, the or none, where one stands and where one may be missing."""

from __future__ import annotations

from dataclasses import dataclass

from disambig.api import Instances, TokenView

from .between import listed, missing, standing
from .in_context import InContext
from .places import joined

ARTICLES = ("a", "an", "the")


@dataclass(frozen=True, kw_only=True)
class Article(InContext):
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

    Raises
    ------
    UserError
        On first use D996, where `articles` are no list of words.
    """

    articles: tuple[str, ...] | list[str] = ARTICLES
    least: float = -2.0
    least_missing: float = -0.5
    name: str = "article"

    def instances(self, view: TokenView) -> Instances:
        """Return the articles another of which, or none, fits nearly as well; and empty places for one."""
        articles = listed("articles", self.articles)
        beside = articles.find(view.hashes) >= 0
        return joined(
            [
                standing(self.model, view, articles, least=self.least),
                missing(self.model, view, articles, least=self.least_missing, beside=beside),
            ]
        )
