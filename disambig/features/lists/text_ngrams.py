"""What the texts of candidates hold: how often each n-gram of words, or of characters, is in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from disambig.data.groups import Group
from disambig.data.instances import Instances
from disambig.errors import UserError
from disambig.features.lists.as_rows import as_features, columns_named, own_lists
from disambig.features.lists.counting import counts_of, kept
from disambig.features.lists.known import KnownNgrams, known_of
from disambig.features.lists.runs import Runs
from disambig.features.lists.units import CHARACTERS, WORDS, units_of
from disambig.settings import no_setting
from disambig.text.view import TokenView
from disambig.types import Arrays, Features

UNITS = (WORDS, CHARACTERS)
MOST_ORDER = 5


@dataclass(frozen=True, slots=True, eq=False)
class TextNgrams:
    """Extractor of one sparse row a candidate: the counts of the n-grams of its text.

    Parameters
    ----------
    unit : str
        ``"words"``, those that the list says or, where it says none, what stands between white space; or
        ``"characters"``. A blank within a word is shown as an open box in names.
    order : int
        N-grams of one to so many, 1 to 5; those of two or more may reach past the ends of the text.
    least : int
        N-grams that fewer lists have in training, in some of their candidates and not in all, are left out:
        what all candidates of a list share tells none of them from another.

    Raises
    ------
    UserError
        D452 or D601 for settings that make no sense.
    """

    unit: str = WORDS
    order: int = 2
    least: int = 2
    known: KnownNgrams | None = no_setting(None)
    describes: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise UserError("D452", setting="TextNgrams.unit", value=self.unit)
        for name, value in (("order", self.order), ("least", self.least)):
            if not isinstance(value, int) or value < 1 or (name == "order" and value > MOST_ORDER):
                raise UserError("D452", setting=f"TextNgrams.{name}", value=value)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TextNgrams:
        """Keep the n-grams that tell candidates of enough lists from one another."""
        own = own_lists(instances, self)
        runs = Runs(units_of(own, self.unit), self.order, self.unit)
        return replace(self, known=kept(runs, own.offsets, self.least))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError where the extractor was not fitted."""
        if self.known is None:
            raise ValueError("no n-gram is known yet: fit the extractor first")
        own = own_lists(instances, self)
        runs = Runs(units_of(own, self.unit), self.order, self.unit)
        rows, held = counts_of(runs, own.offsets, self.known)
        kinds = np.zeros(len(self.known), np.int32)
        what = columns_named(self.known.names, kinds, (f"n-grams of {self.unit}",))
        return as_features(rows, what, instances, group, held)

    def state(self) -> Arrays:
        """Return the n-grams."""
        return {} if self.known is None else self.known.state()

    def from_state(self, arrays: Arrays) -> TextNgrams:
        """Return an extractor that knows the n-grams of `state`; ValueError where arrays do not fit."""
        return replace(self, known=known_of(arrays, self.unit) if arrays else None)
