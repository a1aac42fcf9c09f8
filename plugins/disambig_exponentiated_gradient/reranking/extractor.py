"""What candidate trees look like: features after Collins (2000) and Charniak and Johnson (2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from disambig.api import Arrays, Features, Group, Instances, TokenView, no_setting
from disambig.api.features import (
    KnownNgrams,
    as_features,
    columns_named,
    counts_of,
    kept,
    known_of,
    own_lists,
)
from disambig_exponentiated_gradient.checks import check_count

from .occurring import TreeOccurrences
from .templates import TEMPLATES

_WORDS = "words"


@dataclass(frozen=True, slots=True, eq=False)
class TreeFeatures:
    """Extractor of one sparse row a candidate, whose text is a tree: how often each feature occurs.

    Features are rules with what is above and within them, pairs and triples of children, heads with their
    modifiers, phrases with what they are attached to, the shape of constituents, and the ways between words
    (`templates`). Traces and function tags are not looked at; a text without a tree has no feature.

    Parameters
    ----------
    least : int
        Features that fewer lists have in training, in some of their candidates and not in all alike, are
        left out.

    Raises
    ------
    UserError
        D452 for a setting that makes no sense.
    """

    least: int = 5
    known: KnownNgrams | None = no_setting(None)
    describes: ClassVar[str] = "own"

    def __post_init__(self) -> None:
        check_count("TreeFeatures.least", self.least)

    def fit(self, view: TokenView, instances: Instances, groups: Sequence[Group]) -> TreeFeatures:
        """Keep the features that tell candidates of enough lists from one another.

        Raises
        ------
        UserError
            D630, D631 for texts whose brackets make no tree.
        """
        own = own_lists(instances, self)
        return replace(self, known=kept(TreeOccurrences(own.texts), own.offsets, self.least))

    def transform(self, view: TokenView, instances: Instances, group: Group) -> Features:
        """Return the rows of all candidates; ValueError where the extractor was not fitted.

        Raises
        ------
        UserError
            D630, D631 for texts whose brackets make no tree.
        """
        if self.known is None:
            raise ValueError("no feature is known yet: fit the extractor first")
        own = own_lists(instances, self)
        rows, held = counts_of(TreeOccurrences(own.texts), own.offsets, self.known)
        number = {name: i for i, name in enumerate(TEMPLATES)}
        kinds = np.fromiter(
            (number[name.partition(":")[0]] for name in self.known.names), np.int32, len(self.known)
        )
        what = columns_named(self.known.names, kinds, TEMPLATES)
        return as_features(rows, what, instances, group, held)

    def state(self) -> Arrays:
        """Return the features."""
        return {} if self.known is None else self.known.state()

    def from_state(self, arrays: Arrays) -> TreeFeatures:
        """Return an extractor that knows the features of `state`; ValueError where arrays do not fit."""
        return replace(self, known=known_of(arrays, _WORDS) if arrays else None)
