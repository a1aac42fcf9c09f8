"""Tasks *form* and *slip*: the word that stands there against its other forms, or words a slip away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from disambig.api import Decides, Group, Instances, TokenView
from disambig.api.features import Cloze, open_cloze
from disambig.api.tasks import word_tokens

from .places import open_places
from .relations import ENGLISH, Relations, relations_in


@dataclass(frozen=True, kw_only=True)
class OtherWords:
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
    """

    words: str | Path = "disambig_en"
    relations: str | Path | None = None
    kinds: tuple[str, ...] | list[str] = ()
    least: float = -2.0
    name: str = "other"
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

    @cached_property
    def related(self) -> Relations:
        """What each word may have been meant to be."""
        return relations_in(str(self.relations or ENGLISH), tuple(self.kinds))

    def instances(self, view: TokenView) -> Instances:
        """Return the words of which a related one fits nearly as well, or better."""
        number = self.related.find(view.hashes)
        positions = np.flatnonzero((number >= 0) & word_tokens(view))
        number = number[positions]
        offsets, others = self.related.offsets, self.related.others
        sizes = offsets[number + 1] - offsets[number]
        begins = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
        row = np.repeat(np.arange(len(positions)), sizes + 1)
        within = np.arange(begins[-1]) - begins[row]
        listed = others[np.minimum(offsets[number][row] + within - 1, len(others) - 1)]
        lists = begins, np.where(within == 0, number[row], listed)
        ones = np.ones(len(positions), np.int32)
        return open_places(self.model, view, positions, ones, self.related, lists, least=self.least)


@dataclass(frozen=True, kw_only=True)
class Form(OtherWords):
    """Decide between the forms of a word, words made of it, and its possessive.

    Parameters
    ----------
    words, relations, kinds, least, name, language
        See `OtherWords`.
    """

    kinds: tuple[str, ...] | list[str] = ("form", "derived", "possessive")
    name: str = "form"


@dataclass(frozen=True, kw_only=True)
class Slip(OtherWords):
    """Decide between real words that are a slip of the pen or the finger apart.

    Parameters
    ----------
    words, relations, kinds, least, name, language
        See `OtherWords`.
    """

    kinds: tuple[str, ...] | list[str] = ("slip",)
    name: str = "slip"
