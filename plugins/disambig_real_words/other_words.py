"""Tasks *form* and *slip*: the word that stands there against its other forms, or words a slip away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api import Instances, TokenView, UserError
from disambig.api.tasks import word_tokens

from .in_context import InContext
from .places import EVERY_PLACE, open_places
from .relations import ENGLISH, KINDS, Relations, relations_in
from .running_text import before_a_mark, stands_twice


@dataclass(frozen=True, kw_only=True)
class OtherWords(InContext):
    """Decide between each word and those that it is related to.

    Parameters
    ----------
    words : str or path
        A folder with a model of words in context, or the name of an installed pack that brings one.
    relations : path, optional
        A file of words that are mistaken for each other (see `relations`); by default the English one.
    kinds : sequence of str
        The relations of that file that count here.
    least : float
        The log-odds of another word against the one that stands there from which on the place is decided.
    name, language : str
        Of the task: the name is the default key of its annotations.

    Raises
    ------
    UserError
        On first use D995 for a file that is none, D997 where `kinds` are none of those that there are.
    """

    relations: str | Path | None = None
    kinds: tuple[str, ...] | list[str] = KINDS
    least: float = -2.0
    name: str = "other"

    @cached_property
    def related(self) -> Relations:
        """What each word may have been meant to be."""
        kinds = () if isinstance(self.kinds, str) else tuple(self.kinds)
        if not kinds or not set(kinds) <= set(KINDS):
            raise UserError("D997", seen=self.kinds, known=", ".join(KINDS))
        return relations_in(str(self.relations or ENGLISH), kinds)

    def check_files(self) -> str:
        """Read the model and the relations, and return a line about them."""
        return f"{super().check_files()}; {len(self.related.spellings):,} words with others"

    def instances(self, view: TokenView) -> Instances:
        """Return the words of which a related one fits nearly as well, or better."""
        return self._places(view, self.least)

    def examples(self, view: TokenView) -> Instances:
        """Return all words that have related ones, each with all of them."""
        return self._places(view, EVERY_PLACE)

    def _places(self, view: TokenView, least: float) -> Instances:
        number = self.related.find(view.hashes)
        positions = np.flatnonzero((number >= 0) & word_tokens(view) & ~stands_twice(view))
        number = number[positions]
        offsets, others = self.related.offsets, self.related.others
        sizes = offsets[number + 1] - offsets[number]
        begins = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
        row = np.repeat(np.arange(len(positions)), sizes + 1)
        within = np.arange(begins[-1]) - begins[row]
        related = others[np.maximum(offsets[number][row] + within - 1, 0)]
        lists = begins, np.where(within == 0, number[row], related)  # first what stands there
        ones = np.ones(len(positions), np.int32)
        return open_places(self.model, view, positions, ones, self.related, lists, least=least)


@dataclass(frozen=True, kw_only=True)
class Form(OtherWords):
    """Decide between the forms of a word, words made of it, and its possessive.

    Parameters
    ----------
    words, relations, kinds, least, name, language : settings of `OtherWords`
    """

    kinds: tuple[str, ...] | list[str] = ("form", "derived", "possessive")
    name: str = "form"

    def instances(self, view: TokenView) -> Instances:
        """Return the words of which a related one fits nearly as well, or better.

        A possessive before a mark is none: "my sister's." stands for what was named before.
        """
        found = super().instances(view)
        if found.own is None or not len(found):
            return found
        firsts = [found.own.texts[i] for i in found.own.offsets[:-1].tolist()]  # what stands there
        possessive = np.array([text.endswith(("'s", "s'")) for text in firsts], bool)
        return found.take(np.flatnonzero(~(possessive & before_a_mark(view, found.positions))))

    concerns: ClassVar[str] = "grammar"


@dataclass(frozen=True, kw_only=True)
class Slip(OtherWords):
    """Decide between real words that are a slip of the pen or the finger apart.

    Parameters
    ----------
    words, relations, kinds, least, name, language : settings of `OtherWords`
    """

    kinds: tuple[str, ...] | list[str] = ("slip",)
    name: str = "slip"
    concerns: ClassVar[str] = "confusion"
